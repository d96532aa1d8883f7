"""Paired differences between systems, judges or runs on the same tasks, computed with what ``dream compare`` uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from ..core import Json
from ..runs.data import RunConfig
from ..stats.paired import Difference, holm, paired_difference
from .columns import Columns, rounded, visible

MOST = 96
"""Differences computed for one page; of a larger run the rest is left to ``dream compare``."""

Values = dict[tuple[str, str], float]
"""What is compared, 0–100, by what it is paired on: task, and system where systems are not what is compared."""


@dataclass(frozen=True)
class Wanted:
    """Two sides under one metric; both give their values when they are asked for."""

    by: str
    """``system``, ``judge`` or ``run``."""
    one: str
    other: str
    metric: str
    context: str
    """What is the same on both sides: the judge, for systems; empty for judges and runs."""
    first: Callable[[], Values]
    second: Callable[[], Values]


def differences_of(sides: Sequence[tuple[RunConfig, Columns]]) -> list[Json]:
    """Rows for the page: [by, one, other, metric, context, n, mean, low, high, p, least difference that would show].

    ``one`` and ``other`` are names of systems or judges, or 0 and 1 for two runs. Means are ``other - one`` in points;
    p-values are Holm-adjusted over the metrics of the same two sides. Pairs with fewer than six tasks are left out.
    """
    wanted = list(_of_runs(*sides)) if len(sides) == 2 else [*_of_systems(*sides[0]), *_of_judges(*sides[0])]
    rows: list[Json] = []
    groups: dict[tuple[str, str, str, str], list[Wanted]] = {}
    for one in wanted[:MOST]:
        groups.setdefault((one.by, one.one, one.other, one.context), []).append(one)
    for group in groups.values():
        rows += _rows(group)
    return rows


def _rows(group: Sequence[Wanted]) -> Iterator[Json]:
    found = [(wanted, difference) for wanted in group if (difference := _difference(wanted.first(), wanted.second()))]
    adjusted = holm([difference.p for _, difference in found])
    for (wanted, d), p in zip(found, adjusted, strict=True):
        place: list[Json] = [wanted.by, wanted.one, wanted.other, wanted.metric, wanted.context]
        yield [*place, d.n, rounded(d.mean), rounded(d.low), rounded(d.high), round(p, 4), rounded(d.detectable)]


def _difference(one: Values, other: Values) -> Difference | None:
    """Over tasks: the reports of a task that both sides have are averaged first, since they are not independent."""
    tasks: dict[str, list[tuple[float, float]]] = {}
    for key in one:
        if key in other:
            tasks.setdefault(key[0], []).append((one[key], other[key]))
    means = [tuple(sum(values) / len(values) for values in zip(*pairs, strict=True)) for pairs in tasks.values()]
    return paired_difference([a for a, _ in means], [b for _, b in means])


def _of_systems(config: RunConfig, columns: Columns) -> Iterator[Wanted]:
    for one, other in combinations(config.systems, 2):
        for judge in config.judges:
            for metric in config.metrics:
                sides = [partial(_values, columns, [system], metric, [judge], alone=True) for system in (one, other)]
                yield Wanted("system", visible(one), visible(other), metric, judge, sides[0], sides[1])


def _of_judges(config: RunConfig, columns: Columns) -> Iterator[Wanted]:
    for one, other in combinations(config.judges, 2):
        for metric in config.metrics:
            sides = [partial(_values, columns, config.systems, metric, [judge]) for judge in (one, other)]
            yield Wanted("judge", one, other, metric, "", sides[0], sides[1])


def _of_runs(*runs: tuple[RunConfig, Columns]) -> Iterator[Wanted]:
    """Paired by task and system; by task alone where each run has one system, whatever it is called."""
    alone = all(len(config.systems) == 1 for config, _ in runs)
    for metric in runs[0][0].metrics:
        if metric in runs[1][0].metrics:
            sides = [
                partial(_values, columns, config.systems, metric, config.judges, alone=alone)
                for config, columns in runs
            ]
            yield Wanted("run", "0", "1", metric, "", sides[0], sides[1])


def _values(
    columns: Columns, systems: Sequence[str], metric: str, judges: Sequence[str], *, alone: bool = False
) -> Values:
    """(task, system) to the mean over judges; ``alone``: the system's name does not matter."""
    found: dict[tuple[str, str], list[float]] = {}
    for system in systems:
        for judge in judges:
            for task, value in columns.by_task(system, metric, judge).items():
                found.setdefault((task, "" if alone else system), []).append(value)
    return {key: sum(values) / len(values) for key, values in found.items()}
