"""The plan verifier as a CodeAgent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, field_validator
from smolagents.tools import Tool

from ..core import Json, Task
from ..models import fence
from ..protocols import ReasoningQuestion
from ..reports import Report, numbered, task_language
from ..tools import Toolbox
from . import prompts_verifier as prompts
from .creator import page_chars, step_tokens
from .drafts import SourceDraft, tidy
from .host import Host
from .plain import Refusal
from .report_text import about
from .run import AgentJob, run_agent
from .shelf import Shelf
from .toolbox import agent_tools, signatures
from .verification import FlawKind, Verification
from .verifier import flags_of, flaw, found, visits

if TYPE_CHECKING:
    from ..models import ChatModel

MAX_STEPS = 8
STEP_TOKENS = 2_000
SENTENCES = 60
"""Report sentences that one call of ``report_read`` gives."""
PATIENCE = 2
"""Refused answers before pointers that do not hold are dropped instead."""


class FlawDraft(BaseModel):
    """A flaw as the agent names it."""

    kind: FlawKind
    sentences: list[int] = Field(default_factory=list)
    note: str = ""

    @field_validator("kind", mode="before")
    @classmethod
    def _loosely(cls, value: Any) -> Any:
        """``circular_reasoning`` and ``Cherry picked evidence`` are meant well."""
        words = re.sub(r"[\s_-]+", " ", str(value)).strip().lower()
        return next((kind for kind in FlawKind if kind.value.replace("-", " ") == words), value)


class VerdictDraft(BaseModel):
    """The final answer of the plan verifier."""

    coherence: int = Field(ge=0, le=10)
    validity: int | None = Field(default=None, ge=0, le=10)
    flaws: list[FlawDraft] = Field(default_factory=list)
    evidence: list[SourceDraft] = Field(default_factory=list)
    reason: str = Field(min_length=1)


class ReportFind(Tool):  # type: ignore[misc]  # smolagents is untyped
    """``report_find``."""

    name = "report_find"
    description = "The report's sentences about something, numbered."
    inputs = {"about": {"type": "string", "description": "a few words"}}  # noqa: RUF012
    output_type = "string"

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def forward(self, about: str) -> Json:
        """Numbered sentences, best matches only."""
        return numbered(self._report, _about(self._report, about))


class ReportRead(Tool):  # type: ignore[misc]  # smolagents is untyped
    """``report_read``."""

    name = "report_read"
    description = "The report's sentences of these numbers."
    inputs = {  # noqa: RUF012
        "first": {"type": "integer", "description": "first number"},
        "last": {"type": "integer", "description": "last number"},
    }
    output_type = "string"

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def forward(self, first: int, last: int) -> Json:
        """Numbered sentences. Raises Refusal for what are no numbers."""
        if not isinstance(first, int) or not isinstance(last, int):
            raise Refusal("report_read takes two whole numbers")
        first = max(1, first)
        last = min(last, first + SENTENCES - 1, len(self._report.sentences))
        return numbered(self._report, list(range(first, last + 1))) if first <= last else ""


def _about(report: Report, words: str) -> list[int]:
    if not isinstance(words, str) or not words.strip():
        raise Refusal("report_find takes a text that is not empty")
    return about(report, words)


async def agent_verification(
    question: ReasoningQuestion, task: Task, report: Report, model: ChatModel, toolbox: Toolbox, sample: int
) -> Verification:
    """Let a CodeAgent carry the plan out. Raises AgentFailed, HostStop, ReplayMiss."""
    shelf = Shelf(toolbox.as_of, task_language(task))
    outside = agent_tools(toolbox, shelf, page_chars(model))

    def tools(host: Host) -> Sequence[Tool]:
        return [ReportFind(report), ReportRead(report), *outside(host)]

    job = AgentJob(
        system=_system(report, toolbox),
        task=_task(question, task),
        answer=VerdictDraft,
        check=lambda draft, attempt: [] if attempt > PATIENCE else problems_of(draft, report, shelf),
        tools=tools,
        as_of=toolbox.as_of,
        max_steps=MAX_STEPS,
        max_tokens=step_tokens(model, STEP_TOKENS),
        sample=sample,
    )
    run = await run_agent(model, job)
    return _verification(run.value, report, shelf).model_copy(update={"steps": run.steps, "calls": run.calls})


def _system(report: Report, toolbox: Toolbox) -> str:
    inside = prompts.REPORT_TOOLS.format(count=len(report.sentences))
    return prompts.AGENT_SYSTEM.format(tools=f"{inside}\n{signatures(toolbox)}", day=toolbox.as_of.day)


def _task(question: ReasoningQuestion, task: Task) -> str:
    kinds = ", ".join(f'"{kind}"' for kind in FlawKind)
    plan = question.plan.model_dump()
    return prompts.AGENT_TASK.format(query=fence(task.prompt, "query"), question=question.text, kinds=kinds, **plan)


def problems_of(draft: VerdictDraft, report: Report, shelf: Shelf) -> list[str]:
    """What is wrong with a verdict, in words for the model."""
    last = len(report.sentences)
    problems = [
        f"flaw {place}: the report has sentences 1 to {last}"
        for place, one in enumerate(draft.flaws, 1)
        if not one.sentences or any(not 1 <= number <= last for number in one.sentences)
    ]
    for place, source in enumerate(draft.evidence, 1):
        problem = shelf.problem(source.url, source.sentence)
        if problem:
            problems.append(f"evidence {place}: {problem}")
    if draft.validity is not None and not draft.evidence:
        problems.append("validity needs evidence; give [url, sentence number] of what decides it, or set it to None")
    return problems


def _verification(draft: VerdictDraft, report: Report, shelf: Shelf) -> Verification:
    pointers = [found(shelf, source.url, source.sentence, decisive=True) for source in draft.evidence]
    evidence = tuple(dict.fromkeys(one for one in pointers if one is not None))
    flaws = [flaw(report, one.kind, one.sentences, tidy(one.note)) for one in draft.flaws]
    dropped = any(lost for _, lost in flaws) or any(one is None for one in pointers)
    return Verification(
        coherence=draft.coherence,
        validity=draft.validity if evidence else None,
        flaws=tuple(found_flaw for found_flaw, _ in flaws if found_flaw.sentences),
        evidence=evidence,
        reason=tidy(draft.reason),
        queries=tuple(shelf.queries),
        pages=visits(shelf.pages, shelf),
        flags=flags_of(evidence, dropped=dropped),
    )
