"""What all evaluators share: the case, the settings, how a part fails, how a report that is too long is read.

Failures. A call that failed for good, an agent that did not succeed and a job whose time is over (:data:`FAILURES`) end
just the part that needed them; what is left is scored, and coverage says that something is missing. Other ``HostStop``
errors, ``ReplayMiss`` and ``UserError`` are never held up here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar, Unpack

from ..core import AsOf, Coverage, Interval, Json, Outcome, Status, Task
from ..errors import AgentFailed, CallFailed, DeadlineReached
from ..models import ChatModel
from ..protocols.rubric import Rubric
from ..protocols.schema import Mode, Protocol
from ..reports import numbered
from ..reports.data import Claim, ClaimList, Report
from .results import LOST, Evidence, Item, MetricResult

T = TypeVar("T")

FAILURES = (CallFailed, AgentFailed, DeadlineReached)
"""What ends a part of a unit, and nothing else."""

RESERVE = 2048
"""Tokens kept free beside a report for the question and its answer (at most half of a small context)."""


@dataclass(frozen=True)
class Case:
    """One report, and what it is judged by."""

    task: Task
    report: Report
    as_of: AsOf
    protocol: Protocol | None = None
    claims: ClaimList | None = None
    rubric: Rubric | None = None
    """For point-wise quality or RACE, whichever is evaluated."""
    reference: Report | None = None
    """The report on the same task that RACE compares with."""


@dataclass(frozen=True)
class Settings:
    """How thoroughly is looked. All of it belongs to a unit's key."""

    mode: Mode = Mode.AGENT
    """How RQ's plans are carried out."""
    max_claims: int | None = None
    """Factuality and CF look at so many claims, the most important ones; None: at all."""
    queries: int = 2
    """Searches a claim, at most."""
    hits: int = 8
    """Results asked of one search."""
    pages: int = 4
    """Readable pages wanted a claim; up to twice as many are tried."""
    passages: int = 4
    """Passages labelled a claim."""
    window: int = 4
    """Sentences in a passage."""
    overlap: float = 0.0
    """A passage with a smaller share of the claim's content words is off its topic and not shown to the judge."""
    page_tokens: int = 6000
    """Of a cited page the judge sees so many tokens at most: all of it, or the passages nearest to the claims."""
    seed: int = 0
    """Of the bootstrap."""

    def fit(self, judge: ChatModel) -> Settings:
        """The same, cut down to what the judge's context holds, and the embedded judge reads in bearable time."""
        if not judge.embedded:
            return replace(self, page_tokens=min(self.page_tokens, judge.context // 2))
        return replace(
            self,
            pages=min(self.pages, 3),
            passages=min(self.passages, 3),
            window=min(self.window, 3),
            overlap=max(self.overlap, 0.3),
            page_tokens=min(self.page_tokens, 260),
        )


# --- results ---------------------------------------------------------------------------------------------------------


class Rest(TypedDict, total=False):
    """The fields of a result beside status, score and reason."""

    interval: Interval | None
    coverage: Coverage | None
    flags: tuple[str, ...]
    parts: dict[str, float | None]
    counts: dict[str, int]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Results:
    """Makes the results of one metric."""

    metric: str
    version: int

    def scored(self, score: float, **rest: Unpack[Rest]) -> MetricResult:
        """A unit with a score (0–100)."""
        return MetricResult(metric=self.metric, version=self.version, status=Status.SCORED, score=score, **rest)

    def not_applicable(self, rule: str, **rest: Unpack[Rest]) -> MetricResult:
        """A unit to which the metric does not apply, with the rule that says so."""
        return MetricResult(metric=self.metric, version=self.version, status=Status.NOT_APPLICABLE, reason=rule, **rest)

    def failed(self, reason: str, **rest: Unpack[Rest]) -> MetricResult:
        """A unit that failed, with the reason; parts that stand may be shown beside it."""
        return MetricResult(metric=self.metric, version=self.version, status=Status.FAILED, reason=reason, **rest)


def reason_of(error: Exception) -> str:
    """A failure in one line, the same in every replay."""
    if isinstance(error, CallFailed):
        return f"{error.code}: {error}"
    if isinstance(error, AgentFailed):
        return f"agent_failed ({error.state}): {error}"
    if isinstance(error, DeadlineReached):
        return f"deadline_reached: {error}"
    return f"internal: {type(error).__name__}"


def lost(id: str, text: str, error: Exception, **detail: Json) -> Item:
    """The item of a part that failed: could not check, with the reason, and to be asked again by the next start."""
    return Item(
        id=id, text=text, outcome=Outcome.NOT_CHECKED, flags=(LOST,), reason=reason_of(error), detail=dict(detail)
    )


def coverage_of(items: Sequence[Item], decided: Iterable[Outcome]) -> Coverage:
    """How many of the items ended in one of the outcomes that count as decided."""
    known = frozenset(decided)
    return Coverage(decided=sum(item.outcome in known for item in items), checked=len(items))


def flags_of(coverage: Coverage | None, *flags: str | None) -> tuple[str, ...]:
    """Flags in order, ``thin`` first where the coverage says so; None and repetitions left out."""
    thin = "thin" if coverage is not None and coverage.thin else None
    return tuple(dict.fromkeys(flag for flag in (thin, *flags) if flag))


def outcome_counts(items: Sequence[Item]) -> dict[str, int]:
    """How many items ended in each outcome that occurred, in the order of the enum."""
    counts = {str(outcome): sum(item.outcome is outcome for item in items) for outcome in Outcome}
    return {name: count for name, count in counts.items() if count}


def first_reason(items: Sequence[Item]) -> str:
    """Why the first item that could not be checked could not."""
    return next((item.reason for item in items if item.outcome is Outcome.NOT_CHECKED and item.reason), "")


# --- working together ------------------------------------------------------------------------------------------------


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results in the order given, all at the same time (limits are below, in models and tools).

    What must stop a unit or the run ends the others at once. A failure of one part (:data:`FAILURES`) lets the others
    finish, and the first failure in the order given is raised: so a replay fails in the same way, whatever came first.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await _settle(tasks)
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _settle(tasks: Sequence[asyncio.Task[T]]) -> None:
    """Wait until all are done, or one has ended in something other than a failure of its part."""
    waiting = set(tasks)
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
        for task in sorted(done, key=tasks.index):
            if not isinstance(task.exception(), FAILURES):
                task.result()


# --- reading a report ------------------------------------------------------------------------------------------------


def windows(report: Report, task: Task, judge: ChatModel) -> list[tuple[int, ...]]:
    """Sentence numbers of the stretches in which the judge can read the report: one stretch if it fits.

    The same for all metrics, so that their prompts share their heads.
    """
    everything = tuple(sentence.number for sentence in report.sentences)
    room = judge.context - min(RESERVE, judge.context // 2) - judge.count(task.prompt)
    if not everything or judge.count(numbered(report)) <= room:
        return [everything]
    parts: list[list[int]] = [[]]
    used = 0
    for number in everything:
        cost = judge.count(numbered(report, [number])) + 1
        if parts[-1] and used + cost > room:
            parts.append([])
            used = 0
        parts[-1].append(number)
        used += cost
    return [tuple(part) for part in parts]


def quotes(report: Report, numbers: Iterable[int], *, stance: str | None = None) -> tuple[Evidence, ...]:
    """The sentences with these numbers as evidence, copied from the report; numbers that do not exist are left out."""
    spans = {sentence.number: sentence.span for sentence in report.sentences}
    return tuple(
        Evidence(quote=report.text[span.start : span.end], start=span.start, end=span.end, stance=stance)
        for number in dict.fromkeys(numbers)
        if (span := spans.get(number)) is not None
    )


def check_worthy(claims: ClaimList) -> list[Claim]:
    """All claims that can be checked, in the order of the report."""
    return [claim for claim in claims.claims if claim.check_worthy]
