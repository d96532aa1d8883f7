"""95 % intervals of scores on the 0–100 scale. Pure functions; every random draw is seeded.

Which interval belongs to which metric is said in ``docs/metrics.md`` (METRICS 0): Wilson on the mean where the items
are independent yes/no or half-point outcomes, a bootstrap over groups where items hang together, and the plain range
wherever an interval would claim more than the data hold.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice, repeat
from typing import TypeVar

from ..core import Interval

T = TypeVar("T")

Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""

FEWEST = 8
"""Below so many items only the range is given."""

DRAWS = 1000
"""Resamples of a bootstrap."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean. Raises ValueError for no values: there is no mean of nothing."""
    if not values:
        raise ValueError("no values")
    return math.fsum(values) / len(values)


def wilson(mean: float, n: int) -> Interval:
    """Wilson's score interval of a mean of ``n`` items in [0, 100].

    For 0/100 items this is the usual interval of a share. With half points in between the items vary less than 0/100
    items of the same mean do, so the interval is wider than needed, never narrower. Raises ValueError for ``n < 1`` or
    a mean outside [0, 100].
    """
    if n < 1:
        raise ValueError("no items")
    if not 0 <= mean <= 100:
        raise ValueError(f"mean {mean} outside 0–100")
    p, z2 = mean / 100, Z95 * Z95
    scale = 1 / (1 + z2 / n)
    centre = scale * (p + z2 / (2 * n))
    half = scale * Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low = 0.0 if p == 0 else max(0.0, centre - half)
    high = 1.0 if p == 1 else min(1.0, centre + half)
    return Interval(low=100 * low, high=100 * high, kind="wilson")


def score_range(values: Sequence[float]) -> Interval:
    """Lowest and highest value: what is shown where no interval is honest. Raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    return Interval(low=min(values), high=max(values), kind="range")


def items_interval(values: Sequence[float]) -> Interval | None:
    """The interval of a score that is the mean of ``values`` (each 0–100).

    None for no values, the range for fewer than :data:`FEWEST`, else Wilson.
    """
    if not values:
        return None
    return score_range(values) if len(values) < FEWEST else wilson(mean(values), len(values))


def quantile(values: Sequence[float], q: float) -> float:
    """The ``q`` quantile (0–1), linear between neighbouring order statistics. Raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def bootstrap(
    groups: Sequence[T], score: Callable[[Sequence[T]], float | None], *, seed: int = 0, draws: int = DRAWS
) -> Interval | None:
    """Percentile bootstrap of ``score`` over ``groups`` (claims with their pairs, tasks with their results …).

    Each draw takes as many groups as there are, with replacement. Draws for which ``score`` is None (nothing decided)
    are left out; with over half of them left out, or no groups, there is no interval: None. The same seed and groups
    always give the same interval.
    """
    if not groups:
        return None
    picks = _picks(len(groups), seed, draws)
    scores = [score([groups[pick] for pick in row]) for row in picks]
    known = [value for value in scores if value is not None]
    if 2 * len(known) < draws:
        return None
    return Interval(low=quantile(known, 0.025), high=quantile(known, 0.975), kind="bootstrap")


@lru_cache(maxsize=32)
def _picks(n: int, seed: int, draws: int) -> tuple[array[int], ...]:
    """Which of ``n`` groups each resample takes: the same for all reports with as many groups."""
    # What rng.randrange(n) draws, without its checks at each of a thousand times n draws.
    drawn = filter(n.__gt__, map(random.Random(seed).getrandbits, repeat(n.bit_length())))
    return tuple(array("H" if n <= 0xFFFF else "L", islice(drawn, n)) for _ in range(draws))


def bootstrap_mean(values: Sequence[float], *, seed: int = 0, draws: int = DRAWS) -> Interval | None:
    """The interval of a system's mean over tasks: one value a task, resampled over tasks.

    Fewer than :data:`FEWEST` tasks: the range. None for no tasks.
    """
    if not values:
        return None
    if len(values) < FEWEST:
        return score_range(values)
    return bootstrap(values, mean, seed=seed, draws=draws)
