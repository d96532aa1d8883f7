"""Student's t for whole degrees of freedom, without scipy: a run's table needs one quantile, and scipy takes a third of
a second and 14 MB."""

from __future__ import annotations

import math


def within(t: float, df: int) -> float:
    """Probability that a Student variable of ``df`` degrees of freedom lies between ``-t`` and ``t``, in [0, 1].

    The finite series of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4. ValueError for fewer than one degree.
    """
    if df < 1:
        raise ValueError("at least one degree of freedom")
    angle = math.atan2(t, math.sqrt(df))
    square, odd = math.cos(angle) ** 2, df % 2
    term = total = (math.cos(angle) if df > 1 else 0.0) if odd else 1.0
    for k in range(2 + odd, df - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def quantile(share: float, df: int) -> float:
    """The ``t`` under which ``share`` of a Student distribution lies; ``share`` in [0.5, 1). By Newton's steps.

    ValueError for other shares and for fewer than one degree.
    """
    if not 0.5 <= share < 1:
        raise ValueError("share in [0.5, 1)")
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    t = 0.0  # the distribution bends downward from here on, so that no step goes too far
    for _ in range(200):
        density = scale * (1 + t * t / df) ** (-(df + 1) / 2)
        step = (share - (1 + within(t, df)) / 2) / density
        t += step
        if abs(step) <= 1e-13 * max(1.0, t):
            break
    return t
