"""Measuring cases that a study made: one ledger, one judge, toolboxes, and nothing else.

A study makes its cases by code, names them, and asks for :meth:`Bench.measure`. Whatever was answered before stands in
the ledger, so the same command goes on where it stopped and asks nothing twice.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from ..agents import create_protocol
from ..core import AsOf, Json, Status, Task
from ..errors import CallFailed, DeadlineReached, ProtocolFailed, UserError
from ..evaluators import VERSIONS, Case, MetricResult, Settings, evaluate_metric, make_claims
from ..evaluators.base import together
from ..evaluators.rubrics import make_rubric
from ..ledger import Budget, Ledger, Totals, scope
from ..ledger import Mode as LedgerMode
from ..models import ChatModel, is_local, open_model
from ..models.describing import price_of
from ..protocols.catalogue import METRICS
from ..protocols.rubric import Kind, Rubric
from ..protocols.schema import Mode, Protocol
from ..reports import Report
from ..reports.data import ClaimList
from ..runs.ask import DEFAULT_QUESTIONS, DEFAULT_REASONING, default_ledger, search_identity
from ..runs.cases import shape_of
from ..runs.control import Control
from ..runs.estimate import Load, Shape, protocol_load, report_load
from ..runs.perform import Outside, keys_to_mask
from ..tools import Toolbox, open_toolbox

T = TypeVar("T")


@dataclass(frozen=True)
class Setup:
    """By whom and on what evidence a study's cases are judged."""

    judge: str
    search: tuple[str, ...]
    as_of: dt.date
    mode: Mode
    """How plans are carried out and protocols made: ``agent`` or ``guided``."""
    max_claims: int | None = None
    questions: int = DEFAULT_QUESTIONS
    reasoning: int = DEFAULT_REASONING
    exclude_hosts: tuple[str, ...] = ()
    ledger: Path | None = None
    ledger_mode: LedgerMode = LedgerMode.CACHE
    budget_usd: float | None = None
    budget_tokens: int | None = None
    outside: Outside = field(default_factory=Outside)

    @property
    def embedded(self) -> bool:
        """Whether the embedded judge is asked for."""
        return is_local(self.judge)

    def described(self) -> dict[str, Json]:
        """All of it that results depend on; a corpus by its content."""
        return {
            "judge": self.judge,
            "search": [search_identity(entry) for entry in self.search],
            "exclude_hosts": list(self.exclude_hosts),
            "as_of": self.as_of.isoformat(),
            "mode": self.mode.value,
            "max_claims": self.max_claims,
            "questions": self.questions,
            "reasoning": self.reasoning,
        }


@dataclass(frozen=True)
class Cell:
    """One metric of one case of a study."""

    name: str
    """Unique within the study, such as ``r=0.25/factuality``."""
    metric: str
    case: Case
    search: tuple[str, ...] = ()
    """Where evidence comes from, when not as in the setup."""


@dataclass(frozen=True)
class Measured:
    """What came of one cell."""

    cell: Cell
    result: MetricResult

    @property
    def score(self) -> float | None:
        """The score, 0–100; None: not applicable or failed."""
        return self.result.score


class Bench:
    """A judge with its tools, open. Made by :func:`open_bench`."""

    def __init__(
        self,
        setup: Setup,
        judge: ChatModel,
        ledger: Ledger,
        stack: AsyncExitStack,
        say: Callable[[str], None],
        control: Control,
    ) -> None:
        self.setup, self.judge, self.ledger = setup, judge, ledger
        self._stack, self.say, self._control = stack, say, control
        self._toolboxes: dict[tuple[str, ...], Toolbox] = {}
        self._rubrics: dict[tuple[str, str], Rubric | None] = {}
        self._claims: dict[str, ClaimList | None] = {}
        self._opening = asyncio.Lock()

    @property
    def settings(self) -> Settings:
        """How thoroughly is looked."""
        return Settings(mode=self.setup.mode, max_claims=self.setup.max_claims)

    @property
    def as_of(self) -> AsOf:
        """The day as of which everything is judged."""
        return AsOf(day=self.setup.as_of)

    @property
    def totals(self) -> Totals:
        """What the study used so far, earlier starts included."""
        return self.ledger.totals()

    async def toolbox(self, search: Sequence[str] = (), texts: Sequence[str] = ()) -> Toolbox:
        """The toolbox over these back ends (default: the setup's); ``texts``: reports, which are never evidence."""
        place = tuple(search) or self.setup.search
        async with self._opening:
            if place not in self._toolboxes:
                opened = open_toolbox(
                    self.ledger,
                    as_of=self.as_of,
                    search=place,
                    exclude_hosts=self.setup.exclude_hosts,
                    endpoints=self.setup.outside.endpoints,
                )
                self._toolboxes[place] = await self._stack.enter_async_context(opened)
        return self._toolboxes[place].under_test(texts)

    async def claims(self, task: Task, report: Report) -> ClaimList | None:
        """The report's frozen claims; None when they could not be made (the cell then fails and says so)."""
        if report.digest not in self._claims:
            with scope(f"{report.id}/claims"):
                try:
                    made = await make_claims(task, report, self.judge, max_claims=self.setup.max_claims)
                except (CallFailed, DeadlineReached) as error:
                    self.say(f"{report.id}/claims could not be made: {error}")
                    made = None
            self._claims[report.digest] = made
        return self._claims[report.digest]

    async def protocol(self, task: Task) -> Protocol:
        """The task's protocol, made as an evaluation makes it. Raises ProtocolFailed."""
        self.say(f"{task.id}: making its protocol")
        with scope(f"{task.id}/protocol"):
            return await create_protocol(
                task,
                self.judge,
                await self.toolbox(),
                as_of=self.as_of,
                mode=self.setup.mode,
                questions=self.setup.questions,
                reasoning=self.setup.reasoning,
            )

    async def rubric(self, metric: str, task: Task) -> Rubric | None:
        """The rubric of a task for ``race`` or ``dre_quality``, made once; None when it could not be made (the cell
        then fails and says so)."""
        place = metric, task.prompt
        kind: Kind = "race" if metric == "race" else "dre_quality"
        if place not in self._rubrics:
            with scope(f"{task.id}/{kind}/rubric"):
                try:
                    self._rubrics[place] = await make_rubric(kind, task, self.judge)
                except (ProtocolFailed, DeadlineReached) as error:
                    self.say(f"{task.id}/{kind}/rubric could not be made: {error}")
                    self._rubrics[place] = None
        return self._rubrics[place]

    async def case(
        self,
        metric: str,
        task: Task,
        report: Report,
        *,
        protocol: Protocol | None = None,
        reference: Report | None = None,
    ) -> Case:
        """The report with just what the metric looks at; claims and rubric are made where they are needed."""
        return Case(
            task=task,
            report=report,
            as_of=self.as_of,
            protocol=protocol if needs((metric,), "protocol.") else None,
            claims=await self.claims(task, report) if needs((metric,), "claims") else None,
            rubric=await self.rubric(metric, task) if needs((metric,), "rubric") else None,
            reference=reference if needs((metric,), "reference") else None,
        )

    async def measure(self, cells: Sequence[Cell]) -> dict[str, Measured]:
        """All cells, by name. HostStop, ReplayMiss and UserError propagate; anything else ends its own cell only."""
        done = await self.each(self._measured(cell, number, len(cells)) for number, cell in enumerate(cells, 1))
        return {one.cell.name: one for one in done}

    async def each(self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """Results in order: the embedded judge in turn, others at the same time."""
        if not self.judge.embedded:
            return await together(work)
        waiting = list(work)
        try:
            return [await one for one in waiting]
        finally:
            for one in waiting:
                one.close()

    async def _measured(self, cell: Cell, number: int, of: int) -> Measured:
        if self._control.cause is not None:
            raise self._control.cause
        toolbox = await self.toolbox(cell.search, (cell.case.report.text,))
        with scope(cell.name):
            try:
                result = await evaluate_metric(cell.metric, cell.case, self.judge, toolbox, self.settings)
            except DeadlineReached as error:
                result = _failed(cell, f"deadline: {error}")
        self.say(f"{number} of {of}: {cell.name} {shown_score(result)}")
        return Measured(cell, result)


def _failed(cell: Cell, reason: str) -> MetricResult:
    return MetricResult(metric=cell.metric, version=0, status=Status.FAILED, reason=reason)


def shown_score(result: MetricResult) -> str:
    """A result in a word: its score, or why there is none."""
    return f"{result.score:.1f}" if result.score is not None else f"{result.status.value}: {result.reason}"


@asynccontextmanager
async def open_bench(
    setup: Setup, name: str, *, say: Callable[[str], None] = lambda _: None, control: Control | None = None
) -> AsyncIterator[Bench]:
    """Open ledger, judge and toolboxes for the study called ``name`` in the ledger. Raises UserError, HostStop."""
    control, keys = control or Control(), keys_to_mask()
    budget = Budget(usd=setup.budget_usd, tokens=setup.budget_tokens)
    path = setup.ledger or default_ledger()
    with Ledger.open(path, run=name, mode=setup.ledger_mode, secrets=keys, budget=budget) as ledger:
        control.on_stop(ledger.stop)
        async with AsyncExitStack() as stack:
            judge = await stack.enter_async_context(
                open_model(setup.judge, ledger, limits=setup.outside.limits, notify=say)
            )
            yield Bench(setup, judge, ledger, stack, say, control)


def chosen_metrics(wanted: Sequence[str], default: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Metrics to measure, and those left out because this version does not have them. Raises UserError."""
    names = [name.strip().lower() for part in wanted for name in part.split(",") if name.strip()]
    unknown = [name for name in names if name not in VERSIONS]
    if unknown:
        raise UserError(f"there is no metric {unknown[0]!r}: choose among {', '.join(VERSIONS)}")
    asked = tuple(dict.fromkeys(names)) or tuple(default)
    return tuple(n for n in asked if n in VERSIONS), tuple(n for n in asked if n not in VERSIONS)


# --- what it will take -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """What a study will take, from the stated defaults of :mod:`dream_eval.runs.estimate`."""

    load: Load
    seconds: float
    usd: float | None
    """None: no price is known."""
    cells: int

    def line(self) -> str:
        """For people."""
        time = f"{self.seconds:.0f} s" if self.seconds < 90 else f"{self.seconds / 60:.0f} min"
        price = "price unknown" if self.usd is None else "no charge" if not self.usd else f"about ${self.usd:.2f}"
        load = self.load
        return (
            f"expected (from defaults, roughly, less what the ledger holds): {self.cells} units, {time}, "
            f"{load.calls} judge calls, {load.prompt + load.new:,} tokens, {load.lookups} searches and pages, {price}"
        )


def estimate(
    setup: Setup, units: Sequence[tuple[Report, Sequence[str]]], *, protocols: int = 0, claims: int | None = None
) -> Estimate:
    """The load of measuring these reports by these metrics, and of making ``protocols`` protocols first.

    ``claims``: how many each report has, where that is known.
    """
    total = Load()
    for report, metrics in units:
        shape = _shape(report, setup.max_claims) if claims is None else replace(shape_of(report), claims=claims)
        total += report_load(
            shape,
            metrics,
            setup.mode,
            questions=setup.questions,
            reasoning=setup.reasoning,
            embedded=setup.embedded,
        )
    making = protocol_load(setup.mode, questions=setup.questions, reasoning=setup.reasoning).times(protocols)
    return priced(setup, total + making, sum(len(metrics) for _, metrics in units))


def _shape(report: Report, max_claims: int | None) -> Shape:
    shape = shape_of(report)
    return shape if max_claims is None else replace(shape, claims=min(shape.claims, max_claims))


def priced(setup: Setup, load: Load, cells: int) -> Estimate:
    """A load with its time and price."""
    price = price_of(setup.judge)
    usd = None if price is None else price.cost(load.prompt, 0, load.new)
    return Estimate(load, load.seconds(embedded=setup.embedded), usd, cells)


def needs(metrics: Iterable[str], name: str) -> bool:
    """Whether one of the metrics has an input that begins with ``name`` (``protocol.``, ``claims``, ``rubric``)."""
    return any(one.startswith(name) for metric in metrics for one in METRICS[metric].inputs)


def scores_of(measured: Mapping[str, Measured]) -> list[dict[str, Json]]:
    """Every unit as JSON, for the study's record."""
    return [
        {"name": one.cell.name, "metric": one.cell.metric, "result": one.result.model_dump(mode="json")}
        for one in measured.values()
    ]
