"""How long reports are and how much they claim, and whether a metric just follows that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from ..core import Frozen
from ..reports.parse import word_count
from ..runs.reading import RunView
from ..stats.data import Estimate
from ..stats.paired import FEWEST_TASKS, mean_interval
from ..stats.resampling import DRAWS, resampled_counts
from .pool import Pool

MEASURES = ("words", "sentences", "citations", "sources", "claims")
"""``claims`` are check-worthy claims, as far as a claim list was made."""

ByReport = dict[str, dict[tuple[str, str], float]]
"""Measure to (task, system) to value."""


class Lengths(Frozen):
    """One measure of one system's reports."""

    system: str
    measure: str
    mean: Estimate


class Correlation(Frozen):
    """Whether reports that have more of something score higher."""

    metric: str
    measure: str
    rho: Estimate
    """Spearman's, over reports; within tasks where several systems have a report on a task. ``n``: reports."""


def lengths_of(pool: Pool) -> tuple[tuple[Lengths, ...], ByReport]:
    """Lengths of each system and of the whole bench (system ``""``), and the values by report."""
    by_report: ByReport = {measure: {} for measure in MEASURES}
    for place, measures in _measured(pool):
        for name, value in measures.items():
            by_report[name][place] = value
    found = [
        Lengths(system=system, measure=measure, mean=mean_interval(values))
        for system in (*pool.systems, "")
        for measure, table in by_report.items()
        if (values := [value for (_, name), value in table.items() if system in ("", name)])
    ]
    return tuple(found), by_report


def _measured(pool: Pool) -> Iterator[tuple[tuple[str, str], dict[str, float]]]:
    claims = [_claim_counts(view) for view in pool.views]
    for (task, system), (number, name) in pool.sources.items():
        report = pool.views[number].report(task, name)
        found: dict[str, float] = {
            "words": sum(word_count(sentence.text) for sentence in report.sentences),
            "sentences": len(report.sentences),
            "citations": len(report.marks),
            "sources": len(report.sources),
        }
        if (task, name) in claims[number]:
            found["claims"] = claims[number][task, name]
        yield (task, system), found


def _claim_counts(view: RunView) -> dict[tuple[str, str], int]:
    """(task, system) to check-worthy claims, from the first unit that rests on a claim list."""
    found: dict[tuple[str, str], int] = {}
    for line in view.results():
        if line.inputs.get("claims") is None or (line.task, line.report) in found:
            continue
        claims = view.claims(line)
        if claims is not None:
            listed = sum(claim.check_worthy for claim in claims.claims)
            found[line.task, line.report] = claims.selected_from or listed
    return found


def correlate(
    by_report: ByReport, tables: Mapping[str, Mapping[tuple[str, str], float]], *, seed: int = 0
) -> tuple[Correlation, ...]:
    """Every measure with every metric; nothing for fewer than six reports or where one of the two never varies."""
    found = []
    for metric, scores in tables.items():
        for measure, values in by_report.items():
            rho = rank_correlation(values, scores, seed=seed)
            if rho is not None:
                found.append(Correlation(metric=metric, measure=measure, rho=rho))
    return tuple(found)


def rank_correlation(
    one: Mapping[tuple[str, str], float], other: Mapping[tuple[str, str], float], *, seed: int = 0
) -> Estimate | None:
    """Spearman's rho over (task, system) that both have, each less its task's mean (tasks with one report are left
    out) where any task has several.

    The interval is a percentile bootstrap over tasks, the ranks kept; none under six tasks. None for fewer than six
    reports, or where nothing varies.
    """
    from scipy import stats

    places = [place for place in one if place in other]
    counts = Counter(task for task, _ in places)
    if max(counts.values(), default=0) > 1:
        places = [place for place in places if counts[place[0]] > 1]
    if len(places) < FEWEST_TASKS:
        return None
    tasks = list(dict.fromkeys(task for task, _ in places))
    group = np.array([tasks.index(task) for task, _ in places])
    x, y = (_within(np.array([table[place] for place in places], dtype=float), group) for table in (one, other))
    if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return None
    ranked = np.array([stats.rankdata(np.round(values, 9)) for values in (x, y)])
    a, b = (ranked - ranked.mean(1, keepdims=True)) / ranked.std(1, keepdims=True)
    moments = np.zeros((len(tasks), 6))
    np.add.at(moments, group, np.stack([np.ones_like(a), a, b, a * a, b * b, a * b], axis=1))
    value = float((a * b).mean())
    if len(tasks) < FEWEST_TASKS:
        return Estimate(value=value, n=len(places))
    drawn = _correlation(resampled_counts(len(tasks), seed=seed, draws=DRAWS) @ moments)
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return Estimate(value=value, low=float(low), high=float(high), n=len(places))


def _within(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Values less the mean of their task, unless every task has just one report."""
    counts = np.bincount(group)
    if counts.max() < 2:
        return values
    return np.asarray(values - (np.bincount(group, weights=values) / counts)[group])


def _correlation(sums: np.ndarray) -> np.ndarray:
    """Pearson's r of rows of (n, Σa, Σb, Σaa, Σbb, Σab)."""
    n, a, b, aa, bb, ab = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * ab - a * b) / np.sqrt((n * aa - a * a) * (n * bb - b * b)))
