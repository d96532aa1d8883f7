"""Comparing two or more systems on the same tasks: differences, tests, what could have been seen, ranks.

Values are one number a task, in the same order of tasks for all that are compared. Import from here and not from
``stats``: this module needs numpy, and for some of it scipy; evaluators need neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ..core import Frozen
from . import student
from .data import Estimate
from .resampling import DRAWS, EXACT, FLIPS, resampled_counts, sign_patterns

FEWEST_TASKS = 6
"""Below so many pairs there is no test and no interval: with five, no p-value of a sign-flip test is under 0.06."""
ALPHA = 0.05
POWER = 0.8


class Difference(Frozen):
    """A mean difference of two things on the same tasks."""

    mean: float
    low: float
    high: float
    """95 % interval of the mean difference."""
    p: float
    """Two-sided p-value of the test, before any correction."""
    test: str
    """What was done, in words."""
    n: int
    """Pairs."""
    detectable: float
    """The least true difference that this many pairs would show with 80 % power at 5 %."""


def paired_difference(one: Sequence[float], other: Sequence[float], *, seed: int = 0) -> Difference | None:
    """Mean of ``other - one`` over tasks with interval and test; None under :data:`FEWEST_TASKS` pairs.

    ValueError for lists of different lengths.
    """
    if len(one) != len(other):
        raise ValueError("lists of different lengths")
    if len(one) < FEWEST_TASKS:
        return None
    gaps = np.asarray(other, dtype=float) - np.asarray(one, dtype=float)
    interval = mean_interval(gaps.tolist(), seed=seed)
    assert interval.low is not None
    assert interval.high is not None
    return Difference(
        mean=interval.value,
        low=interval.low,
        high=interval.high,
        p=sign_flip_p(gaps.tolist(), seed=seed),
        test=test_name(len(gaps)),
        n=len(gaps),
        detectable=minimum_detectable(float(gaps.std(ddof=1)), len(gaps)),
    )


def test_name(n: int) -> str:
    """What :func:`paired_difference` does with ``n`` pairs."""
    how = f"exact, {2**n} sign patterns" if n <= EXACT else f"{FLIPS} random sign patterns"
    return f"paired permutation test ({how}); paired bootstrap interval ({DRAWS} resamples of tasks)"


def mean_interval(values: Sequence[float], *, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """The mean with a bootstrap interval over tasks; no interval under :data:`FEWEST_TASKS`. ValueError for no values.

    The expanded percentile interval (Hesterberg, What Teachers Should Know About the Bootstrap, 2015): the percentiles
    are moved outward by as much as Student's t is wider than the normal and by √(n/(n-1)), since the plain percentile
    interval is too narrow for few tasks. ``docs/comparing.md`` has the coverage of this and its rivals, by simulation.
    """
    if not len(values):
        raise ValueError("no values")
    array = np.asarray(values, dtype=float)
    mean, n = math.fsum(values) / len(values), len(values)
    if n < FEWEST_TASKS:
        return Estimate(value=mean, n=n)
    means = resampled_counts(n, seed=seed, draws=draws) @ array / n
    low, high = np.quantile(means, (tail := expanded_tail(n), 1 - tail))
    return Estimate(value=mean, low=float(min(low, mean)), high=float(max(high, mean)), n=n)


def expanded_tail(n: int, alpha: float = ALPHA) -> float:
    """Which quantile of the resamples is the lower end of an expanded percentile interval of ``n`` values."""
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * student.quantile(1 - alpha / 2, n - 1))


def sign_flip_p(gaps: Sequence[float], *, seed: int = 0) -> float:
    """Two-sided p-value of a paired permutation test that the differences are symmetric about 0.

    All sign patterns up to 12 pairs, else random ones with the observed one counted in (so it is never 0 and the test
    keeps its size). 1 where all differences are 0. ValueError for no pairs.
    """
    if not len(gaps):
        raise ValueError("no pairs")
    signs = sign_patterns(len(gaps), seed=seed)
    array = np.asarray(gaps, dtype=signs.dtype)
    seen, slack = abs(float(array.sum())), 1e-6 * float(np.abs(array).sum())
    sums = np.abs(signs @ array)
    as_far = int((sums >= seen - slack).sum())
    exact = len(array) <= EXACT
    return as_far / len(sums) if exact else (as_far + 1) / (len(sums) + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) adjusted p-values, in the order given: reject where one is at most the level."""
    order = sorted(range(len(p_values)), key=lambda number: p_values[number])
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, number in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[number]))
        adjusted[number] = highest
    return adjusted


# --- what could be seen ----------------------------------------------------------------------------------------------


def minimum_detectable(sd: float, n: int, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The least true mean difference that ``n`` pairs show with this power in a two-sided t test of this level.

    ``sd``: standard deviation of the differences over tasks. 0 for ``sd`` 0. ValueError for fewer than two pairs.
    """
    if n < 2:
        raise ValueError("fewer than two pairs")
    if sd == 0:
        return 0.0
    from scipy import optimize

    most = 1.0
    while power_of(most, n, alpha=alpha) < power:
        most *= 2
    return sd * float(optimize.brentq(lambda size: power_of(size, n, alpha=alpha) - power, 1e-6, most))


def power_of(size: float, n: int, *, alpha: float = ALPHA) -> float:
    """Power of a two-sided paired t test with ``n`` pairs for a difference of ``size`` standard deviations."""
    from scipy import stats

    critical, shift = float(stats.t.ppf(1 - alpha / 2, n - 1)), abs(size) * math.sqrt(n)
    above, below = float(stats.nct.sf(critical, n - 1, shift)), float(stats.nct.cdf(-critical, n - 1, shift))
    # far from the critical value scipy gives NaN instead of a probability next to 1 or 0
    return (above if math.isfinite(above) else float(shift > critical)) + (below if math.isfinite(below) else 0.0)


def tasks_needed(sd: float, difference: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """How many pairs show a true difference with this power; at least :data:`FEWEST_TASKS`.

    ValueError for a difference of 0.
    """
    if difference == 0:
        raise ValueError("no number of tasks shows a difference of 0")
    size = abs(difference) / sd if sd else math.inf
    low, high = FEWEST_TASKS, FEWEST_TASKS
    while math.isfinite(size) and power_of(size, high, alpha=alpha) < power:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(size, middle, alpha=alpha) >= power else (middle + 1, high)
    return high


# --- ranks -----------------------------------------------------------------------------------------------------------


class Rank(Frozen):
    """A place among several, 1 is best."""

    rank: float
    """Of equals the mean of their places."""
    best: int
    worst: int
    """The places that the data leave open, 95 % for all systems together."""


def ranks(scores: Sequence[Sequence[float]], *, seed: int = 0, draws: int = DRAWS) -> list[Rank] | None:
    """Ranks of systems by their mean over the same tasks, higher is better; None under :data:`FEWEST_TASKS` tasks.

    ``scores``: one row a system, one column a task, no gaps. A place is open to a system unless other systems are
    better or worse for sure: by simultaneous bootstrap intervals over tasks of all differences of means (largest
    studentised deviation of any pair in each resample), as in Mogstad, Romano, Shaikh & Wilhelm, Inference for Ranks
    (2024).
    Percentiles of resampled ranks are no such interval: they are too narrow where systems are close.
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[1] < FEWEST_TASKS or not len(table):
        return None
    from scipy import stats

    means = table.mean(1)
    better = _surely_better(table, seed=seed, draws=draws)
    places = stats.rankdata(-means, method="average")
    return [
        Rank(rank=float(places[i]), best=1 + int(better[:, i].sum()), worst=len(table) - int(better[i].sum()))
        for i in range(len(table))
    ]


def _surely_better(table: np.ndarray, *, seed: int, draws: int) -> np.ndarray:
    """[i, j]: the mean of i is above that of j, all pairs at once at the 5 % level."""
    count, n = table.shape
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    better = np.zeros((count, count), dtype=bool)
    if not pairs:
        return better
    gaps = np.array([table[i] - table[j] for i, j in pairs])
    means, errors = gaps.mean(1), gaps.std(1, ddof=1) / math.sqrt(n)
    weights = resampled_counts(n, seed=seed, draws=draws)
    drawn = weights @ gaps.T / n
    spread = np.sqrt(np.maximum(weights @ (gaps**2).T / n - drawn**2, 0) / (n - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.where(spread > 0, np.abs(drawn - means) / spread, np.where(np.isclose(drawn, means), 0.0, np.inf))
    limit = float(np.quantile(far.max(1), 1 - ALPHA))
    for (i, j), mean, error in zip(pairs, means, errors, strict=True):
        sure = abs(mean) > limit * error
        better[i, j], better[j, i] = sure and mean > 0, sure and mean < 0
    return better
