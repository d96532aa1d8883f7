"""Where a quote stands in the text that it was copied from."""

from __future__ import annotations

import re

GAP = "[…]"
"""Between two sentences of a quote where one was left out."""

Span = tuple[int, int]
"""Offsets in characters, half-open."""


def spans_of(text: str, quote: str, start: int | None = None, end: int | None = None) -> list[Span]:
    """The places of a quote's pieces in ``text``, in order; those that cannot be found are left out.

    ``start`` and ``end`` say where the passage lies: of several places the first one in it counts. Where no piece can
    be found the passage itself is the answer, and nothing without one.
    """
    low = start or 0
    pieces = [piece.strip() for piece in quote.split(GAP)]
    found = [span for piece in pieces if piece and (span := _find(text, piece, low))]
    if found:
        return joined(found)
    inside = start is not None and end is not None and 0 <= start < end <= len(text)
    return [(start or 0, end or 0)] if inside else []


def _find(text: str, piece: str, low: int) -> Span | None:
    for begin in (low, 0):
        at = text.find(piece, begin)
        if at >= 0:
            return (at, at + len(piece))
    folded = re.compile(r"\s+".join(map(re.escape, piece.split())))
    match = folded.search(text, low) or folded.search(text)
    return match.span() if match else None


def joined(spans: list[Span], *, gap: int = 1) -> list[Span]:
    """The spans in order, those that touch or overlap (or lie at most ``gap`` characters apart) made into one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def windows(length: int, spans: list[Span], *, around: int) -> list[Span]:
    """What to keep of a text of ``length`` characters so that every span has ``around`` characters on both sides."""
    return joined([(max(0, start - around), min(length, end + around)) for start, end in spans], gap=around // 2)
