"""What would end a run before its first call, found before anything is said or written."""

from __future__ import annotations

import asyncio

from ..models.describing import is_local
from ..models.providers import parse_judge
from .ask import Ask
from .store import RunFolder


def check_ready(ask: Ask, *, replay: bool = False) -> None:
    """Look at the run folder, the judge's name and key, and the search back ends. No network, nothing is written.

    ``replay``: no key is needed. Raises UserError that says what to change.
    """
    RunFolder(ask.folder).check(ledger=ask.ledger)
    judge = None if is_local(ask.judge) else parse_judge(ask.judge)
    if judge is not None and not replay:
        judge.key()
    asyncio.run(_search(ask, replay))


async def _search(ask: Ask, replay: bool) -> None:
    from ..tools import Endpoints, ToolLimits
    from ..tools.backends import open_backends

    await open_backends(ask.search, ToolLimits(), Endpoints(), replay=replay).close()
