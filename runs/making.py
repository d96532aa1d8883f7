"""Making a protocol on its own, outside of an evaluation."""

from __future__ import annotations

import datetime as dt
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from ..agents import create_protocol
from ..core import AsOf, Task
from ..ledger import Budget, Ledger, Totals, scope
from ..ledger import Mode as LedgerMode
from ..models import open_model
from ..protocols import save_protocol
from ..protocols.schema import Mode, Protocol
from ..tools import open_toolbox
from .ask import DEFAULT_QUESTIONS, DEFAULT_REASONING, default_ledger
from .control import Control
from .files import short_digest
from .perform import Outside, keys_to_mask
from .progress import Listener, Watcher


@dataclass(frozen=True)
class Wish:
    """A protocol as asked for."""

    task: Task
    judge: str
    mode: Mode
    search: tuple[str, ...]
    as_of: dt.date | None = None
    exclude_hosts: tuple[str, ...] = ()
    questions: int = DEFAULT_QUESTIONS
    reasoning: int = DEFAULT_REASONING
    ledger: Path | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None


async def make_protocol(
    wish: Wish,
    out: Path | str,
    *,
    ledger_mode: LedgerMode = LedgerMode.CACHE,
    on_progress: Listener | None = None,
    control: Control | None = None,
    outside: Outside | None = None,
) -> tuple[Protocol, Totals]:
    """Have an agent make a protocol and write it to ``out``; also returns what it took.

    Without an as-of date it is made as of today. Raises ProtocolFailed, UserError, HostStop (budget, account,
    interrupt), ReplayMiss.
    """
    watcher, control, outside = Watcher(on_progress), control or Control(), outside or Outside()
    as_of = AsOf(day=wish.as_of) if wish.as_of else AsOf(day=dt.datetime.now(dt.UTC).date(), given=False)
    asked = (wish.task.prompt, wish.judge, wish.mode.value, as_of.day.isoformat(), *wish.exclude_hosts)
    run = f"protocol-{short_digest(*asked)}"
    budget = Budget(usd=wish.budget_usd, tokens=wish.budget_tokens)
    path, keys = wish.ledger or default_ledger(), keys_to_mask()
    with Ledger.open(path, run=run, mode=ledger_mode, secrets=keys, budget=budget) as ledger:
        ledger.listen(watcher.event)
        control.on_stop(ledger.stop)
        watcher.begin(0, ledger.totals())
        async with AsyncExitStack() as stack:
            judge = await stack.enter_async_context(
                open_model(wish.judge, ledger, limits=outside.limits, notify=watcher.note)
            )
            toolbox = await stack.enter_async_context(
                open_toolbox(
                    ledger,
                    as_of=as_of,
                    search=wish.search,
                    exclude_hosts=wish.exclude_hosts,
                    endpoints=outside.endpoints,
                )
            )
            with scope(f"{wish.task.id}/protocol"), watcher.stage("protocol"):
                protocol = await create_protocol(
                    wish.task,
                    judge,
                    toolbox,
                    as_of=as_of,
                    mode=wish.mode,
                    questions=wish.questions,
                    reasoning=wish.reasoning,
                )
        save_protocol(protocol, out)
        return protocol, ledger.totals()
