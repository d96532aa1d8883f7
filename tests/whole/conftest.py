"""The small world on disk, its judge on a socket, and ways to run an evaluation of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from dream_eval.models import Limits
from dream_eval.runs.api import prepare
from dream_eval.runs.perform import Outside, RunResult, perform
from servers.chat import ScriptedChat
from world import AS_OF, QUERY, REASONING, judge_of_world, write_world

OUTSIDE = Outside(limits=Limits(wait_scale=0, attempts=3))


@dataclass
class World:
    """The files and the judge."""

    folder: Path
    chat: ScriptedChat
    wishes: dict[str, Any] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        return self.folder / "run"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.sqlite"

    def all_wishes(self, **changes: Any) -> dict[str, Any]:
        return {
            "query": QUERY,
            "judge": self.chat.judge,
            "search": f"corpus:{self.folder / 'corpus'}",
            "as_of": AS_OF,
            "out": self.out,
            "ledger": self.ledger,
            "questions": 4,
            "reasoning": len(REASONING),
            **self.wishes,
            **changes,
        }

    def reports(self) -> list[Path]:
        return [self.folder / "cited.md", self.folder / "uncited.md"]

    async def run(
        self, *, control: Any = None, ledger_mode: Any = "cache", on_progress: Any = None, **changes: Any
    ) -> RunResult:
        from dream_eval.ledger import Mode

        ask = prepare(changes.pop("reports", self.reports()), **self.all_wishes(**changes))
        return await perform(
            ask, ledger_mode=Mode(ledger_mode), on_progress=on_progress, control=control, outside=OUTSIDE
        )

    def command(self, *extra: str) -> list[str]:
        """Arguments of ``dream evaluate`` for the same evaluation."""
        wishes = self.all_wishes()
        names = {"as_of": "as-of"}
        options = [part for name, value in wishes.items() for part in (f"--{names.get(name, name)}", str(value))]
        return ["evaluate", *map(str, self.reports()), *options, *extra]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    write_world(tmp_path)
    with judge_of_world() as chat:
        yield World(tmp_path, chat)
