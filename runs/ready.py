"""What would end a run before its first call, found before anything is said or written."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

from ..errors import UserError
from ..ledger.purse import unpriced
from ..models.describing import is_local, price_of
from ..models.providers import parse_judge
from .ask import Ask
from .ray_engine import ABSENT
from .shards import Cluster
from .store import RunFolder


def check_ready(ask: Ask, *, replay: bool = False, ray: Cluster | None = None) -> None:
    """Look at the run folder, the judges' names, keys and prices, and the search back ends. No network, nothing is
    written.

    ``replay``: no key is needed. Raises UserError that says what to change.
    """
    check_plan(ask)
    if ray is not None:
        check_cluster(ask)
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


def check_cluster(ask: Ask) -> None:
    """Whether a Ray cluster could do it. Raises UserError."""
    if find_spec("ray") is None:
        raise UserError(ABSENT)
    if any(is_local(name) for name in ask.judges):
        raise UserError("the embedded judge runs on one machine: leave --engine ray out, or name another judge")


async def _search(ask: Ask, replay: bool) -> None:
    from ..tools import Endpoints, ToolLimits
    from ..tools.backends import open_backends

    await open_backends(ask.search, ToolLimits(), Endpoints(), replay=replay).close()
