# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Batches, grounding, merging, selection, citations of claims."""

import pytest
from dream_eval.reports import (
    ClaimList,
    Proposal,
    Report,
    batches,
    freeze_claims,
    marks_of,
    numbered,
    read_report,
    sources_of,
)
from hypothesis import given
from hypothesis import strategies as st

TEXT = """# Markets

## Growth

The chip market grew by 5% in 2024 [1]. Exports of memory chips rose to $12 billion. Prices fell in May 2025. [2]

The number of firms was 40. It is a large number. [3]

- Wages rose by 3% [1].

| City | People |
|---|---|
| Oslo | 700,000 |

## Decline

Imports fell by 7%.

## References

[1] One https://a.org/1
[2] Two https://b.org/2
[3] Three https://c.org/3
"""
# sentences: 1 Markets, 2 Growth, 3 grew, 4 exports, 5 prices, 6 firms, 7 large, 8 wages, 9 header row, 10 Oslo, 11 Decline, 12 imports


@pytest.fixture(scope="module")
def report() -> Report:
    return read_report(TEXT, id="r")


def freeze(report: Report, *proposals: Proposal, **more: object) -> ClaimList:
    return freeze_claims(report, proposals, maker="maker", version=1, **more)


def propose(text: str, *sentences: int, **more: object) -> Proposal:
    return Proposal(text=text, sentences=sentences, **more)


@pytest.mark.parametrize(
    ("text", "sentences", "kept"),
    [
        ("The chip market grew by 5% in 2024.", (3,), True),
        ("The chip market grew 5 percent in 2024.", (3,), True),
        ("The chip market grew by 6% in 2024.", (3,), False),
        ("The chip market grew by 5% in 2023.", (3,), False),
        ("Memory chip exports rose to 12 billion dollars.", (4,), True),
        ("Memory chip exports rose to 12 billion euros.", (4,), False),
        ("Chip prices fell in May 2025.", (5,), True),
        ("Chip prices fell in June 2025.", (5,), False),
        ("Chip exports were $12 billion in 2024.", (4,), True),  # 2024 stands in the section
        ("Chip imports fell by 7% in 2024.", (12,), False),  # 2024 stands in another section
        ("Oslo has 700,000 people.", (10,), True),  # the header says what is counted
        ("Penguins dance on frozen rivers.", (3,), False),
        ("The chip market grew.", (), False),
        ("The chip market grew.", (99,), False),
        ("The chip market grew.", (3, 99), True),
        ("   ", (3,), False),
    ],
)
def test_grounding(report, text, sentences, kept):
    claims = freeze(report, propose(text, *sentences))
    assert (len(claims.claims), claims.dropped) == ((1, 0) if kept else (0, 1))


def test_ids_follow_the_report_whatever_the_order_of_proposals(report):
    one, two = propose("Imports fell by 7%.", 12), propose("The chip market grew by 5% in 2024.", 3)
    first, second = freeze(report, one, two), freeze(report, two, one)
    assert first == second
    assert [(c.id, c.sentences) for c in first.claims] == [("c1", (3,)), ("c2", (12,))]
    assert len(first.digest) == 64
    assert first.digest != freeze(report, one).digest
    assert first.report == report.digest


def test_near_duplicates_are_merged_with_all_their_places(report):
    claims = freeze(
        report,
        propose("The chip market grew by 5% in 2024.", 3, importance=2, check_worthy=False),
        propose("The chip market grew by 5% in 2024", 4, importance=5, time_dependent=True),
        propose("The chip market grew by 5% in 2024 .", 3),
    )
    (claim,) = claims.claims
    assert (claim.sentences, claim.importance, claim.check_worthy, claim.time_dependent) == ((3, 4), 5, True, True)


def test_claims_know_their_section_and_task(report):
    proposals = [propose("The chip market grew by 5% in 2024.", 3), propose("Imports fell by 7%.", 12)]
    claims = freeze(report, *proposals, task="t7")
    assert [claim.section for claim in claims.claims] == [("Markets", "Growth"), ("Markets", "Decline")]
    assert claims.task == "t7"
    assert freeze(report, *proposals).task is None
    assert freeze(report.model_copy(update={"task_id": "t9"}), *proposals).task == "t9"
    assert freeze(report, *proposals).digest == claims.digest


def test_opposites_are_not_merged():
    report = read_report("Sales of the firm rose by 5% in 2024. Sales of the firm fell by 5% in 2024.", id="r")
    claims = freeze(
        report, propose("Sales of the firm rose by 5% in 2024.", 1), propose("Sales of the firm fell by 5% in 2024.", 2)
    )
    assert len(claims.claims) == 2


def test_selection_keeps_every_claim_in_the_list(report):
    proposals = [
        propose("The chip market grew by 5% in 2024.", 3, importance=3),
        propose("Memory chip exports rose to $12 billion.", 4, importance=5),
        propose("Chip prices fell in May 2025.", 5, importance=3),
        propose("Imports fell by 7%.", 12, importance=1),
        propose("It is a large number of firms.", 7, check_worthy=False),
    ]
    claims = freeze(report, *proposals, max_claims=2)
    assert len(claims.claims) == 5
    assert claims.selected_from == 4
    chosen = [c for c in claims.claims if c.selected and c.check_worthy]
    assert len(chosen) == 2
    assert "Memory chip exports rose to $12 billion." in {c.text for c in chosen}
    tied = sorted((c for c in claims.claims if c.importance == 3 and c.check_worthy), key=lambda c: c.digest)
    assert tied[0].selected
    assert not tied[1].selected
    assert all(c.selected for c in freeze(report, *proposals).claims)
    assert freeze(report, *proposals).selected_from is None


@pytest.mark.parametrize(
    ("sentences", "hosts"),
    [
        ((3,), ["a"]),  # its own mark, not that of the paragraph
        ((4,), ["b"]),  # no mark of its own: the one behind the paragraph
        ((5,), ["b"]),
        ((3, 4), ["a", "b"]),
        ((6,), ["c"]),
        ((8,), ["a"]),
        ((10,), []),
        ((12,), []),
    ],
)
def test_sources_come_from_the_marks_of_the_sentences(report, sentences, hosts):
    assert [report.source(id).url for id in sources_of(report, sentences)] == [
        f"https://{h}.org/{'abc'.index(h) + 1}" for h in hosts
    ]
    assert len(marks_of(report, sentences)) == len(hosts)


def test_claims_carry_their_sources(report):
    claims = freeze(report, propose("Memory chip exports rose to $12 billion.", 4), propose("Imports fell by 7%.", 12))
    assert [c.sources for c in claims.claims] == [("s2",), ()]


def test_chinese_claims():
    report = read_report("2024年中国芯片市场增长了5%。[1] 出口下降。\n\n参考文献：\n[1] https://a.org/1 - 一\n", id="r")
    claims = freeze(report, propose("中国芯片市场在2024年增长5%", 1), propose("日本汽车产量在2024年增长5%", 1))
    assert [c.text for c in claims.claims] == ["中国芯片市场在2024年增长5%"]
    assert claims.claims[0].sources == ("s1",)


def tokens(text: str) -> int:
    return len(text) // 3 + 1


@pytest.mark.parametrize("limit", [1, 20, 60, 200, 100_000])
def test_batches_cover_every_sentence_once(report, limit):
    found = batches(report, max_tokens=limit, count=tokens)
    assert [n for b in found for n in b.numbers] == list(range(1, len(report.sentences) + 1))
    assert [b.index for b in found] == list(range(len(found)))
    for batch in found:
        assert batch.text == numbered(report, batch.numbers)
        assert len(batch.numbers) == 1 or sum(tokens(line) + 1 for line in batch.text.split("\n")) <= limit
    if limit == 100_000:
        assert len(found) == 1


def test_no_sentences_no_batches():
    assert batches(read_report("", id="r"), max_tokens=10, count=tokens) == []


def test_the_section_of_a_batch(report):
    last = batches(report, max_tokens=20, count=tokens)[-1]
    assert last.section[0] == "Markets"


@given(st.lists(st.text(alphabet="abc. \n[1]#-中。", max_size=60), max_size=12), st.integers(5, 60))
def test_batches_cover_whatever_the_text(parts, limit):
    report = read_report("\n".join(parts), id="r")
    found = batches(report, max_tokens=limit, count=tokens)
    assert [n for b in found for n in b.numbers] == [s.number for s in report.sentences]


def test_a_proposal_needs_an_importance_in_range():
    with pytest.raises(ValueError, match="importance"):
        propose("x", 1, importance=6)
