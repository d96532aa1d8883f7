"""The built-in agent as a system under test."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ... import tools
from ...core import AsOf
from ...errors import AgentFailed
from ...ledger import Event, Kind, Ledger, scope
from ...models import ChatModel, Limits, open_model
from .data import Asked, Meter, NoReport, State
from .systems import Given

BUILTIN = ("smolagents-open-dr",)
"""The systems that come with the product."""


@dataclass
class BuiltinSystem:
    """``smolagents-open-dr`` with one model. Made by :func:`open_builtin`."""

    model: ChatModel
    ledger: Ledger
    search: Sequence[str]
    day: dt.date
    """Where a task names none."""
    endpoints: tools.Endpoints | None
    seconds: float
    """For one report."""
    meters: _Meters

    async def report(self, asked: Asked) -> Given:
        """Have the agent write. Raises NoReport, HostStop, ReplayMiss."""
        from .open_dr import write_report

        as_of = AsOf(day=asked.task.as_of or self.day, given=asked.task.as_of is not None)
        with scope(asked.label):
            async with tools.open_toolbox(
                self.ledger, as_of=as_of, search=self.search, endpoints=self.endpoints
            ) as toolbox:
                try:
                    delivery = await write_report(
                        asked.task, self.model, toolbox, as_of=as_of, sample=asked.number - 1, seconds=self.seconds
                    )
                except AgentFailed as failed:
                    state = State.TIMEOUT if failed.state == "deadline" else State.FAILED
                    raise NoReport(state, f"{failed.state}: {failed}") from failed
        return Given(delivery, self.meters.of(asked.label), "ledger")


class _Meters:
    """Sums over the records of model calls, by the label of the attempt."""

    def __init__(self, ledger: Ledger) -> None:
        self._found: dict[str, dict[int, Event]] = {}
        ledger.listen(self._heard)

    def _heard(self, event: Event) -> None:
        if event.kind is Kind.COMPLETION and event.phase in ("done", "reused"):
            self._found.setdefault(event.scope, {}).setdefault(event.call, event)

    def of(self, label: str) -> Meter:
        """What the calls of an attempt used; a record that was used twice counts once."""
        meter = Meter()
        for event in self._found.pop(label, {}).values():
            meter = meter.plus(event.usage, reused=event.phase == "reused")
        return meter


@asynccontextmanager
async def open_builtin(
    model: str,
    ledger: Ledger,
    search: Sequence[str],
    day: dt.date | None,
    *,
    seconds: float,
    limits: Limits | None = None,
    endpoints: tools.Endpoints | None = None,
    notify: Callable[[str], None] | None = None,
) -> AsyncIterator[BuiltinSystem]:
    """Open ``smolagents-open-dr`` over ``model`` and these search back ends. ``day``: where a task names none; None:
    today. UserError for a bad name, a missing key, or a back end that does not exist."""
    today = dt.datetime.now(dt.UTC).date()
    async with open_model(model, ledger, limits=limits or Limits(), notify=notify) as judge:
        yield BuiltinSystem(
            judge, ledger, tuple(search) or tools.DEFAULT_SEARCH, day or today, endpoints, seconds, _Meters(ledger)
        )
