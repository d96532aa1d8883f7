"""The passages of pages that speak to a query: BM25 over windows of neighbouring sentences.

Sentences are indexed one by one; a window's score is computed exactly, but only for windows around the sentences that
hold the query's rarest terms. So a thousand pages are searched in milliseconds once they are indexed.
"""

from __future__ import annotations

import heapq
import math
from array import array
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from threading import Lock

from ..core import PageState
from ..reports import split_sentences
from .data import Page, Passage
from .words import query_terms, shingles_of, terms

_K1, _B = 1.2, 0.5
_CANDIDATES = 120
"""Sentences whose windows are scored exactly."""
_POSTINGS = 25_000
"""Entries of the index that a search looks at, rarest terms first (the rarest term's are all looked at)."""


@dataclass(frozen=True)
class Indexed:
    """One text, indexed. What it takes is made where the page is parsed (:func:`remember`), else when it is needed."""

    sentences: Sequence[Sequence[int]]
    """Start and end of every sentence."""
    said: Sequence[int]
    """Numbers of the sentences that say something; the others have no letter and no digit."""
    words: Sequence[Sequence[str]]
    """The terms of the former."""
    where: Mapping[str, Sequence[int]]
    """For each term the places, in ``said``, of those that hold it."""
    shingles: Sequence[int]
    """See :mod:`.copies`."""


def indexed(text: str) -> Indexed:
    """The index of a text, made anew."""
    sentences = [(span.start, span.end) for span in split_sentences(text)]
    said = [number for number, (start, end) in enumerate(sentences) if any(map(str.isalnum, text[start:end]))]
    words = [terms(text[start:end]) for start, end in map(sentences.__getitem__, said)]
    where: defaultdict[str, list[int]] = defaultdict(list)
    for place, held in enumerate(words):
        for term in set(held):
            where[term].append(place)
    return Indexed(sentences, said, words, dict(where), array("L", shingles_of(chain.from_iterable(words))))


_known: OrderedDict[str, Indexed] = OrderedDict()
_lock = Lock()  # agents look from threads of their own
_KEPT = 192
"""Texts whose index is kept, 0.4 MB each for pages of 25,000 characters: a page is read for many claims."""


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


class PassageIndex:
    """Pages, cut into sentences and indexed. Build once, ask often."""

    def __init__(self, pages: Sequence[Page], *, window: int = 3) -> None:
        self._pages = [page for page in pages if page.state is PageState.OK and page.text]
        self._window = max(1, window)
        self._parts = [index_of(page.text) for page in self._pages]
        self._first = [0, *accumulate(len(part.said) for part in self._parts)]
        self._spans = [part.sentences[number] for part in self._parts for number in part.said]
        self._words = [words for part in self._parts for words in part.words]
        self._mean = max(1.0, sum(map(len, self._words)) / max(1, len(self._words)))

    def _where(self, term: str) -> list[int]:
        """The sentences that hold a term, by number over all pages."""
        parts = zip(self._first, self._parts, strict=False)
        return [first + number for first, part in parts for number in part.where.get(term, ())]

    def __len__(self) -> int:
        """Sentences indexed."""
        return len(self._spans)

    def search(self, query: str, *, limit: int = 4) -> list[Passage]:
        """The best passages, best first, no two of them overlapping. Empty when no term of the query occurs."""
        weights = self._weights(query_terms(query))
        if not weights:
            return []
        windows = self._windows(self._candidates(weights))
        numbers = {number for first in windows for number in self._range(first)}
        counts = {number: self._count(number, weights) for number in numbers}
        scored = ((self._score(first, counts, weights), first) for first in windows)
        return self._choose(sorted(scored, key=lambda pair: (-pair[0], pair[1])), limit)

    def _weights(self, query: list[str]) -> dict[str, float]:
        """Inverse document frequency of the query's terms that occur, rarest first."""
        total = len(self._spans)
        found = ((term, sum(len(part.where.get(term, ())) for part in self._parts)) for term in query)
        known = sorted((pair for pair in found if pair[1]), key=lambda pair: pair[1])
        return {term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in known}

    def _candidates(self, weights: dict[str, float]) -> list[int]:
        """Sentences with most of the query, by its rarer terms; the commonest ones only weigh in later."""
        sums: dict[int, float] = {}
        get, left = sums.get, _POSTINGS
        for term, weight in weights.items():
            where = self._where(term)
            left -= len(where)
            if left < 0 and sums:
                break
            for number in where:
                sums[number] = get(number, 0.0) + weight
        if len(sums) <= _CANDIDATES:
            return list(sums)
        return heapq.nlargest(_CANDIDATES, sums, key=lambda number: (sums[number], -number))

    def _count(self, number: int, weights: dict[str, float]) -> list[int]:
        words = self._words[number]
        return [words.count(term) for term in weights]

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

    def _page_of(self, number: int) -> int:
        return bisect_right(self._first, number) - 1

    def _page_range(self, number: int) -> tuple[int, int]:
        page = self._page_of(number)
        return self._first[page], self._first[page + 1]

    def _score(self, first: int, counts: dict[int, list[int]], weights: dict[str, float]) -> float:
        numbers = self._range(first)
        length = sum(len(self._words[number]) for number in numbers)
        norm = _K1 * (1 - _B + _B * length / (self._mean * self._window))
        sums = map(sum, zip(*(counts[number] for number in numbers), strict=True))
        return sum(
            weight * count * (_K1 + 1) / (count + norm)
            for weight, count in zip(weights.values(), sums, strict=True)
            if count
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
        page = self._pages[self._page_of(first)]
        spans = self._spans[first:end]
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
