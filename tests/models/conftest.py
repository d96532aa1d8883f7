from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from dream_eval.ledger import Ledger
from dream_eval.models import ChatModel, Limits, open_model
from servers.chat import ScriptedChat

QUICK = Limits(wait_scale=0)


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with ScriptedChat() as server:
        yield server


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.open(None, run="r") as opened:
        yield opened


@pytest.fixture
async def model(chat: ScriptedChat, ledger: Ledger) -> AsyncIterator[ChatModel]:
    async with open_model(chat.judge, ledger, limits=QUICK) as opened:
        yield opened
