"""One HTML file that holds everything: script, style, and data that nothing in it can leave.

Data from outside never is HTML here: the index is JSON with every ``<``, ``>`` and ``&`` escaped, and each part is
JSON, compressed, in the base64 alphabet; both stand in script elements of types that no browser runs. The
Content-Security-Policy allows the script and the style by their digests and nothing else: no connection, no frame, no
image, no form.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..core import Json
from ..errors import InputError
from .bundle import Bundle
from .parts import DETAILS, Detail

HERE = Path(__file__).parent
LARGEST = 48 * 1024 * 1024
"""Bytes of a page, at most: what browsers open at once and CI keeps without complaint."""
SAMPLE = 24
"""Reports whose parts are made to see how large all of them would be."""
CAUTION = 0.9
"""Share of the room that an estimate by a sample may take."""
END = b"</body>\n</html>\n"

_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u00(?:0[0-8bce-f]|1[0-9a-f])")
_MARKUP = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def shown_json(value: Json) -> str:
    """JSON text in which nothing hides: control characters and marks that turn the writing direction become U+FFFD.

    One for one, so that offsets stay right.
    """
    text = _HIDDEN.sub("\ufffd", json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    text = _ESCAPED.sub("\\1\ufffd", text) if "\\u00" in text else text
    return text.encode("utf-8", "replace").decode()


def packed(value: Json) -> bytes:
    """A part as gzip bytes, always the same for the same value."""
    return gzip.compress(shown_json(value).encode(), 6, mtime=0)


def asset(name: str) -> str:
    """A built file of the front end, as it stands beside this module."""
    return (HERE / name).read_text(encoding="utf-8")


def head_html(title: str, *, connect: bool = False) -> str:
    """The page up to its data. ``connect``: the page may fetch its parts from where it came from (``--serve``)."""
    style, script = asset("page.css"), asset("page.js")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "connect-src 'self'" if connect else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"><noscript>This page needs JavaScript; all it shows is inside this file.</noscript></div>\n'
    )


def tail_html() -> str:
    """The script, which runs as soon as the index is there; the parts follow."""
    return f"<script>{asset('page.js')}</script>\n"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def block(name: str, data: bytes) -> bytes:
    """Packed data as an element that no browser runs."""
    return f'<script type="text/plain" id="{name}">'.encode() + base64.b64encode(data) + b"</script>\n"


def index_block(index: dict[str, Json]) -> bytes:
    """The index as JSON in which no markup can begin: it is read at once, before any part."""
    return f'<script type="application/json" id="index">{shown_json(index).translate(_MARKUP)}</script>\n'.encode()


# --- writing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """What became of a page."""

    path: Path
    size: int
    """Bytes."""
    detail: str
    """``full``, ``lean`` or ``bare``: how much of pages and calls is in it."""
    left_out: int
    """Reports whose text and items did not fit: their scores are in the page, the rest is shown by ``--serve``."""


def write_page(bundle: Bundle, path: Path, *, largest: int = LARGEST) -> Written:
    """Write the page as a whole: a reader sees the old file or the new one. Raises OSError, InputError."""
    index = bundle.index()
    detail = detail_for(bundle, largest - len(_front(index)))
    front = _front({**index, "detail": detail.name})
    draft = path.with_name(f".{path.name}.tmp")
    try:
        with draft.open("wb") as file:
            file.write(front)
            left_out = _fill(file, bundle, detail, largest)
            size = file.tell()
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return Written(path, size, detail.name, left_out)


def _front(index: dict[str, Json]) -> bytes:
    """All but the parts: they come last, so that the first view need not wait for them."""
    return head_html(title_of(index)).encode() + index_block(index) + tail_html().encode()


def _fill(file: BinaryIO, bundle: Bundle, detail: Detail, largest: int) -> int:
    """Write the parts as far as they fit; returns how many reports are left out."""
    left_out = 0
    for name, data in parts(bundle, detail):
        piece = block(name, data)
        if file.tell() + len(piece) + len(END) > largest:
            left_out += ".report." in name
        else:
            file.write(piece)
    file.write(END)
    return left_out


def parts(bundle: Bundle, detail: Detail, names: Iterable[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Parts (default: all) that can be made, packed; one whose files are gone is left out."""
    for name in bundle.names() if names is None else names:
        try:
            yield name, packed(bundle.part(name, detail))
        except InputError:
            continue


def detail_for(bundle: Bundle, room: int) -> Detail:
    """The most that fits into ``room`` bytes, judged by a sample where there are many parts."""
    names = list(bundle.names())
    step = max(1, len(names) // (3 * SAMPLE))
    sample = [name for number, name in enumerate(names) if (number // 3) % step == 0]
    for detail in DETAILS[:-1]:
        size = sum(len(block(name, data)) for name, data in parts(bundle, detail, sample))
        if size * len(names) <= room * len(sample) * (1.0 if step == 1 else CAUTION):
            return detail
    return DETAILS[-1]


def title_of(index: dict[str, Json]) -> str:
    """What the browser's tab says before the script runs."""
    runs = index["runs"]
    names = [str(run["name"]) for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    return " · ".join((" and ".join(names) or "protocol", "dream-eval"))
