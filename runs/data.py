"""Runs as data: what was asked, how a unit ended, how a run ended."""

from __future__ import annotations

import datetime as dt
from enum import IntEnum, StrEnum

from pydantic import Field

from ..core import AsOf, Frozen, Json, Task
from ..errors import AccountRefused, BudgetReached, HostStop
from ..evaluators.results import MetricResult
from ..protocols.schema import Mode
from .shards import dealt

SCHEMA_VERSION = 2
DEFAULT_FLOOR = 0.9
"""Share of expected units that must be scored (METRICS 0)."""


UnitPlace = tuple[str, str, str, str, int]
"""(task, report, metric, judge, repeat): a cell of a run."""


class Exit(IntEnum):
    """Exit codes of the command line; several apply: the first of 5, 4, 3, 6, 10 wins."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = 3
    BUDGET = 4
    REFUSED = 5
    COVERAGE = 6
    GATE = 10
    KILLED = 130

    @classmethod
    def first(cls, codes: set[Exit]) -> Exit:
        """The one that is reported when several apply."""
        order = (cls.REFUSED, cls.BUDGET, cls.INTERRUPTED, cls.COVERAGE, cls.GATE)
        return next((code for code in order if code in codes), cls.DONE)


class RunState(StrEnum):
    """How a run stands. Everything but ``finished`` is continued by the same command."""

    RUNNING = "running"
    """Some process works on it, or died while it did."""
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    REFUSED = "refused"


def state_after(cause: HostStop) -> RunState:
    """How a run stands that stopped for this reason."""
    if isinstance(cause, AccountRefused):
        return RunState.REFUSED
    return RunState.BUDGET if isinstance(cause, BudgetReached) else RunState.INTERRUPTED


class ReportRef(Frozen):
    """One report of a run. Its text as read is kept in the folder, under ``reports/``."""

    id: str
    """The system that wrote it: a system has one report a task, and a lone file is its own system."""
    task: str
    digest: str
    file: str = Field(pattern=r"^\w[\w.-]*$")
    """Name inside ``reports/``."""


class RunConfig(Frozen):
    """What was asked: ``run.json``."""

    schema_version: int = SCHEMA_VERSION
    run: str
    """Name of the run in the ledger."""
    version: str
    """Version of dream-eval."""
    created_at: dt.datetime
    """First start, UTC."""
    as_of: AsOf
    tasks: tuple[Task, ...]
    reports: tuple[ReportRef, ...]
    judges: tuple[str, ...] = Field(min_length=1)
    """In the order given. The first one is the maker: it makes protocols and claim lists, which all judges share."""
    endpoints: dict[str, str] = Field(default_factory=dict)
    """Judge to its endpoint in the ledger; missing before it was opened."""
    repeats: int = Field(default=1, ge=1)
    """How often every unit is judged."""
    shard: tuple[int, int] | None = None
    """(i, n) with 1 ≤ i ≤ n: this folder holds part i of n of the run that ``tasks`` and ``reports`` say, split by
    task; None: all of it."""
    metrics: tuple[str, ...]
    versions: dict[str, int]
    """Version of each metric's prompts and rules."""
    search: tuple[str, ...]
    """Search back ends as given."""
    search_digests: tuple[str, ...]
    """The same as results depend on them: a corpus by its content."""
    exclude_hosts: tuple[str, ...] = ()
    """Hosts whose pages are never evidence."""
    mode: Mode
    questions: int
    reasoning: int
    max_claims: int | None = None
    protocols: dict[str, str] = Field(default_factory=dict)
    """Task id to digest, for protocols that were given and not made."""
    rubrics: dict[str, str] = Field(default_factory=dict)
    """The same for rubrics, by ``TASK/METRIC``."""
    reference: str = ""
    """The system or file whose reports the others are held against; empty: none."""
    references: tuple[ReportRef, ...] = ()
    """Its reports, one a task."""
    ledger: str
    """Path of the ledger file, as given or found."""
    budget_usd: float | None = None
    budget_tokens: int | None = None
    floor: float = DEFAULT_FLOOR
    command: str = ""
    """The command as it was typed, for whoever wants to go on; empty when it was no command."""

    @property
    def mine(self) -> tuple[ReportRef, ...]:
        """The reports of the part that this folder holds: all of them, but for a shard."""
        part = dealt((task.id for task in self.tasks), self.shard)
        return tuple(ref for ref in self.reports if ref.task in part)

    @property
    def maker(self) -> str:
        """The judge that makes protocols and claim lists."""
        return self.judges[0]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems compared, in the order of their first report."""
        return tuple(dict.fromkeys(ref.id for ref in self.reports))


class UnitResult(Frozen):
    """One line of ``results.jsonl``: one metric of one report by one judge, once. Nothing in it is from the clock."""

    unit: str
    """Unit key: SHA-256 over ``inputs``."""
    task: str
    report: str
    """Id of the report, which is the system that wrote it."""
    metric: str
    judge: str
    repeat: int = 0
    inputs: dict[str, Json]
    """All that the result depends on: versions, settings, as-of date, digests of the inputs the metric declares."""
    result: MetricResult

    @property
    def place(self) -> UnitPlace:
        """Which cell of the run it fills."""
        return (self.task, self.report, self.metric, self.judge, self.repeat)

    @property
    def settled(self) -> bool:
        """Whether a resumed run keeps it. A failed unit, and one with parts lost to failed calls, is tried again."""
        return self.result.settled
