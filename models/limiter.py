"""How many calls run at once at one endpoint: more while it goes well, half when the endpoint says stop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

START = 4
COOL_DOWN_S = 5.0


class Limiter:
    """Additive increase, multiplicative decrease. Shared by all who call one endpoint with one key; one event loop."""

    def __init__(self, most: int, *, start: int = START) -> None:
        if most < 1:
            raise ValueError("at least one call must be allowed")
        self.most = most
        self.allowed = float(min(start, most))
        self.running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lowered = float("-inf")

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free slot, first come first served, and hold it inside."""
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
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot was given just before the cancellation
                self.running -= 1
                self._wake()
            else:
                self._waiting.remove(turn)
            raise

    def went_well(self) -> None:
        """A call succeeded: one more slot after as many successes as there are slots."""
        self.allowed = min(float(self.most), self.allowed + 1.0 / self.allowed)
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
            turn = self._waiting.popleft()
            if not turn.done():
                self.running += 1
                turn.set_result(None)
