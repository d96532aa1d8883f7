"""Doing the work: units together in a fair order, each stored as soon as it exists.

Each judge has a lane of its own, since its endpoint has a limiter of its own and a slow judge must not hold up a fast
one. A lane goes task by task with a bounded number of units in flight, so that all systems advance together and a run
that stops early can be compared. Inside a unit everything runs at once; the limiter serves first what others wait for
(protocols, rubrics, claims), then earlier tasks, then the metrics that take longest.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain

from ..core import Json, Status, Task
from ..errors import DeadlineReached, HostStop, ReplayMiss, UserError
from ..evaluators import Case, evaluate_metric
from ..evaluators.results import MetricResult
from ..ledger import scope
from ..models import ChatModel
from ..models.limiter import urgency
from ..protocols.catalogue import METRICS
from ..tools import Toolbox
from .cases import CaseRef
from .control import Control
from .crew import Crew
from .data import UnitResult
from .done import Done
from .kept import Kept
from .library import Library
from .progress import Watcher
from .results import line_at
from .shared import Inputs, Shared
from .store import RunFolder
from .units import OUTSIDE, Unit, changed, inputs_of, key_of
from .work import FIRST, Work

AHEAD = 2
"""Tasks whose claims are begun before their turn."""
WINDOW_A_TASK = 10
"""Of so many units in flight, one more task has its protocol and rubrics begun early: they take long."""


class Engine:
    """Runs the units of one piece of work in one event loop."""

    def __init__(
        self,
        work: Work,
        folder: RunFolder,
        judges: Mapping[str, ChatModel],
        toolbox: Toolbox,
        *,
        done: Done,
        control: Control,
        watcher: Watcher,
        window: int,
        rehearsal: bool = False,
        missing: Mapping[str, str] | None = None,
    ) -> None:
        """``judges`` by the names in ``work``; ``window``: units of one judge in flight, at most; ``rehearsal``: what
        cannot be replayed is passed over; ``missing``: files that could not be made before, and why."""
        self._rehearsal = rehearsal
        self._work, self._folder, self._judges = work, folder, judges
        self._done, self._control, self._watcher, self._window = done, control, watcher, window
        self._kept: Kept = done.kept
        self._toolbox = toolbox
        self._library = Library(work, self._kept, toolbox)
        maker = judges[work.judges[0]]
        self._shared = Shared(work, folder, self._kept, maker, self._library, watcher, missing=missing)
        self._crew = Crew()
        self._tasks: list[tuple[CaseRef, ...]] = work.by_task()
        self._order = {cases[0].task.id: number for number, cases in enumerate(self._tasks)}
        self._begun = (0, 0)
        """Tasks whose protocol, and whose claims, have been begun."""

    async def run(self) -> None:
        """Do what is not done yet; ``done`` then knows all that is.

        Raises ReplayMiss, UserError (a dollar budget meets an unknown price), OSError (disk full).
        """
        try:
            await self._crew.run(self._lane(judge) for judge in self._work.judges)
        finally:
            await self._shared.close()
        if self._control.cause is not None:
            self._done.take_settled()

    async def _lane(self, judge: str) -> None:
        if self._judges[judge].embedded:
            await self._in_turn(judge)
        else:
            await self._together(judge)

    async def _in_turn(self, judge: str) -> None:
        """One call at a time: what all units of a report need first, then what reads the report stands together."""
        begun: set[object] = set()
        for unit in await self._open_units(self._work.in_turn(judge)):
            if unit.case.place not in begun:
                begun.add(unit.case.place)
                for job in chain(self._for_task(unit.task), self._for_report(unit.case)):
                    await self._guard(job)
            await self._guard(self._unit(unit))

    async def _together(self, judge: str) -> None:
        """Many calls at once, up to ``window`` units."""
        slots = asyncio.Semaphore(self._window)
        for unit in await self._open_units(self._work.together(judge)):
            self._begin_ahead(unit)
            await slots.acquire()
            self._crew.spawn(self._in_slot(unit, slots))

    async def _in_slot(self, unit: Unit, slots: asyncio.Semaphore) -> None:
        try:
            await self._guard(self._unit(unit))
        finally:
            slots.release()

    async def _open_units(self, units: Iterator[Unit]) -> Sequence[Unit]:
        """Those that are not settled; the others are taken over."""
        left = []
        for number, unit in enumerate(units):
            if number % 50 == 0:
                await asyncio.sleep(0)
            if not self._done.take(unit):
                left.append(unit)
        return left

    def _begin_ahead(self, unit: Unit) -> None:
        """Begin what the units of the next tasks will wait for."""
        here = self._order[unit.task.id]
        long, short = here + 1 + max(AHEAD, self._window // WINDOW_A_TASK), here + 1 + AHEAD
        for cases in self._tasks[self._begun[0] : long]:
            self._begin(self._for_task(cases[0].task))
        for cases in self._tasks[self._begun[1] : short]:
            for case in cases:
                self._begin(self._for_report(case))
        self._begun = (max(self._begun[0], long), max(self._begun[1], short))

    def _begin(self, jobs: Iterable[Coroutine[None, None, object]]) -> None:
        for job in jobs:
            self._crew.spawn(self._guard(job))

    def _for_task(self, task: Task) -> Iterator[Coroutine[None, None, object]]:
        """What all units of a task need before they can start."""
        if self._work.any_needs("protocol"):
            yield self._shared.protocol(task)
        for metric in self._work.metrics:
            if self._work.needs(metric, "rubric"):
                yield self._shared.rubric(task, metric)

    def _for_report(self, case: CaseRef) -> Iterator[Coroutine[None, None, object]]:
        """What all units of a report need before they can start."""
        if self._work.any_needs("claims"):
            yield self._shared.claims(case)

    async def _guard(self, work: Coroutine[None, None, object]) -> None:
        if self._control.cause is not None:
            work.close()
            return
        try:
            await work
        except HostStop as stop:
            self._control.stop(stop)
        except ReplayMiss:
            if not self._rehearsal:
                raise

    async def _unit(self, unit: Unit) -> None:
        given = await self._shared.inputs(unit)
        inputs = inputs_of(unit, self._work.conditions, given.made)
        if self._done.take(unit, key_of(inputs)):
            return
        self._say_why(unit, inputs)
        if given.missing:
            result = self._failed(unit, given.missing)
        else:
            result = await self._judge(unit, given)
        self._done.add(_line(unit, inputs, result))

    def _say_why(self, unit: Unit, inputs: Mapping[str, Json]) -> None:
        spot = self._kept.index.last.get(unit.place)
        before = None if spot is None else line_at(spot)
        if before is None:
            return
        if names := changed(before.inputs, inputs):
            self._watcher.note(f"{unit.label} is done again: {', '.join(names)} changed")
        else:
            self._watcher.note(f"{unit.label} failed before and is tried again")

    async def _judge(self, unit: Unit, given: Inputs) -> MetricResult:
        work = self._work
        with scope(unit.label), self._rank(unit), self._watcher.stage(unit.label, unit.place):
            try:
                case = Case(
                    task=unit.task,
                    report=self._library.report(unit.case),
                    as_of=work.conditions.as_of,
                    protocol=given.protocol,
                    claims=given.claims,
                    rubric=given.rubric,
                    reference=given.reference,
                )
                judge = self._judges[unit.judge].draw(unit.repeat)
                tools = self._library.tools(unit.task) if METRICS[unit.metric].needs & OUTSIDE else self._toolbox
                return await evaluate_metric(unit.metric, case, judge, tools, work.settings)
            except DeadlineReached as error:
                return self._failed(unit, f"deadline: {error}")
            except (HostStop, ReplayMiss, UserError):
                raise
            except Exception as error:
                self._folder.note_error(f"{unit.label}\n{traceback.format_exc()}")
                return self._failed(unit, f"internal error ({type(error).__name__}), see errors.log")

    def _rank(self, unit: Unit) -> AbstractContextManager[None]:
        slow = min((FIRST.get(name, 9) for name in METRICS[unit.metric].inputs), default=9)
        return urgency((1, self._order[unit.task.id], slow))

    def _failed(self, unit: Unit, reason: str) -> MetricResult:
        version = self._work.conditions.versions[unit.metric]
        return MetricResult(metric=unit.metric, version=version, status=Status.FAILED, reason=reason)


def _line(unit: Unit, inputs: dict[str, Json], result: MetricResult) -> UnitResult:
    return UnitResult(
        unit=key_of(inputs),
        task=unit.task.id,
        report=unit.case.system,
        metric=unit.metric,
        judge=unit.judge,
        repeat=unit.repeat,
        inputs=inputs,
        result=result,
    )
