"""Runs a command and ends it, with all its processes, when whoever asked for it is gone.

Started by ``process.py`` as a script of its own (no import of this package): ``guard.py FD COMMAND…``. FD is the
reading end of a pipe whose other end only the asking process holds; when that process dies, however it dies, reading
ends and the whole session is killed. So no agent goes on spending after a crash.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def _watch(lifeline: int) -> None:
    """Wait for the end of the pipe, then end the session, this process last."""
    while os.read(lifeline, 1):
        pass
    me, session = os.getpid(), os.getsid(0)
    for place in Path("/proc").glob("[0-9]*/stat"):  # who made a process group of its own is found here
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid, fields = int(place.parent.name), place.read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session and pid != me:
                os.kill(pid, signal.SIGKILL)
    os.killpg(0, signal.SIGKILL)


def _end_like(code: int) -> None:
    """End as the command ended: the same exit code, or by the same signal."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def main() -> None:
    """Run the command that follows the pipe's number."""
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    # A handler and not SIG_IGN, which the command would inherit: the command may tidy up, the guard waits for it.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        child = subprocess.Popen(command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(127)
    _end_like(child.wait())


if __name__ == "__main__":
    main()
