from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.ledger import Answer, Kind, Request, Usage


class Caller:
    """Something outside that is called: counts its calls and answers as told."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, body: Any = "answer", **options: Any) -> Callable[[], Awaitable[Answer]]:
        async def do() -> Answer:
            self.calls += 1
            return Answer(body, **options)

        return do

    def failing(self, error: BaseException) -> Callable[[], Awaitable[Answer]]:
        async def do() -> Answer:
            self.calls += 1
            raise error

        return do


@pytest.fixture
def outside() -> Caller:
    return Caller()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ask() -> Callable[..., Request]:
    def make(text: str = "question", *, sample: int = 0, kind: Kind = Kind.SEARCH, endpoint: str = "engine") -> Request:
        return Request(kind, endpoint, {"query": text, "as_of": "2026-05-01"}, sample)

    return make


@pytest.fixture
def paid() -> Usage:
    return Usage(prompt_tokens=100, cached_tokens=40, completion_tokens=10, cost_usd=0.5)
