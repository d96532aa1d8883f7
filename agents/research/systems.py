"""A system under test: whatever gives a report for a task."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ...errors import UserError
from .data import Asked, Delivery, Meter, NoReport, State
from .delivery import read_delivery, task_json
from .process import Limits, run_command
from .proxy import PLACEHOLDER, Pass, Proxy


@dataclass(frozen=True)
class Given:
    """A report with what its model calls used. ``meter`` None: nobody counted."""

    delivery: Delivery
    meter: Meter | None = None
    measured: Literal["proxy", "ledger"] | None = None
    left: int = 0
    """Processes that the command left behind; they were ended."""


class System(Protocol):
    """A system under test."""

    async def report(self, asked: Asked) -> Given:
        """A report for the task. Raises NoReport with one clear state, and what must end the collection."""
        ...


@dataclass(frozen=True)
class CommandSystem:
    """A command that reads a task as JSON from standard input and prints its report."""

    command: tuple[str, ...]
    limits: Limits
    proxy: Proxy | None = None

    async def report(self, asked: Asked) -> Given:
        """Run the command once."""
        async with self._way(asked) as way:
            env = environment(way, self.proxy.key) if way and self.proxy else {}
            try:
                ended = await run_command(self.command, task_json(asked.task), self.limits, env)
                delivery = _read(ended.stdout, ended.stderr)
            except NoReport as lost:
                raise _with_refusal(lost, way) from None
        meter = way.meter if way is not None and way.meter.calls else None
        return Given(delivery, meter, "proxy" if meter else None, ended.left)

    @asynccontextmanager
    async def _way(self, asked: Asked) -> AsyncIterator[Pass | None]:
        if self.proxy is None:
            yield None
            return
        way = self.proxy.admit(asked.label)
        try:
            yield way
        finally:
            await self.proxy.dismiss(way)


def _read(stdout: bytes, stderr: str) -> Delivery:
    try:
        return read_delivery(stdout)
    except NoReport as lost:
        raise NoReport(lost.state, lost.reason, code=0, stderr=stderr) from None


def _with_refusal(lost: NoReport, way: Pass | None) -> NoReport:
    """A command that failed after its account was refused failed for that."""
    if way is None or not way.refused or lost.state not in (State.EXIT, State.EMPTY, State.BAD_JSON):
        return lost
    return NoReport(State.REFUSED, way.refused, code=lost.code, stderr=lost.stderr, account=True)


def environment(way: Pass, key: str | None) -> dict[str, str]:
    """What points OpenAI's clients at the proxy, and past any other one. ``key``: the endpoint's.

    A key in ``OPENAI_API_KEY`` that is for somebody else than this endpoint is hidden from the command, which would
    send it there.
    """
    env = {"OPENAI_BASE_URL": way.base_url, "OPENAI_API_BASE": way.base_url}
    if key is None or os.environ.get("OPENAI_API_KEY", "").strip() != key:
        env["OPENAI_API_KEY"] = PLACEHOLDER
    past = [os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or "", "127.0.0.1", "localhost"]
    env["NO_PROXY"] = env["no_proxy"] = ",".join(part for part in past if part)
    return env


def read_command(text: str, env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Split a command as a shell would; no shell runs it. UserError when it cannot be found."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UserError(f"--command {text!r}: {error}") from None
    if not words:
        raise UserError("--command is empty: say how the system is started, such as --command 'python my_agent.py'")
    found = shutil.which(words[0], path=(env or os.environ).get("PATH"))
    if found is None:
        raise UserError(f"--command: {words[0]!r} is no program that can be run; give its path or install it")
    return (str(Path(found).absolute()), *words[1:])
