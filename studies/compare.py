"""Systems compared on the same tasks, by one judge: what can be said, how surely, and what could not be compared.

:func:`compare_systems` returns plain data; ``cli/comparing.py`` and the viewer show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from pydantic import Field

from ..core import Frozen
from ..errors import UserError
from ..protocols.catalogue import METRICS, Vertical
from ..stats.agreement import kendall_tau
from ..stats.data import Estimate
from ..stats.paired import ALPHA, FEWEST_TASKS, Difference, Rank, holm, mean_interval, paired_difference, ranks
from .lengths import Correlation, Lengths, correlate, lengths_of
from .pool import Pool


class Missing(Frozen):
    """A task on which a system has no score that can be compared."""

    task: str
    reason: str


class SystemScore(Frozen):
    """One system under one metric."""

    system: str
    metric: str
    mean: Estimate | None
    """Over the tasks with a score; None: there is none."""
    coverage: float | None
    """Tasks with a score / (all tasks - not applicable), in [0, 1]; None: nothing was applicable."""
    missing: tuple[Missing, ...] = ()
    """Every task without one, by name."""
    rank: Rank | None = None
    unranked: str = ""
    """Why there is no rank."""


class SystemPair(Frozen):
    """Two systems under one metric, on the tasks that both have."""

    metric: str
    one: str
    other: str
    n: int
    """Tasks that both have, judged by the same protocol."""
    difference: Difference | None = None
    """``other - one``, points; None: too few tasks."""
    p_adjusted: float | None = None
    """Holm over all tests of the comparison."""
    verdict: str
    """In words."""
    left_out: tuple[Missing, ...] = ()
    """Tasks that only one of the two has, or that were judged by different protocols."""


class Slice(Frozen):
    """One system on a part of the tasks, or over the metrics of a vertical."""

    by: Literal["topic", "language", "vertical"]
    value: str
    system: str
    metric: str
    """Empty for a vertical: the mean of its metrics, on tasks where the system has all of them."""
    mean: Estimate


class Order(Frozen):
    """How far two metrics put the systems in the same order."""

    one: str
    other: str
    tau: float | None
    """Kendall's tau-b; None: a metric has the same mean for all."""
    systems: int


class SystemComparison(Frozen):
    """Systems compared by one judge."""

    by: Literal["system"] = "system"
    runs: tuple[str, ...]
    judge: str
    judges: tuple[str, ...]
    """All judges of the runs; the others have their own comparison."""
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    tasks: int
    floor: float
    repeats: int
    notices: tuple[str, ...] = ()
    scores: tuple[SystemScore, ...]
    pairs: tuple[SystemPair, ...]
    slices: tuple[Slice, ...] = ()
    lengths: tuple[Lengths, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    orders: tuple[Order, ...] = ()
    tests: int = Field(ge=0)
    """Tests made, all corrected together."""

    def score(self, system: str, metric: str) -> SystemScore:
        """The score of a system under a metric. Raises KeyError."""
        for score in self.scores:
            if (score.system, score.metric) == (system, metric):
                return score
        raise KeyError((system, metric))


def compare_systems(
    pool: Pool, *, judge: str | None = None, with_thin: bool = False, seed: int = 0
) -> SystemComparison:
    """Compare all systems of the runs by one judge (default: the first).

    ``with_thin``: compare scores on too few decided items too. Means, differences and intervals are points of 0–100.
    Raises UserError for a judge that is not in the runs.
    """
    chosen = pool.judges[0] if judge is None else judge
    if chosen not in pool.judges:
        raise UserError(f"no judge {chosen!r} in these runs: {', '.join(pool.judges)}")
    board = _Board(pool, chosen, with_thin, seed)
    pairs = board.pairs()
    lengths, by_report = lengths_of(pool)
    return SystemComparison(
        runs=tuple(str(view.path) for view in pool.views),
        judge=chosen,
        judges=pool.judges,
        systems=pool.systems,
        metrics=pool.metrics,
        tasks=len(pool.tasks),
        floor=pool.floor,
        repeats=pool.repeats,
        notices=(*pool.notices, *board.notices()),
        scores=tuple(score for metric in pool.metrics for score in board.scores(metric)),
        pairs=pairs,
        slices=(*board.slices("topic"), *board.slices("language"), *board.verticals()),
        lengths=lengths,
        correlations=correlate(by_report, {metric: board.table(metric) for metric in pool.metrics}, seed=seed),
        orders=board.orders(),
        tests=sum(pair.difference is not None for pair in pairs),
    )


class _Board:
    """The scores of one judge, and what is asked of them."""

    def __init__(self, pool: Pool, judge: str, with_thin: bool, seed: int) -> None:
        self.pool, self.judge, self.with_thin, self.seed = pool, judge, with_thin, seed
        self._tables = {metric: self._read(metric) for metric in pool.metrics}
        self._means = {(s, m): _mean(self._tables[m], s) for s in pool.systems for m in pool.metrics}

    def _read(self, metric: str) -> dict[tuple[str, str], float]:
        places = [(task, system) for task in self.pool.tasks for system in self.pool.systems]
        found = {place: self.pool.score(*place, metric, self.judge, with_thin=self.with_thin) for place in places}
        return {place: score for place, score in found.items() if score is not None}

    def table(self, metric: str) -> dict[tuple[str, str], float]:
        """(task, system) to score."""
        return self._tables[metric]

    def _basis(self, task: str, system: str, metric: str) -> tuple[tuple[str, str], ...]:
        cells = self.pool.repeats_of(task, system, metric, self.judge)
        return cells[0].of_systems() if cells else ()

    # --- one system --------------------------------------------------------------------------------------------------

    def scores(self, metric: str) -> list[SystemScore]:
        """All systems under a metric, with ranks where they may have one."""
        plain = [self._score(system, metric) for system in self.pool.systems]
        fit = [score.system for score in plain if not score.unranked]
        if len(fit) == 1:
            why = "no other system may be ranked"
            return [score if score.unranked else score.model_copy(update={"unranked": why}) for score in plain]
        tasks = self._common(fit, metric)
        places = ranks([[self._tables[metric][t, s] for t in tasks] for s in fit], seed=self.seed) if fit else None
        if places is None:
            why = f"too few tasks that all ranked systems have ({len(tasks)} of at least {FEWEST_TASKS})"
            return [score if score.unranked else score.model_copy(update={"unranked": why}) for score in plain]
        by_name = dict(zip(fit, places, strict=True))
        return [score.model_copy(update={"rank": by_name.get(score.system)}) for score in plain]

    def _score(self, system: str, metric: str) -> SystemScore:
        values = [self._tables[metric][t, system] for t in self.pool.tasks if (t, system) in self._tables[metric]]
        missing = self._missing(system, metric)
        applicable = len(self.pool.tasks) - sum(one.reason.startswith("not applicable") for one in missing)
        coverage = len(values) / applicable if applicable else None
        below = coverage is None or coverage < self.pool.floor
        return SystemScore(
            system=system,
            metric=metric,
            mean=mean_interval(values, seed=self.seed) if values else None,
            coverage=coverage,
            missing=missing,
            unranked="" if not below else "nothing applicable" if coverage is None else "below the coverage floor",
        )

    def _missing(self, system: str, metric: str) -> tuple[Missing, ...]:
        reasons = {
            task: self.pool.why_missing(task, system, metric, self.judge, with_thin=self.with_thin)
            for task in self.pool.tasks
        }
        return tuple(Missing(task=task, reason=reason) for task, reason in reasons.items() if reason)

    def _common(self, systems: Sequence[str], metric: str) -> list[str]:
        """Tasks that all of these systems have, judged by the same protocol."""
        table = self._tables[metric]
        return [
            task
            for task in self.pool.tasks
            if all((task, system) in table for system in systems)
            and len({self._basis(task, system, metric) for system in systems}) == 1
        ]

    # --- two systems -------------------------------------------------------------------------------------------------

    def pairs(self) -> tuple[SystemPair, ...]:
        """Every two systems under every metric, all tests corrected together."""
        found = [
            self._pair(metric, one, other)
            for metric in self.pool.metrics
            for one, other in combinations(self.pool.systems, 2)
        ]
        tested = [number for number, pair in enumerate(found) if pair.difference is not None]
        adjusted = holm([pair.difference.p for pair in found if pair.difference is not None])
        for number, p in zip(tested, adjusted, strict=True):
            words = _in_words(found[number], p)
            found[number] = found[number].model_copy(update={"p_adjusted": p, "verdict": words})
        return tuple(found)

    def _pair(self, metric: str, one: str, other: str) -> SystemPair:
        table, tasks = self._tables[metric], self._common((one, other), metric)
        either = [task for task in self.pool.tasks if (task, one) in table or (task, other) in table]
        left_out = tuple(self._why_apart(task, one, other, metric) for task in either if task not in tasks)
        difference = paired_difference([table[t, one] for t in tasks], [table[t, other] for t in tasks], seed=self.seed)
        verdict = "" if difference is not None else _too_few(len(tasks), left_out)
        return SystemPair(
            metric=metric, one=one, other=other, n=len(tasks), difference=difference, verdict=verdict, left_out=left_out
        )

    def _why_apart(self, task: str, one: str, other: str, metric: str) -> Missing:
        for system in (one, other):
            reason = self.pool.why_missing(task, system, metric, self.judge, with_thin=self.with_thin)
            if reason:
                return Missing(task=task, reason=f"{system}: {reason}")
        ours, theirs = (dict(self._basis(task, system, metric)) for system in (one, other))
        names = [name for name in ours if ours[name] != theirs.get(name)]
        return Missing(task=task, reason=f"not judged alike: other {', '.join(names)}")

    # --- parts and wholes --------------------------------------------------------------------------------------------

    def slices(self, by: Literal["topic", "language"]) -> list[Slice]:
        """Means on the tasks of each topic or language; nothing where all tasks have the same, or none."""
        groups: dict[str, list[str]] = {}
        for task in self.pool.tasks.values():
            groups.setdefault(getattr(task, by) or "none given", []).append(task.id)
        if len(groups) < 2:
            return []
        return [
            Slice(by=by, value=value, system=system, metric=metric, mean=mean_interval(scores, seed=self.seed))
            for value, tasks in groups.items()
            for metric, table in self._tables.items()
            for system in self.pool.systems
            if (scores := [table[task, system] for task in tasks if (task, system) in table])
        ]

    def verticals(self) -> list[Slice]:
        """Means over the metrics of each vertical, on tasks where the system has all of them."""
        found = []
        for vertical in Vertical:
            names = [name for name in self.pool.metrics if METRICS[name].vertical is vertical]
            for system in self.pool.systems if names else ():
                whole = [t for t in self.pool.tasks if all((t, system) in self._tables[name] for name in names)]
                scores = [sum(self._tables[name][t, system] for name in names) / len(names) for t in whole]
                if scores:
                    mean = mean_interval(scores, seed=self.seed)
                    found.append(Slice(by="vertical", value=vertical.value, system=system, metric="", mean=mean))
        return found

    def orders(self) -> tuple[Order, ...]:
        """Which metrics agree on the order of the systems; nothing for fewer than three systems."""
        found = []
        for one, other in combinations(self.pool.metrics, 2):
            both = [s for s in self.pool.systems if None not in (self._means[s, one], self._means[s, other])]
            if len(both) > 2:
                tau = kendall_tau(
                    [self._means[s, one] or 0.0 for s in both], [self._means[s, other] or 0.0 for s in both]
                )
                found.append(Order(one=one, other=other, tau=tau, systems=len(both)))
        return tuple(found)

    def notices(self) -> list[str]:
        """Metrics that tell no two systems apart, and protocols that differ."""
        flat = [m for m in self.pool.metrics if len(self._tables[m]) > 1 and len(set(self._tables[m].values())) == 1]
        found = [f"{self.judge} gave every report the same score for {', '.join(flat)}: it does not tell them apart"]
        return found if flat else []


def _mean(table: dict[tuple[str, str], float], system: str) -> float | None:
    scores = [score for (_, name), score in table.items() if name == system]
    return round(sum(scores) / len(scores), 9) if scores else None


def _too_few(n: int, left_out: Sequence[Missing]) -> str:
    apart = sum(one.reason.startswith("not judged alike") for one in left_out)
    because = f"; {apart} not judged alike" if apart else ""
    return f"too few tasks for a test ({n} of at least {FEWEST_TASKS}{because})"


def _in_words(pair: SystemPair, p: float) -> str:
    difference = pair.difference
    assert difference is not None
    if p > ALPHA:
        return "within noise"
    return f"{pair.other if difference.mean > 0 else pair.one} is higher"
