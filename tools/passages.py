"""The passages of pages that speak to a query: BM25 over windows of neighbouring sentences.

Sentences are indexed one by one; a window's score is computed exactly, but only for windows around the sentences that
hold the query's rarest terms. So a thousand pages are searched in milliseconds once they are indexed.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate
from threading import Lock

from ..core import PageState
from .data import Page, Passage
from .indexing import Indexed, indexed
from .words import query_terms

_K1, _B = 1.2, 0.5
_CANDIDATES = 120
"""Sentences whose windows are scored exactly."""
_POSTINGS = 25_000
"""Entries of the index that a search looks at, rarest terms first (the rarest term's are all looked at)."""


_known: OrderedDict[str, Indexed] = OrderedDict()
_lock = Lock()  # agents look from threads of their own
_KEPT = 512
"""Texts whose index is kept, 0.07 MB each for pages of 25,000 characters: a page is read for many claims."""


def remember(text: str, index: Indexed) -> None:
    """Keep the index of a text, for instance one that was made elsewhere."""
    with _lock:
        _known[text] = index
        _known.move_to_end(text)
        while len(_known) > _KEPT:
            _known.popitem(last=False)


def index_of(text: str) -> Indexed:
    """The index of a text; made when it is not known."""
    index = _known.get(text) or indexed(text)
    remember(text, index)
    return index


class _Term:
    """A term of a query in the pages."""

    def __init__(self, numbers: list[int | None], parts: Sequence[Indexed]) -> None:
        self.numbers = numbers
        """Its number in each page's vocabulary."""
        pairs = zip(parts, numbers, strict=True)
        self.where = [() if number is None else part.where(number) for part, number in pairs]
        """The places of each page that hold it."""
        self.holders = sum(map(len, self.where))


def _slots(page: int, known: Sequence[_Term]) -> dict[int, int]:
    """From a term's number in the page to its place in the query."""
    return {number: slot for slot, term in enumerate(known) if (number := term.numbers[page]) is not None}


class PassageIndex:
    """Pages, cut into sentences and indexed. Build once, ask often."""

    def __init__(self, pages: Sequence[Page], *, window: int = 3) -> None:
        self._pages = [page for page in pages if page.state is PageState.OK and page.text]
        self._window = max(1, window)
        self._parts = [index_of(page.text) for page in self._pages]
        self._first = [0, *accumulate(len(part.said) for part in self._parts)]
        self._mean = max(1.0, sum(len(part.words) for part in self._parts) / max(1, len(self)))

    def __len__(self) -> int:
        """Sentences indexed."""
        return self._first[-1]

    def search(self, query: str, *, limit: int = 4) -> list[Passage]:
        """The best passages, best first, no two of them overlapping. Empty when no term of the query occurs."""
        known = self._known(query_terms(query))
        if not known:
            return []
        weights = [self._weight(term.holders) for term in known]
        slots = [_slots(page, known) for page in range(len(self._parts))]
        windows = self._windows(self._candidates(known, weights))
        numbers = {number for first in windows for number in self._range(first)}
        counts = {number: self._count(number, slots, [0] * len(known)) for number in numbers}
        scored = ((self._score(first, counts, weights), first) for first in windows)
        return self._choose(sorted(scored, key=lambda pair: (-pair[0], pair[1])), limit)

    def _known(self, query: list[str]) -> list[_Term]:
        """The query's terms that occur, rarest first."""
        asked = (_Term([part.number(term) for part in self._parts], self._parts) for term in query)
        return sorted((term for term in asked if term.holders), key=lambda term: term.holders)

    def _weight(self, n: int) -> float:
        """Inverse document frequency of a term that ``n`` sentences hold."""
        return math.log(1 + (len(self) - n + 0.5) / (n + 0.5))

    def _candidates(self, known: list[_Term], weights: list[float]) -> list[int]:
        """Sentences with most of the query, by its rarer terms; the commonest ones only weigh in later."""
        sums: dict[int, float] = {}
        get, left = sums.get, _POSTINGS
        for term, weight in zip(known, weights, strict=True):
            left -= term.holders
            if left < 0 and sums:
                break
            for first, places in zip(self._first, term.where, strict=False):
                for place in places:
                    sums[first + place] = get(first + place, 0.0) + weight
        if len(sums) <= _CANDIDATES:
            return list(sums)
        return heapq.nlargest(_CANDIDATES, sums, key=lambda number: (sums[number], -number))

    def _place(self, number: int) -> tuple[int, int]:
        """The page that a sentence stands in, and its place there."""
        page = bisect_right(self._first, number) - 1
        return page, number - self._first[page]

    def _count(self, number: int, slots: list[dict[int, int]], counts: list[int]) -> list[int]:
        """How often a sentence holds each term of the query, added to ``counts``, and last how many terms it has."""
        page, place = self._place(number)
        words, asked = self._parts[page].words_of(place), slots[page]
        for word in words:
            if word in asked:
                counts[asked[word]] += 1
        return [*counts, len(words)]

    def _range(self, first: int) -> range:
        return range(first, min(first + self._window, self._page_range(first)[1]))

    def _windows(self, sentences: list[int]) -> set[int]:
        """First sentences of all windows that hold one of ``sentences`` and stay within its page."""
        starts: set[int] = set()
        for number in sentences:
            first, end = self._page_range(number)
            last = max(first, min(number, end - self._window))
            starts.update(range(max(first, number - self._window + 1), last + 1))
        return starts

    def _page_range(self, number: int) -> tuple[int, int]:
        page, _ = self._place(number)
        return self._first[page], self._first[page + 1]

    def _score(self, first: int, counts: dict[int, list[int]], weights: list[float]) -> float:
        *sums, length = map(sum, zip(*(counts[number] for number in self._range(first)), strict=True))
        norm = _K1 * (1 - _B + _B * length / (self._mean * self._window))
        return sum(
            weight * count * (_K1 + 1) / (count + norm) for weight, count in zip(weights, sums, strict=True) if count
        )

    def _choose(self, scored: list[tuple[float, int]], limit: int) -> list[Passage]:
        chosen: list[Passage] = []
        taken: set[int] = set()
        for score, first in scored:
            numbers = self._range(first)
            if taken.isdisjoint(numbers):
                taken.update(numbers)
                chosen.append(self._passage(first, numbers.stop, score))
                if len(chosen) == limit:
                    break
        return chosen

    def _passage(self, first: int, end: int, score: float) -> Passage:
        number, place = self._place(first)
        page, part = self._pages[number], self._parts[number]
        spans = [part.span(said) for said in part.said[place : place + end - first]]
        starts = page.page_starts
        return Passage(
            url=page.url,
            start=spans[0][0],
            end=spans[-1][1],
            sentences=tuple(" ".join(page.text[start:stop].split()) for start, stop in spans),
            score=round(score, 4),
            published=page.published,
            dating=page.dating,
            page=bisect_right(starts, spans[0][0]) or None if starts else None,
            key=page.key,
        )


def best_passages(query: str, pages: Sequence[Page], *, limit: int = 4, window: int = 3) -> list[Passage]:
    """The ``limit`` passages of ``window`` sentences that speak most to ``query``; pages that are not ok have none."""
    return PassageIndex(pages, window=window).search(query, limit=limit)
