"""Stretches of a paragraph that are no prose: inline code and math."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .labels import parse_numbers

Range = tuple[int, int]


SIGNS = ("`", "\\(", "\\[", "$")
"""One of them stands at the beginning of every zone."""


def zones(text: str, start: int, end: int, signs: Sequence[str] = SIGNS) -> list[Range]:
    """Inline code and math in a paragraph, in order; ``signs`` are those that occur in the text at all. Linear."""
    found: list[Range] = []
    for sign in signs:
        if text.find(sign, start, end) >= 0:
            found += _ZONES[sign](text, start, end)
    return _merged(found) if len(found) > 1 else found


def _merged(ranges: list[Range]) -> list[Range]:
    out: list[Range] = []
    for start, end in sorted(ranges):
        if out and start < out[-1][1]:
            if end > out[-1][1]:
                out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


_TICKS = re.compile(r"`+")
_DEBRIS = re.compile(r"\s*【oaicite:\d{1,4}】\s*")
"""A mark of ChatGPT's in the signs of code."""


def _code_spans(text: str, start: int, end: int) -> list[Range]:
    runs = [m.span() for m in _TICKS.finditer(text, start, end)]
    later: dict[int, list[int]] = {}
    for i in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[i][1] - runs[i][0], []).append(i)
    found: list[Range] = []
    at = 0
    while at < len(runs):
        same = later[runs[at][1] - runs[at][0]]
        while same and same[-1] <= at:
            same.pop()
        if same:
            if not _DEBRIS.fullmatch(text, runs[at][1], runs[same[-1]][0]):
                found.append((runs[at][0], runs[same[-1]][1]))
            at = same[-1]
        at += 1
    return found


def _paired(text: str, start: int, end: int, opener: str, closer: str) -> list[Range]:
    found: list[Range] = []
    at = text.find(opener, start, end)
    while at >= 0:
        stop = text.find(closer, at + 2, end)
        if stop < 0:
            break
        found.append((at, stop + 2))
        at = text.find(opener, stop + 2, end)
    return found


RAISED = re.compile(
    r"(?:\$\s?(?:\{\})?\^\{?\s?(?:\\text\{)?|\\textsuperscript\{)(?P<square>\\?\[)?(\d{1,3}(?:\s?[,，、;–-]\s?\d{1,3})*)\\?\]?\}{0,2}\$?"
)
"""A superscript of LaTeX that holds numbers alone: ``$^{[1]}$``, ``\\textsuperscript{1}``."""
_DOLLAR = re.compile(r"(?<!\\)\$\$?")
_MATHY = re.compile(r"[\\^_={}<>|∈≤≥×·∑∫√≈±]|\A\w{1,2}\Z|\A\w\s?[+*/-]\s?\w\Z")


def _brackets(text: str, start: int, end: int) -> list[Range]:
    """``\\[…\\]``, but for an escaped citation."""
    found = _paired(text, start, end, "\\[", "\\]")
    return [(a, b) for a, b in found if parse_numbers(text[a + 2 : b - 2]) is None]


def _parentheses(text: str, start: int, end: int) -> list[Range]:
    return _paired(text, start, end, "\\(", "\\)")


def _dollars(text: str, start: int, end: int) -> list[Range]:
    """``$…$`` where it is math and not money: no blank next to the signs inside, no digit behind, a sign of math."""
    marks = [m.span() for m in _DOLLAR.finditer(text, start, end)]
    found: list[Range] = []
    at = 0
    while at + 1 < len(marks):
        (a, b), (c, d) = marks[at], marks[at + 1]
        inner = text[b:c] if c - b <= 600 else ""
        fits = (
            d - c == b - a
            and inner.strip()
            and (b - a == 2 or not (inner[0].isspace() or inner[-1].isspace() or text[d : d + 1].isdigit()))
        )
        if fits and _MATHY.search(inner) and not (b - a == 1 and RAISED.match(text, a, d)):
            found.append((a, d))
            at += 1
        at += 1
    return found


_ZONES = {"`": _code_spans, "\\(": _parentheses, "\\[": _brackets, "$": _dollars}
