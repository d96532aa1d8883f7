"""Variance components: known truth by simulation, and a balanced table worked out with scipy."""

from __future__ import annotations

import numpy as np
import pytest
from dream_eval.stats.variance import crossed, nested
from scipy import stats


def design(rng: np.random.Generator, wholes: int, parts: int, values: int, sds: tuple[float, float, float]) -> dict:
    task, making, repeat = sds
    return {
        w: {
            (w, p): (top + mid + rng.normal(0, repeat, values)).tolist()
            for p in range(parts)
            for mid in [rng.normal(0, making)]
        }
        for w in range(wholes)
        for top in [50 + rng.normal(0, task)]
    }


def test_the_true_variances_are_found() -> None:
    rng = np.random.default_rng(1)
    found = [nested(design(rng, 12, 3, 3, (8, 3, 2))) for _ in range(150)]
    assert np.mean([one.within for one in found]) == pytest.approx(4, rel=0.06)  # type: ignore[arg-type]
    assert np.mean([one.parts for one in found]) == pytest.approx(9, rel=0.12)  # type: ignore[arg-type]
    assert np.mean([one.wholes for one in found]) == pytest.approx(64, rel=0.12)  # type: ignore[arg-type]
    noisy = [nested(design(rng, 40, 3, 2, (2, 6, 1))) for _ in range(100)]  # what lies below is taken off
    assert np.mean([one.wholes for one in noisy]) == pytest.approx(4, abs=2.5)  # type: ignore[arg-type]


def test_they_are_found_in_an_unbalanced_design_too() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(200):
        table = design(rng, 12, 4, 4, (8, 3, 2))
        thinned = {
            w: {p: values[: 1 + (w + p[1]) % 4] for p, values in parts.items() if (w * p[1]) % 3 != 2 or w == 0}
            for w, parts in table.items()
        }
        found.append(nested(thinned))
    assert np.mean([one.within for one in found]) == pytest.approx(4, rel=0.08)  # type: ignore[arg-type]
    assert np.mean([one.parts for one in found]) == pytest.approx(9, rel=0.15)  # type: ignore[arg-type]
    assert np.mean([one.wholes for one in found]) == pytest.approx(64, rel=0.15)  # type: ignore[arg-type]


def test_within_is_the_pooled_variance_of_scipy() -> None:
    groups = [[1.0, 3, 2], [7.0, 9, 8.5], [4.0, 4, 5]]
    found = nested({n: {0: values} for n, values in enumerate(groups)})
    between, within = stats.f_oneway(*groups), np.mean([np.var(values, ddof=1) for values in groups])
    assert found.within == pytest.approx(within)
    assert found.parts is None  # one part each: nothing to tell it by
    assert found.wholes == pytest.approx((between.statistic - 1) * within / 3)


def test_what_was_not_repeated_cannot_be_told() -> None:
    alone = nested({"t": {"p": [5.0]}})
    assert (alone.within, alone.parts, alone.wholes) == (None, None, None)
    assert (alone.values, alone.part_count, alone.whole_count) == (1, 1, 1)
    same = nested({"t": {"p": [5.0, 5.0], "q": [5.0, 5.0]}})
    assert (same.within, same.parts) == (0, 0)
    with pytest.raises(ValueError, match="no values"):
        nested({"t": {"p": []}})


def test_harsh_judges_are_told_from_noise() -> None:
    rng = np.random.default_rng(3)
    found = [
        crossed((rng.normal(0, 9, (40, 1)) + np.array([[0.0, 3, 6]]) + rng.normal(0, 2, (40, 3))).tolist())
        for _ in range(40)
    ]
    assert np.mean([one.raters for one in found if one]) == pytest.approx(9, rel=0.05)
    assert np.mean([one.rest for one in found if one]) == pytest.approx(4, rel=0.05)
    assert crossed([[1.0, 2.0]]) is None
    assert crossed([[1.0], [2.0]]) is None
    equal = crossed([[1.0, 1.0], [5.0, 5.0]])
    assert equal is not None
    assert (equal.raters, equal.rest) == (0, 0)
