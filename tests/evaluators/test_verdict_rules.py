"""From stances to verdicts: every row of the table, time, own sources, numbers. No model, no network."""

from __future__ import annotations

import datetime as dt

import pytest
from dream_eval.core import Dating, Outcome
from dream_eval.evaluators.citations import pair_outcome
from dream_eval.evaluators.factuality import Finding, verdict_of
from dream_eval.evaluators.stances import Label, Stance, guarded, missing_numbers, overlap, partly_at_most
from dream_eval.tools.data import Passage
from hypothesis import given
from hypothesis import strategies as st

S, P, R, N = Stance.SUPPORTS, Stance.PARTLY, Stance.REFUTES, Stance.NEITHER


def finding(stance: Stance, *, year: int | None = 2024, own: bool = False, url: str = "", flag: str = "") -> Finding:
    published = dt.date(year, 1, 1) if year else None
    passage = Passage(
        url=url or f"https://{stance}{year}{own}.example/",
        start=0,
        end=4,
        sentences=("Text.",),
        score=1,
        published=published,
        dating=Dating.BEFORE if year else Dating.UNKNOWN,
        key="k",
    )
    return Finding(passage, Label(stance, (1,), (flag,) if flag else ()), own)


@pytest.mark.parametrize(
    ("stances", "outcome"),
    [
        ([], Outcome.UNDECIDED),
        ([N], Outcome.UNDECIDED),
        ([N, N, N], Outcome.UNDECIDED),
        ([S], Outcome.SUPPORTED),
        ([S, N], Outcome.SUPPORTED),
        ([P], Outcome.PARTLY),
        ([P, S], Outcome.SUPPORTED),
        ([P, N], Outcome.PARTLY),
        ([R], Outcome.CONTRADICTED),
        ([R, N], Outcome.CONTRADICTED),
        ([S, R], Outcome.CONFLICTING),
        ([P, R], Outcome.CONFLICTING),
        ([S, S, S, R], Outcome.CONFLICTING),
    ],
)
def test_both_streams_decide(stances: list[Stance], outcome: Outcome) -> None:
    assert verdict_of([finding(stance) for stance in stances], time_dependent=False).outcome is outcome


def test_a_claim_that_only_its_own_source_supports_is_undecided() -> None:
    verdict = verdict_of([finding(S, own=True), finding(N)], time_dependent=False)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.flags == ("no_independent_evidence",)


def test_another_source_beside_its_own_supports_it() -> None:
    verdict = verdict_of([finding(S, own=True), finding(S)], time_dependent=False)
    assert verdict.outcome is Outcome.SUPPORTED
    assert verdict.reason == "1 source for it"


def test_its_own_source_does_not_outweigh_a_refutation() -> None:
    verdict = verdict_of([finding(S, own=True), finding(R)], time_dependent=False)
    assert verdict.outcome is Outcome.CONTRADICTED


def test_its_own_source_may_refute_it() -> None:
    assert verdict_of([finding(R, own=True)], time_dependent=False).outcome is Outcome.CONTRADICTED


@pytest.mark.parametrize(
    ("pro", "con", "outcome", "flags"),
    [
        ((2022,), (2024,), Outcome.CONTRADICTED, ("outdated",)),
        ((2021, 2022), (2023, 2024), Outcome.CONTRADICTED, ("outdated",)),
        ((2024,), (2022,), Outcome.SUPPORTED, ()),
        ((2022,), (2022,), Outcome.CONFLICTING, ()),
        ((2021, 2024), (2023,), Outcome.CONFLICTING, ()),
        ((None,), (2024,), Outcome.CONFLICTING, ()),
        ((2022,), (None,), Outcome.CONFLICTING, ()),
        ((2020, None), (2024,), Outcome.CONFLICTING, ()),
    ],
)
def test_time_decides_only_where_it_tells_the_two_sides_apart(
    pro: tuple[int | None, ...], con: tuple[int | None, ...], outcome: Outcome, flags: tuple[str, ...]
) -> None:
    findings = [finding(S, year=year) for year in pro] + [finding(R, year=year) for year in con]
    verdict = verdict_of(findings, time_dependent=True)
    assert (verdict.outcome, verdict.flags) == (outcome, flags)
    assert verdict_of(findings, time_dependent=False).outcome is Outcome.CONFLICTING


def test_an_older_part_keeps_a_newer_support_partial() -> None:
    verdict = verdict_of([finding(P, year=2024), finding(R, year=2020)], time_dependent=True)
    assert verdict.outcome is Outcome.PARTLY


def test_outdated_also_where_only_its_own_older_source_supported_it() -> None:
    findings = [finding(S, year=2022, own=True), finding(R, year=2025)]
    assert verdict_of(findings, time_dependent=True).flags == ("outdated",)
    assert verdict_of(findings, time_dependent=False).flags == ()
    assert verdict_of([finding(R, year=2025)], time_dependent=True).flags == ()


def test_undated_evidence_decides_and_is_flagged() -> None:
    verdict = verdict_of([finding(S, year=None)], time_dependent=False)
    assert (verdict.outcome, verdict.flags) == (Outcome.SUPPORTED, ("undated_evidence",))
    assert verdict_of([finding(S, year=None), finding(S)], time_dependent=False).flags == ()


def test_a_verdict_without_evidence_is_told_apart_from_nothing_said() -> None:
    lost = verdict_of([finding(N, flag="quote_not_found")], time_dependent=False)
    assert (lost.outcome, lost.flags) == (Outcome.UNDECIDED, ("quote_not_found",))
    assert verdict_of([finding(N)], time_dependent=False).flags == ()


def test_pages_are_counted_not_passages() -> None:
    same = [finding(S, url="https://a.example/"), finding(S, url="https://a.example/")]
    assert verdict_of(same, time_dependent=False).reason == "1 source for it"


FINDINGS = st.lists(
    st.builds(
        finding,
        st.sampled_from(list(Stance)),
        year=st.sampled_from([None, 2020, 2022, 2024]),
        own=st.booleans(),
    ),
    max_size=6,
)


@given(FINDINGS, st.booleans())
def test_order_never_matters_and_neither_never_decides(findings: list[Finding], time_dependent: bool) -> None:
    verdict = verdict_of(findings, time_dependent=time_dependent)
    assert verdict_of(findings[::-1], time_dependent=time_dependent) == verdict
    silent = [one for one in findings if one.label.stance is not N]
    assert verdict_of(silent, time_dependent=time_dependent) == verdict


@given(FINDINGS, st.booleans())
def test_a_decided_verdict_has_independent_support_or_a_refutation(findings: list[Finding], time: bool) -> None:
    verdict = verdict_of(findings, time_dependent=time)
    independent = any(f.label.stance in (S, P) and not f.own for f in findings)
    refuted = any(f.label.stance is R for f in findings)
    if verdict.outcome in (Outcome.SUPPORTED, Outcome.PARTLY):
        assert independent
    if verdict.outcome is Outcome.CONTRADICTED:
        assert refuted


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("Prices fell by 20%.", "Prices fell by 20 percent.", set()),
        ("Prices fell by 20%.", "Prices fell by 14 percent.", {"20%"}),
        ("It was founded in 1981.", "It was founded on August 19, 1981.", set()),
        ("It has 1,200 employees.", "It has 1200 employees.", set()),
        ("It has 3 sites.", "It has three sites.", set()),
        ("A share of 38 percent.", "A share of 38.2 percent.", set()),
        ("A share of 38 percent.", "A share of 38.6 percent.", {"38%"}),
        ("A share of 38.2 percent.", "A share of 38 percent.", {"38.2%"}),
        ("市值为3.5亿。", "A value of 350 million.", set()),
        ("It grew.", "It shrank by 3%.", set()),
        ("From 12 to 15.", "From 12 to 16.", {"15"}),
        ("It was signed on 13 August 2024.", "On August 13 they met. The year was 2024.", set()),
        ("It was signed on 13 August 2024.", "It was signed on 14 August 2024.", {"2024-08-13"}),
    ],
)
def test_numbers_that_a_text_lacks(claim: str, text: str, missing: set[str]) -> None:
    assert missing_numbers(claim, text) == missing


def test_support_without_the_number_is_lowered_and_flagged() -> None:
    said = Label(S, (1,))
    label = guarded("It fell by 20%.", "It fell by 14%.", "It fell.", said)
    assert (label.stance, label.flags) == (N, ("number_not_on_page",))
    label = guarded("It fell by 20%.", "It fell much.", "It fell by 20%.", said)
    assert (label.stance, label.flags) == (P, ("number_elsewhere",))
    assert guarded("It fell by 20%.", "It fell by 20%.", "", said) == said
    label = partly_at_most("It fell by 20%.", "It fell by 14%.", said)
    assert (label.stance, label.flags) == (P, ("number_not_on_page",))
    assert partly_at_most("It fell by 20%.", "It fell by 20%.", said) == said


@pytest.mark.parametrize("stance", [P, R, N])
def test_the_number_rule_touches_support_only(stance: Stance) -> None:
    label = Label(stance, (1,))
    assert guarded("It fell by 20%.", "It fell by 14%.", "", label) == label
    assert partly_at_most("It fell by 20%.", "It fell by 14%.", label) == label


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_number_twin_never_counts_as_there(number: int, other: int) -> None:
    claim, text = f"The plant made {number} cells.", f"The plant made {other:,} cells."
    assert bool(missing_numbers(claim, text)) == (number != other)


# --- the rest --------------------------------------------------------------------------------------------------------


def test_overlap_is_the_share_of_the_claims_words() -> None:
    assert overlap("Norway exports salmon", "Salmon exports of Norway grew.") == 1
    assert overlap("Norway exports salmon", "Chile exports copper.") == pytest.approx(1 / 3)
    assert overlap("挪威出口三文鱼", "Norway exports salmon.") == 1, "another script: words cannot be compared"
    assert overlap("12 of 13", "nothing") == 1


def test_a_pairs_outcome() -> None:
    assert [pair_outcome(Label(stance)) for stance in (S, P, R, N)] == [
        Outcome.SUPPORTED,
        Outcome.PARTLY,
        Outcome.CONTRADICTED,
        Outcome.NO,
    ]
    assert pair_outcome(Label(N, flags=("quote_not_found",))) is Outcome.UNDECIDED
