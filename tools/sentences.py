"""Cutting pages into sentences: the rules of reports, within pieces that keep the offsets."""

from __future__ import annotations

import re

_END = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-ÖØ-ÞΑ-ΩА-Я])|(?<=[。！？；])[」』”’）】]*|\n+|(?<=[.!?])\s+(?=[•*-]\s)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|cf|Fig|Figs|Eq|No|Nos|Vol|pp|al|approx|ca|Inc|Ltd|Corp|Co|Jr|Sr"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|U\.K|z\.B|bzw|Nr|usw))\.$"
)
_LONG = 1_200


def split(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of ``text``, blanks left out; no span is longer than 1,200 characters."""
    spans: list[tuple[int, int]] = []
    start = 0
    for found in _END.finditer(text):
        end = found.end()
        if (
            found.group(0).isspace()
            and "\n" not in found.group(0)
            and _ABBREVIATION.search(text, max(start, found.start() - 12), found.start())
        ):
            continue
        _keep(text, start, end, spans)
        start = end
    _keep(text, start, len(text), spans)
    return spans


def _keep(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > _LONG:
        cut = text.rfind(" ", start + 1, start + _LONG)
        cut = cut if cut > start else start + _LONG
        spans.append((start, cut))
        start = cut + (text[cut] == " ")
    if any(c.isalnum() for c in text[start:end]):
        spans.append((start, end))
