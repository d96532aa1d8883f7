"""Intervals against values worked out by hand or known from textbooks, and properties that must hold."""

from __future__ import annotations

import math

import pytest
from dream_eval.stats import bootstrap, bootstrap_mean, items_interval, mean, quantile, score_range, wilson
from hypothesis import given
from hypothesis import strategies as st

scores = st.floats(0, 100, allow_nan=False)


@pytest.mark.parametrize(
    ("mean_", "n", "low", "high"),
    [
        # 0 of 10: [0, z²/(n+z²)]; 10 of 10 is its mirror; 5 of 10 and 8 of 10 from Newcombe's worked formulas.
        (0, 10, 0.0, 27.75),
        (100, 10, 72.25, 100.0),
        (50, 10, 23.66, 76.34),
        (80, 10, 49.02, 94.33),
        # Newcombe 1998, 81 of 263: 0.2553 to 0.3662.
        (100 * 81 / 263, 263, 25.53, 36.62),
        # Newcombe 1998, 15 of 148: 0.0624 to 0.1605.
        (100 * 15 / 148, 148, 6.24, 16.05),
    ],
)
def test_wilson_gives_the_known_values(mean_: float, n: int, low: float, high: float) -> None:
    interval = wilson(mean_, n)
    assert interval.kind == "wilson"
    assert interval.low == pytest.approx(low, abs=0.006)
    assert interval.high == pytest.approx(high, abs=0.006)


@given(scores, st.integers(1, 10_000))
def test_wilson_holds_the_mean_and_stays_on_the_scale(value: float, n: int) -> None:
    interval = wilson(value, n)
    assert 0 <= interval.low <= value + 1e-9
    assert value - 1e-9 <= interval.high <= 100


@given(scores, st.integers(1, 1000))
def test_wilson_is_symmetric_and_narrows_with_n(value: float, n: int) -> None:
    one, mirror, more = wilson(value, n), wilson(100 - value, n), wilson(value, 4 * n)
    assert one.low == pytest.approx(100 - mirror.high, abs=1e-6)
    assert more.high - more.low < one.high - one.low


@pytest.mark.parametrize(("value", "n"), [(50, 0), (-1, 5), (101, 5), (math.nan, 5)])
def test_wilson_refuses_what_has_no_interval(value: float, n: int) -> None:
    with pytest.raises(ValueError, match=r"no items|outside"):
        wilson(value, n)


def test_items_interval_chooses_by_the_number_of_items() -> None:
    assert items_interval([]) is None
    seven = items_interval([100.0] * 6 + [50.0])
    assert seven is not None
    assert (seven.kind, seven.low, seven.high) == ("range", 50, 100)
    eight = items_interval([100.0] * 4 + [0.0] * 4)
    assert eight is not None
    assert eight == wilson(50, 8)


def test_range_and_mean_of_nothing_are_errors() -> None:
    for function in (score_range, mean, lambda v: quantile(v, 0.5)):
        with pytest.raises(ValueError, match="no values"):
            function([])


def test_quantile_is_linear_between_neighbours() -> None:
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([10, 20], 0.25) == 12.5
    assert quantile([7], 0.975) == 7


@given(st.lists(scores, min_size=1, max_size=30), st.integers(0, 5))
def test_bootstrap_repeats_itself_and_stays_within_the_values(values: list[float], seed: int) -> None:
    one = bootstrap(values, mean, seed=seed, draws=50)
    assert one == bootstrap(values, mean, seed=seed, draws=50)
    assert one is not None
    assert min(values) - 1e-9 <= one.low <= one.high <= max(values) + 1e-9


def test_bootstrap_is_near_the_normal_interval_for_many_values() -> None:
    values = [0.0, 100.0] * 200  # standard error of the mean: 50 / 20 = 2.5
    interval = bootstrap(values, mean, seed=1)
    assert interval is not None
    assert interval.low == pytest.approx(50 - 1.96 * 2.5, abs=0.8)
    assert interval.high == pytest.approx(50 + 1.96 * 2.5, abs=0.8)


def test_bootstrap_keeps_the_members_of_a_group_together() -> None:
    # Two groups of 50 equal members each: resampled by group the mean is 0, 50 or 100; by member it would stay near 50.
    groups = [[0.0] * 50, [100.0] * 50]
    interval = bootstrap(groups, lambda drawn: mean([v for g in drawn for v in g]), seed=3)
    assert interval is not None
    assert (interval.low, interval.high) == (0, 100)


def test_bootstrap_gives_no_interval_when_most_draws_have_no_score() -> None:
    assert bootstrap([1, 2, 3], lambda _: None) is None
    assert bootstrap([], mean) is None
    # One group in three has a score: a draw lacks it with probability (2/3)³ = 0.30, so an interval exists.
    some = bootstrap([None, None, 40.0], lambda drawn: next((v for v in drawn if v is not None), None))
    assert some is not None
    assert (some.low, some.high) == (40, 40)


def test_a_systems_interval_is_over_tasks() -> None:
    assert bootstrap_mean([]) is None
    few = bootstrap_mean([40.0, 60.0])
    assert few is not None
    assert (few.kind, few.low, few.high) == ("range", 40, 60)
    many = bootstrap_mean([40.0, 60.0] * 10)
    assert many is not None
    assert many.kind == "bootstrap"
    assert 40 < many.low < 50 < many.high < 60
