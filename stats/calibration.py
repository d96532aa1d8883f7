"""Does a stated confidence come true? Calibration curve and its expected error."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Frozen
from .intervals import wilson


class Bin(Frozen):
    """The cases with about one confidence."""

    confidence: float
    """Mean confidence in [0, 1]."""
    truth: float
    """Mean of what was true, in [0, 1]."""
    low: float
    high: float
    """95 % interval of ``truth`` (Wilson)."""
    n: int


def calibration_curve(confidence: Sequence[float], truth: Sequence[float], *, bins: int = 10) -> list[Bin]:
    """Bins of equal width that hold any case, from low to high; where there are at most ``bins`` different confidences,
    each is its own bin.

    ``truth``: 1 true, 0 not, between them partly. ValueError for lists of different lengths or values outside [0, 1].
    """
    if len(confidence) != len(truth):
        raise ValueError("lists of different lengths")
    if any(not 0 <= value <= 1 for value in (*confidence, *truth)):
        raise ValueError("a value outside [0, 1]")
    distinct = len(set(confidence)) <= bins
    groups: dict[float, list[tuple[float, float]]] = {}
    for stated, came in zip(confidence, truth, strict=True):
        groups.setdefault(stated if distinct else min(int(stated * bins), bins - 1), []).append((stated, came))
    return [_bin(groups[key]) for key in sorted(groups)]


def _bin(cases: Sequence[tuple[float, float]]) -> Bin:
    truth = sum(came for _, came in cases) / len(cases)
    interval = wilson(100 * truth, len(cases))
    stated = sum(value for value, _ in cases) / len(cases)
    return Bin(confidence=stated, truth=truth, low=interval.low / 100, high=interval.high / 100, n=len(cases))


def expected_error(curve: Sequence[Bin]) -> float:
    """Expected calibration error (Naeini, Cooper & Hauskrecht 2015): mean gap of confidence and truth, weighted by n.

    In [0, 1]; it has no sign and falls with fewer bins. ValueError for an empty curve.
    """
    total = sum(one.n for one in curve)
    if not total:
        raise ValueError("no cases")
    return sum(one.n * abs(one.confidence - one.truth) for one in curve) / total
