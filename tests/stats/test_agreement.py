"""Agreement against statsmodels, scipy, published examples and properties."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from dream_eval.stats.agreement import (
    accuracy_of,
    agreement,
    balanced_accuracy_of,
    cohen_kappa,
    commonest,
    confusion,
    f1_of,
    fleiss_kappa,
    kappa_of,
    kendall_tau,
    krippendorff_alpha,
    spearman,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import inter_rater

pairs_of_labels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=60)

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): four observers, twelve units, missing data.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
UNITS = list(zip(*OBSERVERS, strict=True))


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_gives_the_published_values(level: str, alpha: float) -> None:
    assert krippendorff_alpha(UNITS, level) == pytest.approx(alpha, abs=0.0006)  # type: ignore[arg-type]


def test_alpha_of_two_observers_and_binary_data() -> None:
    # The same paper, A: two observers, ten units, binary: alpha = 0.095.
    one, other = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
    assert krippendorff_alpha(list(zip(one, other, strict=True))) == pytest.approx(0.095, abs=0.0006)


def test_alpha_of_chance_of_full_and_of_no_agreement() -> None:
    rng = random.Random(3)
    chance = [[rng.choice("ab"), rng.choice("ab")] for _ in range(4000)]
    assert krippendorff_alpha(chance) == pytest.approx(0, abs=0.05)
    assert krippendorff_alpha([["a", "a"], ["b", "b", None]]) == 1
    assert krippendorff_alpha([["a", "b"], ["b", "a"]]) == pytest.approx(-0.5)
    for nothing in ([], [["a", None]], [["a", "a"], ["a", "a"]]):
        assert krippendorff_alpha(nothing) is None


def test_alpha_does_not_depend_on_the_order_of_raters_and_ignores_lone_ratings() -> None:
    mixed = [random.Random(n).sample(unit, len(unit)) for n, unit in enumerate(UNITS)]
    assert krippendorff_alpha(mixed, "ordinal") == pytest.approx(krippendorff_alpha(UNITS, "ordinal"))
    assert krippendorff_alpha([*UNITS, [None, 5, None]]) == pytest.approx(krippendorff_alpha(UNITS))


@given(pairs_of_labels)
def test_kappa_is_that_of_statsmodels(pairs: list[tuple[str, str]]) -> None:
    table = confusion(pairs, "abc")
    used = [n for n in range(3) if table[n].sum() + table[:, n].sum()]
    theirs = inter_rater.cohens_kappa(table[np.ix_(used, used)]).kappa if len(used) > 1 else np.nan
    ours = cohen_kappa(pairs)
    assert np.isnan(theirs) if ours is None else ours == pytest.approx(theirs)


def test_fleiss_is_that_of_statsmodels() -> None:
    rng = random.Random(5)
    units = [[rng.choice("aabc") for _ in range(4)] for _ in range(40)]
    table, _ = inter_rater.aggregate_raters([["abc".index(label) for label in unit] for unit in units])
    assert fleiss_kappa(units) == pytest.approx(inter_rater.fleiss_kappa(table))
    assert fleiss_kappa([]) is None
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([["a", "b"], ["a", "b", "c"]])
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([["a", None]])


def test_figures_of_a_table_worked_out_by_hand() -> None:
    counts = np.array([[8.0, 2, 0], [1, 3, 0], [0, 0, 0]])
    assert accuracy_of(counts) == pytest.approx(11 / 14)
    assert balanced_accuracy_of(counts) == pytest.approx((0.8 + 0.75) / 2)  # the third label never occurs
    assert f1_of(counts)[:2] == pytest.approx([16 / 19, 6 / 9])
    assert np.isnan(f1_of(counts)[2])
    assert kappa_of(counts) == pytest.approx((11 / 14 - 110 / 196) / (1 - 110 / 196))


def test_a_constant_answer_reaches_chance_and_no_kappa() -> None:
    pairs = [("a", "a")] * 30 + [("b", "a")] * 10 + [("c", "a")] * 5
    assert balanced_accuracy_of(confusion(pairs, "abc")) == pytest.approx(1 / 3)
    assert cohen_kappa(pairs) == 0
    assert cohen_kappa([("a", "a")] * 5) is None
    assert commonest([reference for reference, _ in pairs]) == "a"
    with pytest.raises(ValueError, match="no such label"):
        confusion([("a", "z")], "abc")


@given(pairs_of_labels, st.randoms())
def test_orders_are_those_of_scipy(pairs: list[tuple[str, str]], rng: random.Random) -> None:
    one, other = [rng.randrange(5) for _ in pairs], [rng.randrange(5) for _ in pairs]
    tau, rho = kendall_tau(one, other), spearman(one, other)
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert tau is None
        assert rho is None
    else:
        assert tau == pytest.approx(stats.kendalltau(one, other, variant="b").statistic)
        assert rho == pytest.approx(stats.pearsonr(stats.rankdata(one), stats.rankdata(other)).statistic)


def test_orders_say_nothing_about_one_system() -> None:
    assert kendall_tau([1], [2]) is None
    with pytest.raises(ValueError, match="lengths"):
        spearman([1, 2], [1])


def test_the_interval_of_a_measure_covers_the_truth() -> None:
    """Judges of known quality: 95 of 100 intervals of balanced accuracy hold it (±3 of the simulation's noise)."""
    rng, hits, truth = random.Random(8), 0, (0.9 + 0.6) / 2
    for run in range(300):
        pairs = [(label, label if rng.random() < right else "ab".replace(label, "")) for label, right in QUALITY * 50]
        found = agreement(pairs, "ab", balanced_accuracy_of, seed=run, draws=400)
        hits += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.91 <= hits / 300 <= 0.98


QUALITY = [("a", 0.9), ("b", 0.6)]


def test_pairs_of_one_group_are_drawn_together() -> None:
    """Ten copies of the same ten pairs hold no more than ten pairs do."""
    pairs = list(itertools.chain.from_iterable([(("a", "a" if n % 3 else "b"),) * 10 for n in range(10)]))
    pairs += list(itertools.chain.from_iterable([(("b", "b" if n % 4 else "a"),) * 10 for n in range(10)]))
    groups = [number // 10 for number in range(200)]
    alone = agreement(pairs, "ab", balanced_accuracy_of)
    together = agreement(pairs, "ab", balanced_accuracy_of, groups=groups)
    assert alone.value == together.value
    assert alone.n == together.n == 200
    assert together.high - together.low > 2.5 * (alone.high - alone.low)  # type: ignore[operator]
