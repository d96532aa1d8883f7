"""How far a score moves when nothing but chance, the protocol, the claim list or the judge changes.

The design is small: the same reports, k makings (each with its own protocol and claim lists), n repeats of each by each
judge. For every metric the variance splits into

- *repeat*: the same judge asked again about the same thing;
- *making*: another protocol (KIC, RQ), claim list (Factuality, CI) or rubric for the same report;
- *judge*: one judge is harsher than another on the same thing;
- *task*: reports of one system differ from task to task (what a comparison on the same tasks takes out).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ..core import Frozen, Status
from ..errors import UserError
from ..protocols.catalogue import METRICS
from ..runs.data import UnitResult
from ..runs.reading import RunView, open_run
from ..stats.paired import minimum_detectable, tasks_needed
from ..stats.variance import Nested, crossed, nested

Z95 = 1.959963984540054
MADE = ("protocol.", "claims", "rubric")
"""Inputs that were made for a task or report, and might have been made otherwise."""


REPEATS = 5
"""Repeats a unit that ``tasks_with_repeats`` assumes."""


class Components(Frozen):
    """Where the noise of one metric comes from. Standard deviations in points; None: this design cannot tell."""

    metric: str
    made: str
    """What differs between makings: ``protocol``, ``claims``, ``rubric``, or nothing."""
    repeat_sd: float | None
    making_sd: float | None
    judge_sd: float | None
    task_sd: float | None
    report_noise: float | None
    """Noise floor of one report's score: two scores of the same report differ by less in 95 of 100 cases."""
    system_noise: float | None
    """The same of a system's mean over the tasks of these runs."""
    difference_sd: float | None
    """Of differences between two systems from task to task, pooled; None for one system. 0, such as of a judge that
    always says the same, tells nothing of what could be seen."""
    detectable: float | None
    """The least true difference of two systems that the tasks of these runs show (80 % power)."""
    tasks_needed: int | None
    """Tasks that show the difference asked for, one scoring each (80 % power)."""
    tasks_with_repeats: int | None
    """The same with every unit judged five times and averaged."""
    values: int
    makings: int
    """Most makings that one report has."""
    repeats: int
    """Most repeats that one making has."""
    judges: int
    tasks: int


class Stability(Frozen):
    """All metrics."""

    runs: tuple[str, ...]
    difference: float
    """Points; what ``tasks_needed`` is about."""
    metrics: tuple[Components, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observation:
    """One score."""

    task: str
    system: str
    metric: str
    judge: str
    made: str
    score: float


def study_stability(paths: Sequence[Path | str], *, difference: float = 5.0) -> Stability:
    """Split the variance of the scores of finished runs on the same reports.

    Raises UserError for runs without a score, InputError for a folder without a run.
    """
    views = [open_run(path) for path in paths]
    observations, doubled = _observations(views)
    if not observations:
        raise UserError("no scores in these runs")
    names = [name for name in METRICS if any(one.metric == name for one in observations)]
    found = [_components([one for one in observations if one.metric == name], name, difference) for name in names]
    notices = [f"{doubled} scores rest on answers that another run gave already; counted once"] if doubled else []
    flat = [one.metric for one in found if one.repeat_sd == 0 and one.repeats > 1]
    if flat:
        notices.append(f"{', '.join(flat)}: every repeat is the same: this judge does not vary, or was not asked anew")
    if all(one.repeats < 2 and one.makings < 2 for one in found):
        notices.append("nothing was judged twice: run with --repeats, or make protocols and claims anew (--makings)")
    return Stability(runs=tuple(map(str, paths)), difference=difference, metrics=tuple(found), notices=tuple(notices))


def _observations(views: Sequence[RunView]) -> tuple[list[Observation], int]:
    """All scores; the same unit answered from the same ledger counts once."""
    seen: set[tuple[str, str]] = set()
    found, doubled = [], 0
    for view in views:
        for line in view.results():
            if line.result.status is not Status.SCORED or line.result.score is None:
                continue
            key = (view.config.ledger, line.unit)
            doubled += key in seen
            if key not in seen:
                seen.add(key)
                made = "/".join(str(line.inputs.get(name)) for name in _made(line))
                found.append(Observation(line.task, line.report, line.metric, line.judge, made, line.result.score))
    return found, doubled


def _made(line: UnitResult) -> Iterator[str]:
    yield from (name for name in METRICS[line.metric].inputs if name.startswith(MADE))


def _components(found: Sequence[Observation], metric: str, difference: float) -> Components:
    split = [_nested([one for one in found if (one.judge, one.system) == place]) for place in _places(found)]
    repeat, making, task = (_mean([getattr(one, name) for one in split]) for name in ("within", "parts", "wholes"))
    tasks = len({one.task for one in found})
    noise = None if repeat is None and making is None else (repeat or 0.0) + (making or 0.0)
    gaps = _gap_variance(found)
    inputs = METRICS[metric].inputs
    made = next((name.removesuffix(".") for name in MADE if any(i.startswith(name) for i in inputs)), "")
    per_made = Counter((one.task, one.system, one.judge, one.made) for one in found)
    per_report = Counter(place[:3] for place in per_made)
    steadier = None if gaps is None or not repeat else max(0.0, gaps - 2 * repeat * (1 - 1 / REPEATS))
    return Components(
        metric=metric,
        made=made,
        repeat_sd=_root(repeat),
        making_sd=_root(making) if made else None,
        judge_sd=_root(_judges(found)),
        task_sd=_root(task),
        report_noise=None if noise is None else Z95 * math.sqrt(2 * noise),
        system_noise=None if noise is None else Z95 * math.sqrt(2 * noise / tasks),
        difference_sd=_root(gaps),
        detectable=None if not gaps or tasks < 2 else minimum_detectable(math.sqrt(gaps), tasks),
        tasks_needed=None if not gaps else tasks_needed(math.sqrt(gaps), difference),
        tasks_with_repeats=None if not gaps or steadier is None else tasks_needed(math.sqrt(steadier), difference),
        values=len(found),
        makings=max(per_report.values()),
        repeats=max(per_made.values()),
        judges=len({one.judge for one in found}),
        tasks=tasks,
    )


def _places(found: Sequence[Observation]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((one.judge, one.system) for one in found))


def _nested(found: Sequence[Observation]) -> Nested:
    table: dict[str, dict[str, list[float]]] = {}
    for one in found:
        table.setdefault(one.task, {}).setdefault(one.made, []).append(one.score)
    return nested(table)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _judges(found: Sequence[Observation]) -> float | None:
    """Variance between judges on the same reports and makings."""
    cells: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for one in found:
        cells.setdefault((one.task, one.system, one.made), {}).setdefault(one.judge, []).append(one.score)
    judges = sorted({one.judge for one in found})
    rows = [[sum(cell[j]) / len(cell[j]) for j in judges] for cell in cells.values() if len(cell) == len(judges)]
    split = crossed(rows) if rows else None
    return None if split is None else split.raters


def _gap_variance(found: Sequence[Observation]) -> float | None:
    """Variance of the difference of two systems from task to task, one scoring each, pooled over pairs and judges."""
    shared = "claims" not in METRICS[found[0].metric].inputs
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for one in found:
        cells.setdefault((one.judge, one.task, one.made if shared else ""), {}).setdefault(one.system, one.score)
    groups: dict[tuple[str, str, str], list[float]] = {}
    for (judge, _, _), scores in cells.items():
        for one_system, other in combinations(sorted(scores), 2):
            groups.setdefault((judge, one_system, other), []).append(scores[other] - scores[one_system])
    variances = [_variance(gaps) for gaps in groups.values() if len(gaps) > 1]
    return _mean(variances)


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)
