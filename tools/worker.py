"""A parsing process: reads (head, body) frames on standard input, writes frames of a page as JSON and its index.

It gets an environment without keys and a cap on address space; who started it kills it when a document takes too long.
"""

from __future__ import annotations

import contextlib
import gc
import os
import struct
import sys
from typing import BinaryIO

from ..reports import scalar_json
from .content import Parsed, Source, parse
from .indexing import indexed, packed

FRAME = struct.Struct(">II")
"""Lengths of the two parts."""


def main() -> None:
    """Serve until standard input ends."""
    _limit(int(os.environ.get("DREAM_PARSE_BYTES", "0")))
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)  # calls that wait to be sent come first
    gc.freeze()
    gc.set_threshold(20_000)  # a document makes many objects and few cycles
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up among the frames
    while head := _exactly(source, FRAME.size):
        head_size, body_size = FRAME.unpack(head)
        request = _exactly(source, head_size)
        body = _exactly(source, body_size)
        page = answer(request, body)
        reply, index = page.model_dump_json().encode("utf-8", "replace"), index_bytes(page.text)
        sink.write(FRAME.pack(len(reply), len(index)) + reply + index)
        sink.flush()


def answer(request: bytes, body: bytes) -> Parsed:
    """Parse one document; whatever goes wrong becomes a page that is not text."""
    try:
        page = parse(Source.model_validate_json(request), body)
        return Parsed.model_validate(scalar_json(page.model_dump()))
    except MemoryError:
        return Parsed.model_validate({"state": "too_large", "reason": "not enough memory to parse it"})
    except Exception as error:  # the boundary: a stranger's document meets four parsers
        return Parsed.model_validate({"state": "not_text", "reason": f"cannot be parsed ({type(error).__name__})"})


def index_bytes(text: str) -> bytes:
    """The text's index; nothing when there is not enough memory for it, which is no reason to lose the page."""
    try:
        return packed(indexed(text))
    except MemoryError:
        return b""


def _exactly(source: BinaryIO, size: int) -> bytes:
    return source.read(size) if size else b""


def _limit(size: int) -> None:
    if not size:
        return
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


if __name__ == "__main__":
    main()
