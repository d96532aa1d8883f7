"""One process at a time works on a run folder; a dead owner never blocks."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import socket
import threading
from pathlib import Path
from types import TracebackType

from ..errors import UserError

_ours: set[Path] = set()
_guard = threading.Lock()


class RunLock:
    """Exclusive use of a folder, as a context manager.

    The operating system holds the lock (it ends with the process, however that ends); the file only names the owner.
    Raises UserError, naming the owner, when another live process or another call in this process has it, or saying
    why the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self.path = (folder / "lock").resolve()
        self._handle: int | None = None

    def __enter__(self) -> RunLock:
        with _guard:
            if self.path in _ours:
                raise UserError(_busy(self.path, "another call in this process"))
            handle = _open(self.path)
            if not _take(handle):
                os.close(handle)
                raise UserError(_busy(self.path, _named(self.path)))
            _ours.add(self.path)
            self._handle = handle
        os.ftruncate(handle, 0)
        os.pwrite(handle, _owner().encode(), 0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._handle is None:
            return
        with _guard:
            _ours.discard(self.path)
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None


def held_here(folder: Path) -> bool:
    """Whether this very process works on the run in the folder."""
    return (folder / "lock").resolve() in _ours


def no_place(folder: Path, error: Exception) -> UserError:
    """What to say of a folder that cannot be made or read."""
    return UserError(f"--out {folder}: cannot be used as a run folder ({getattr(error, 'strerror', None) or error})")


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except (OSError, ValueError) as error:
        raise no_place(path.parent, error) from None


def _busy(path: Path, owner: str) -> str:
    return f"{path.parent} is in use by {owner}: wait for it, or give another --out"


def _named(path: Path) -> str:
    """Who holds the lock, by its file. Not to be called by the holder: closing the file would end a record lock."""
    try:
        owner = json.loads(path.read_text())
        return f"process {owner['pid']} on {owner['host']} since {owner['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _take(handle: int) -> bool:
    """Lock without waiting. A record lock, since unlike ``flock`` it does not pass on to child processes."""
    try:
        import fcntl
    except ImportError:  # Windows: no advisory locks; the set above still guards this process
        return True
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _owner() -> str:
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": now})
