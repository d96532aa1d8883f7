"""Doing the work: units together, each stored as soon as it exists."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Coroutine, Iterable, Mapping

from ..core import Json, Status
from ..errors import DeadlineReached, HostStop, ReplayMiss, UserError
from ..evaluators import Case, evaluate_metric
from ..evaluators.results import MetricResult
from ..ledger import scope
from ..models import ChatModel
from ..protocols.catalogue import METRICS
from ..protocols.schema import Protocol
from ..reports.data import ClaimList
from ..tools import Toolbox
from .control import Control
from .data import UnitResult
from .kept import Kept
from .progress import Watcher
from .shared import Missing, Shared
from .store import RunFolder
from .units import Unit, changed, inputs_of, key_of
from .work import Work

Place = tuple[str, str, str, str, int]


class Engine:
    """Runs the units of one piece of work in one event loop."""

    def __init__(
        self,
        work: Work,
        folder: RunFolder,
        judge: ChatModel,
        toolbox: Toolbox,
        *,
        control: Control,
        watcher: Watcher,
    ) -> None:
        self._work, self._folder, self._model, self._toolbox = work, folder, judge, toolbox
        self._control, self._watcher = control, watcher
        self._kept = Kept(work, folder)
        self._shared = Shared(work, folder, self._kept, judge, toolbox, watcher)
        self._before = {line.place: line for line in folder.results()}
        self._done: dict[Place, UnitResult] = {}

    async def run(self) -> list[UnitResult]:
        """Do what is not done yet; returns the finished units in plan order, fewer than planned after a stop.

        Raises ReplayMiss, UserError (a dollar budget meets an unknown price), OSError (disk full).
        """
        units = self._work.units()
        try:
            if self._model.embedded:
                await self._in_turn(units)
            else:
                await _together(self._guarded(unit) for unit in units)
        finally:
            await self._shared.close()
        return [self._done[unit.place] for unit in units if unit.place in self._done]

    async def _in_turn(self, units: list[Unit]) -> None:
        """Protocol, then report by report, claims first: what reads one report stands together."""
        begun: set[object] = set()
        for unit in units:
            if any(METRICS[metric].adaptive for metric in self._work.metrics) and unit.task.id not in begun:
                await self._guard(self._shared.protocol(unit.task))
            place = (unit.task.id, unit.report.id)
            if any("claims" in METRICS[metric].inputs for metric in self._work.metrics) and place not in begun:
                await self._guard(self._shared.claims(unit.task, unit.report))
            begun |= {unit.task.id, place}
            await self._guarded(unit)

    async def _guarded(self, unit: Unit) -> None:
        if self._control.cause is None:
            await self._guard(self._unit(unit))

    async def _guard(self, work: Coroutine[None, None, object]) -> None:
        if self._control.cause is not None:
            work.close()
            return
        try:
            await work
        except HostStop as stop:
            self._control.stop(stop)

    async def _unit(self, unit: Unit) -> None:
        metric = METRICS[unit.metric]
        protocol = await self._shared.protocol(unit.task) if metric.adaptive else None
        claims = await self._shared.claims(unit.task, unit.report) if "claims" in metric.inputs else None
        have_protocol = None if isinstance(protocol, Missing) else protocol
        have_claims = None if isinstance(claims, Missing) else claims
        inputs = inputs_of(unit, self._work.conditions, protocol=have_protocol, claims=have_claims)
        if (known := self._kept.unit(key_of(inputs), unit)) is not None:
            self._settle(known, reused=True)
            return
        self._say_why(unit, inputs)
        missing = next((part for part in (protocol, claims) if isinstance(part, Missing)), None)
        if missing is not None:
            result = self._failed(unit, missing.reason)
        else:
            result = await self._judge(unit, have_protocol, have_claims)
        line = _line(unit, inputs, result)
        self._folder.append(line)
        self._settle(line, reused=False)

    def _settle(self, line: UnitResult, *, reused: bool) -> None:
        self._done[line.place] = line
        self._watcher.unit(line, reused=reused)

    def _say_why(self, unit: Unit, inputs: Mapping[str, Json]) -> None:
        before = self._before.get(unit.place)
        if before is None:
            return
        if names := changed(before.inputs, inputs):
            self._watcher.note(f"{unit.label} is done again: {', '.join(names)} changed")
        else:
            self._watcher.note(f"{unit.label} failed before and is tried again")

    async def _judge(self, unit: Unit, protocol: Protocol | None, claims: ClaimList | None) -> MetricResult:
        case = Case(
            task=unit.task, report=unit.report, as_of=self._work.conditions.as_of, protocol=protocol, claims=claims
        )
        with scope(unit.label), self._watcher.stage(unit.label):
            try:
                return await evaluate_metric(unit.metric, case, self._model, self._toolbox, self._work.settings)
            except DeadlineReached as error:
                return self._failed(unit, f"deadline: {error}")
            except (HostStop, ReplayMiss, UserError):
                raise
            except Exception as error:
                self._folder.note_error(f"{unit.label}\n{traceback.format_exc()}")
                return self._failed(unit, f"internal error ({type(error).__name__}), see errors.log")

    def _failed(self, unit: Unit, reason: str) -> MetricResult:
        version = self._work.conditions.versions[unit.metric]
        return MetricResult(metric=unit.metric, version=version, status=Status.FAILED, reason=reason)


def _line(unit: Unit, inputs: dict[str, Json], result: MetricResult) -> UnitResult:
    return UnitResult(
        unit=key_of(inputs),
        task=unit.task.id,
        report=unit.report.id,
        metric=unit.metric,
        judge=unit.judge,
        repeat=unit.repeat,
        inputs=inputs,
        result=result,
    )


async def _together(jobs: Iterable[Coroutine[None, None, None]]) -> None:
    """All at once; the first error ends the others and is raised as it is."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
