"""Collecting reports: each task to a system, each report to disk as it comes, nothing lost and nothing made twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from ...core import Task
from ...errors import AccountRefused, CallFailed, CallRefused, DreamError, HostStop, Interrupted, ReplayMiss
from .data import Asked, Attempt, NoReport, Profile, State
from .files import ReportsFile
from .systems import Given, System

Told = Callable[[Task, State, str, float], None]
"""Called as attempts end: task, state, reason, seconds."""


@dataclass
class Stopper:
    """Ends a collection: gently (what runs is finished), or at once for a cause that would spoil reports."""

    cause: DreamError | None = None
    now: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self, cause: DreamError) -> None:
        """No further attempt starts; the first cause counts. What is under way is given up unless a person asked."""
        if self.cause is None:
            self.cause = cause
            if not isinstance(cause, Interrupted):
                self.now.set()


@dataclass(frozen=True)
class Collected:
    """How a collection ended."""

    states: dict[str, Attempt]
    """The last attempt at each task that has no report yet, of this run."""
    missing: tuple[str, ...]
    """Tasks without a report, in their order."""
    made: int
    """Reports of this run."""
    kept: int
    """Reports that were there already."""
    stopped: DreamError | None
    """Why it ended early."""


async def collect(
    tasks: Sequence[Task],
    system: System,
    file: ReportsFile,
    *,
    jobs: int = 1,
    retries: int = 0,
    stopper: Stopper | None = None,
    told: Told = lambda *_: None,
) -> Collected:
    """Ask ``system`` for a report on each task that has none in ``file`` (open). ``jobs`` attempts at the same time;
    an attempt that leaves no report is made again up to ``retries`` times. Raises what is a bug or a user's mistake."""
    work = _Collection(system, file, retries, stopper or Stopper(), told)
    kept = sum(task.id in file.done for task in tasks)
    queue = iter([task for task in tasks if task.id not in file.done])
    await _all([work.worker(queue) for _ in range(max(1, jobs))])
    missing = tuple(task.id for task in tasks if task.id not in file.done)
    return Collected(work.states, missing, work.made, kept, work.stopper.cause)


async def _all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run them together; the first error ends the others, which tidy up before it is raised."""
    jobs = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*jobs)
    finally:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)


class _Collection:
    """One run of a collection."""

    def __init__(self, system: System, file: ReportsFile, retries: int, stopper: Stopper, told: Told) -> None:
        self.states: dict[str, Attempt] = {}
        self.made = 0
        self.stopper = stopper
        self._system, self._file, self._retries, self._told = system, file, retries, told

    async def worker(self, queue: Iterator[Task]) -> None:
        """Take tasks until there are none, or the collection is stopped."""
        for task in queue:
            for _ in range(self._retries + 1):
                if self.stopper.cause is not None:
                    return
                if await self._attempt(task):
                    break

    async def _attempt(self, task: Task) -> bool:
        """One attempt; True when it left a report."""
        asked = Asked(task, self._file.system, self._file.tried[task.id] + 1)
        began = perf_counter()
        try:
            given = await self._unless_stopped(asked)
        except NoReport as lost:
            self._lost(asked, lost, perf_counter() - began)
            return False
        if given is None:
            return False
        seconds = perf_counter() - began
        self._file.add(task, given.delivery, profile(given, seconds, asked.number))
        self.made += 1
        self.states.pop(task.id, None)
        left = f"processes that it left running, ended now: {given.left}" if given.left else ""
        self._told(task, State.DONE, left, seconds)
        return True

    async def _unless_stopped(self, asked: Asked) -> Given | None:
        """The report; None when the collection was stopped meanwhile: what came then would be spoilt."""
        job = asyncio.ensure_future(self._system.report(asked))
        stop = asyncio.ensure_future(self.stopper.now.wait())
        try:
            await asyncio.wait([job, stop], return_when=asyncio.FIRST_COMPLETED)
            if self.stopper.now.is_set():
                return None
            return await job
        except CallFailed as failed:
            state = State.REFUSED if isinstance(failed, CallRefused) else State.FAILED
            raise NoReport(state, str(failed)) from failed
        except (HostStop, ReplayMiss) as stopped:
            self.stopper.stop(stopped)
            return None
        finally:
            for one in (job, stop):
                one.cancel()
            await asyncio.gather(job, stop, return_exceptions=True)

    def _lost(self, asked: Asked, lost: NoReport, seconds: float) -> None:
        attempt = Attempt(
            asked.task.id, asked.number, lost.state, lost.reason, round(seconds, 3), lost.code, lost.stderr
        )
        self._file.note(attempt)
        self.states[asked.task.id] = attempt
        self._told(asked.task, lost.state, lost.reason, seconds)
        if lost.account:
            self.stopper.stop(AccountRefused(lost.reason, subject=asked.system))


def profile(given: Given, seconds: float, attempts: int) -> Profile:
    """What a report took: counted by us where its calls came through us, else as the system says, else not known."""
    meter, told = given.meter, given.delivery.told
    if meter is not None:
        return Profile(
            seconds=round(seconds, 3),
            attempts=attempts,
            calls=meter.calls,
            reused=meter.reused,
            prompt_tokens=meter.prompt_tokens,
            completion_tokens=meter.completion_tokens,
            cost_usd=meter.cost_usd,
            measured=given.measured,
            left_behind=given.left,
        )
    known = any(value is not None for value in told.model_dump().values())
    return Profile(
        seconds=round(seconds, 3),
        attempts=attempts,
        **told.model_dump(),
        measured="system" if known else None,
        left_behind=given.left,
    )
