"""Calibration curve and its error against values worked out by hand."""

from __future__ import annotations

import pytest
from dream_eval.stats import wilson
from dream_eval.stats.calibration import calibration_curve, expected_error
from hypothesis import given
from hypothesis import strategies as st


def test_few_different_confidences_are_their_own_bins() -> None:
    curve = calibration_curve([1, 1, 1, 1, 0.5, 0.5, 0], [1, 1, 1, 0, 0.5, 1, 0])
    assert [(one.confidence, one.truth, one.n) for one in curve] == [(0, 0, 1), (0.5, 0.75, 2), (1, 0.75, 4)]
    assert (curve[2].low, curve[2].high) == pytest.approx((wilson(75, 4).low / 100, wilson(75, 4).high / 100))
    assert expected_error(curve) == pytest.approx((2 * 0.25 + 4 * 0.25) / 7)


def test_many_fall_into_bins_of_equal_width() -> None:
    stated = [n / 40 for n in range(41)]
    curve = calibration_curve(stated, [1.0] * 41, bins=4)
    assert [one.n for one in curve] == [10, 10, 10, 11]
    assert curve[0].confidence == pytest.approx(sum(stated[:10]) / 10)


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_who_always_says_the_base_rate_is_calibrated(truth: list[bool]) -> None:
    rate = sum(truth) / len(truth)
    assert expected_error(calibration_curve([rate] * len(truth), [float(one) for one in truth])) == pytest.approx(0)


def test_what_is_no_confidence_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        calibration_curve([1.2], [1])
    with pytest.raises(ValueError, match="lengths"):
        calibration_curve([1.0], [])
    with pytest.raises(ValueError, match="no cases"):
        expected_error([])
