"""From results to what a person reads: scores by vertical with interval and coverage, worst findings, totals."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from ..core import AsOf, Coverage, Frozen, Interval, Status
from ..ledger import Totals
from ..protocols.catalogue import METRICS, Vertical
from .data import Exit, ReportRef, RunConfig, RunState, UnitResult
from .findings import Worst, worst_of
from .measured import Agreement
from .names import names_of

WORST = 5
"""Findings kept of one report and metric."""


class Score(Frozen):
    """One cell of the table."""

    metric: str
    judge: str
    repeat: int = 0
    vertical: Vertical
    status: Status
    score: float | None = None
    interval: Interval | None = None
    coverage: Coverage | None = None
    """Items decided out of items checked."""
    flags: tuple[str, ...] = ()
    parts: dict[str, float | None] = Field(default_factory=dict)
    reason: str = ""
    ranked: bool
    """False: no score, or one on too few decided items to be compared (``thin``)."""


class ReportSummary(Frozen):
    """One report of a run."""

    task: str
    report: str
    name: str = ""
    """What it is called for people: its id, ``id#task`` where several tasks have a report of this id."""
    scores: tuple[Score, ...]
    """In plan order; units that a stopped run did not reach are missing."""
    worst: tuple[Worst, ...] = ()
    expected: int
    """Units planned."""
    scored: int
    not_applicable: int
    failed: int
    coverage: float | None
    """Units scored / (expected - not applicable), in [0, 1]; None: nothing was applicable."""
    below_floor: bool
    """The run is finished, and too little of this report is scored: it is shown and not ranked."""


class Summary(Frozen):
    """A run at a glance: ``summary.json``."""

    run: str
    state: RunState
    reason: str = ""
    """Why it stopped, for a state other than finished."""
    as_of: AsOf
    judge: str
    agreement: tuple[Agreement, ...] = ()
    """How well this judge agrees with people, as far as anybody measured it."""
    reports: tuple[ReportSummary, ...]
    expected: int
    scored: int
    not_applicable: int
    failed: int
    coverage: float | None
    floor: float
    below_floor: tuple[str, ...] = ()
    """Reports whose coverage lies below the floor."""
    totals: Totals
    """Sums over the ledger's records of this run, resumed parts included."""


def summarise(
    config: RunConfig,
    lines: Sequence[UnitResult],
    totals: Totals,
    *,
    state: RunState,
    reason: str = "",
    agreement: Sequence[Agreement] = (),
) -> Summary:
    """Make the summary of what is done so far."""
    names = names_of((ref.task, ref.id) for ref in config.reports)
    reports = tuple(
        _report(
            ref,
            names[ref.task, ref.id],
            [line for line in lines if (line.task, line.report) == (ref.task, ref.id)],
            config,
            state,
        )
        for ref in config.reports
    )
    expected = sum(report.expected for report in reports)
    scored = sum(report.scored for report in reports)
    not_applicable = sum(report.not_applicable for report in reports)
    return Summary(
        run=config.run,
        state=state,
        reason=reason,
        as_of=config.as_of,
        judge=config.maker,
        agreement=tuple(agreement),
        reports=reports,
        expected=expected,
        scored=scored,
        not_applicable=not_applicable,
        failed=sum(report.failed for report in reports),
        coverage=_share(scored, expected - not_applicable),
        floor=config.floor,
        below_floor=tuple(report.name for report in reports if report.below_floor),
        totals=totals,
    )


def gate_codes(summary: Summary, gates: dict[str, float]) -> set[Exit]:
    """What ``--fail-under`` says: a score below its gate, or a gate on a metric without a score."""
    codes: set[Exit] = set()
    for report in summary.reports:
        scores = {score.metric: score.score for score in report.scores}
        for metric, least in gates.items():
            score = scores.get(metric)
            if score is None:
                codes.add(Exit.COVERAGE)
            elif score < least:
                codes.add(Exit.GATE)
    return codes


def _report(
    ref: ReportRef, name: str, lines: Sequence[UnitResult], config: RunConfig, state: RunState
) -> ReportSummary:
    statuses = [line.result.status for line in lines]
    expected, scored = len(config.metrics), statuses.count(Status.SCORED)
    not_applicable = statuses.count(Status.NOT_APPLICABLE)
    coverage = _share(scored, expected - not_applicable)
    return ReportSummary(
        task=ref.task,
        report=ref.id,
        name=name,
        scores=tuple(_score(line) for line in lines),
        worst=tuple(found for line in lines for found in worst_of(line.result)[:WORST]),
        expected=expected,
        scored=scored,
        not_applicable=not_applicable,
        failed=statuses.count(Status.FAILED),
        coverage=coverage,
        below_floor=state is RunState.FINISHED and coverage is not None and coverage < config.floor,
    )


def _score(line: UnitResult) -> Score:
    result = line.result
    thin = "thin" in result.flags
    return Score(
        metric=line.metric,
        judge=line.judge,
        repeat=line.repeat,
        vertical=METRICS[line.metric].vertical,
        status=result.status,
        score=result.score,
        interval=result.interval,
        coverage=result.coverage,
        flags=result.flags,
        parts=result.parts,
        reason=result.reason,
        ranked=result.score is not None and not thin,
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None
