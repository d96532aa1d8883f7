"""Finished runs laid side by side: every unit once, with what decides whether two of them may be compared.

Only what a comparison needs is held: no reports, no pages, and of the items their outcome and value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..core import Outcome, Status, Task
from ..errors import InputError
from ..protocols.catalogue import METRICS
from ..runs.data import UnitResult
from ..runs.reading import RunView, open_run

OF_THE_REPORT = frozenset({"report", "claims", "citations"})
"""Inputs that are a report's own; all others must be the same for two systems on one task to be compared."""

Place = tuple[str, str, str, str, int]
"""(task, system, metric, judge, repeat)."""
Key = tuple[str, str, str]
"""(task, system, item id)."""


@dataclass(frozen=True)
class Cell:
    """One unit as it is compared."""

    status: Status
    score: float | None
    thin: bool
    """Too few items decided: shown and not compared (METRICS 0)."""
    reason: str
    """Why there is no score."""
    basis: tuple[tuple[str, str], ...]
    """Name and digest of what it was judged by."""
    items: tuple[tuple[str, str | None, float | None], ...]
    """(id, outcome, value); the outcome is None where nothing could be looked at."""
    unit: str
    run: int
    """Number of its run."""

    def missing(self, *, with_thin: bool = False) -> str:
        """Why it cannot be compared; empty: it can."""
        if self.status is Status.NOT_APPLICABLE:
            return f"not applicable: {self.reason}"
        if self.score is None:
            return f"failed: {self.reason}"
        return "" if with_thin or not self.thin else "thin: too few items decided"

    def of_systems(self) -> tuple[tuple[str, str], ...]:
        """The part of the basis that must agree between two systems on one task."""
        return tuple(entry for entry in self.basis if entry[0] not in OF_THE_REPORT)

    def of_judges(self) -> tuple[tuple[str, str], ...]:
        """The part of the basis that must agree between two judges on one report."""
        return tuple(entry for entry in self.basis if entry[0] != "maker of claims")


@dataclass(frozen=True)
class Pool:
    """Several runs as one table."""

    views: tuple[RunView, ...]
    tasks: dict[str, Task]
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: dict[Place, Cell]
    sources: dict[tuple[str, str], tuple[int, str]]
    """(task, system) to the run that holds the report, and the system's name there."""
    floor: float
    """Least share of tasks with a score for a rank, in [0, 1]."""
    notices: tuple[str, ...] = ()
    """What must be known before any figure is read."""
    repeats: int = 1

    @cached_property
    def _by_judge(self) -> dict[tuple[str, str, str, str], tuple[Cell, ...]]:
        found: dict[tuple[str, str, str, str], list[tuple[int, Cell]]] = {}
        for (task, system, metric, judge, repeat), cell in self.cells.items():
            found.setdefault((task, system, metric, judge), []).append((repeat, cell))
        return {
            place: tuple(cell for _, cell in sorted(cells, key=lambda one: one[0])) for place, cells in found.items()
        }

    def repeats_of(self, task: str, system: str, metric: str, judge: str) -> tuple[Cell, ...]:
        """All repeats of a unit, in order; empty where none was reached."""
        return self._by_judge.get((task, system, metric, judge), ())

    def why_missing(self, task: str, system: str, metric: str, judge: str, *, with_thin: bool = False) -> str:
        """Why a system has no score on a task; empty: it has one."""
        cells = self.repeats_of(task, system, metric, judge)
        if cells:
            reasons = [cell.missing(with_thin=with_thin) for cell in cells]
            return "" if "" in reasons else reasons[0]
        return "not reached" if (task, system) in self.sources else "no report"

    def score(self, task: str, system: str, metric: str, judge: str, *, with_thin: bool = False) -> float | None:
        """Mean score over the repeats that can be compared; None where none can."""
        cells = self.repeats_of(task, system, metric, judge)
        scores = [cell.score for cell in cells if not cell.missing(with_thin=with_thin) and cell.score is not None]
        return sum(scores) / len(scores) if scores else None


@dataclass
class _Gathering:
    """A pool in the making."""

    views: list[RunView] = field(default_factory=list)
    tasks: dict[str, Task] = field(default_factory=dict)
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    cells: dict[Place, Cell] = field(default_factory=dict)
    sources: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def add(self, view: RunView) -> None:
        number = len(self.views)
        self.views.append(view)
        for task in view.config.tasks:
            known = self.tasks.setdefault(task.id, task)
            if known.prompt.strip() != task.prompt.strip():
                raise InputError(f"task {task.id!r} asks something else here than in an earlier run", path=view.path)
        rename = self._names(view)
        for ref in view.config.reports:
            self.digests[ref.task, rename(ref.id)] = ref.digest
            self.sources.setdefault((ref.task, rename(ref.id)), (number, ref.id))
        self._take(view, number, rename)

    def _names(self, view: RunView) -> Callable[[str], str]:
        """Systems of one name with other reports are others: they get the run's name too."""
        refs = view.config.reports
        clash = {ref.id for ref in refs if self.digests.get((ref.task, ref.id), ref.digest) != ref.digest}
        if clash:
            listed = ", ".join(sorted(clash))
            self.notices.append(f"{view.path}: its reports by {listed} are others than in an earlier run; named apart")
        return lambda name: f"{name} ({view.path.name})" if name in clash else name

    def _take(self, view: RunView, number: int, rename: Callable[[str], str]) -> None:
        doubled, reached = 0, 0
        for line in view.results():
            reached += 1
            place = (line.task, rename(line.report), line.metric, line.judge, line.repeat)
            cell = cell_of(line, number, view.config.maker)
            known = self.cells.setdefault(place, cell)
            doubled += known is not cell and known.unit != cell.unit
        config = view.config
        planned = len(config.reports) * len(config.metrics) * len(config.judges) * config.repeats
        if reached < planned and config.shard is None:
            self.notices.append(f"{view.path}: this run is not finished ({reached} of {planned} units)")
        if doubled:
            self.notices.append(
                f"{view.path}: {doubled} units are in an earlier run too, under other conditions; left out"
            )


def pool_runs(paths: Sequence[Path | str], *, floor: float | None = None) -> Pool:
    """Read finished runs and lay them side by side.

    A unit that is in several runs counts once, from the first. Raises InputError for a folder that holds no run, and
    where two runs mean different queries by one task id.
    """
    gathering = _Gathering()
    for path in paths:
        gathering.add(open_run(path))
    configs = [view.config for view in gathering.views]
    used = {place[2] for place in gathering.cells}
    return Pool(
        views=tuple(gathering.views),
        tasks=gathering.tasks,
        systems=_once(system for _, system in gathering.sources),
        judges=_once(judge for config in configs for judge in config.judges),
        metrics=tuple(name for name in METRICS if name in used or any(name in config.metrics for config in configs)),
        cells=gathering.cells,
        sources=gathering.sources,
        floor=max(config.floor for config in configs) if floor is None else floor,
        notices=(*gathering.notices, *_differences(gathering.views)),
        repeats=max(config.repeats for config in configs),
    )


def cell_of(line: UnitResult, run: int, maker: str) -> Cell:
    """A unit as it is compared."""
    result, wanted = line.result, (*METRICS[line.metric].inputs, "version")
    basis = {name: str(line.inputs.get(name)) for name in wanted}
    if "claims" in basis:
        basis["maker of claims"] = maker
    return Cell(
        status=result.status,
        score=result.score,
        thin="thin" in result.flags,
        reason=result.reason,
        basis=tuple(basis.items()),
        items=tuple((item.id, _verdict(item.outcome), item.value) for item in result.items),
        unit=line.unit,
        run=run,
    )


def _verdict(outcome: Outcome | None) -> str | None:
    """Undecided is a verdict; could-not-check is none."""
    return None if outcome is None or outcome is Outcome.NOT_CHECKED else outcome.value


def _differences(views: Sequence[RunView]) -> list[str]:
    """What the runs do not have in common although results depend on it."""
    configs = [view.config for view in views]
    asked = {
        "as-of dates": {config.as_of.day.isoformat() for config in configs},
        "search back ends": {", ".join(config.search_digests) or "none" for config in configs},
        "numbers of claims checked": {str(config.max_claims or "all") for config in configs},
        "modes": {config.mode.value for config in configs},
    }
    return [
        f"the runs differ in their {name}: {' / '.join(sorted(seen))}" for name, seen in asked.items() if len(seen) > 1
    ]


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
