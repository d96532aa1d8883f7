"""Text that somebody else wrote, made safe for a terminal."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, links, clipboard
    r"|\x1b[PX^_].*?(?:\x1b\\|\x9c|$)"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, erasing
    r"|\x1b[ -/]*[0-~]?",  # two-character sequences
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def printable(text: str) -> str:
    """``text`` without escape sequences, control characters and marks that turn the writing direction.

    Line breaks and tabs stay.
    """
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def one_line(text: str, *, limit: int | None = None) -> str:
    """``printable`` text on one line, cut with an ellipsis at ``limit`` characters."""
    line = " ".join(printable(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"
