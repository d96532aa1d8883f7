"""What would end a run before its first call, found before anything is said or written."""

from __future__ import annotations

import asyncio

from ..errors import UserError
from ..ledger.purse import unpriced
from ..models.describing import is_local, price_of
from ..models.providers import parse_judge
from .ask import Ask
from .store import RunFolder


def check_ready(ask: Ask, *, replay: bool = False) -> None:
    """Look at the run folder, the judges' names, keys and prices, and the search back ends. No network, nothing is
    written.

    ``replay``: no key is needed. Raises UserError that says what to change.
    """
    check_plan(ask)
    for name in ask.judges:
        if not replay and not is_local(name):
            parse_judge(name).key()
    asyncio.run(_search(ask, replay))


def check_plan(ask: Ask) -> None:
    """The part of it that needs no key: what must be right before an estimate is worth reading. Raises UserError."""
    RunFolder(ask.folder).check(ledger=ask.ledger)
    for name in ask.judges:
        if price_of(name) is None and ask.budget_usd is not None:
            raise UserError(unpriced(name))


async def _search(ask: Ask, replay: bool) -> None:
    from ..tools import Endpoints, ToolLimits
    from ..tools.backends import open_backends

    await open_backends(ask.search, ToolLimits(), Endpoints(), replay=replay).close()
