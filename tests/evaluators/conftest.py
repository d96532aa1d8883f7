"""A bench for the evaluators: real ledger, real SDK against the scripted server, tools over a corpus or the web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dream_eval.ledger import Budget, Ledger, Mode
from dream_eval.models import Limits, open_model
from dream_eval.tools import Endpoints, open_toolbox
from evaluating import DAY, FAST, Bench, doc
from servers.chat import ScriptedChat


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with ScriptedChat() as server:
        yield server


Open = Callable[..., Any]


@pytest.fixture
def bench(chat: ScriptedChat, tmp_path: Path) -> Open:
    """``async with bench(docs) as b``: a bench over a corpus of these pages."""

    @asynccontextmanager
    async def opened(
        docs: Sequence[dict[str, Any]] = (),
        *,
        search: Sequence[str] | None = None,
        endpoints: Endpoints | None = None,
        mode: Mode = Mode.CACHE,
        report_texts: Sequence[str] = (),
        context: int | None = None,
        budget: Budget | None = None,
    ) -> AsyncIterator[Bench]:
        corpus = tmp_path / "corpus.jsonl"
        pages = docs or [doc("https://elsewhere.org/nothing", "Nothing of interest is said here.")]
        corpus.write_text("".join(json.dumps(page, ensure_ascii=False) + "\n" for page in pages))
        ledger = Ledger.open(tmp_path / "ledger.sqlite", run="test", mode=mode, budget=budget or Budget())
        limits = Limits(wait_scale=0, attempts=2, context=context)
        tools = open_toolbox(
            ledger,
            as_of=DAY,
            search=search or (f"corpus:{corpus}",),
            endpoints=endpoints,
            limits=FAST,
            report_texts=report_texts,
        )
        try:
            async with open_model(chat.judge, ledger, limits=limits) as judge, tools as toolbox:
                yield Bench(chat, judge, toolbox, ledger)
        finally:
            ledger.close()

    return opened
