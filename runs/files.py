"""Writing files so that a crash never leaves half of one, and reading lines so that a crash does not matter."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    """Replace ``path`` as a whole: temporary file beside it, flush to disk, rename, flush the folder.

    ``data`` in pieces is written as it comes. Raises OSError (disk full, no permission); ``path`` is then what it was
    before.
    """
    pieces = (data.encode(),) if isinstance(data, str) else (data,) if isinstance(data, bytes) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot open or flush a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def append_line(path: Path, line: str) -> int:
    """Append one line and flush it to disk before returning; returns where it begins, in bytes.

    If the file ends in a broken line (a crash in the middle of a write), that line is closed first, so that only it is
    lost. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        if file.tell() and _last_byte(path) != b"\n":
            file.write(b"\n")
        start = file.tell()
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return start


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of lines; broken lines are skipped, and a missing file has none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for raw in file:
            try:
                value = json.loads(raw)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def slug(text: str, *, limit: int = 40) -> str:
    """``text`` as a piece of a file name: lower case letters, digits and hyphens, at most ``limit`` characters."""
    plain = re.sub(r"[^\w]+", "-", text.casefold(), flags=re.ASCII).strip("-_")
    return plain[:limit].strip("-_") or "x"


def short_digest(*parts: object, length: int = 8) -> str:
    """The first ``length`` hex digits of the SHA-256 over the parts as canonical JSON."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
