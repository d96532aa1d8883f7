"""Opening a judge by its name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from ..errors import UserError
from ..ledger import Ledger, Mode
from .chat import Card, ChatModel, submit
from .data import Limits
from .describing import is_local, judge_context, judge_price
from .limiter import Limiter
from .line import open_line
from .prices import FREE
from .providers import LOCAL, Judge, parse_judge

R = TypeVar("R")

PATIENT = Limits()
_homes: list[asyncio.AbstractEventLoop] = []


@asynccontextmanager
async def open_model(
    name: str,
    ledger: Ledger,
    *,
    limits: Limits = PATIENT,
    notify: Callable[[str], None] | None = None,
    limiter: Limiter | None = None,
) -> AsyncIterator[ChatModel]:
    """Open the judge ``name``; the embedded one is started, and stopped at the end.

    Nothing is started, and no key is needed, when ``ledger`` replays. ``notify`` is told what takes long (download,
    loading). ``limiter``: of a hosted judge's line, in place of its own. UserError for a bad name, a missing key, or a
    dollar budget without a known price.
    """
    _homes.append(asyncio.get_running_loop())
    try:
        local = is_local(name)
        opened = _local(name, ledger, limits, notify) if local else _hosted(parse_judge(name), ledger, limits, limiter)
        async with opened as model:
            yield model
    finally:
        _homes.remove(asyncio.get_running_loop())


@asynccontextmanager
async def _hosted(judge: Judge, ledger: Ledger, limits: Limits, limiter: Limiter | None) -> AsyncIterator[ChatModel]:
    price = judge_price(judge)
    card = Card(
        name=judge.name,
        endpoint=judge.endpoint,
        model=judge.model,
        context=judge_context(judge, limits),
        price=price,
        max_tokens_name=judge.provider.max_tokens_name,
    )
    if ledger.mode is Mode.REPLAY:
        yield ChatModel(card, ledger, None, limits)
        return
    ledger.require_price(price is not None, judge.name)
    key = judge.key()
    if key:
        ledger.hide(key)
    async with open_line(judge.provider.base_url, key, limits, own=judge.provider.free, limiter=limiter) as line:
        yield ChatModel(card, ledger, line, limits)


@asynccontextmanager
async def _local(
    name: str, ledger: Ledger, limits: Limits, notify: Callable[[str], None] | None
) -> AsyncIterator[ChatModel]:
    from . import local

    if ledger.mode is Mode.REPLAY:
        sha256 = _recorded_local(name, ledger)
        yield ChatModel(_local_card(sha256, limits.context or local.CONTEXT), ledger, None, limits)
        return
    async with local.serve_embedded(notify) as server:
        card = _local_card(server.sha256, server.context)
        if name not in (LOCAL, card.name):
            raise UserError(f"judge {name!r} is another model file; DREAM_LOCAL_MODEL is to name it, not {card.name}")
        async with open_line(server.base_url, None, limits, alone=True, own=True) as line:
            yield ChatModel(card, ledger, line, limits)


def _local_card(sha256: str, context: int) -> Card:
    from .local import DEFAULT_SHA256

    name = LOCAL if sha256 == DEFAULT_SHA256 else f"{LOCAL}:{sha256[:12]}"
    endpoint = f"{LOCAL}:{sha256}"
    return Card(name=name, endpoint=endpoint, model=LOCAL, context=context, price=FREE, embedded=True)


def _recorded_local(name: str, ledger: Ledger) -> str:
    """The SHA-256 of the model file behind a replayed name."""
    from . import local

    prefix = f"{LOCAL}:" if name == LOCAL else name
    found = [endpoint.partition(":")[2] for endpoint in ledger.endpoints(prefix)]
    if name == LOCAL and (not found or local.DEFAULT_SHA256 in found):
        return local.DEFAULT_SHA256
    if len(found) != 1:
        raise UserError(f"judge {name!r}: the ledger has {'no' if not found else 'more than one'} such model file")
    return found[0]


def run_sync(work: Coroutine[Any, Any, R]) -> R:
    """Run ``work`` in the loop of the judge opened last, from a thread without a loop, and wait for it.

    RuntimeError when no judge is open, or inside an event loop. ``ChatModel.run_sync`` is for several loops.
    """
    if not _homes:
        work.close()
        raise RuntimeError("no judge is open")
    return submit(work, _homes[-1])
