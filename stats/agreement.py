"""How far judges, or a judge and people, agree. Pure functions; labels are any hashable values, None is missing data.

Import from here and not from ``stats``: this module needs numpy, and evaluators do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal, TypeVar

import numpy as np

from .data import Estimate
from .resampling import DRAWS, resampled_counts

L = TypeVar("L", bound=Hashable)
Level = Literal["nominal", "ordinal", "interval"]
Pair = tuple[L, L]
"""(reference, given): what people said, and what the judge said; or two judges."""


# --- two raters ------------------------------------------------------------------------------------------------------


def confusion(pairs: Sequence[Pair[L]], labels: Sequence[L]) -> np.ndarray:
    """Counts, shape (labels, labels): row = reference, column = given. ValueError for a label that is not listed."""
    place = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    for reference, given in pairs:
        if reference not in place or given not in place:
            raise ValueError(f"no such label: {reference!r}, {given!r}")
        counts[place[reference], place[given]] += 1
    return counts


def cohen_kappa(pairs: Sequence[Pair[L]]) -> float | None:
    """Cohen's kappa (1960) of two raters, in [-1, 1]; None for no pairs, or where both only ever say one and the same
    label, so that there is nothing to agree on by more than chance."""
    labels = _labels(pairs)
    return _or_none(kappa_of(confusion(pairs, labels))) if pairs else None


def accuracy_of(counts: np.ndarray) -> np.ndarray:
    """Share on the diagonal of confusion counts (…, k, k); NaN where all are zero."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.trace(counts, axis1=-2, axis2=-1) / counts.sum((-2, -1)))


def kappa_of(counts: np.ndarray) -> np.ndarray:
    """Cohen's kappa of confusion counts (…, k, k); NaN where chance alone agrees fully, or all are zero."""
    total = counts.sum((-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = (counts.sum(-1) * counts.sum(-2)).sum(-1) / total**2
        return np.where(chance < 1, (accuracy_of(counts) - chance) / (1 - chance), np.nan)


def balanced_accuracy_of(counts: np.ndarray) -> np.ndarray:
    """Mean recall over the reference labels that occur, of confusion counts (…, k, k); NaN where none occurs."""
    occurs = counts.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = np.where(occurs > 0, np.diagonal(counts, axis1=-2, axis2=-1) / occurs, 0.0)
        return np.asarray(recall.sum(-1) / (occurs > 0).sum(-1))


def f1_of(counts: np.ndarray) -> np.ndarray:
    """F1 of each label, shape (…, k), of confusion counts (…, k, k); NaN for a label that occurs nowhere."""
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * right / (counts.sum(-1) + counts.sum(-2)))


def agreement(
    pairs: Sequence[Pair[L]],
    labels: Sequence[L],
    measure: Callable[[np.ndarray], np.ndarray],
    *,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> Estimate:
    """A measure of confusion counts with its bootstrap interval (percentile).

    ``groups``: one a pair; pairs of a group (of one report, one page) are drawn together, since they are not
    independent, and ``n`` is still the number of pairs. Draws without a value (a label is missing in them) are left
    out. ValueError for no pairs.
    """
    if not pairs:
        raise ValueError("no pairs")
    keys = list(dict.fromkeys(groups)) if groups is not None else list(range(len(pairs)))
    place = {key: number for number, key in enumerate(keys)}
    each = np.zeros((len(keys), len(labels), len(labels)))
    for number, pair in enumerate(pairs):
        each[place[groups[number] if groups is not None else number]] += confusion([pair], labels)
    value = float(measure(each.sum(0)))
    drawn = resampled_counts(len(keys), seed=seed, draws=draws) @ each.reshape(len(keys), -1)
    values = measure(drawn.reshape(draws, len(labels), len(labels)))
    known = values[~np.isnan(values)]
    if len(keys) < 2 or 2 * len(known) < draws:
        return Estimate(value=value, n=len(pairs))
    low, high = np.quantile(known, (0.025, 0.975))
    return Estimate(value=value, low=float(low), high=float(high), n=len(pairs))


# --- several raters --------------------------------------------------------------------------------------------------


def krippendorff_alpha(units: Sequence[Sequence[object]], level: Level = "nominal") -> float | None:
    """Krippendorff's alpha of several raters with missing data, at most 1; 0 is chance.

    ``units``: one a thing that was rated, each the values given to it, None for missing; units with fewer than two
    values say nothing and are left out. ``level``: how far two values are apart: ``nominal`` (equal or not),
    ``ordinal`` (by ranks; values must sort) or ``interval`` (squared difference; values are numbers). None where
    nothing can be said: no unit with two values, or one and the same value everywhere.

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
    """
    rated = [[value for value in unit if value is not None] for unit in units]
    rated = [unit for unit in rated if len(unit) > 1]
    values: list[object] = list({value for unit in rated for value in unit})
    if level != "nominal":
        values.sort(key=lambda value: value)  # type: ignore[arg-type,return-value]
    place = {value: number for number, value in enumerate(values)}
    together = np.zeros((len(values), len(values)))
    for unit in rated:
        counts = np.bincount([place[value] for value in unit], minlength=len(values)).astype(float)
        together += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    margin = together.sum(0)
    apart = _distances(values, margin, level)
    expected = float(margin @ apart @ margin)
    if len(values) < 2 or expected == 0:
        return None
    return 1 - float((margin.sum() - 1) * (together * apart).sum()) / expected


def _distances(values: Sequence[object], margin: np.ndarray, level: Level) -> np.ndarray:
    if level == "nominal":
        return 1 - np.eye(len(values))
    if level == "interval":
        numbers = np.array([float(value) for value in values])  # type: ignore[arg-type]
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    middle = np.cumsum(margin) - margin / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def fleiss_kappa(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Fleiss' kappa (1971): every unit is rated by the same number of raters, at least two.

    None for no units or one label only. ValueError where the numbers of raters differ or a value is missing (use
    :func:`krippendorff_alpha`).
    """
    if not units:
        return None
    raters = len(units[0])
    if raters < 2 or any(len(unit) != raters or None in unit for unit in units):
        raise ValueError("every unit needs the same number of ratings, at least two")
    labels = list({value for unit in units for value in unit})
    counts = np.array([[Counter(unit)[label] for label in labels] for unit in units], dtype=float)
    within = ((counts**2).sum(1) - raters) / (raters * (raters - 1))
    chance = float(((counts.sum(0) / counts.sum()) ** 2).sum())
    return None if chance >= 1 else (float(within.mean()) - chance) / (1 - chance)


# --- orders ----------------------------------------------------------------------------------------------------------


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of scores of the same things; None for fewer than two, or one that is constant."""
    return _rank_correlation("kendalltau", one, other)


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation of two lists of scores of the same things; None as in :func:`kendall_tau`."""
    return _rank_correlation("spearmanr", one, other)


def _rank_correlation(name: str, one: Sequence[float], other: Sequence[float]) -> float | None:
    from scipy import stats

    if len(one) != len(other):
        raise ValueError("lists of different lengths")
    if len(one) < 2 or len(set(one)) < 2 or len(set(other)) < 2:
        return None
    return float(getattr(stats, name)(one, other).statistic)


def _labels(pairs: Sequence[Pair[L]]) -> list[L]:
    return list(dict.fromkeys(label for pair in pairs for label in pair))


def _or_none(value: np.ndarray | float) -> float | None:
    return None if np.isnan(value) else float(value)


def commonest(labels: Sequence[L]) -> L:
    """The label given most often, of equals the first: what a constant answer would be. ValueError for none."""
    if not labels:
        raise ValueError("no labels")
    counts: Mapping[L, int] = Counter(labels)
    return max(counts, key=lambda label: counts[label])
