"""What a reader sees of a stretch of Markdown: no marks, no link targets, no emphasis signs, white space folded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from .marks import RawMark
from .text import squeeze

_SPECIAL = re.compile(r"[*_`<&\\~\[]")
_BOLD = re.compile(r"\*\*+|__+(?=\S)|(?<=\S)__+|~~")
_ITALIC = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,300}?)(?<=\S)\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]{1,300}?)(?<=\S)_(?![\w_])"
)
_BREAK = re.compile(r"<br\s*/?>|</?(?:p|div|li|tr|td|th)\b[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|b|i|u|em|strong|sup|sub|span|small|mark|code|kbd|s|del|ins|font|details|summary|center|ul|ol|table|tbody|thead|img|cite|q)\b[^<>]{0,500}>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--(?:(?!-->).){0,2000}-->", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\[\]]{0,300})\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~$-])")
_LEFT = re.compile(r"\s+([,.;:!?，。；：！？、)）])|([(（])\s+|(?:\(\s*[,;]?\s*\)|（\s*）|\[\s*\])")
_PIPE = re.compile(r"(?<!\\)\|")


def read_text(text: str, start: int, end: int, marks: Sequence[RawMark], *, row: bool = False) -> str:
    """The reading of ``text[start:end]``; ``marks`` are those inside it, in order."""
    if marks:
        pieces: list[str] = []
        at = start
        for mark in marks:
            pieces.append(text[at : mark.start])
            if mark.keep is not None:
                pieces.append(text[mark.keep[0] : mark.keep[1]])
            at = max(at, min(mark.end, end))
        pieces.append(text[at:end])
        piece = _LEFT.sub(lambda m: m[1] or m[2] or "", "".join(pieces))
    else:
        piece = text[start:end]
    if row:
        piece = " | ".join(cell.strip() for cell in _PIPE.split(piece.strip().removeprefix("|").removesuffix("|")))
    return squeeze(_plain(piece)) if _SPECIAL.search(piece) else squeeze(piece)


def _plain(piece: str) -> str:
    if "<" in piece:
        piece = _TAG.sub("", _BREAK.sub(" ", _COMMENT.sub("", piece)))
    if "![" in piece:
        piece = _IMAGE.sub(r"\1", piece)
    if "*" in piece or "_" in piece or "~~" in piece:
        piece = _ITALIC.sub(lambda m: m[1] or m[2], _BOLD.sub("", piece))
    if "\\" in piece and "\\(" not in piece and "\\[" not in piece:
        piece = _ESCAPE.sub(r"\1", piece)
    return unescape(piece) if "&" in piece else piece


_EMPTY = re.compile(r"[\W_]*")


def is_bare(text: str) -> bool:
    """Whether a reading holds no word: only punctuation is left of it."""
    return _EMPTY.fullmatch(text) is not None
