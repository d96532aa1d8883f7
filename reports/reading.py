"""What a reader sees of a stretch of Markdown: no marks, no link targets, no emphasis signs, white space folded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from .marks import RawMark
from .text import squeeze

_BOLD = re.compile(r"\*\*+|__+(?=\S)|(?<=\S)__+|~~")
_ITALIC = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,300}?)(?<=\S)\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]{1,300}?)(?<=\S)_(?![\w_])"
)
_BREAK = re.compile(r"<br\s*/?>|</?(?:p|div|li|tr|td|th)\b[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|b|i|u|em|strong|sup|sub|span|small|mark|code|kbd|s|del|ins|font|details|summary|center"
    r"|ul|ol|table|tbody|thead|img|cite|q)\b[^<>]{0,500}>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--(?:(?!-->).){0,2000}-->", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\[\]]{0,300})\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~$-])")
_HARD_BREAK = re.compile(r"\\(?=\n|\s*\Z)")
_CLOSING = frozenset(",.;:!?，。；：！？、)）]")
_BETWEEN = frozenset((",", ";", "，", "、", "；", "-", "–", "&", "and"))
"""What stands between two marks that are both taken out goes with them."""
_EMPTY_PAIRS = frozenset(("()", "（）", "[]"))
_PIPE = re.compile(r"(?<!\\)\|")


def read_text(text: str, start: int, end: int, marks: Sequence[RawMark], *, row: bool = False) -> str:
    """The reading of ``text[start:end]``; ``marks`` are those inside it, in order."""
    piece = _without(text, start, end, marks) if marks else text[start:end]
    if row:
        piece = " | ".join(cell.strip() for cell in _PIPE.split(piece.strip().removeprefix("|").removesuffix("|")))
    return squeeze(_plain(piece))


def _without(text: str, start: int, end: int, marks: Sequence[RawMark]) -> str:
    """The stretch without its marks, and without the blanks and empty brackets that they leave."""
    out = ""
    at, removed = start, False
    for mark in marks:
        piece = text[at : max(at, mark.start)]
        piece = "" if removed and mark.keep is None and piece.strip() in _BETWEEN else piece
        out = _closed(out, piece) if removed else out + piece
        removed = mark.keep is None
        if mark.keep is not None:
            out += text[mark.keep[0] : mark.keep[1]]
        at = max(at, min(mark.end, end))
    return _closed(out, text[at:end]) if removed else out + text[at:end]


def _closed(left: str, right: str) -> str:
    """Join what stood before and behind a mark that was taken out."""
    rest = right.lstrip()
    if rest[:1] not in _CLOSING:
        return left + right
    left = left.rstrip()
    if left[-1:] in ("(", "（") and rest[0] in ",;，；、":
        return left + rest[1:].lstrip()
    if left[-1:] + rest[:1] in _EMPTY_PAIRS:
        return left[:-1].rstrip() + rest[1:]
    return left + rest


def _plain(piece: str) -> str:
    if "<" in piece:
        piece = _TAG.sub("", _BREAK.sub(" ", _COMMENT.sub("", piece)))
    if "![" in piece:
        piece = _IMAGE.sub(r"\1", piece)
    if "***" in piece or "__" in piece or "~~" in piece:
        piece = _BOLD.sub("", piece)
    elif "**" in piece:
        piece = piece.replace("**", "")
    if "*" in piece or "_" in piece:
        piece = _ITALIC.sub(lambda m: m[1] or m[2], piece)
    if "\\" in piece:
        piece = _HARD_BREAK.sub(" ", piece)
    if "\\" in piece and "\\(" not in piece and "\\[" not in piece:
        piece = _ESCAPE.sub(r"\1", piece)
    return unescape(piece) if "&" in piece else piece


_EMPTY = re.compile(r"[\W_]*")


def is_bare(text: str) -> bool:
    """Whether a reading holds no word: only punctuation is left of it."""
    return _EMPTY.fullmatch(text) is not None
