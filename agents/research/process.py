"""Running a command that is a system under test: bounded in time, memory and output, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .data import NoReport, State

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


@dataclass
class _Run:
    """One command under way."""

    process: asyncio.subprocess.Process
    limits: Limits
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    cause: State | None = None

    def end(self, cause: State) -> None:
        """Say why it must end; the first reason counts."""
        if self.cause is None:
            self.cause = cause
            self.over.set()


async def run_command(
    command: Sequence[str], stdin: bytes, limits: Limits, env: Mapping[str, str] | None = None
) -> Ended:
    """Run ``command`` in a session of its own with ``stdin`` as its input; ``env`` is added to the environment.

    Every process of its session is ended before this returns, also when it is cancelled. Raises NoReport with one
    clear state when it did not end by itself with code 0.
    """
    reading, lifeline = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(GUARD), str(reading), *command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=(reading,),
            env={**os.environ, **(env or {})},
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(reading)
    run = _Run(process, limits)
    try:
        await _watched(run, stdin)
    finally:
        _kill(process.pid)
        os.close(lifeline)
    return _judged(run)


async def _watched(run: _Run, stdin: bytes) -> None:
    """Feed it, read it, and end it when it must end."""
    process = run.process
    pipes = [
        asyncio.ensure_future(work) for work in (_feed(process, stdin), _read_out(run), _read_err(process, run.err))
    ]
    guards = [asyncio.ensure_future(_clock(run)), asyncio.ensure_future(_memory(run))]
    ended = asyncio.ensure_future(_ended(process))
    over = asyncio.ensure_future(run.over.wait())
    try:
        await asyncio.wait([ended, over], return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            await _put_down(run, ended)
        _kill(process.pid)  # what it left behind holds its pipes open
        await asyncio.wait(pipes, timeout=GRACE_S)
    finally:
        for job in (*pipes, *guards, over, ended):
            job.cancel()
        await asyncio.gather(*pipes, *guards, over, ended, return_exceptions=True)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the process alone: ``process.wait()`` also waits for whoever else holds its pipes."""
    while process.returncode is None:
        await asyncio.sleep(END_POLL_S)


async def _put_down(run: _Run, ended: asyncio.Future[None]) -> None:
    """Ask the group to end where that can help, then end it."""
    if run.cause is State.TIMEOUT:
        _kill(run.process.pid, signal.SIGTERM)
        await asyncio.wait([ended], timeout=GRACE_S)
    _kill(run.process.pid)
    await ended


def _kill(session: int, number: int = signal.SIGKILL) -> None:
    """Signal the process group, and for the last signal whatever else belongs to the session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)
    if number == signal.SIGKILL:
        for pid, _ in members(session):
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


def members(session: int) -> Iterator[tuple[int, int]]:
    """The processes of a session and their resident pages (shared ones count each time). None without ``/proc``."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = entry.read_bytes().rpartition(b")")[2].split()  # the name before it may hold anything
            if int(fields[3]) == session:
                yield int(entry.parent.name), int(fields[21])


def resident_bytes(session: int) -> int:
    """Resident memory of all processes of a session together, bytes."""
    return sum(pages for _, pages in members(session)) * os.sysconf("SC_PAGE_SIZE")


def _judged(run: _Run) -> Ended:
    code, stderr = run.process.returncode, bytes(run.err).decode("utf-8", "replace")
    if run.cause is not None:
        raise NoReport(run.cause, _limit(run), code=code, stderr=stderr)
    if code is not None and code < 0:
        raise NoReport(State.KILLED, f"ended by signal {_signal(-code)}", code=code, stderr=stderr)
    if code != 0:
        raise NoReport(State.EXIT, f"exit code {code}{_last_line(stderr)}", code=code, stderr=stderr)
    return Ended(bytes(run.out), stderr)


def _limit(run: _Run) -> str:
    if run.cause is State.TIMEOUT:
        return f"no report after {run.limits.seconds:g} s"
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
