"""What the agents hand back beside their answers: the steps they took, as plain data for the viewer."""

from __future__ import annotations

from pydantic import Field

from ..core import Frozen, Json


class ToolUse(Frozen):
    """One tool call of a step."""

    tool: str
    arguments: dict[str, Json] = Field(default_factory=dict)
    failed: str = ""
    """Why it gave nothing; empty: it gave an answer."""
    key: str | None = None
    """Ledger key of what it brought."""


class Step(Frozen):
    """One step of an agent or of the guided runner."""

    number: int
    thought: str = ""
    """The model's words before its code; in guided mode the name of the step."""
    code: str = ""
    observation: str = ""
    error: str = ""
    tools: tuple[ToolUse, ...] = ()
    key: str | None = None
    """Ledger key of the completion that wrote it."""
