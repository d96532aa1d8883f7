"""What a run is doing right now, told to whoever shows it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from ..core import Status
from ..ledger import Event, Kind, Totals
from .data import UnitResult
from .names import Place

NoticeKind = Literal["note", "stage", "unit", "wait"]


@dataclass(frozen=True)
class Notice:
    """One thing worth a line."""

    kind: NoticeKind
    text: str
    about: str = ""
    """Of a wait: for what and why, without the seconds."""


@dataclass(frozen=True)
class Wait:
    """Somebody waits."""

    what: str
    reason: str
    until: float
    """By ``time.monotonic()``."""


@dataclass
class Progress:
    """How a run stands. Calls, tokens and cost include what earlier parts of the same run used."""

    units: int = 0
    done: int = 0
    failed: int = 0
    reused: int = 0
    """Units that were finished before this start."""
    calls: Counter[Kind] = field(default_factory=Counter)
    reused_calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: the price of some call is unknown."""
    stages: Counter[str] = field(default_factory=Counter)
    """What is worked on (``sound/factuality``) and how many pieces of it run."""
    waits: dict[str, Wait] = field(default_factory=dict)
    stopping: str = ""
    """Why nothing new is started, empty while all is well."""

    def waiting(self) -> list[Wait]:
        """Waits that are not over yet."""
        now = time.monotonic()
        return [wait for wait in self.waits.values() if wait.until > now]


Listener = Callable[[Progress, Notice | None], None]
"""Called after each change; quick, and never from two threads at once. None: only counters moved."""


class Watcher:
    """Keeps a :class:`Progress` up to date and tells the listener."""

    def __init__(self, listener: Listener | None = None) -> None:
        self.progress = Progress()
        self.names: Mapping[Place, str] = {}
        """What reports are called, by task and report, where their ids are not enough."""
        self._listener = listener

    def begin(self, units: int, totals: Totals) -> None:
        """The plan is known; ``totals`` is what the run used before."""
        now = self.progress
        now.units = units
        now.calls.update({kind: part.made for kind, part in totals.kinds.items()})
        now.prompt_tokens, now.completion_tokens = totals.prompt_tokens, totals.completion_tokens
        now.cost_usd, now.failed_calls = totals.cost_usd, totals.failed
        self._tell(None)

    def whole(self, lines: Sequence[UnitResult], totals: Totals) -> None:
        """Everything was done before."""
        self.begin(len(lines), totals)
        for line in lines:
            self.unit(line, reused=True)

    def note(self, text: str) -> None:
        """Something the user should read."""
        self._tell(Notice("note", text))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A piece of work, for as long as the context lasts."""
        stages = self.progress.stages
        stages[name] += 1
        self._tell(Notice("stage", name))
        try:
            yield
        finally:
            stages[name] -= 1
            if stages[name] <= 0:
                del stages[name]
            self._tell(None)

    def unit(self, line: UnitResult, *, reused: bool) -> None:
        """A unit has ended, now or in an earlier start."""
        now, result = self.progress, line.result
        now.done += 1
        now.reused += reused
        now.failed += result.status is Status.FAILED
        name = self.names.get((line.task, line.report), line.report)
        shown = f"{result.score:.1f}" if result.score is not None else f"{result.status.value}: {result.reason}"
        self._tell(Notice("unit", f"{name} {line.metric}: {shown}{' (done before)' if reused else ''}"))

    def stopping(self, reason: str) -> None:
        """Nothing new is started from now on."""
        self.progress.stopping = reason
        self._tell(Notice("note", reason))

    def event(self, event: Event) -> None:
        """What the ledger tells."""
        now = self.progress
        if event.phase == "wait":
            now.waits[event.subject] = Wait(event.subject, event.reason, time.monotonic() + event.seconds)
            about = f"{event.subject}: {event.reason}"
            self._tell(Notice("wait", f"waiting {event.seconds:.0f} s for {about}", about))
            return
        if event.phase == "reused":
            now.reused_calls += 1
        elif event.phase == "failed":
            now.failed_calls += 1
        elif event.phase == "done":
            self._count(event)
        self._tell(None)

    def _count(self, event: Event) -> None:
        now, usage = self.progress, event.usage
        if event.kind is not None:
            now.calls[event.kind] += 1
        now.prompt_tokens += usage.prompt_tokens
        now.completion_tokens += usage.completion_tokens
        if now.cost_usd is not None:
            now.cost_usd = None if usage.cost_usd is None else now.cost_usd + usage.cost_usd

    def _tell(self, notice: Notice | None) -> None:
        if self._listener is not None:
            self._listener(self.progress, notice)
