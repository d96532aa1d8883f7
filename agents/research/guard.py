"""Runs a command and ends it, with all its processes, when it is done or whoever asked for it is gone.

Started by ``process.py`` as a script of its own (no import of this package): ``guard.py FD COMMAND…``. FD is one end
of a pair of sockets whose other end only the asking process holds; when that process dies, however it dies, reading
ends and all is killed. So no agent goes on spending after a crash. On Linux orphans become the guard's children, so a
daemon that left the session is found as well. The guard says through FD how many processes the command left behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

DRAIN_S = 1.0
"""What the command leaves behind may still end by itself in this time: often it carries the last of the output."""
_ROUNDS, _ROUND_S = 50, 0.05
"""How often, and how far apart, a tree that goes on forking is killed anew."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""
_starting = threading.Lock()
"""Held while the command starts, so that its start and the end of everything do not miss each other."""


def tree(root: int) -> dict[int, int]:
    """The living processes of the session that ``root`` leads, and all below them, with their resident pages (shared
    ones count each time). Nothing without ``/proc``."""
    parents: dict[int, tuple[int, int, int]] = dict(_processes())
    found = {pid for pid, (_, session, _) in parents.items() if session == root}
    grown = True
    while grown:
        more = {pid for pid, (parent, _, _) in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return {pid: parents[pid][2] for pid in found}


def _processes() -> Iterator[tuple[int, tuple[int, int, int]]]:
    """All processes that are no zombies: parent, session, resident pages."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = place.read_bytes().rpartition(b")")[2].split()  # the name before it may hold anything
            if fields[0] != b"Z":
                yield int(place.parent.name), (int(fields[1]), int(fields[3]), int(fields[21]))


def _below() -> set[int]:
    return set(tree(os.getpid())) - {os.getpid()}


def _kill_below() -> None:
    """Kill every process below this one, and what they start meanwhile."""
    for _ in range(_ROUNDS):
        for pid in _below():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not _any_child():
            return
        time.sleep(_ROUND_S)


def _any_child() -> bool:
    """Whether a child lives, own or adopted; those that ended are let go. Cheaper by far than reading ``/proc``."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _watch(lifeline: int) -> None:
    """Wait for the end of the line, then end everything, this process last."""
    with contextlib.suppress(OSError):
        while os.read(lifeline, 1):
            pass
    _starting.acquire()  # and never let go: nothing starts any more
    _kill_below()
    os.killpg(0, signal.SIGKILL)


def _adopt_orphans() -> None:
    """Become the parent of whoever loses theirs, where the system can do that."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _tidy(lifeline: int) -> None:
    """Let what was left behind end, kill what does not, and say how many those were."""
    until = time.monotonic() + DRAIN_S
    while (alive := _any_child()) and time.monotonic() < until:
        time.sleep(_ROUND_S)
    if alive and (left := _below()):
        with contextlib.suppress(OSError):
            os.write(lifeline, str(len(left)).encode())
        _kill_below()


def _end_like(code: int) -> None:
    """End as the command ended: the same exit code, or by the same signal."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def main() -> None:
    """Run the command that follows the line's number."""
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    _adopt_orphans()
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    # A handler and not SIG_IGN, which the command would inherit: the command may tidy up, the guard waits for it.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with _starting:
            child = subprocess.Popen(command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(127)
    code = child.wait()
    _tidy(lifeline)
    _end_like(code)


if __name__ == "__main__":
    main()
