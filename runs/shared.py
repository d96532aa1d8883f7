"""Protocols and claim lists: made once a task or report, kept in the run folder, shared by all units."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ..agents import create_protocol
from ..core import Task
from ..errors import DeadlineReached, DreamError, HostStop, ReplayMiss, UserError
from ..evaluators import make_claims
from ..ledger import scope
from ..models import ChatModel
from ..protocols import seal
from ..protocols.schema import Protocol
from ..reports.data import ClaimList, Report
from ..tools import Toolbox
from .kept import Kept
from .progress import Watcher
from .store import RunFolder
from .work import Work

T = TypeVar("T", Protocol, ClaimList)


class Missing:
    """An input that could not be made, and why: the units that need it fail with this reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Shared:
    """Loads or makes what units share. Whoever asks second waits for the first."""

    def __init__(
        self, work: Work, folder: RunFolder, kept: Kept, judge: ChatModel, toolbox: Toolbox, watcher: Watcher
    ) -> None:
        self._work, self._folder, self._kept = work, folder, kept
        self._judge, self._toolbox, self._watcher = judge, toolbox, watcher
        self._jobs: dict[str, asyncio.Task[Any]] = {}

    async def protocol(self, task: Task) -> Protocol | Missing:
        """The task's protocol: given, made before, or made now. HostStop and ReplayMiss propagate."""
        if (kept := self._kept.protocol(task)) is not None:
            return kept

        async def make() -> Protocol:
            work = self._work
            made = await create_protocol(
                task,
                self._judge,
                self._toolbox,
                as_of=work.conditions.as_of,
                mode=work.creator,
                questions=work.questions,
                reasoning=work.reasoning,
            )
            return seal(made)

        return await self._once(self._kept.protocol_name(task), f"{task.id}/protocol", make)

    async def claims(self, task: Task, report: Report) -> ClaimList | Missing:
        """The report's frozen claims. HostStop and ReplayMiss propagate."""
        if (kept := self._kept.claims(task, report)) is not None:
            return kept

        async def make() -> ClaimList:
            return await make_claims(task, report, self._judge, max_claims=self._work.max_claims)

        return await self._once(
            self._kept.claims_name(task, report), f"{self._work.names[task.id, report.id]}/claims", make
        )

    async def close(self) -> None:
        """End what still runs."""
        for job in self._jobs.values():
            job.cancel()
        await asyncio.gather(*self._jobs.values(), return_exceptions=True)

    async def _once(self, name: str, label: str, make: Callable[[], Awaitable[T]]) -> T | Missing:
        if name not in self._jobs:
            self._jobs[name] = asyncio.create_task(self._make(name, label, make))
        result: T | Missing = await asyncio.shield(self._jobs[name])
        return result

    async def _make(self, name: str, label: str, make: Callable[[], Awaitable[T]]) -> T | Missing:
        with scope(label), self._watcher.stage(label):
            try:
                made = await make()
            except DeadlineReached as error:
                return Missing(f"{label}: {error}")
            except (HostStop, ReplayMiss, UserError):
                raise
            except DreamError as error:
                self._watcher.note(f"{label} could not be made: {error}")
                return Missing(f"{label.rpartition('/')[2]} could not be made: {error}")
            except Exception as error:
                self._folder.note_error(f"{label}\n{traceback.format_exc()}")
                return Missing(f"{label}: internal error ({type(error).__name__}), see errors.log")
        self._folder.save(name, made)
        return made
