"""Checking claims of a report against the world, a few neighbouring ones in one job (METRICS 8)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from ..core import Frozen, Task
from ..reports import Report, numbered
from ..reports.data import Claim
from ..tools import Toolbox
from .data import Step
from .verification import Found, Visit

if TYPE_CHECKING:
    from ..models import ChatModel


class Word(StrEnum):
    """The three verdicts [paper]."""

    RIGHT = "right"
    """Evidence says all of it."""
    WRONG = "wrong"
    """Evidence contradicts it, or a part of it."""
    UNKNOWN = "unknown"
    """What was found does not settle it."""


class Checked(Frozen):
    """The verdict on one claim."""

    claim: str
    """Its id."""
    verdict: Word
    evidence: tuple[Found, ...] = ()
    reasoning: str = ""
    flags: tuple[str, ...] = ()
    """``quote_not_found``: right or wrong was said without evidence that holds, and counts as unknown."""


class FactCheck(Frozen):
    """How one job came out. A claim that the agent left out has no verdict."""

    verdicts: tuple[Checked, ...]
    blind: str = ""
    """Why nobody could look; empty where somebody could."""
    queries: tuple[str, ...] = ()
    pages: tuple[Visit, ...] = ()
    steps: tuple[Step, ...] = ()
    calls: tuple[str, ...] = ()
    """Ledger keys of the model calls."""


AROUND = 1
"""Sentences of the report shown before and behind those that a claim rests on."""
SHOWN = 40
"""Sentences of the report shown with a job, at most."""


def context_of(claims: Sequence[Claim], report: Report) -> str:
    """The sentences of the report that the claims rest on, with their neighbours, numbered."""
    numbers = {n + shift for claim in claims for n in claim.sentences for shift in range(-AROUND, AROUND + 1)}
    return numbered(report, [n for n in sorted(numbers) if 1 <= n <= len(report.sentences)][:SHOWN])


async def check_claims(
    claims: Sequence[Claim], task: Task, report: Report, model: ChatModel, toolbox: Toolbox, *, sample: int = 0
) -> FactCheck:
    """Let a CodeAgent check the claims. Raises AgentFailed, CallFailed, HostStop, ReplayMiss."""
    from .facts_agent import agent_check

    return await agent_check(claims, task, report, model, toolbox, sample)
