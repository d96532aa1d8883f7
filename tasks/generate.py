"""The way from an order to a set of tasks: sentinels, personas, candidates, two filters, ranking, quota."""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CallFailed, HostStop, Interrupted
from ..evaluators.base import together
from ..ledger import Budget, Ledger, Mode, Totals, scope
from ..models import ChatModel, Limits, open_model
from .account import Account, account_of
from .choosing import ranked, shortfalls, without_doubles
from .data import Candidate, Cell, Fate, Lost, Qualification, Shortfall
from .filters import answer_from_memory, judge_answer, qualify
from .making import Made, make_candidates, make_personas, persona_of
from .order import Order
from .sentinels import FilterCheck, Sentinel, Watched, sentinels_of

T = TypeVar("T")


class Watch:
    """Told what happens; this one keeps it to itself."""

    def opened(self, ledger: Ledger) -> None:
        """The ledger is open: the place to listen, and to say how the run is stopped."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A piece of work, for as long as the context lasts."""
        del name
        return nullcontext()

    def step(self, done: int, of: int) -> None:
        """So many sentinels and candidates are settled."""


@dataclass(frozen=True)
class Generated:
    """What came of it."""

    order: Order
    judge: str
    """The judge's name."""
    endpoint: str
    """As in ledger keys."""
    check: FilterCheck
    candidates: tuple[Candidate, ...]
    """All that were written, in order of domain, language, persona."""
    account: Account
    shortfalls: tuple[Shortfall, ...]
    totals: Totals
    """Of the whole run, resumed parts included."""

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The tasks, in order of domain, language and rank."""
        places = {cell: place for place, cell in enumerate(self.order.cells)}
        kept = [one for one in self.candidates if one.fate is Fate.KEPT]
        return tuple(sorted(kept, key=lambda one: (places[one.cell], one.rank or 0)))


async def generate(
    order: Order,
    *,
    ledger: Path,
    secrets: Iterable[str] = (),
    budget: Budget | None = None,
    mode: Mode = Mode.CACHE,
    limits: Limits | None = None,
    watch: Watch | None = None,
) -> Generated:
    """Make the tasks. The same order with the same ledger goes on where it stopped, and repeats no call.

    ``secrets`` are masked in all that is recorded. A failed call costs its candidate and is counted. Raises UserError,
    HostStop (budget, account, interrupt) and, when replaying, ReplayMiss.
    """
    watch = watch or Watch()
    with Ledger.open(ledger, run=order.run, mode=mode, secrets=secrets, budget=budget or Budget()) as book:
        watch.opened(book)
        async with open_model(order.judge, book, limits=limits or Limits(), notify=watch.note) as judge:
            work = _Work(order, judge, watch)
            check = await work.sentinels()
            candidates = await work.candidates()
            return work.result(check, candidates, book.totals())


class _Work:
    def __init__(self, order: Order, judge: ChatModel, watch: Watch) -> None:
        self.order, self.judge, self.watch = order, judge, watch
        self.day = order.as_of.day
        self.watched = [one for tag in order.languages for one in sentinels_of(tag, self.day)]
        self.lost: list[Lost] = []
        self.asked_again = 0
        self._done = 0

    def _settled(self, count: int = 1) -> None:
        self._done += count
        self.watch.step(self._done, len(self.watched) + self.order.expected)

    async def _all(self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """All of it at the same time. What must stop the run stops the ledger: calls in flight, which are paid for,
        finish and are recorded, and no other goes out."""

        async def held(one: Coroutine[Any, Any, T]) -> T | HostStop:
            try:
                return await one
            except HostStop as stop:
                self.judge.ledger.stop(stop)
                return stop

        found = await together(map(held, work))
        good = [one for one in found if not isinstance(one, HostStop)]
        if len(good) < len(found):
            raise self.judge.ledger.stopped or Interrupted("stopped")
        return good

    # --- sentinels ---

    async def sentinels(self) -> FilterCheck:
        """Send the sentinels through both filters, before anything is paid for that they may call into question."""
        with self.watch.stage("sentinels"):
            check = FilterCheck(sentinels=tuple(await self._all(map(self._sentinel, self.watched))))
        for line in told(check):
            self.watch.note(line)
        return check

    async def _sentinel(self, one: Sentinel) -> Watched:
        seen = Watched(id=one.id, kind=one.kind, language=one.language, prompt=one.prompt)
        with scope(f"sentinels/{one.id}"):
            try:
                verdict, calls = await qualify(one.prompt, one.persona, self.day, self.judge)
                seen = seen.model_copy(update={"qualification": verdict, "calls": {"qualification": calls}})
                text, asked = await answer_from_memory(one.prompt, one.language, self.day, self.judge)
                seen = seen.model_copy(update={"answer": text, "calls": {**seen.calls, "answer": asked}})
                grades, judged = await judge_answer(one.prompt, text, self.day, self.judge)
                seen = seen.model_copy(update={"necessity": grades, "calls": {**seen.calls, "necessity": judged}})
            except CallFailed as error:
                seen = seen.model_copy(update={"reason": f"{error.code}: {error}"})
        self._settled()
        return seen

    # --- candidates ---

    async def candidates(self) -> list[Candidate]:
        """All candidates with their fate, but without ranks."""
        by_cell = await self._all(map(self._cell, self.order.cells))
        written = without_doubles([one for cell in by_cell for one in cell])
        self._settled(sum(not one.alive for one in written))
        return await self._all(map(self._filtered, written))

    async def _cell(self, cell: Cell) -> list[Candidate]:
        order, label = self.order, f"{cell.domain}/{cell.language}"
        with self.watch.stage(f"{label}/personas"), scope(f"{label}/personas"):
            try:
                taken = await make_personas(cell, order.personas, self.judge)
            except CallFailed as error:
                self._lose(cell, "personas", order.personas * order.candidates, f"{error.code}: {error}")
                return []
        self.asked_again += taken.asked_again
        for draft, fault in taken.bad:
            self._lose(cell, "personas", order.candidates, f"{fault.rule}: the persona {draft.name!r}: {fault.words}")
        self._lose(cell, "personas", taken.missing * order.candidates, taken.why)
        people = [Made(persona_of(draft), taken.calls) for draft, _ in taken.good]
        by_persona = await self._all(self._persona(cell, made, number) for number, made in enumerate(people, 1))
        return [one for persona in by_persona for one in persona]

    async def _persona(self, cell: Cell, made: Made, number: int) -> list[Candidate]:
        label = f"{cell.domain}/{cell.language}/candidates"
        with self.watch.stage(label), scope(f"{label}/{number}"):
            try:
                found, taken = await make_candidates(made, cell, self.order.candidates, self.day, self.judge)
            except CallFailed as error:
                self._lose(cell, "candidates", self.order.candidates, f"{error.code}: {error}")
                return []
        self.asked_again += taken.asked_again
        self._lose(cell, "candidates", taken.missing, taken.why)
        return found

    def _lose(self, cell: Cell, stage: str, count: int, reason: str) -> None:
        if count:
            self.lost.append(Lost(cell=cell, stage=stage, count=count, reason=reason))
            self.watch.note(f"{cell.name}: {count} candidates are lost: {reason}")
            self._settled(count)

    async def _filtered(self, one: Candidate) -> Candidate:
        if not one.alive:
            return one
        with self.watch.stage(f"{one.domain}/{one.language}/filters"), scope(f"tasks/{one.id}"):
            try:
                one = await self._judged(one)
            except CallFailed as error:
                one = _rejected(one, Fate.FAILED, error.code, str(error))
        self._settled()
        return one

    async def _judged(self, one: Candidate) -> Candidate:
        verdict, calls = await qualify(one.prompt, one.persona, self.day, self.judge)
        one = one.model_copy(update={"qualification": verdict, "calls": {**one.calls, "qualification": calls}})
        if not verdict.qualified:
            return _rejected(one, Fate.NOT_QUALIFIED, "not_qualified", _weakest(verdict))
        text, asked = await answer_from_memory(one.prompt, one.language, self.day, self.judge)
        grades, judged = await judge_answer(one.prompt, text, self.day, self.judge)
        calls_of = {**one.calls, "answer": asked, "necessity": judged}
        one = one.model_copy(update={"answer": text, "necessity": grades, "calls": calls_of})
        if grades.needs_search:
            return one
        return _rejected(one, Fate.NO_SEARCH_NEEDED, "answered_from_memory", f"quality {grades.quality:.2f}")

    # --- the end ---

    def result(self, check: FilterCheck, candidates: list[Candidate], totals: Totals) -> Generated:
        """Rank, keep, count."""
        order = self.order
        chosen = ranked(candidates, order.keep)
        places = {cell: place for place, cell in enumerate(order.cells)}
        lost = sorted(self.lost, key=lambda one: (places[one.cell], one.stage, one.reason))
        gone: Counter[Cell] = Counter()
        for one in lost:
            gone[one.cell] += one.count
        wanted = order.personas * order.candidates
        account = account_of(chosen, order.cells, lost, wanted=wanted, asked_again=self.asked_again)
        short = tuple(shortfalls(chosen, order.cells, order.keep, gone))
        return Generated(order, self.judge.name, self.judge.endpoint, check, tuple(chosen), account, short, totals)


def told(check: FilterCheck) -> list[str]:
    """How the sentinels fared, in lines for people."""
    easy, hard = check.right("easy"), check.right("hard")
    lines = [f"sentinels: {easy[0]} of {easy[1]} known-easy tasks rejected, {hard[0]} of {hard[1]} known-hard kept"]
    if check.filters:
        return lines
    return [
        *lines,
        "THE FILTER DOES NOT FILTER: what it keeps and rejects cannot be relied on; have people review the tasks",
    ]


def _weakest(verdict: Qualification) -> str:
    """Of equally weak statements the first."""
    name, sure = min(verdict.said.items(), key=lambda part: part[1].value_01)
    return f"{name}: {sure.value}"


def _rejected(one: Candidate, fate: Fate, rule: str, reason: str) -> Candidate:
    return one.model_copy(update={"fate": fate, "rule": rule, "reason": reason})
