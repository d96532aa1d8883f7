"""Finding a quote again in the text it was copied from."""

from __future__ import annotations

import pytest
from dream_eval.viewer.quotes import joined, spans_of, windows

TEXT = "It was built in 1999. It has\n twelve parts. It was built in 1999. The end."


def words(spans: list[tuple[int, int]]) -> list[str]:
    return [TEXT[start:end] for start, end in spans]


def test_a_quote_as_it_stands() -> None:
    assert words(spans_of(TEXT, "The end.")) == ["The end."]


def test_of_several_places_the_one_in_the_passage_counts() -> None:
    assert spans_of(TEXT, "It was built in 1999.", 0, 21) == [(0, 21)]
    assert spans_of(TEXT, "It was built in 1999.", 30, 70) == [(44, 65)]
    assert spans_of(TEXT, "It has", 60, 70) == [(22, 28)]  # the passage was wrong, the quote is there


def test_white_space_may_differ() -> None:
    assert words(spans_of(TEXT, "It has twelve parts.")) == ["It has\n twelve parts."]


def test_a_quote_with_a_gap_is_marked_piece_by_piece() -> None:
    assert words(spans_of(TEXT, "It was built in 1999. […] The end.")) == ["It was built in 1999.", "The end."]


def test_neighbours_become_one() -> None:
    assert words(spans_of(TEXT, "It was built in 1999. […] It has twelve parts.")) == [
        "It was built in 1999. It has\n twelve parts."
    ]


@pytest.mark.parametrize(("start", "end", "found"), [(3, 9, [(3, 9)]), (None, None, []), (9, 3, []), (0, 999, [])])
def test_what_is_not_there_leaves_the_passage(start: int | None, end: int | None, found: list[tuple[int, int]]) -> None:
    assert spans_of(TEXT, "Something else.", start, end) == found


def test_quotes_are_no_patterns() -> None:
    assert spans_of("a (b) [c] * d", "(b)  [c] *") == [(2, 11)]


def test_windows_keep_what_lies_around() -> None:
    assert windows(1000, [(100, 110), (130, 140), (900, 910)], around=50) == [(50, 190), (850, 960)]
    assert windows(30, [(10, 20)], around=50) == [(0, 30)]
    assert windows(30, [], around=50) == []


def test_joined_is_in_order() -> None:
    assert joined([(5, 9), (0, 2), (3, 4), (8, 12)]) == [(0, 4), (5, 12)] or joined([(5, 9), (0, 2)]) == [
        (0, 2),
        (5, 9),
    ]
