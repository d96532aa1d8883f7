"""The proxy from the command line: where it listens, each call as it ends, the sums at the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console

from ..agents.research.proxy import open_proxy
from ..agents.research.upstream import Upstream, parse_upstream
from ..errors import BudgetReached, DreamError, Interrupted
from ..ledger import Budget, Event, Ledger, Mode
from ..models import secret_values
from ..runs import checked
from ..runs.ask import default_ledger
from ..runs.control import Control
from ..runs.data import Exit
from .evaluating import make_console, totals_line
from .printing import say
from .session import run_stoppable


def serve_and_show(
    port: int,
    upstream: str | None,
    name: str,
    ledger: str | None,
    *,
    mode: str,
    budget_usd: float | None,
    budget_tokens: int | None,
) -> int:
    """Serve until Ctrl-C, or until the budget is reached; returns the exit code. Raises UserError, ReplayMiss."""
    checked.positive(budget_usd=budget_usd, budget_tokens=budget_tokens)
    console, target = make_console(), parse_upstream(upstream)
    path, budget = Path(ledger or default_ledger()), Budget(budget_usd, budget_tokens)
    with Ledger.open(path, run=name, mode=Mode(mode), secrets=secret_values(), budget=budget) as book:
        book.listen(lambda event: _told(console, event))
        cause = run_stoppable(lambda control: _serve(book, target, port, console, control), said=lambda _: None)
        say(console, totals_line(book.totals()))
    if isinstance(cause, Interrupted):
        return Exit.DONE
    if isinstance(cause, BudgetReached):
        say(console, f"stopped: {cause}")
        return Exit.BUDGET
    raise cause


async def _serve(book: Ledger, target: Upstream, port: int, console: Console, control: Control) -> DreamError:
    """Serve until somebody or something ends it; gives the reason."""
    ended: asyncio.Future[DreamError] = asyncio.get_running_loop().create_future()

    def stop(cause: DreamError) -> None:
        if not ended.done():
            ended.set_result(cause)

    control.on_stop(stop)
    async with open_proxy(book, target, port=port, on_stop=stop) as proxy:
        way = proxy.admit(book.run, token="")
        say(console, f"recording into {book.path} as {book.run} ({book.mode.value}), passing on to {target.endpoint}")
        say(console, f"OPENAI_BASE_URL={way.base_url}")
        return await ended


def _told(console: Console, event: Event) -> None:
    if event.phase in ("done", "reused", "failed"):
        tokens = f"{event.usage.prompt_tokens:,} + {event.usage.completion_tokens:,} tokens" if not event.reason else ""
        words = f"{event.phase:<6} {event.subject}  {event.seconds:.1f} s  {tokens}{event.reason}"
        say(console, words, "yellow" if event.phase == "failed" else "dim")
