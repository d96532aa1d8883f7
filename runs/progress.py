"""What a run is doing right now, told to whoever shows or keeps it: the live display, a log, traces."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from ..core import Status
from ..ledger import Budget, Event, Kind, Totals
from .data import UnitPlace, UnitResult
from .names import Place
from .summary import Summary

NoticeKind = Literal["plan", "stage", "stage_end", "call", "unit", "wait", "note", "end"]
RATE_S = 30.0
"""Seconds over which calls a second are counted."""
FEW = 3
"""Units that must have finished before anybody guesses how long the rest takes."""


@dataclass(frozen=True)
class Notice:
    """Something happened."""

    kind: NoticeKind
    text: str = ""
    """For people; empty for ``plan``, ``call``, ``stage_end`` and ``end``, which are not worth a line."""
    about: str = ""
    """Of a wait: for what and why, without the seconds."""
    event: Event | None = None
    """Of a call or a wait: what the ledger told."""
    line: UnitResult | None = None
    """Of a unit: how it ended."""
    reused: bool = False
    """Of a unit: it was finished before this start."""
    stage: str = ""
    """Of a stage: its name, which is the scope of its calls in the ledger. Of a unit: the
    stage that it was, empty for one that was done before."""
    place: UnitPlace | None = None
    """Of a stage that is a unit: which one."""
    summary: Summary | None = None
    """Of the end: how the run stands."""


@dataclass(frozen=True)
class Wait:
    """Somebody waits."""

    what: str
    reason: str
    until: float
    """By the clock of the progress."""
    who: str = ""
    """The piece of work that waits, ``system/metric``; empty when it is nobody's in particular."""


@dataclass
class Cell:
    """How the units of one system and metric stand."""

    planned: int = 0
    done: int = 0
    """Ended in any way, failed ones included."""
    failed: int = 0


@dataclass
class Progress:
    """How a run stands. Calls, tokens and cost include what earlier parts of the same run used."""

    run: str = ""
    """Name of the run in the ledger."""
    units: int = 0
    done: int = 0
    failed: int = 0
    reused: int = 0
    """Units that were finished before this start."""
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    """By system and metric, in plan order."""
    calls: Counter[Kind] = field(default_factory=Counter)
    reused_calls: int = 0
    """Answers of other runs that this run uses, each counted once."""
    failed_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: the price of some call is unknown."""
    budget: Budget = field(default_factory=Budget)
    stages: Counter[str] = field(default_factory=Counter)
    """What is worked on (``sound/factuality``) and how many pieces of it run."""
    waits: dict[str, Wait] = field(default_factory=dict)
    stopping: str = ""
    """Why nothing new is started, empty while all is well."""
    clock: Callable[[], float] = time.monotonic
    """Seconds from an arbitrary start."""
    began: float = 0.0
    """When the plan was known, by the clock."""
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=10_000))
    """When the calls of the last ``RATE_S`` seconds were answered, by the clock."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together: what a token budget counts."""
        return self.prompt_tokens + self.completion_tokens

    def waiting(self) -> list[Wait]:
        """Waits that are not over yet."""
        now = self.clock()
        return [wait for wait in self.waits.values() if wait.until > now]

    def rate(self) -> float:
        """Calls answered a second, over the last ``RATE_S`` seconds or since the start."""
        now = self.clock()
        while self.recent and self.recent[0] < now - RATE_S:
            self.recent.popleft()
        return len(self.recent) / max(1.0, min(RATE_S, now - self.began))

    def left_s(self) -> float | None:
        """Seconds until the last unit, at the rate at which units ended in this start; None while few did."""
        fresh, spent = self.done - self.reused, self.clock() - self.began
        if fresh < FEW or spent <= 0 or self.stopping:
            return None
        return (self.units - self.done) * spent / fresh


Listener = Callable[[Progress, Notice | None], None]
"""Called after each change; quick, and never from two threads at once. None: only counters moved."""


def together(*listeners: Listener) -> Listener:
    """One listener that tells all of them."""

    def tell(progress: Progress, notice: Notice | None) -> None:
        for listener in listeners:
            listener(progress, notice)

    return tell


class Watcher:
    """Keeps a :class:`Progress` up to date and tells the listener."""

    def __init__(self, listener: Listener | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.progress = Progress(clock=clock, began=clock())
        self.names: Mapping[Place, str] = {}
        """What reports are called, by task and report, where their ids are not enough."""
        self._listener = listener
        self._stages: dict[UnitPlace, str] = {}
        self._counted: set[int] = set()

    def begin(
        self,
        units: int,
        totals: Totals,
        *,
        plan: Mapping[tuple[str, str], int] | None = None,
        budget: Budget | None = None,
        run: str = "",
    ) -> None:
        """The plan is known: so many units, ``plan`` by system and metric; ``totals`` is what the run used before."""
        now = self.progress
        now.run, now.units, now.began = run, units, now.clock()
        for place, planned in (plan or {}).items():
            now.cells[place] = Cell(planned)
        now.calls.update({kind: part.made for kind, part in totals.kinds.items()})
        now.prompt_tokens, now.completion_tokens = totals.prompt_tokens, totals.completion_tokens
        now.cost_usd, now.failed_calls, now.reused_calls = totals.cost_usd, totals.failed, totals.reused
        now.budget = budget or now.budget
        self._tell(Notice("plan"))

    def note(self, text: str) -> None:
        """Something the user should read."""
        self._tell(Notice("note", text))

    @contextmanager
    def stage(self, name: str, place: UnitPlace | None = None) -> Iterator[None]:
        """A piece of work, for as long as the context lasts; ``place`` when it is a unit."""
        stages = self.progress.stages
        stages[name] += 1
        if place is not None:
            self._stages[place] = name
        self._tell(Notice("stage", name, stage=name, place=place))
        try:
            yield
        finally:
            stages[name] -= 1
            if stages[name] <= 0:
                del stages[name]
            self._tell(Notice("stage_end", stage=name, place=place))

    def unit(self, line: UnitResult, *, reused: bool) -> None:
        """A unit has ended, now or in an earlier start."""
        now, result = self.progress, line.result
        cell = now.cells.setdefault((line.report, line.metric), Cell())
        for part in (now, cell):
            part.done += 1
            part.failed += result.status is Status.FAILED
        now.reused += reused
        name = self.names.get((line.task, line.report), line.report)
        shown = f"{result.score:.1f}" if result.score is not None else f"{result.status.value}: {result.reason}"
        text = f"{name} {line.metric}: {shown}{' (done before)' if reused else ''}"
        stage = self._stages.pop(line.place, "")
        self._tell(Notice("unit", text, line=line, reused=reused, stage=stage, place=line.place))

    def end(self, summary: Summary) -> None:
        """The run has ended, or stopped."""
        self._tell(Notice("end", summary=summary))

    def stopping(self, reason: str) -> None:
        """Nothing new is started from now on."""
        self.progress.stopping = reason
        self._tell(Notice("note", reason))

    def event(self, event: Event) -> None:
        """What the ledger tells."""
        now = self.progress
        if event.phase == "wait":
            now.waits[event.subject] = Wait(event.subject, event.reason, now.clock() + event.seconds, event.scope)
            about = f"{event.subject}: {event.reason}"
            self._tell(Notice("wait", f"waiting {event.seconds:.0f} s for {about}", about, event=event))
            return
        if event.phase == "done":
            self._count(event)
        elif event.phase == "failed":
            now.failed_calls += self._is_new(event)
        elif event.phase == "reused" and event.foreign:
            now.reused_calls += self._is_new(event)
        self._tell(Notice("call", event=event))

    def _is_new(self, event: Event) -> bool:
        """Whether this start has not counted the record before: many may wait for one call, and use its answer."""
        before = event.call in self._counted
        self._counted.add(event.call)
        return not before

    def _count(self, event: Event) -> None:
        now, usage = self.progress, event.usage
        if event.kind is not None:
            now.calls[event.kind] += 1
        now.recent.append(now.clock())
        now.prompt_tokens += usage.prompt_tokens
        now.completion_tokens += usage.completion_tokens
        if now.cost_usd is not None:
            now.cost_usd = None if usage.cost_usd is None else now.cost_usd + usage.cost_usd

    def _tell(self, notice: Notice | None) -> None:
        if self._listener is not None:
            self._listener(self.progress, notice)
