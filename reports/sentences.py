"""Sentences for Latin scripts and CJK, without a model.

A sentence ends at ``. ! ? …`` or their full-width forms, closing quotation marks and brackets included; citations that
stand directly behind the end belong to the sentence. It does not end at abbreviations, initials, decimals, list
numbers, an ellipsis within a sentence, or within a protected stretch (code, math, a link). A sentence longer than
``LONGEST`` characters is cut at the last clause mark or blank before that, so that no unit outgrows a judge.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from .data import Span
from .text import CJK, word_set

_NO_MARKS: Mapping[int, int] = {}

LONGEST = 2000
"""Characters; longer sentences are cut."""

_NEVER = word_set(
    """mr mrs ms dr prof rev gen sen rep gov hon st messrs mme vs v cf e.g i.e eg ie viz al resp approx ca c fig figs
    eq eqs sec secs ch chap vol vols nos pp ed eds trans transl ref refs tab app art cap par para z.b d.h u.a bzw
    nr s p abb vgl ggf sog usw evtl inkl max min avg est dept univ jan feb mar apr jun jul aug sept sep oct nov
    dec mt ft lt col sgt capt cmdr adm maj n.b op cit ibid"""
)
"""Abbreviations that never end a sentence (unless nothing follows)."""

_SOMETIMES = word_set(
    """u.s u.k u.n e.u u.s.a d.c a.m p.m inc ltd co corp llc plc bros jr sr ph.d m.d b.a m.a b.sc m.sc etc no gmbh sa
    al."""
)
"""Abbreviations that end a sentence only before a word that often starts one."""

_ABBREVIATIONS = _NEVER | _SOMETIMES
_ALSO_WORDS = word_set("max min s p c v art par est tab cap app op ed sec mar ref refs")
"""Of ``_NEVER``: also ends of ordinary sentences (``at max.``, ``plan C.``)."""

_STARTERS = word_set(
    """the a an this these those it its in on at by for from with as after before while when where although though
    however but and or so yet if we they he she i you there here our their his her many some most several both
    each according despite since because during under over between among such other another moreover furthermore
    additionally meanwhile overall finally first second third one two three to that not what why how"""
)
_CLOSERS = "\"'”’»)\\]）」』】〉》*_"
_TRAIL = re.compile(
    r"""(?:[ \t]{0,3}(?:
        \\?\[\^?[#\d][^\[\]\n]{0,80}\](?:\((?:[^\s()]|\([^\s()]*\))*\))?
      | \[\[[^\[\]\n]{1,60}\]\]?(?:\((?:[^\s()]|\([^\s()]*\))*\))?\]?
      | [【［〔]\d[^】］〕\n]{0,60}[】］〕]
      | <sup>[^<\n]{0,80}</sup>
      | [\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+ | [\u2460-\u2487\u3251-\u325f](?!\w)
      | [(（]\[[^\[\]\n]{1,200}\]\((?:[^\s()]|\([^\s()]*\))*\)
          (?:[,;]?\s?\[[^\[\]\n]{1,200}\]\((?:[^\s()]|\([^\s()]*\))*\))*[)）]
      | \[[^\[\]\n]{1,200}\]\((?:[^\s()]|\([^\s()]*\))*\)(?=[ \t]*(?:\Z|[\n\[A-Z]))
      | \ue200cite[^\ue201\n]{0,200}\ue201 | cite(?:turn\d{1,3}[a-z]{3,12}\d{1,3})+
    )[.。]?)+""",
    re.VERBOSE,
)
"""Citations behind the end of a sentence."""

_END = re.compile(r"[.!?。！？｡؟।۔…]")
_REST = re.compile(rf"[.。！？!?…]*[{_CLOSERS}]*")
_HARD_BREAK = re.compile(r"(?<![ \t])[ \t]{2,}+\n|\\\n")
_NEXT_WORD = re.compile(r"[\s\"'“‘«(\[*_]*([^\W\d_]+|\d|[^\s])?")
_ENUMERATOR = re.compile(r"[\s*_(\[]*(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})\Z")
_CLAUSE = re.compile(r"[;；，,、:：]\s?|\s+")
_PROTECTED = re.compile(r"`[^`\n]*`|\[[^\[\]\n]{0,300}\]\((?:[^\s()]|\([^\s()]*\))*\)|<https?://[^<>\s]*>")
_NEW_LINE = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*•#|>+]|\d{1,3}[.)、]\s))|\n")
_WRAP = re.compile(r"[ \t]*[a-zà-öø-ÿ]")
_CJK_NEXT = re.compile(rf"[{CJK}]")


def split_sentences(text: str) -> list[Span]:
    """Sentences of a plain text or page, in order, without surrounding white space. Linear.

    A line break ends a sentence, unless the next line starts in lower case (a wrapped line).
    """
    found: list[Span] = []
    for start, end in _lines(text):
        shields = [m.span() for m in _PROTECTED.finditer(text, start, end)]
        found += [Span(start=a, end=b) for a, b in split_range(text, start, end, shields)]
    return found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _NEW_LINE.finditer(text):
        if match.group() == "\n" and _WRAP.match(text, match.end()) and match.start() > start:
            continue
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def split_range(
    text: str,
    start: int,
    end: int,
    shields: Sequence[tuple[int, int]] = (),
    marks: Mapping[int, int] = _NO_MARKS,
) -> list[tuple[int, int]]:
    """Sentences of ``text[start:end]``, one paragraph: a single line break is a blank.

    ``shields`` are not split; ``marks`` are known citations (start to end), part of the sentence that they follow.
    """
    bounds: list[tuple[int, int]] = []
    at = start
    for stop in itertools.chain(_stops(text, start, end, shields, marks), (end,)):
        if stop > at:
            first, last, at = at, stop, stop
            while first < last and text[first].isspace():
                first += 1
            while last > first and text[last - 1].isspace():
                last -= 1
            if 0 < last - first <= LONGEST:
                bounds.append((first, last))
            else:
                bounds += pieces(text, first, last)
    return bounds


def _stops(
    text: str, start: int, end: int, shields: Sequence[tuple[int, int]], marks: Mapping[int, int]
) -> Iterator[int]:
    starts = [a for a, _ in shields]
    done = start
    broken = text.find("\n", start, end) >= 0 and any(text.find(sign, start, end) >= 0 for sign in ("  \n", "\\\n"))
    hard = [m.end() for m in _HARD_BREAK.finditer(text, start, end)][::-1] if broken else []
    for match in _END.finditer(text, start, end):
        a = match.start()
        while hard and hard[-1] <= a:
            done = max(done, hard.pop())
            yield done
        if a < done or (starts and (i := bisect_right(starts, a)) and a < shields[i - 1][1]):
            continue
        if a + 2 < end and a + 1 not in marks:
            next_sign = text[a + 2] if text[a + 1] == " " else text[a + 1]
            if (next_sign.isalpha() or next_sign.isdecimal()) and next_sign != "c":
                if _plainly_ends(text, done, a, next_sign, end):
                    done = a + 1
                    yield done
                continue
        rest = _REST.match(text, a + 1, end)
        b = rest.end() if rest else a + 1
        trail = _TRAIL.match(text, b, end)
        stop = trail.end() if trail else b
        while stop in marks:
            stop = marks[stop]
        if _ends(text, done, a, b, stop, end):
            done = stop
            yield stop
    yield from reversed(hard)


def _plainly_ends(text: str, start: int, a: int, following: str, end: int) -> bool:
    """Whether a terminator ends a sentence when a letter or digit follows, perhaps behind a blank: nothing that closes
    the sentence, and no citation (``c``: ``cite…``)."""
    mark = text[a]
    if mark in "。！？｡؟।۔":
        return True
    if text[a + 1] != " ":
        return mark in "!?" and _CJK_NEXT.match(following) is not None
    if following.islower():
        return False
    word = text[text.rfind(" ", start, a) + 1 : a] if mark == "." and a - start > 40 else ""
    if len(word) > 1 and word.isalpha() and word.lower() not in _ABBREVIATIONS:
        return True
    return _ends(text, start, a, a + 1, a + 1, end)


def _ends(text: str, start: int, a: int, b: int, stop: int, end: int) -> bool:
    """Whether the terminator ``text[a:b]`` (citations up to ``stop``) ends the sentence that began at ``start``."""
    if stop >= end:
        return True
    mark, after = text[a], text[stop]
    if mark in "。！？｡؟।۔":
        return True
    if not after.isspace():
        return (stop > b and (after.isupper() or _CJK_NEXT.match(after) is not None)) or (
            mark in "!?" and _CJK_NEXT.match(after) is not None
        )
    found = _NEXT_WORD.match(text, stop, end)
    following = (found[1] if found else None) or ""
    if mark in "!?":
        return not following[:1].islower()
    if (b - a > 1 and text[a + 1] in ".…") or mark == "…":
        return not following[:1].islower() and bool(following)
    return (stop > b and not following[:1].islower()) or _full_stop(text, start, a, following)


def _full_stop(text: str, start: int, dot: int, following: str) -> bool:
    if following[:1].islower() or following[:1] in (",", ";", ")"):
        return False
    before = text[max(start, dot - 40) : dot]
    if dot - start <= 40 and _ENUMERATOR.match(before):
        return False
    word = _last_word(before)
    if word in _NEVER:
        return word in _ALSO_WORDS and following.lower() in _STARTERS
    if word in _SOMETIMES or (len(word) == 1 and word.isalpha()):
        if word == "no" and following[:1].isdigit():
            return False
        return following.lower() in _STARTERS or bool(_CJK_NEXT.match(following))
    return True


def _last_word(before: str) -> str:
    pieces = before.rsplit(None, 1)
    return pieces[-1].lower().strip("*_\"'“‘([（") if pieces and not before[-1].isspace() else ""


def pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The range without outer white space, cut into pieces of at most ``LONGEST`` characters."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = start + LONGEST
        for match in _CLAUSE.finditer(text, start + LONGEST // 2, start + LONGEST):
            cut = match.end()
        piece_end = cut
        while piece_end > start and text[piece_end - 1].isspace():
            piece_end -= 1
        yield start, piece_end
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        yield start, end
