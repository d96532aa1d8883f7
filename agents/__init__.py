"""Everything built on smolagents: protocol creator, plan verifier, sandboxed executor, model bridge.

smolagents is imported by what runs a CodeAgent only, so importing this package is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .creator import create_protocol, default_mode
from .data import Step, ToolUse
from .prompts_creator import VERSION as PROMPT_VERSION
from .prompts_verifier import VERSION as VERIFIER_VERSION
from .verification import Flaw, FlawKind, Found, Verification, Visit
from .verifier import verify_plan

if TYPE_CHECKING:
    from .executor import MontyExecutor, SandboxLimits

__all__ = [
    "PROMPT_VERSION",
    "VERIFIER_VERSION",
    "Flaw",
    "FlawKind",
    "Found",
    "MontyExecutor",
    "SandboxLimits",
    "Step",
    "ToolUse",
    "Verification",
    "Visit",
    "create_protocol",
    "default_mode",
    "verify_plan",
]


def __getattr__(name: str) -> Any:
    if name in ("MontyExecutor", "SandboxLimits"):
        from . import executor

        return getattr(executor, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
