"""Protocols, rubrics and claim lists: made once a task or report, kept in the run folder, shared by all units."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from ..agents import create_protocol
from ..core import Json, Task
from ..errors import DeadlineReached, DreamError, HostStop, ReplayMiss, UserError
from ..evaluators import make_claims
from ..evaluators.rubrics import make_rubric
from ..ledger import scope
from ..models import ChatModel
from ..models.limiter import Urgency, urgency
from ..protocols import seal
from ..protocols.rubric import Kind, Rubric
from ..protocols.schema import Protocol
from ..reports.data import ClaimList, Report
from .cases import CaseRef
from .kept import Kept, protocol_digests
from .labels import claims_label, protocol_label, rubric_label
from .library import Library
from .progress import Watcher
from .store import RunFolder
from .units import Unit
from .work import Work

T = TypeVar("T", Protocol, ClaimList, Rubric)


class Missing:
    """An input that could not be made, and why: the units that need it fail with this reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@dataclass
class Inputs:
    """What a unit is judged by, apart from its report."""

    protocol: Protocol | None = None
    rubric: Rubric | None = None
    claims: ClaimList | None = None
    reference: Report | None = None
    made: dict[str, Json] = field(default_factory=dict)
    """Digests by the names of the catalogue."""
    missing: str = ""
    """Why one of them could not be made."""


class Shared:
    """Loads or makes what units share. Whoever asks second waits for the first; what is made is not held."""

    def __init__(
        self,
        work: Work,
        folder: RunFolder,
        kept: Kept,
        maker: ChatModel,
        library: Library,
        watcher: Watcher,
        *,
        missing: Mapping[str, str] | None = None,
    ) -> None:
        """``missing``: files that could not be made before, and why: that is not tried again."""
        self._work, self._folder, self._kept = work, folder, kept
        self._maker, self._library, self._watcher = maker, library, watcher
        self._jobs: dict[str, asyncio.Task[Any]] = {}
        self._missing = {name: Missing(reason) for name, reason in (missing or {}).items()}
        self._order = {cases[0].task.id: number for number, cases in enumerate(work.by_task())}

    async def inputs(self, unit: Unit) -> Inputs:
        """All that the unit's metric looks at. HostStop and ReplayMiss propagate."""
        found, work = Inputs(), self._work
        if work.needs(unit.metric, "protocol"):
            found.protocol = self._take(found, await self.protocol(unit.task), protocol_digests)
        if work.needs(unit.metric, "rubric"):
            found.rubric = self._take(found, await self.rubric(unit.task, unit.metric), _rubric_digest)
        if work.needs(unit.metric, "claims"):
            found.claims = self._take(found, await self.claims(unit.case), _claims_digest)
        if work.needs(unit.metric, "reference") and (other := work.references.get(unit.task.id)) is not None:
            found.reference = self._library.report(other)
            found.made["reference"] = other.digest
        return found

    def _take(self, found: Inputs, value: T | Missing, digests: Callable[[T], Mapping[str, Json]]) -> T | None:
        if isinstance(value, Missing):
            found.missing = found.missing or value.reason
            return None
        found.made.update(digests(value))
        return value

    async def protocol(self, task: Task) -> Protocol | Missing:
        """The task's protocol: given, made before, or made now. HostStop and ReplayMiss propagate."""
        if (kept := self._kept.protocol(task)) is not None:
            return kept

        async def make() -> Protocol:
            work = self._work
            made = await create_protocol(
                task,
                self._maker,
                self._library.tools(task),
                as_of=work.conditions.as_of,
                mode=work.creator,
                questions=work.questions,
                reasoning=work.reasoning,
            )
            return seal(made)

        return await self._once(self._kept.protocol_name(task), protocol_label(task.id), self._rank(task), make)

    async def rubric(self, task: Task, metric: str) -> Rubric | Missing:
        """The task's rubric for a metric: given, made before, or made now. HostStop and ReplayMiss propagate."""
        if (kept := self._kept.rubric(task, metric)) is not None:
            return kept

        async def make() -> Rubric:
            return await make_rubric(cast(Kind, metric), task, self._maker)

        name = self._kept.rubric_name(task, metric)
        return await self._once(name, rubric_label(task.id, metric), self._rank(task), make)

    async def claims(self, case: CaseRef) -> ClaimList | Missing:
        """The report's frozen claims. HostStop and ReplayMiss propagate."""
        if (kept := self._kept.claims(case)) is not None:
            return kept

        async def make() -> ClaimList:
            report = self._library.report(case)
            return await make_claims(case.task, report, self._maker, max_claims=self._work.max_claims)

        label = claims_label(self._work.names[case.place])
        return await self._once(self._kept.claims_name(case), label, self._rank(case.task), make)

    async def close(self) -> None:
        """End what still runs."""
        for job in self._jobs.values():
            job.cancel()
        await asyncio.gather(*self._jobs.values(), return_exceptions=True)

    def _rank(self, task: Task) -> Urgency:
        """Others wait for it: before all units, in the order of the tasks."""
        return (0, self._order.get(task.id, 0))

    async def _once(self, name: str, label: str, rank: Urgency, make: Callable[[], Awaitable[T]]) -> T | Missing:
        if name in self._missing:
            return self._missing[name]
        if name not in self._jobs:
            self._jobs[name] = asyncio.create_task(self._make(name, label, rank, make))
        result: T | Missing = await asyncio.shield(self._jobs[name])
        return result

    async def _make(self, name: str, label: str, rank: Urgency, make: Callable[[], Awaitable[T]]) -> T | Missing:
        with scope(label), urgency(rank), self._watcher.stage(label):
            made = await self._tried(label, make)
        if isinstance(made, Missing):
            self._missing[name] = made
            return made
        self._folder.save(name, made)
        self._kept.fresh.add(name)
        del self._jobs[name]  # from now on it is read from the folder
        return made

    async def _tried(self, label: str, make: Callable[[], Awaitable[T]]) -> T | Missing:
        try:
            return await make()
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


def _rubric_digest(rubric: Rubric) -> dict[str, Json]:
    return {"rubric": rubric.digest}


def _claims_digest(claims: ClaimList) -> dict[str, Json]:
    return {"claims": claims.digest}
