"""Metrics of finished runs against scores that people gave to whole reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from ..core import Frozen
from ..errors import InputError
from ..stats.data import Estimate
from ..stats.paired import FEWEST_TASKS
from ..stats.resampling import resampled_counts
from .labels import read_rows
from .lengths import lengths_of, rank_correlation
from .pool import Pool

Scores = Mapping[tuple[str, str], float]
"""(task, system) to a score."""


class MetricStudy(Frozen):
    """One metric by one judge."""

    metric: str
    """``length``: words of the report, as a baseline."""
    judge: str
    rho: Estimate | None
    """Spearman's; None: too few reports."""
    pairs: Estimate | None
    """Share of pairs on one task put in people's order, in [0, 1]; None: no pair."""
    reports: int


class ReportStudy(Frozen):
    """All metrics."""

    metrics: tuple[MetricStudy, ...]
    reports: int
    unknown: tuple[str, ...] = ()
    """``system on task`` of scores without a report in the runs."""


def load_scores(path: Path) -> dict[tuple[str, str], float]:
    """(task, system) to the mean score of all people, from CSV or JSONL of ``task``, ``system``, ``score``.

    Raises InputError.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for row in read_rows(path):
        missing = next((name for name in ("task", "system", "score") if row.get(name) in (None, "")), None)
        if missing:
            raise InputError("is missing", path=path, line=row.line, field=missing)
        try:
            score = float(row["score"])
        except (TypeError, ValueError):
            score = math.nan
        if not math.isfinite(score):
            raise InputError("must be a number", path=path, line=row.line, field="score")
        found.setdefault((str(row["task"]), str(row["system"])), []).append(score)
    return {place: sum(scores) / len(scores) for place, scores in found.items()}


def compare_with_people(pool: Pool, people: Scores) -> ReportStudy:
    """Hold every metric of every judge against people's scores. Raises InputError when no report is in the runs."""
    known = {place: score for place, score in people.items() if place in pool.sources}
    if not known:
        raise InputError("none of these tasks and systems is in the runs: names must be those of dream compare")
    length = lengths_of(pool)[1]["words"]
    found = [_study("length", "–", length, known)]
    for metric in pool.metrics:
        for judge in pool.judges:
            scores = {place: pool.score(*place, metric, judge) for place in known}
            found.append(_study(metric, judge, {p: s for p, s in scores.items() if s is not None}, known))
    unknown = tuple(f"{system} on {task}" for task, system in people if (task, system) not in known)
    return ReportStudy(metrics=tuple(found), reports=len(known), unknown=unknown)


def _study(metric: str, judge: str, scores: Scores, people: Scores) -> MetricStudy:
    return MetricStudy(
        metric=metric,
        judge=judge,
        rho=rank_correlation(scores, people),
        pairs=pairs_in_order(scores, people),
        reports=sum(place in scores for place in people),
    )


def pairs_in_order(scores: Scores, people: Scores) -> Estimate | None:
    """Share of pairs of reports on one task that are put in people's order; ties of people are no pair."""
    tasks: dict[str, list[float]] = {}
    both = [place for place in people if place in scores]
    for (task, one), (same, other) in combinations(both, 2):
        wish = people[task, one] - people[same, other]
        if task == same and wish:
            gap = scores[task, one] - scores[task, other]
            tasks.setdefault(task, []).append(0.5 if not gap else float((gap > 0) == (wish > 0)))
    if not tasks:
        return None
    sums = np.array([[sum(hits), len(hits)] for hits in tasks.values()])
    value, n = float(sums[:, 0].sum() / sums[:, 1].sum()), int(sums[:, 1].sum())
    if len(tasks) < FEWEST_TASKS:
        return Estimate(value=value, n=n)
    drawn = resampled_counts(len(tasks)) @ sums
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], (0.025, 0.975))
    return Estimate(value=value, low=float(low), high=float(high), n=n)
