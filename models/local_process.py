"""The served process: started once, shared by counting, stopped always."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UserError
from .local_origin import Notify, Progress

CONTEXT = 16_384
"""Tokens of context, 28 KB of memory each for the default model."""

CACHE_MIB = 2048
"""Memory for earlier prompts, about 75,000 tokens of the default model: another question on a report that was read
before costs the reading of the question only."""

SEED = 7
LOAD_LIMIT_S = 600.0
"""A busy machine may need minutes for what takes two seconds on a quiet one."""

STOP_LIMIT_S = 2.0
SCRIPT = Path(__file__).with_name("local_server.py")


@dataclass
class Running:
    """One served process and how many hold it."""

    process: subprocess.Popen[str]
    log: Path
    owner: int = field(default_factory=os.getpid)
    address: str = ""
    users: int = 0


_running: dict[Path, Running] = {}
_gate = threading.Lock()


class _Abandoned(Exception):
    """Who wanted the server is gone."""


async def hold(path: Path, notify: Notify) -> str:
    """The address at which the file is served; started when nobody holds it yet. Give it back by :func:`let_go`."""
    gone = threading.Event()
    if path not in _running:
        notify(Progress("loading the embedded judge"))
    start = asyncio.ensure_future(asyncio.to_thread(_hold, path, gone))
    try:
        return await asyncio.shield(start)
    except asyncio.CancelledError:
        gone.set()
        with contextlib.suppress(_Abandoned, UserError):
            await start
            let_go(path)
        raise


def _hold(path: Path, gone: threading.Event) -> str:
    with _gate:
        running = _running.get(path)
        if running is None or running.process.poll() is not None or running.owner != os.getpid():
            users = running.users if running and running.owner == os.getpid() else 0
            running = _running[path] = _start(path, gone)
            running.users = users
        running.users += 1
        return running.address


def let_go(path: Path) -> None:
    """Give the server back; the last one stops it and waits until its port is free."""
    with _gate:
        running = _running.get(path)
        if running is None or running.owner != os.getpid():
            return
        running.users -= 1
        if running.users <= 0:
            del _running[path]
            _stop(running)


def _start(path: Path, gone: threading.Event) -> Running:
    with tempfile.NamedTemporaryFile(prefix="dream-local-", suffix=".log", delete=False) as log:
        process = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C is for us: what is in flight is finished first
            env={"OMP_WAIT_POLICY": "passive"} | os.environ,  # waiting threads leave the core to others
        )
    running = Running(process, Path(log.name))
    try:
        running.address = _address(running, path, gone)
    except BaseException:
        _stop(running, keep_log=not gone.is_set())
        raise
    return running


def _address(running: Running, path: Path, gone: threading.Event) -> str:
    """Hand over the settings and wait for the address."""
    process = running.process
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):  # it ended already; its log says why
        process.stdin.write(json.dumps(_settings(path)) + "\n")
        process.stdin.flush()
    end = time.monotonic() + LOAD_LIMIT_S
    while not select.select([process.stdout], [], [], 0.1)[0]:
        if gone.is_set():
            raise _Abandoned
        if time.monotonic() > end:
            raise _failure(running, f"not loaded after {LOAD_LIMIT_S:.0f} s")
    line = process.stdout.readline()
    if not line:
        process.wait()
        raise _failure(running, _reason(running.log))
    return str(json.loads(line)["address"])


def _settings(path: Path) -> dict[str, str | int]:
    return {
        "path": str(path),
        "name": "local",
        "context": CONTEXT,
        "threads": usable_cores(),
        "cache_mib": CACHE_MIB,
        "seed": SEED,
        "parent": os.getpid(),
    }


def _failure(running: Running, reason: str) -> UserError:
    return UserError(f"the embedded judge did not start: {reason} (its log: {running.log})")


def _reason(log: Path) -> str:
    """The line of the log that says most."""
    text = log.read_text(encoding="utf-8", errors="replace")
    if "libgomp" in text:
        return "the system library libgomp is missing (Debian, Ubuntu: apt-get install libgomp1)"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "failed" in line.lower()]
    return (telling or lines or ["it said nothing"])[-1][:200]


def _stop(running: Running, *, keep_log: bool = False) -> None:
    """End the process and wait for it, so that nothing of it is left: no port, no memory."""
    process = running.process
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if not keep_log:
        running.log.unlink(missing_ok=True)


@atexit.register
def _stop_all() -> None:
    """At the end of the process; a forked copy of it leaves its parent's servers alone."""
    for path, running in list(_running.items()):
        if running.owner == os.getpid():
            del _running[path]
            _stop(running)


def usable_cores() -> int:
    """Cores that this process may use, hyperthreads of one core counted once; at least 1."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = {_siblings(cpu) for cpu in usable}
    return max(1, min(len(cores), _quota()))


def _siblings(cpu: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii")
    except OSError:
        return str(cpu)


def _quota() -> int:
    """Whole cores that a container's limit allows."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return os.cpu_count() or 1
