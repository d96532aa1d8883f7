"""Lists of sources that a converter has written as quotations, whole or in part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .blocks import Block, lines_of
from .data import SegmentKind

_ITEM = re.compile(r"[ \t]*>[ \t]*(?:(\d{1,4})\\?[.)]|\\?\[(\d{1,4})\\?\])[ \t]+")


def unquoted(blocks: Iterable[Block]) -> Iterator[Block]:
    """Entries with the lines behind them that a converter has written as quotations (``1. One`` / ``   > url``)."""
    last: Block | None = None
    for block in blocks:
        if last is not None and block.kind is SegmentKind.QUOTE and not block.gap and last.label is not None:
            last = replace(last, end=block.end, target=None)
            continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last


def quoted_items(text: str, block: Block) -> list[Block]:
    """The numbered lines of a list in a quotation, each with those behind it that have no number. None of another
    block, and of a quotation that begins without a number.
    """
    items: list[Block] = []
    for start, end in lines_of(text[block.start : block.end]) if block.kind is SegmentKind.QUOTE else ():
        start, end = start + block.start, end + block.start
        match = _ITEM.match(text, start, end)
        if match is not None:
            items.append(
                replace(block, kind=SegmentKind.LIST_ITEM, start=start, end=end, body=match.end(), target=None)
            )
            items[-1].label, items[-1].style = match[1] or match[2], "ordered" if match[1] else "bracket"
            items[-1].gap, items[-1].lines = len(items) == 1, 1
        elif not items:
            return []
        elif start < end:
            items[-1].end = end
    return items
