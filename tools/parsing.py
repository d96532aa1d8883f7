"""A few parsing processes, started when needed, killed when a document takes too long."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

from ..core import PageState
from .content import Parsed, Source
from .indexing import unpacked
from .limits import ToolLimits
from .passages import remember
from .worker import FRAME

_KEEP = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV", "TMPDIR")
_LARGEST = 64 * 2**20
"""Bytes of one answer; a page of 400,000 characters takes a tenth of it."""


class Parsers:
    """Parses documents outside this process. Close it after use."""

    def __init__(self, limits: ToolLimits | None = None) -> None:
        self.limits = limits or ToolLimits()
        self._idle: list[asyncio.subprocess.Process] = []
        self._all: set[asyncio.subprocess.Process] = set()
        self._slots = asyncio.Semaphore(self.limits.parsers)

    async def parse(self, source: Source, body: bytes) -> Parsed:
        """Parse one document within ``limits.parse_s`` seconds. Never raises for a bad document."""
        async with self._slots:
            process = self._idle.pop() if self._idle else await self._start()
            done = False
            try:
                async with asyncio.timeout(self.limits.parse_s):
                    page = await _exchange(process, source, body)
                done = True
                return page
            except TimeoutError:
                return Parsed(state=PageState.TOO_LARGE, reason=f"not parsed within {self.limits.parse_s:g} s")
            except (OSError, EOFError, asyncio.IncompleteReadError):
                return Parsed(state=PageState.TOO_LARGE, reason="the parser ran out of memory or crashed on it")
            finally:
                if done:
                    self._idle.append(process)
                else:
                    await self._stop(process)

    async def _start(self) -> asyncio.subprocess.Process:
        environment = {name: os.environ[name] for name in _KEEP if name in os.environ}
        environment["DREAM_PARSE_BYTES"] = str(self.limits.parse_bytes)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "dream_eval.tools.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
            limit=1 << 20,
        )
        self._all.add(process)
        return process

    async def _stop(self, process: asyncio.subprocess.Process) -> None:
        self._all.discard(process)
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def close(self) -> None:
        """End all parsing processes."""
        self._idle.clear()
        for process in list(self._all):
            await self._stop(process)


async def _exchange(process: asyncio.subprocess.Process, source: Source, body: bytes) -> Parsed:
    assert process.stdin is not None
    assert process.stdout is not None
    head = source.model_dump_json().encode()
    process.stdin.write(FRAME.pack(len(head), len(body)) + head)
    process.stdin.write(body)
    await process.stdin.drain()
    size, more = FRAME.unpack(await process.stdout.readexactly(FRAME.size))
    if size + more > _LARGEST:
        raise EOFError("no page is as large as that")
    page = Parsed.model_validate_json(await process.stdout.readexactly(size))
    index = await process.stdout.readexactly(more)
    with suppress(ValueError):  # a page may come without its index, which is then made when it is needed
        remember(page.text, unpacked(index, len(page.text)))
    return page
