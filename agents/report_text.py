"""The report under test as agents read it: numbered sentences, and those about something."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from ..core import PageState
from ..reports import Report, SegmentKind, Sentence, content_words, numbered
from ..tools import Page, best_passages


def about(report: Report, query: str, limit: int = 4, size: int = 3) -> list[int]:
    """Numbers of the report's sentences that best match the query, in the order of the report: the ``limit`` best
    passages of ``size`` sentences by BM25."""
    page = Page(url="report:", final_url="report:", state=PageState.OK, text=report.text, key="")
    found: set[int] = set()
    for passage in best_passages(query, [page], limit=limit, window=size):
        found.update(s.number for s in report.sentences if s.span.start < passage.end and s.span.end > passage.start)
    return sorted(found)


def bearing(report: Report, query: str, limit: int) -> list[int]:
    """Numbers of the sentences that a question bears on, in the order of the report, headings left out.

    A sentence counts by its own words and by those of the heading it stands under, rare words more: "How close the
    attacks are" names the sentences below it.
    """
    own = {s.number: frozenset(content_words(s.text)) for s in report.sentences}
    heads = {s.number: frozenset(content_words(_heading(report, s))) for s in report.sentences}
    seen = Counter(word for words in own.values() for word in words)
    weights = {word: math.log(1 + len(own) / seen[word]) for word in set(content_words(query)) if seen[word]}

    def score(number: int) -> float:
        return sum(weight * ((word in own[number]) + (word in heads[number])) for word, weight in weights.items())

    bodies = [s.number for s in report.sentences if report.segments[s.segment].kind is not SegmentKind.HEADING]
    best = sorted((number for number in bodies if score(number) > 0), key=lambda number: (-score(number), number))
    return sorted(best[:limit])


def _heading(report: Report, sentence: Sentence) -> str:
    """The innermost heading above a sentence; the report's title says nothing on a single one."""
    section = report.segments[sentence.segment].section
    return section[-1] if len(section) > 1 else ""


def quote(report: Report, numbers: Sequence[int]) -> str:
    """These sentences as one text."""
    texts = {sentence.number: sentence.text for sentence in report.sentences}
    return " ".join(texts[number] for number in numbers if number in texts)


def window(report: Report, query: str, room: int, count: Callable[[str], int]) -> tuple[str, bool]:
    """The numbered report; where it is longer than ``room`` tokens, the sections that match the query best.

    The second value says whether something was left out.
    """
    whole = numbered(report)
    if count(whole) <= room:
        return whole, False
    sections = _sections(report)
    matches = about(report, query, limit=12)
    best = sorted(sections, key=lambda section: -sum(number in section for number in matches))
    kept: list[int] = []
    for section in best:
        fits = [*kept, *section]
        if count(numbered(report, sorted(fits))) <= room:
            kept = fits
        elif not kept:
            kept = _as_much(report, section, room, count)
    return numbered(report, sorted(kept)), True


def _sections(report: Report) -> list[list[int]]:
    """Sentence numbers by the heading that they stand under."""
    sections: dict[tuple[str, ...], list[int]] = {}
    for sentence in report.sentences:
        sections.setdefault(report.segments[sentence.segment].section, []).append(sentence.number)
    return list(sections.values())


def _as_much(report: Report, section: Sequence[int], room: int, count: Callable[[str], int]) -> list[int]:
    """The beginning of a section that alone is too long."""
    kept: list[int] = []
    for number in section:
        if count(numbered(report, [*kept, number])) > room:
            break
        kept.append(number)
    return kept
