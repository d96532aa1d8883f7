"""Reading WARC files (ISO 28500), plain or compressed record by record, without trusting them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import InputError

_RECORD_CAP = 64_000_000
_BODY_CAP = 12_000_000
_LINE_CAP = 65_536


@dataclass(frozen=True)
class Captured:
    """A page in a WARC file, its transfer and content encodings undone."""

    url: str
    day: str
    """Of the capture, ISO form."""
    status: int
    headers: dict[str, str]
    body: bytes


def captures(path: Path) -> Iterator[Captured]:
    """Captured answers in order. InputError when the file is no WARC or is damaged."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        try:
            yield from _records(stream, path)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"damaged: {error}", path=path) from None


def _records(stream: BinaryIO, path: Path) -> Iterator[Captured]:
    while (line := stream.readline(_LINE_CAP)) != b"":
        if line in (b"\r\n", b"\n"):
            continue
        if not line.startswith(b"WARC/"):
            raise InputError("not a WARC file", path=path)
        head = _head(stream)
        size = head.get("content-length", "")
        if not size.isdigit():
            raise InputError("a record without its length", path=path)
        keep = head.get("warc-type") in ("response", "resource") and int(size) <= _RECORD_CAP
        block = _take(stream, int(size), keep=keep, path=path)
        if keep and (found := _captured(head, block)):
            yield found


def _take(stream: BinaryIO, size: int, *, keep: bool, path: Path) -> bytes:
    parts: list[bytes] = []
    left = size
    while left:
        part = stream.read(min(left, 1 << 20))
        if not part:
            raise InputError("cut off within a record", path=path)
        left -= len(part)
        if keep:
            parts.append(part)
    return b"".join(parts)


def _head(stream: BinaryIO) -> dict[str, str]:
    found: dict[str, str] = {}
    while (line := stream.readline(_LINE_CAP)) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("utf-8", "replace").partition(":")
        found[name.strip().lower()] = value.strip()
    return found


def _captured(head: dict[str, str], block: bytes) -> Captured | None:
    url, day = head.get("warc-target-uri", "").strip("<>"), head.get("warc-date", "")[:10]
    if not url.startswith(("http://", "https://")):
        return None
    if head.get("warc-type") == "resource":
        return Captured(url, day, 200, {"content-type": head.get("content-type", "")}, block[:_BODY_CAP])
    import io

    stream = io.BytesIO(block)
    first = stream.readline(_LINE_CAP).split(b" ")
    if len(first) < 2 or not first[0].startswith(b"HTTP/") or not first[1][:3].isdigit():
        return None
    headers = _head(stream)
    body = stream.read()
    body = _dechunk(body) if "chunked" in headers.get("transfer-encoding", "").lower() else body
    unpacked = _inflate(body, headers.get("content-encoding", ""))
    return None if unpacked is None else Captured(url, day, int(first[1][:3]), headers, unpacked)


def _dechunk(data: bytes) -> bytes:
    parts: list[bytes] = []
    place = 0
    while (end := data.find(b"\r\n", place)) > 0:
        size = data[place:end].split(b";")[0].strip()
        try:
            length = int(size, 16)
        except ValueError:
            return data if not parts else b"".join(parts)
        if length == 0:
            break
        parts.append(data[end + 2 : end + 2 + length])
        place = end + 2 + length + 2
    return b"".join(parts)


def _inflate(body: bytes, encoding: str) -> bytes | None:
    """The body unpacked within the cap; None for an encoding that is not gzip or deflate, or broken data."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return body[:_BODY_CAP]
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return None
    for bits in (47, -15):
        try:
            return zlib.decompressobj(bits).decompress(body, _BODY_CAP)
        except zlib.error:
            continue
    return None
