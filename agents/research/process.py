"""Running a command that is a system under test: bounded in time, memory and output, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .data import NoReport, State
from .guard import tree

GUARD = Path(__file__).with_name("guard.py")
MAX_OUTPUT = 10_000_000
"""Bytes of standard output; no report is longer."""
KEPT_STDERR = 8_000
"""Bytes of standard error that are kept: its end."""
GRACE_S = 3.0
"""Between asking a command to end and ending it; also for reading what is left in its pipes."""
POLL_S = 0.2
"""How often memory is looked at."""
END_POLL_S = 0.03
"""How often the end of the process is looked for."""
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Limits:
    """What one attempt may use."""

    seconds: float = 1_800.0
    memory_mb: int | None = None
    """Resident memory of all its processes together, MB of 10^6 bytes; None: no limit."""


@dataclass(frozen=True)
class Ended:
    """A command that ended with code 0."""

    stdout: bytes
    stderr: str
    left: int = 0
    """Processes that it left behind; they were ended."""


@dataclass
class _Run:
    """One command under way."""

    process: asyncio.subprocess.Process
    limits: Limits
    lifeline: socket.socket
    """Closing it ends the command with all its processes."""
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    cause: State | None = None
    left: int = 0

    def end(self, cause: State) -> None:
        """Say why it must end; the first reason counts."""
        if self.cause is None:
            self.cause = cause
            self.over.set()


async def run_command(
    command: Sequence[str], stdin: bytes, limits: Limits, env: Mapping[str, str] | None = None
) -> Ended:
    """Run ``command`` in a session of its own with ``stdin`` as its input; ``env`` is added to the environment.

    All its processes are ended before this returns, also when it is cancelled: on Linux every one below it, elsewhere
    those of its process group. Its report is what it printed until it ended itself, whoever else holds its pipes.
    Raises NoReport with one clear state when it did not end by itself with code 0.
    """
    ours, theirs = socket.socketpair()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(GUARD), str(theirs.fileno()), *command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=(theirs.fileno(),),
            env={**os.environ, **(env or {})},
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    run = _Run(process, limits, ours)
    try:
        await _watched(run, stdin)
    finally:
        await _close(run)
    return _judged(run)


async def _close(run: _Run) -> None:
    """End whatever still runs, and let go of its pipes: a process that none can find may hold their other ends."""
    run.lifeline.close()
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(_ended(run.process), GRACE_S)  # the guard ends the others, then itself
    _kill(run.process.pid)
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(_gone(run.process.pid), GRACE_S)
    transport: asyncio.SubprocessTransport = run.process._transport  # type: ignore[attr-defined]  # no public way
    transport.close()


async def _watched(run: _Run, stdin: bytes) -> None:
    """Feed it, read it, and end it when it must end."""
    process = run.process
    pipes = [
        asyncio.ensure_future(work) for work in (_feed(process, stdin), _read_out(run), _read_err(process, run.err))
    ]
    limits = [asyncio.ensure_future(_clock(run)), asyncio.ensure_future(_memory(run))]
    ended = asyncio.ensure_future(_ended(process))
    over = asyncio.ensure_future(run.over.wait())
    try:
        await asyncio.wait([ended, over], return_when=asyncio.FIRST_COMPLETED)
        for limit in limits:
            limit.cancel()  # it is done, or is being ended: no limit holds for reading what is left in its pipes
        if not ended.done():
            await _put_down(run, ended)
        run.left = _left(run.lifeline)
        _kill(process.pid)
        await asyncio.wait(pipes, timeout=GRACE_S)
    finally:
        for job in (*pipes, *limits, over, ended):
            job.cancel()
        await asyncio.gather(*pipes, *limits, over, ended, return_exceptions=True)


def _left(lifeline: socket.socket) -> int:
    """How many processes the guard says were left behind."""
    lifeline.setblocking(False)
    try:
        return int(lifeline.recv(20) or 0)
    except (OSError, ValueError):
        return 0


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the process alone: ``process.wait()`` also waits for whoever else holds its pipes."""
    while process.returncode is None:
        await asyncio.sleep(END_POLL_S)


async def _gone(session: int) -> None:
    """Wait until nobody of the session is left: who is killed lives on until the system gets to it."""
    while tree(session):
        await asyncio.sleep(END_POLL_S)


async def _put_down(run: _Run, ended: asyncio.Future[None]) -> None:
    """Ask the group to end where that can help, then have the guard end all."""
    if run.cause is State.TIMEOUT:
        _kill(run.process.pid, signal.SIGTERM)
        await asyncio.wait([ended], timeout=GRACE_S)
    run.lifeline.shutdown(socket.SHUT_WR)
    await asyncio.wait([ended], timeout=GRACE_S)
    _kill(run.process.pid)
    await ended


def _kill(session: int, number: int = signal.SIGKILL) -> None:
    """Signal the process group, and for the last signal whatever else is found below it or of its session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)
    if number == signal.SIGKILL:
        for pid in tree(session):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it does not read its input: its own affair
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.close()


async def _read_out(run: _Run) -> None:
    assert run.process.stdout is not None
    while chunk := await run.process.stdout.read(_CHUNK):
        if run.cause is None:
            run.out += chunk
        if len(run.out) > MAX_OUTPUT:
            run.end(State.FLOOD)


async def _read_err(process: asyncio.subprocess.Process, kept: bytearray) -> None:
    assert process.stderr is not None
    while chunk := await process.stderr.read(_CHUNK):
        kept += chunk
        del kept[:-KEPT_STDERR]


async def _clock(run: _Run) -> None:
    await asyncio.sleep(run.limits.seconds)
    run.end(State.TIMEOUT)


async def _memory(run: _Run) -> None:
    if run.limits.memory_mb is None:
        return
    while True:
        await asyncio.sleep(POLL_S)
        if await asyncio.to_thread(resident_bytes, run.process.pid) > run.limits.memory_mb * 1_000_000:
            run.end(State.MEMORY)


def resident_bytes(root: int) -> int:
    """Resident memory of a process and all below it together, bytes."""
    return sum(tree(root).values()) * os.sysconf("SC_PAGE_SIZE")


def _judged(run: _Run) -> Ended:
    code, stderr = run.process.returncode, bytes(run.err).decode("utf-8", "replace")
    if run.cause is not None:
        raise NoReport(run.cause, _limit(run), code=code, stderr=stderr)
    if code is not None and code < 0:
        raise NoReport(State.KILLED, f"ended by signal {_signal(-code)}", code=code, stderr=stderr)
    if code != 0:
        raise NoReport(State.EXIT, f"exit code {code}{_last_line(stderr)}", code=code, stderr=stderr)
    return Ended(bytes(run.out), stderr, run.left)


def _limit(run: _Run) -> str:
    if run.cause is State.TIMEOUT:
        return f"still running after {run.limits.seconds:g} s, with {len(run.out):,} bytes printed"
    if run.cause is State.MEMORY:
        return f"more than {run.limits.memory_mb} MB of memory"
    return f"more than {MAX_OUTPUT // 1_000_000} MB on standard output"


def _signal(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def _last_line(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""
