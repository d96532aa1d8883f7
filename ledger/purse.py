"""The budget of a run: reserve before a call, settle after it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..errors import BudgetReached, HostStop, UserError
from .data import Budget, Reserve


@dataclass
class Spent:
    """What is used up: US dollars (upper bounds where the cost is unknown) and tokens."""

    usd: float = 0.0
    tokens: int = 0


class Purse:
    """Lets a call through when its upper bound fits into what is left. One event loop."""

    def __init__(self, budget: Budget, spent: Spent) -> None:
        self.budget, self.spent = budget, spent
        self._held: list[Reserve] = []
        self._waiting: list[asyncio.Future[None]] = []
        self.stopped: HostStop | None = None

    @property
    def limited(self) -> bool:
        """True when there is any limit."""
        return self.budget.usd is not None or self.budget.tokens is not None

    async def reserve(self, wanted: Reserve, subject: str) -> None:
        """Hold ``wanted``; waits while settlements can still make room.

        UserError when a dollar budget meets an unknown price, BudgetReached when it can never fit.
        """
        if self.budget.usd is not None and wanted.usd is None:
            raise UserError(unpriced(subject))
        while not self._fits(wanted, self._held):
            if not self._fits(wanted, []):
                raise BudgetReached(self._message(subject))
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
            self.check()
        self._held.append(wanted)

    def settle(self, held: Reserve, usd: float, tokens: int) -> None:
        """Give back ``held``, count what was really used, and let those who wait look again."""
        self._held.remove(held)
        self.spent.usd += usd
        self.spent.tokens += tokens
        self._wake()

    def stop(self, cause: HostStop) -> None:
        """Let nobody through any more; who waits is told the first cause."""
        self.stopped = self.stopped or cause
        self._wake()

    def check(self) -> None:
        """Raise the cause once stopped."""
        if self.stopped is not None:
            raise self.stopped

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _fits(self, wanted: Reserve, held: list[Reserve]) -> bool:
        usd, tokens = self.budget.usd, self.budget.tokens
        used, dollars = (
            self.spent.tokens + sum(h.tokens for h in held),
            self.spent.usd + sum(h.usd or 0.0 for h in held),
        )
        return (tokens is None or not wanted.tokens or used + wanted.tokens <= tokens) and (
            usd is None or not wanted.usd or dollars + wanted.usd <= usd
        )

    def _message(self, subject: str) -> str:
        limits = []
        if self.budget.usd is not None:
            limits.append(f"${self.spent.usd:.4f} of ${self.budget.usd:g}")
        if self.budget.tokens is not None:
            limits.append(f"{self.spent.tokens:,} of {self.budget.tokens:,} tokens")
        return f"budget reached: {' and '.join(limits)} used; the next call ({subject}) could exceed it"


def unpriced(subject: str) -> str:
    """The one line a user reads when a dollar budget cannot be kept."""
    return f"no price is known for {subject}, so a budget in dollars cannot be kept; use --budget-tokens instead"
