"""Judges compared on the same reports, protocols and claims: do they order systems alike, do they see the same things,
who is harsher, what do they cost, and does one favour its maker's own systems.

:func:`compare_judges` returns plain data. Agreement is not truth: two judges can be wrong together; ``study human``
holds a judge against people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Literal

from pydantic import Field

from ..core import Frozen
from ..errors import UserError
from ..evaluators.results import Item
from ..stats.agreement import agreement, cohen_kappa, kappa_of, kendall_tau, krippendorff_alpha, spearman
from ..stats.data import Estimate
from ..stats.paired import ALPHA, FEWEST_TASKS, Difference, holm, paired_difference
from .pool import Key, Pool
from .spending import Spending, spending_of
from .vendors import SelfPreference, self_preference, vendors_of

SHOWN_DISAGREEMENTS = 20
ORDER = {"contradicted": -2.0, "no": -2.0, "conflicting": -0.5, "undecided": 0.0, "partly_supported": 1.0}
ORDER |= {"supported": 2.0, "yes": 2.0}
"""Outcomes from against to for: how far apart two verdicts are."""


class JudgePair(Frozen):
    """Two judges under one metric."""

    metric: str
    one: str
    other: str
    bias: Difference | None = None
    """``other - one`` in points, over tasks (mean over systems in each); None: too few tasks."""
    p_adjusted: float | None = None
    """Holm over all judge pairs and metrics."""
    mean_bias: float | None = None
    """Mean of ``other - one`` over tasks, however few."""
    tasks: int
    verdict: str
    """Who is harsher, in words."""
    kappa: Estimate | None = None
    """Cohen's kappa on item verdicts, drawn by report; None: no items with verdicts, or only one label."""
    items: int
    """Items with a verdict of both."""
    not_looked: int
    """Items that one of the two could not check: missing data, not disagreement."""
    tau: float | None = None
    """Kendall's tau-b of the order of systems by their mean."""
    rho: float | None = None
    """Spearman's of the same."""
    systems: int
    """Systems in that order; under three there is none."""
    apart: int = 0
    """Units that both judged, but by different protocols or claim lists: left out."""


class Unscored(Frozen):
    """Reports that a judge has no score for under a metric, of one reason."""

    metric: str
    judge: str
    reason: str
    units: int


class Alpha(Frozen):
    """Krippendorff's alpha of all judges on the items of a metric."""

    metric: str
    level: Literal["nominal", "interval"]
    """Verdicts are nominal, item scores (WQ, RQ, DA) interval."""
    alpha: float | None
    """None: every judge always said one and the same."""
    items: int


class Said(Frozen):
    """What one judge said of an item."""

    judge: str
    verdict: str
    reason: str = ""
    quote: str = ""
    url: str | None = None


class Disagreement(Frozen):
    """An item on which judges differ most."""

    metric: str
    task: str
    system: str
    item: str
    text: str
    distance: float
    """In [0, 1] of the widest possible."""
    said: tuple[Said, ...]


class JudgeComparison(Frozen):
    """Judges compared."""

    by: Literal["judge"] = "judge"
    runs: tuple[str, ...]
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    tasks: int
    notices: tuple[str, ...] = ()
    means: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Judge to metric to its mean over all units that every judge scored on the same basis."""
    pairs: tuple[JudgePair, ...]
    missing: tuple[Unscored, ...] = ()
    """What no judge can be compared on, by reason."""
    alphas: tuple[Alpha, ...]
    disagreements: tuple[Disagreement, ...] = ()
    spending: tuple[Spending, ...] = ()
    self_preference: tuple[SelfPreference, ...] = ()


def compare_judges(
    pool: Pool, *, vendors: Mapping[str, str] | None = None, with_thin: bool = False, seed: int = 0
) -> JudgeComparison:
    """Compare all judges of the runs.

    ``vendors``: system to the vendor of its model, where the name does not tell. Raises UserError for fewer than two
    judges.
    """
    if len(pool.judges) < 2:
        raise UserError(f"only one judge in these runs ({pool.judges[0]}): judge the reports with another one too")
    bench = _Bench(pool, with_thin, seed)
    return JudgeComparison(
        runs=tuple(str(view.path) for view in pool.views),
        judges=pool.judges,
        systems=pool.systems,
        metrics=pool.metrics,
        tasks=len(pool.tasks),
        notices=pool.notices,
        means=bench.means(),
        pairs=bench.pairs(),
        missing=bench.missing(),
        alphas=tuple(alpha for metric in pool.metrics for alpha in bench.alphas(metric)),
        disagreements=bench.disagreements(),
        spending=spending_of(pool),
        self_preference=self_preference(
            {metric: bench.scores(metric) for metric in pool.metrics},
            vendors_of(pool, vendors or {}),
            alike=bench.alike,
            seed=seed,
        ),
    )


Unit = tuple[str, str]
"""(task, system)."""


class _Bench:
    """The judges' scores and verdicts, on equal bases only."""

    def __init__(self, pool: Pool, with_thin: bool, seed: int) -> None:
        self.pool, self.with_thin, self.seed = pool, with_thin, seed

    def units(self) -> Iterator[Unit]:
        """All reports."""
        yield from self.pool.sources

    def scores(self, metric: str) -> dict[str, dict[Unit, float]]:
        """Judge to its scores."""
        found: dict[str, dict[Unit, float]] = {judge: {} for judge in self.pool.judges}
        for judge, table in found.items():
            for unit in self.units():
                score = self.pool.score(*unit, metric, judge, with_thin=self.with_thin)
                if score is not None:
                    table[unit] = score
        return found

    def missing(self) -> tuple[Unscored, ...]:
        """Every report without a score, counted by metric, judge and reason."""
        found = Counter(
            (metric, judge, reason)
            for metric in self.pool.metrics
            for judge in self.pool.judges
            for unit in self.units()
            if (reason := self.pool.why_missing(*unit, metric, judge, with_thin=self.with_thin))
        )
        return tuple(Unscored(metric=m, judge=j, reason=why, units=count) for (m, j, why), count in found.items())

    def alike(self, unit: Unit, metric: str, *judges: str) -> bool:
        """Whether the judges judged a unit by the same protocol and claim list."""
        cells = [self.pool.repeats_of(*unit, metric, judge) for judge in judges]
        return all(cells) and len({one[0].of_judges() for one in cells}) == 1

    def means(self) -> dict[str, dict[str, float]]:
        """Means over the units that all judges scored alike."""
        found: dict[str, dict[str, float]] = {judge: {} for judge in self.pool.judges}
        for metric in self.pool.metrics:
            tables = self.scores(metric)
            units = [
                unit
                for unit in self.units()
                if all(unit in table for table in tables.values()) and self.alike(unit, metric, *self.pool.judges)
            ]
            for judge, table in tables.items() if units else ():
                found[judge][metric] = sum(table[unit] for unit in units) / len(units)
        return found

    # --- two judges --------------------------------------------------------------------------------------------------

    def pairs(self) -> tuple[JudgePair, ...]:
        """Every two judges under every metric."""
        found = [
            self._pair(metric, one, other)
            for metric in self.pool.metrics
            for one, other in combinations(self.pool.judges, 2)
        ]
        tested = [number for number, pair in enumerate(found) if pair.bias is not None]
        for number, p in zip(tested, holm([pair.bias.p for pair in found if pair.bias is not None]), strict=True):
            words = _harsher(found[number], p)
            found[number] = found[number].model_copy(update={"p_adjusted": p, "verdict": words})
        return tuple(found)

    def _pair(self, metric: str, one: str, other: str) -> JudgePair:
        tables = self.scores(metric)
        both = [unit for unit in self.units() if unit in tables[one] and unit in tables[other]]
        alike = [unit for unit in both if self.alike(unit, metric, one, other)]
        ours, theirs = (_by_task({unit: tables[judge][unit] for unit in alike}) for judge in (one, other))
        bias = paired_difference(list(ours.values()), list(theirs.values()), seed=self.seed)
        gaps = [theirs[task] - ours[task] for task in ours]
        verdicts = self._verdicts(metric, one, other)
        orders = self._orders(alike, tables[one], tables[other])
        return JudgePair(
            metric=metric,
            one=one,
            other=other,
            bias=bias,
            mean_bias=sum(gaps) / len(gaps) if gaps else None,
            tasks=len(ours),
            verdict="" if bias else f"too few tasks for a test ({len(ours)} of at least {FEWEST_TASKS})",
            apart=len(both) - len(alike),
            **verdicts,
            **orders,
        )

    def _verdicts(self, metric: str, one: str, other: str) -> dict[str, object]:
        pairs, groups, not_looked = [], [], 0
        for (task, system, _), (ours, theirs) in self._items(metric, (one, other), 0).items():
            if ours is None or theirs is None:
                not_looked += (ours is None) != (theirs is None)
                continue
            pairs.append((ours, theirs))
            groups.append((task, system))
        labels = sorted({str(label) for pair in pairs for label in pair})
        known = pairs and cohen_kappa(pairs) is not None
        kappa = agreement(pairs, labels, kappa_of, groups=groups, seed=self.seed) if known else None
        return {"kappa": kappa, "items": len(pairs), "not_looked": not_looked}

    def _orders(self, units: list[Unit], one: dict[Unit, float], other: dict[Unit, float]) -> dict[str, object]:
        """Orders of the systems by their means over the tasks that all of them have."""
        systems = list(dict.fromkeys(system for _, system in units))
        tasks = [t for t in self.pool.tasks if all((t, system) in units for system in systems)]
        if len(systems) < 3 or not tasks:
            return {"systems": len(systems)}
        ours, theirs = ([sum(table[t, s] for t in tasks) / len(tasks) for s in systems] for table in (one, other))
        return {"systems": len(systems), "tau": kendall_tau(ours, theirs), "rho": spearman(ours, theirs)}

    # --- all judges --------------------------------------------------------------------------------------------------

    def _items(self, metric: str, judges: tuple[str, ...], field: int) -> dict[Key, list[object]]:
        """Item to what each judge said of it (first repeat), None for missing. ``field``: 0 verdicts, 1 values."""
        found: dict[Key, list[object]] = {}
        for unit in self.units():
            cells = {judge: self.pool.repeats_of(*unit, metric, judge) for judge in judges}
            there = [judge for judge, repeats in cells.items() if repeats]
            if len(there) < 2 or not self.alike(unit, metric, *there):
                continue
            for place, judge in enumerate(judges):
                for id, *said in cells[judge][0].items if cells[judge] else ():
                    found.setdefault((*unit, id), [None] * len(judges))[place] = said[field]
        return found

    def alphas(self, metric: str) -> list[Alpha]:
        """Of verdicts and of item scores, where the metric has them."""
        found: list[Alpha] = []
        levels: tuple[tuple[int, Literal["nominal", "interval"]], ...] = ((0, "nominal"), (1, "interval"))
        for field, level in levels:
            units = list(self._items(metric, self.pool.judges, field).values())
            rated = sum(sum(value is not None for value in unit) > 1 for unit in units)
            if rated and not (field == 1 and found):
                found.append(Alpha(metric=metric, level=level, alpha=krippendorff_alpha(units, level), items=rated))
        return found

    def disagreements(self) -> tuple[Disagreement, ...]:
        """The items on which any two judges are farthest apart, with what each says and quotes."""
        ranked: list[tuple[float, str, Key]] = []
        for metric in self.pool.metrics:
            verdicts = self._items(metric, self.pool.judges, 0)
            if any(value is not None for said in verdicts.values() for value in said):
                ranked += [(_verdict_gap(said), metric, key) for key, said in verdicts.items()]
                continue
            values = self._items(metric, self.pool.judges, 1)
            ranked += [(gap, metric, key) for key, gap in _value_gaps(values).items()]
        worst = sorted((entry for entry in ranked if entry[0] > 0), key=lambda entry: -entry[0])[:SHOWN_DISAGREEMENTS]
        details = self._details({(metric, *key) for _, metric, key in worst})
        return tuple(
            Disagreement(
                metric=metric,
                task=key[0],
                system=key[1],
                item=key[2],
                text=next((item.text for item in details[metric, *key].values()), ""),
                distance=gap,
                said=tuple(_said(judge, item) for judge, item in details[metric, *key].items()),
            )
            for gap, metric, key in worst
        )

    def _details(self, wanted: set[tuple[str, str, str, str]]) -> dict[tuple[str, str, str, str], dict[str, Item]]:
        """The items themselves, read again from the runs: they are too large to hold."""
        names = {(number, name, task): system for (task, system), (number, name) in self.pool.sources.items()}
        found: dict[tuple[str, str, str, str], dict[str, Item]] = {place: {} for place in wanted}
        for number, view in enumerate(self.pool.views) if wanted else ():
            for line in view.results():
                system = names.get((number, line.report, line.task), line.report)
                for item in line.result.items if line.repeat == 0 else ():
                    place = (line.metric, line.task, system, item.id)
                    if place in wanted:
                        found[place].setdefault(line.judge, item)
        return found


def _by_task(scores: Mapping[Unit, float]) -> dict[str, float]:
    """Mean over systems in each task."""
    tasks: dict[str, list[float]] = {}
    for (task, _), score in scores.items():
        tasks.setdefault(task, []).append(score)
    return {task: sum(values) / len(values) for task, values in tasks.items()}


def _harsher(pair: JudgePair, p: float) -> str:
    assert pair.bias is not None
    if p > ALPHA:
        return "within noise: neither is harsher"
    return f"{pair.one if pair.bias.mean > 0 else pair.other} is harsher"


def _verdict_gap(said: list[object]) -> float:
    places = [ORDER.get(str(verdict), 0.0) for verdict in said if verdict is not None]
    return (max(places) - min(places)) / 4 if len(places) > 1 else 0.0


def _value_gaps(items: Mapping[Key, list[object]]) -> dict[Key, float]:
    numbers = {key: [float(value) for value in said if isinstance(value, int | float)] for key, said in items.items()}
    seen = [value for values in numbers.values() for value in values]
    width = max(seen) - min(seen) if seen else 0
    return {key: (max(v) - min(v)) / width for key, v in numbers.items() if len(v) > 1 and width}


def _said(judge: str, item: Item) -> Said:
    evidence = item.evidence[0] if item.evidence else None
    verdict = item.outcome.value if item.outcome is not None else "" if item.value is None else f"{item.value:g}"
    return Said(
        judge=judge,
        verdict=verdict,
        reason=item.reason,
        quote=evidence.quote if evidence else "",
        url=evidence.url if evidence else None,
    )
