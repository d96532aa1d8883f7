"""Paired tests against scipy and statsmodels; coverage of intervals and size of tests by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dream_eval.stats.paired import (
    FEWEST_TASKS,
    expanded_tail,
    holm,
    mean_interval,
    minimum_detectable,
    paired_difference,
    power_of,
    ranks,
    sign_flip_p,
    tasks_needed,
)
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

RUNS = 400
NOISE = 3 * math.sqrt(0.05 * 0.95 / RUNS)
"""Three standard errors of a share of 5 % over the runs of a simulation."""


# --- the test --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 9, 12])
def test_up_to_twelve_tasks_the_test_is_exact_and_that_of_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    one, other = rng.normal(60, 10, n), rng.normal(66, 10, n)
    theirs = stats.permutation_test(
        (one, other),
        lambda a, b, axis: (b - a).mean(axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert sign_flip_p((other - one).tolist()) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_with_more_tasks_it_comes_near_that_of_scipy() -> None:
    rng = np.random.default_rng(2)
    gaps = rng.normal(2.5, 6, 30)
    theirs = stats.permutation_test(
        (gaps, np.zeros(30)), lambda a, b, axis: (a - b).mean(axis), permutation_type="samples", n_resamples=50_000,
        vectorized=True, rng=np.random.default_rng(1),
    )  # fmt: skip
    assert sign_flip_p(gaps.tolist()) == pytest.approx(theirs.pvalue, abs=0.004)


def test_smallest_and_largest_p() -> None:
    assert sign_flip_p([5.0] * 6) == 2 / 64
    assert sign_flip_p([0.0] * 6) == 1
    assert sign_flip_p([0.0] * 20) == 1
    assert sign_flip_p([-1.0, 1.0] * 3) == 1
    assert 0 < sign_flip_p([5.0] * 100) < 1e-4
    with pytest.raises(ValueError, match="no pairs"):
        sign_flip_p([])


@pytest.mark.parametrize("n", [8, 25])
def test_it_keeps_its_size(n: int) -> None:
    """No true difference: at most 5 % of tests say there is one."""
    rng = np.random.default_rng(n)
    draws = 12.5 * (rng.binomial(8, 0.7, (RUNS, n)) - rng.binomial(8, 0.7, (RUNS, n)))  # steps, as KIC has them
    false = np.mean([sign_flip_p(gaps.tolist()) <= 0.05 for gaps in draws])
    assert false <= 0.05 + NOISE
    assert false >= 0.01  # and is not so careful that it never says anything


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_holm_is_that_of_statsmodels(n: int) -> None:
    p = (np.random.default_rng(n).random(n) ** 3).round(2).tolist()
    assert holm(p) == pytest.approx(list(multipletests(p, method="holm")[1]))


def test_holm_of_nothing() -> None:
    assert holm([]) == []


# --- the interval ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 12, 40])
@pytest.mark.parametrize("shape", ["normal", "steps"])
def test_the_interval_covers_the_true_mean(n: int, shape: str) -> None:
    rng = np.random.default_rng(n)
    if shape == "normal":
        draws, truth = rng.normal(3, 10, (RUNS, n)), 3.0
    else:
        draws, truth = 12.5 * (rng.binomial(8, 0.7, (RUNS, n)) - rng.binomial(8, 0.6, (RUNS, n))), 10.0
    found = [mean_interval(values.tolist(), draws=1000) for values in draws]
    hits = np.mean([one.low <= truth <= one.high for one in found])  # type: ignore[operator]
    plain = np.mean([_percentile_holds(values, truth) for values in draws])
    assert 0.95 - NOISE - 0.015 <= hits <= 0.995
    assert hits >= plain


def _percentile_holds(values: np.ndarray, truth: float) -> bool:
    means = np.random.default_rng(0).choice(values, (500, len(values))).mean(1)
    return bool(np.quantile(means, 0.025) <= truth <= np.quantile(means, 0.975))


def test_the_interval_comes_near_the_percentile_bootstrap_of_scipy_for_many_tasks() -> None:
    values = np.random.default_rng(4).gamma(4, 10, 300)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    ours = mean_interval(values.tolist())
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0.01)
    assert expanded_tail(10_000) == pytest.approx(0.025, abs=1e-4)


def test_few_tasks_have_no_interval_and_no_test() -> None:
    few = [50.0] * (FEWEST_TASKS - 1)
    assert mean_interval(few).low is None
    assert mean_interval(few).value == 50
    assert paired_difference(few, few) is None
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])
    with pytest.raises(ValueError, match="lengths"):
        paired_difference([1.0] * 6, [1.0] * 7)


def test_a_difference_says_what_was_done() -> None:
    one, other = [50.0, 60, 40, 70, 55, 65, 45], [58.0, 66, 49, 77, 66, 70, 54]
    found = paired_difference(one, other)
    assert found is not None
    assert found.mean == pytest.approx(55 / 7)
    assert found.low > 0
    assert found.p == 2 / 128
    assert "exact, 128 sign patterns" in found.test
    assert "bootstrap" in found.test
    mirror = paired_difference(other, one)
    assert mirror is not None
    assert (mirror.mean, mirror.p) == (-found.mean, found.p)
    assert (mirror.low, mirror.high) == pytest.approx((-found.high, -found.low), abs=0.3)


def test_equal_systems_are_exactly_equal() -> None:
    found = paired_difference([50.0] * 8, [50.0] * 8)
    assert found is not None
    assert (found.mean, found.low, found.high, found.p, found.detectable) == (0, 0, 0, 1, 0)


# --- what could be seen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "n"), [(0.3, 10), (0.5, 34), (1.0, 8)])
def test_power_is_that_of_statsmodels(size: float, n: int) -> None:
    assert power_of(size, n) == pytest.approx(TTestPower().power(size, n, 0.05), abs=1e-6)


def test_the_detectable_difference_has_its_power() -> None:
    least = minimum_detectable(8.0, 20)
    assert power_of(5.0, 80) == power_of(-5.0, 80) == pytest.approx(1)
    assert power_of(least / 8, 20) == pytest.approx(0.8, abs=1e-6)
    assert minimum_detectable(0.0, 20) == 0
    assert minimum_detectable(8.0, 80) < least / 1.9
    with pytest.raises(ValueError, match="two pairs"):
        minimum_detectable(1.0, 1)


def test_so_many_tasks_are_needed_and_not_one_fewer() -> None:
    needed = tasks_needed(8.0, 5.0)
    assert power_of(5 / 8, needed) >= 0.8 > power_of(5 / 8, needed - 1)
    assert tasks_needed(8.0, 500.0) == tasks_needed(0.0, 1.0) == FEWEST_TASKS
    with pytest.raises(ValueError, match="difference of 0"):
        tasks_needed(8.0, 0.0)


def test_the_test_finds_what_it_should_be_able_to_find() -> None:
    """At the detectable difference about 80 % of permutation tests find it."""
    rng = np.random.default_rng(11)
    draws = rng.normal(minimum_detectable(8.0, 20), 8, (200, 20))
    assert np.mean([sign_flip_p(gaps.tolist()) <= 0.05 for gaps in draws]) == pytest.approx(0.8, abs=0.1)


# --- ranks -----------------------------------------------------------------------------------------------------------


def test_places_of_systems_far_apart_are_certain() -> None:
    rng = np.random.default_rng(1)
    table = np.array([[80.0], [40], [60]]) + rng.normal(0, 2, (3, 10))
    found = ranks(table.tolist())
    assert found is not None
    assert [(one.rank, one.best, one.worst) for one in found] == [(1, 1, 1), (3, 3, 3), (2, 2, 2)]


def test_places_of_equal_systems_are_open() -> None:
    table = [[50.0 + task for task in range(8)]] * 3
    assert [(one.rank, one.best, one.worst) for one in ranks(table) or []] == [(2, 1, 3)] * 3


def test_a_system_that_is_better_on_every_task_by_the_same_is_better() -> None:
    table = [[50.0 + task for task in range(8)], [51.0 + task for task in range(8)]]
    assert [(one.best, one.worst) for one in ranks(table) or []] == [(2, 2), (1, 1)]


def test_few_tasks_have_no_ranks() -> None:
    assert ranks([[1.0] * 5, [2.0] * 5]) is None
    assert ranks([]) is None
    only = ranks([[1.0] * 6])
    assert only is not None
    assert (only[0].best, only[0].worst) == (1, 1)


def test_all_true_places_are_held_at_once() -> None:
    """Five systems close together, ten tasks: 95 % of the time every true place lies in its interval."""
    rng, hits, runs = np.random.default_rng(9), 0, 200
    truth = np.array([60.0, 61, 62, 63, 64])
    for run in range(runs):
        table = truth[:, None] + rng.normal(0, 8, 10) + rng.normal(0, 6, (5, 10))
        found = ranks(table.tolist(), seed=run, draws=500)
        assert found is not None
        hits += all(one.best <= 5 - place <= one.worst for place, one in enumerate(found))
    assert hits / runs >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)
