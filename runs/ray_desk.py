"""The one place of a run on many machines that holds the ledger, the budget and the limiters, and its far ends.

:class:`Desk` is a named actor on the node of the process that started the run. Workers ask it before each call
(:class:`FarLedger`): it answers from the record, or makes the caller the one who calls, and writes down what came of it
at once. So a call under way anywhere is shared everywhere, a budget holds for the whole cluster, and of a node that is
lost only the calls in flight are lost: they are recorded as cut short and made again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import CallFailed, DreamError, HostStop, UserError
from ..ledger import Answer, Budget, Event, Ledger, Mode, Record, Request, Reserve, scope
from ..ledger.data import NOTHING
from ..ledger.purse import unpriced
from ..ledger.scopes import current_scope
from ..models import secret_values as model_secrets
from ..models.limiter import Limiter, Urgency, current_urgency, urgency
from ..tools import secret_values as tool_secrets

Packed = tuple[type[BaseException], tuple[Any, ...], dict[str, Any]]
"""An error as plain values: its own constructor may want more than pickle knows."""
Told = tuple[str, Any]
"""``yours`` with a ticket, ``record`` with the answer, or ``error`` with a packed error."""


def packed(error: BaseException) -> Packed:
    """The error, to be sent."""
    return type(error), error.args, dict(error.__dict__)


def unpacked(sent: Packed) -> BaseException:
    """The error, as it was."""
    kind, args, state = sent
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


@dataclass
class Turn:
    """A call that somebody far away makes."""

    owner: str
    mine: asyncio.Future[None]
    """Done as soon as the caller is the one who has to call."""
    outcome: asyncio.Future[Answer]
    task: asyncio.Task[Record] | None = None


@dataclass
class Slots:
    """Slots that far callers hold, by ticket."""

    limiter: Limiter
    held: dict[int, tuple[str, AsyncExitStack]] = field(default_factory=dict)


class Desk:
    """The actor. Everything runs in its one event loop."""

    def __init__(self, path: str, run: str, mode: Mode, budget: Budget, concurrency: int) -> None:
        secrets = (*model_secrets(), *tool_secrets())
        self._ledger = Ledger.open(path, run=run, mode=mode, secrets=secrets, budget=budget)
        self._ledger.listen(self._heard)
        self._concurrency = concurrency
        self._turns: dict[int, Turn] = {}
        self._slots: dict[str, Slots] = {}
        self._news: list[tuple[str, Any]] = []
        self._some = asyncio.Event()
        self._tickets = 0
        self._gone: set[str] = set()
        """Workers that were lost: what they had asked for may still arrive, or come to its turn."""

    # calls

    async def begin(self, owner: str, where: str, request: Request, reserve: Reserve) -> Told:
        """The recorded answer, or a ticket for whoever has to call."""
        if owner in self._gone:
            return "error", packed(CallFailed("the call was cut short"))
        loop = asyncio.get_running_loop()
        turn = Turn(owner, loop.create_future(), loop.create_future())

        async def do() -> Answer:
            turn.mine.set_result(None)
            return await turn.outcome

        with scope(where):
            turn.task = loop.create_task(self._ledger.call(request, do, reserve=reserve))
        ticket = self._tickets = self._tickets + 1
        self._turns[ticket] = turn
        waited: set[asyncio.Future[Any]] = {turn.task, turn.mine}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        return self._told(ticket) if turn.task.done() else ("yours", ticket)

    async def end(self, ticket: int, answer: Answer | None, error: Packed | None) -> Told:
        """What came of a call: it is on disk when this returns."""
        turn = self._turns.get(ticket)
        if turn is None or turn.task is None:  # its node was given up for lost
            return "error", packed(CallFailed("the call was cut short"))
        if error is not None:
            turn.outcome.set_exception(unpacked(error))
        elif answer is not None:
            turn.outcome.set_result(answer)
        else:
            turn.task.cancel()
        await asyncio.wait({turn.task})
        return self._told(ticket)

    def _told(self, ticket: int) -> Told:
        task = self._turns.pop(ticket).task
        if task is None or task.cancelled():
            return "error", packed(CallFailed("the call was cut short"))
        error = task.exception()
        return ("record", task.result()) if error is None else ("error", packed(error))

    async def lost(self, owner: str) -> None:
        """A worker is gone: its calls were cut short, its slots are free."""
        self._gone.add(owner)
        mine = [turn.task for turn in self._turns.values() if turn.owner == owner and turn.task is not None]
        for task in mine:
            task.cancel()
        await asyncio.gather(*mine, return_exceptions=True)
        self._turns = {ticket: turn for ticket, turn in self._turns.items() if turn.owner != owner}
        for slots in self._slots.values():
            for ticket in [ticket for ticket, (holder, _) in slots.held.items() if holder == owner]:
                await slots.held.pop(ticket)[1].aclose()

    # limiters

    async def slot(self, owner: str, line: str, rank: Urgency) -> int:
        """A ticket for a slot of this line's limiter, the most urgent first."""
        slots = self._slots.setdefault(line, Slots(Limiter(self._concurrency)))
        stack = AsyncExitStack()
        with urgency(rank):
            await stack.enter_async_context(slots.limiter.slot())
        if owner in self._gone:
            await stack.aclose()
            return 0
        ticket = self._tickets = self._tickets + 1
        slots.held[ticket] = (owner, stack)
        return ticket

    async def leave(self, line: str, ticket: int) -> None:
        """Give a slot back."""
        if held := self._slots[line].held.pop(ticket, None):
            await held[1].aclose()

    async def verdict(self, line: str, *, well: bool) -> None:
        """How the endpoint took a call."""
        limiter = self._slots[line].limiter
        if well:
            limiter.went_well()
        else:
            limiter.too_many()

    # what happens, for whoever started the run

    def _heard(self, event: Event) -> None:
        self._tell("event", _plain(event))

    def _tell(self, kind: str, value: Any) -> None:
        self._news.append((kind, value))
        self._some.set()

    async def tell(self, kind: str, value: Any) -> None:
        """A worker has news: ``unit``, ``note``, ``stage`` or ``stage_end``."""
        self._tell(kind, value)

    async def news(self, *, wait: bool) -> list[tuple[str, Any]]:
        """All that happened since the last time; waits for something to happen."""
        if wait:
            await self._some.wait()
        self._some.clear()
        found, self._news = self._news, []
        return found

    # the rest of a ledger

    async def earlier(self, request: Request) -> Record | None:
        """As :meth:`.Ledger.earlier`."""
        return self._ledger.earlier(request)

    async def spoil(self, record: int, reason: str) -> None:
        """As :meth:`.Ledger.spoil`."""
        self._ledger.spoil(record, reason)

    async def pause(self, where: str, what: str, seconds: float, reason: str) -> Packed | None:
        """As :meth:`.Ledger.pause`; returns what it raises."""
        try:
            with scope(where):
                await self._ledger.pause(what, seconds, reason)
        except HostStop as stop:
            return packed(stop)
        return None

    async def stop(self, cause: Packed) -> None:
        """As :meth:`.Ledger.stop`."""
        error = unpacked(cause)
        assert isinstance(error, HostStop)
        self._ledger.stop(error)

    async def close(self) -> None:
        """Close the ledger, and let who waits for news go."""
        self._ledger.close()
        self._some.set()


def _plain(event: Event) -> Event:
    return replace(event, content=None)  # reads the record in place; it cannot be sent


class FarLimiter(Limiter):
    """A limiter that the desk keeps. ``number``: of the task at work, in the order of the run."""

    def __init__(self, desk: Any, owner: str, line: str, number: int) -> None:
        super().__init__(1)
        self._desk, self._owner, self._line, self._number = desk, owner, line, number

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait at the desk."""
        first, _, *rest = (*current_urgency(), 0, 0)
        ticket = await self._desk.slot.remote(self._owner, self._line, (first, self._number, *rest))
        try:
            yield
        finally:
            self._desk.leave.remote(self._line, ticket)

    def went_well(self) -> None:
        """Tell the desk."""
        self._desk.verdict.remote(self._line, well=True)

    def too_many(self) -> None:
        """Tell the desk."""
        self._desk.verdict.remote(self._line, well=False)


class FarLedger(Ledger):
    """The desk's ledger, seen from a worker."""

    def __init__(self, desk: Any, owner: str, *, run: str, mode: Mode, budget: Budget) -> None:
        self.run, self.mode, self.budget = run, mode, budget
        self._desk, self._owner = desk, owner
        self._cause: HostStop | None = None

    def close(self) -> None:
        """The desk closes it."""

    def hide(self, *secrets: str) -> None:
        """The desk masks the keys of its own environment."""

    def require_price(self, known: bool, subject: str) -> None:
        """As :meth:`.Ledger.require_price`."""
        if self.budget.usd is not None and not known:
            raise UserError(unpriced(subject))

    def listen(self, fn: Callable[[Event], None]) -> None:
        """Who started the run hears it from the desk."""

    async def pause(self, what: str, seconds: float, reason: str) -> None:
        """As :meth:`.Ledger.pause`."""
        stop = await self._desk.pause.remote(current_scope(), what, seconds, reason)
        if stop is not None:
            raise unpacked(stop)

    def spoil(self, record_id: int, reason: str) -> None:
        """As :meth:`.Ledger.spoil`."""
        self._desk.spoil.remote(record_id, reason)

    def earlier(self, request: Request) -> Record | None:
        """As :meth:`.Ledger.earlier`."""
        import ray

        found: Record | None = ray.get(self._desk.earlier.remote(request))
        return found

    async def call(
        self, request: Request, do: Callable[[], Awaitable[Answer]], *, reserve: Reserve = NOTHING
    ) -> Record:
        """As :meth:`.Ledger.call`; ``do`` runs here."""
        told: Told = await self._desk.begin.remote(self._owner, current_scope(), request, reserve)
        if told[0] == "yours":
            told = await self._called(told[1], do)
        if told[0] == "error":
            raise unpacked(told[1])
        record: Record = told[1]
        return record

    async def _called(self, ticket: int, do: Callable[[], Awaitable[Answer]]) -> Told:
        try:
            answer = await do()
        except DreamError as error:
            told: Told = await self._desk.end.remote(ticket, None, packed(error))
            return told
        except BaseException:
            self._desk.end.remote(ticket, None, None)
            raise
        ended: Told = await self._desk.end.remote(ticket, answer, None)
        return ended
