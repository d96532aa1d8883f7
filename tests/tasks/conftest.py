"""A scripted judge that makes tasks, and a way to have them made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dream_eval.tasks import Generated, Watch, generate
from servers.chat import ScriptedChat
from tasking import LIMITS, order_for, teach


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    """A judge that makes good tasks and sees through the easy sentinels."""
    with ScriptedChat() as server:
        teach(server)
        yield server


Maker = Callable[..., Any]


@pytest.fixture
def make(chat: ScriptedChat, tmp_path: Path) -> Maker:
    """``await make(**wishes)``: have tasks made; the ledger is the same for all calls of a test."""

    async def run(*, watch: Watch | None = None, budget: Any = None, mode: Any = None, **wishes: Any) -> Generated:
        rest = {name: value for name, value in {"budget": budget, "mode": mode}.items() if value is not None}
        order = order_for(chat, **wishes)
        return await generate(order, ledger=tmp_path / "ledger.sqlite", limits=LIMITS, watch=watch, **rest)

    return run
