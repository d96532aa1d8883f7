"""From results to what a person reads: scores by vertical with interval and coverage, worst findings, totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from ..core import AsOf, Coverage, Frozen, Interval, Status
from ..ledger import Totals
from ..protocols.catalogue import METRICS, Vertical
from ..stats import mean
from .data import Exit, RunConfig, RunState, UnitResult
from .findings import Worst, worst_of
from .measured import Agreement
from .names import Place, names_of

WORST = 5
"""Findings kept of one report and metric."""
MOST_WORST = 2000
"""Findings kept in all, about, where there are many reports."""


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


class SystemScore(Frozen):
    """A system by one metric and judge, over all tasks of the run."""

    system: str
    metric: str
    judge: str
    score: float | None
    """Mean over tasks of the mean over repeats, thin scores left out; None: no task has another one."""
    interval: Interval | None = None
    """Bootstrap over tasks (:func:`..stats.paired.mean_interval`); None for fewer tasks than that takes."""
    scored: int
    """Tasks whose score counts."""
    expected: int
    """Tasks of the run, those apart to which the metric does not apply. A task without a report counts."""
    thin: int = 0
    """Tasks left out, since their score rests on too few decided items."""
    thin_score: float | None = None
    """The mean over those, where there is nothing else: shown, and not ranked."""

    @property
    def shown(self) -> float | None:
        """What a person sees, and what a gate looks at."""
        return self.thin_score if self.score is None else self.score


class Summary(Frozen):
    """A run at a glance: ``summary.json``."""

    run: str
    state: RunState
    reason: str = ""
    """Why it stopped, for a state other than finished."""
    as_of: AsOf
    judges: tuple[str, ...]
    """The first one is the maker."""
    repeats: int = 1
    agreement: tuple[Agreement, ...] = ()
    """How well these judges agree with people, as far as anybody measured it."""
    systems: tuple[SystemScore, ...] = ()
    """Systems in the order of the run, metrics as in the catalogue, judges as given."""
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
    lines: Iterable[UnitResult],
    totals: Totals,
    *,
    state: RunState,
    reason: str = "",
    agreement: Sequence[Agreement] = (),
) -> Summary:
    """Make the summary of what is done so far; ``lines`` are looked at one after another and not held."""
    every = names_of((ref.task, ref.id) for ref in config.reports)
    names = {(ref.task, ref.id): every[ref.task, ref.id] for ref in config.mine}
    scores: dict[Place, list[Score]] = {place: [] for place in names}
    worst: dict[Place, list[Worst]] = {place: [] for place in names}
    kept = worst_kept(len(config.reports) * len(config.metrics))
    for line in lines:
        place = (line.task, line.report)
        scores[place].append(_score(line))
        if line.judge == config.maker and not line.repeat:
            worst[place] += worst_of(line.result)[:kept]
    reports = tuple(
        _report(place, name, scores[place], tuple(worst[place]), config, state) for place, name in names.items()
    )
    expected = sum(report.expected for report in reports)
    scored = sum(report.scored for report in reports)
    not_applicable = sum(report.not_applicable for report in reports)
    return Summary(
        run=config.run,
        state=state,
        reason=reason,
        as_of=config.as_of,
        judges=config.judges,
        repeats=config.repeats,
        agreement=tuple(agreement),
        systems=tuple(_systems(config, reports)),
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


def worst_kept(cells: int) -> int:
    """Findings kept of one report and metric: :data:`WORST`, and fewer where there are many reports."""
    return max(1, min(WORST, MOST_WORST // max(1, cells)))


def _systems(config: RunConfig, reports: Sequence[ReportSummary]) -> Iterator[SystemScore]:
    places = [(metric, judge) for metric in METRICS if metric in config.metrics for judge in config.judges]
    for system in config.systems:
        own = [report for report in reports if report.report == system]
        cells: dict[tuple[str, str], dict[str, list[Score]]] = {place: {} for place in places}
        for report in own:
            for score in report.scores:
                cells[score.metric, score.judge].setdefault(report.task, []).append(score)
        for (metric, judge), by_task in cells.items():
            yield _system(system, metric, judge, by_task, len({ref.task for ref in config.mine}))


def _system(system: str, metric: str, judge: str, by_task: dict[str, list[Score]], tasks: int) -> SystemScore:
    solid: list[float] = []
    thin: list[float] = []
    for scores in by_task.values():
        known = [score for score in scores if score.score is not None]
        ranked = [score for score in known if score.ranked]
        if known:
            (solid if ranked else thin).append(mean([score.score or 0.0 for score in ranked or known]))
    apart = sum(all(score.status is Status.NOT_APPLICABLE for score in scores) for scores in by_task.values())
    return SystemScore(
        system=system,
        metric=metric,
        judge=judge,
        score=mean(solid) if solid else None,
        interval=_interval(solid),
        scored=len(solid),
        expected=tasks - apart,
        thin=len(thin),
        thin_score=mean(thin) if thin and not solid else None,
    )


def _interval(means: Sequence[float]) -> Interval | None:
    if len(means) < 2:
        return None
    from ..stats.paired import mean_interval

    found = mean_interval(means)
    if found.low is None or found.high is None:
        return None
    return Interval(low=found.low, high=found.high, kind="bootstrap")


def gate_codes(summary: Summary, gates: Mapping[str, float]) -> set[Exit]:
    """What ``--fail-under`` says of every system, judge by judge: its mean over tasks lies below the gate, or there is
    a gate on a metric without a score."""
    codes: set[Exit] = set()
    for cell in summary.systems:
        least = gates.get(cell.metric)
        if least is not None:
            codes |= {Exit.COVERAGE} if cell.shown is None else {Exit.GATE} if cell.shown < least else set()
    missing = gates.keys() - {cell.metric for cell in summary.systems}
    return codes | ({Exit.COVERAGE} if missing else set())


def _report(
    place: Place, name: str, scores: Sequence[Score], worst: tuple[Worst, ...], config: RunConfig, state: RunState
) -> ReportSummary:
    statuses = [score.status for score in scores]
    expected = len(config.metrics) * len(config.judges) * config.repeats
    scored, not_applicable = statuses.count(Status.SCORED), statuses.count(Status.NOT_APPLICABLE)
    coverage = _share(scored, expected - not_applicable)
    return ReportSummary(
        task=place[0],
        report=place[1],
        name=name,
        scores=tuple(scores),
        worst=worst,
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
