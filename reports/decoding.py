"""Bytes of a file to text, with a clear refusal of what is none."""

from __future__ import annotations

import codecs
from pathlib import Path

from ..errors import InputError
from .text import scalar

LARGEST_FILE = 200_000_000
"""Bytes; larger files are refused."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),  # the mark stays in the text, as Python reads such files; the cleaner cuts it
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises InputError when it cannot be read or is too large."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"larger than {LARGEST_FILE // 1_000_000} MB", path=path)
        return path.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", path=path) from None


def decode(data: bytes, *, path: Path | str) -> str:
    """UTF-8, or what the byte-order mark says, or GB 18030 when that fits Chinese text; stray bytes become U+FFFD.

    Raises InputError when it is no text: more than one character in fifty undecodable, or more than one in a hundred
    a control character.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _checked(data.decode(encoding, "replace"), path)
    try:
        return _checked(data.decode("utf-8"), path)
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") * 50 <= len(text):
        return _checked(text, path)
    try:
        chinese = data.decode("gb18030")
    except UnicodeDecodeError:
        raise InputError("not a text file (or not in UTF-8)", path=path) from None
    if sum(
        "\u4e00" <= c <= "\u9fff" or c.isascii() or "\u3000" <= c <= "\u303f" or "\uff00" <= c <= "\uffef"
        for c in chinese
    ) < 0.9 * len(chinese):
        raise InputError("not a text file (or not in UTF-8)", path=path)
    return _checked(scalar(chinese), path)


def _checked(text: str, path: Path | str) -> str:
    controls = sum(map(text.count, map(chr, (*range(9), *range(14, 27), *range(28, 32), 127))))
    if controls * 100 > len(text):
        raise InputError("not a text file: control characters", path=path)
    return text
