"""How many calls run at once at one endpoint: more while it goes well, half when the endpoint says stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from heapq import heappop, heappush
from itertools import count
from time import monotonic

FIRST = 8
"""Calls that an endpoint gets at once from the start; or half of the most, where that is more."""
COOL_DOWN_S = 5.0

Urgency = tuple[int, ...]
"""Of two calls that wait for one endpoint the smaller goes first; equal ones in the order in which they came."""

_urgency: ContextVar[Urgency] = ContextVar("dream_eval_urgency", default=())


@contextmanager
def urgency(rank: Urgency) -> Iterator[None]:
    """Give every call made inside this rank. A context variable, as :func:`..ledger.scope` is; without it a call goes
    before all that have one."""
    token = _urgency.set(rank)
    try:
        yield
    finally:
        _urgency.reset(token)


def current_urgency() -> Urgency:
    """The rank of calls made here."""
    return _urgency.get()


class Limiter:
    """Additive increase, multiplicative decrease. Shared by all who call one endpoint with one key; one event loop.

    Until the endpoint says stop for the first time, each success opens a slot (twice as many a round), so that a run
    reaches its speed in seconds.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError("at least one call must be allowed")
        self.most = most
        self.allowed = float(min(most, max(FIRST, most // 2)))
        self.running = 0
        self._waiting: list[tuple[Urgency, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._lowered = float("-inf")

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free slot, the most urgent first (:func:`urgency`), and hold it inside."""
        await self._take()
        try:
            yield
        finally:
            self.running -= 1
            self._wake()

    async def _take(self) -> None:
        if self._free() and not self._waiting:
            self.running += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (_urgency.get(), next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot was given just before the cancellation
                self.running -= 1
                self._wake()
            raise  # else its place in the queue is passed over

    def went_well(self) -> None:
        """A call succeeded: one more slot, and after the first "too many" one more a round of them."""
        step = 1.0 if self._lowered == float("-inf") else 1.0 / self.allowed
        self.allowed = min(float(self.most), self.allowed + step)
        self._wake()

    def too_many(self) -> None:
        """The endpoint said too many: half the slots, at most once in five seconds, never under one."""
        now = monotonic()
        if now - self._lowered >= COOL_DOWN_S:
            self._lowered = now
            self.allowed = max(1.0, self.allowed / 2)

    def _free(self) -> bool:
        return self.running < int(self.allowed)

    def _wake(self) -> None:
        while self._waiting and self._free():
            turn = heappop(self._waiting)[2]
            if not turn.done():
                self.running += 1
                turn.set_result(None)
