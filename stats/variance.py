"""Where the variance of a score comes from: nested and crossed random effects by the method of moments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ..core import Frozen

W = TypeVar("W", bound=Hashable)
P = TypeVar("P", bound=Hashable)


class Nested(Frozen):
    """Variances of a design in which values lie in parts, and parts in wholes. Squared units of the values.

    None: the design cannot tell (nothing is repeated at that level). An estimate below 0 is given as 0.
    """

    within: float | None
    """Between values of one part (asked again)."""
    parts: float | None
    """Between parts of one whole (another protocol), beyond what ``within`` explains."""
    wholes: float | None
    """Between wholes (another task), beyond the two."""
    values: int
    part_count: int
    whole_count: int


def nested(values: Mapping[W, Mapping[P, Sequence[float]]]) -> Nested:
    """Components of ``values`` (whole to part to values), however unbalanced.

    ANOVA estimates: mean squares set equal to their expectations (Searle, Casella & McCulloch, Variance Components,
    1992, chapter 5). ValueError for no values.
    """
    wholes = [[np.asarray(part, dtype=float) for part in parts.values() if len(part)] for parts in values.values()]
    wholes = [parts for parts in wholes if parts]
    if not wholes:
        raise ValueError("no values")
    sizes = [[len(part) for part in parts] for parts in wholes]
    n = sum(map(sum, sizes))
    counts = (n, sum(map(len, sizes)), len(sizes))
    pooled = [np.concatenate(parts) for parts in wholes]
    mean = np.concatenate(pooled).mean()
    within_sum = sum(float(((part - part.mean()) ** 2).sum()) for parts in wholes for part in parts)
    parts_sum = sum(
        len(part) * float((part.mean() - whole.mean()) ** 2)
        for parts, whole in zip(wholes, pooled, strict=True)
        for part in parts
    )
    wholes_sum = sum(len(whole) * float((whole.mean() - mean) ** 2) for whole in pooled)
    free = (n - counts[1], counts[1] - counts[2], counts[2] - 1)
    squares = sum(sum(size**2 for size in part) / sum(part) for part in sizes)
    k1 = (n - squares) / free[1] if free[1] else None
    k2 = (squares - sum(size**2 for part in sizes for size in part) / n) / free[2] if free[2] else None
    k3 = (n - sum(sum(part) ** 2 for part in sizes) / n) / free[2] if free[2] else None
    within = within_sum / free[0] if free[0] else None
    parts_variance = None if k1 is None else max(0.0, (parts_sum / free[1] - (within or 0.0)) / k1)
    wholes_variance = None
    if k2 is not None and k3 is not None:
        below = (within or 0.0) + k2 * (parts_variance or 0.0)
        wholes_variance = max(0.0, (wholes_sum / free[2] - below) / k3)
    return Nested(
        within=within,
        parts=parts_variance,
        wholes=wholes_variance,
        values=counts[0],
        part_count=counts[1],
        whole_count=counts[2],
    )


class Crossed(Frozen):
    """Variances of a complete table of things by raters, one value a cell. Squared units of the values."""

    raters: float
    """Between raters' means: one is harsher than the other."""
    rest: float
    """What neither thing nor rater explains: they disagree on single things, and noise."""


def crossed(table: Sequence[Sequence[float]]) -> Crossed | None:
    """Components of a table (one row a thing, one column a rater); None for fewer than two of either.

    Two-way random effects without replication, ANOVA estimates; below 0 is given as 0.
    """
    values = np.asarray(table, dtype=float)
    if values.ndim != 2 or min(values.shape) < 2:
        return None
    things, raters = values.shape
    rest = values - values.mean(1, keepdims=True) - values.mean(0, keepdims=True) + values.mean()
    noise = float((rest**2).sum()) / ((things - 1) * (raters - 1))
    between = things * float(((values.mean(0) - values.mean()) ** 2).sum()) / (raters - 1)
    return Crossed(raters=max(0.0, (between - noise) / things), rest=noise)
