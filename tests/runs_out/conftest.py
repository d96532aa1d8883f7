"""Finished runs of the small world, made over real sockets, once a session for tests that only read them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run
from dream_eval.ledger import Mode
from dream_eval.models import Limits
from dream_eval.runs.api import prepare
from dream_eval.runs.perform import Outside, RunResult, perform
from servers.chat import ScriptedChat
from world import AS_OF, CITED, QUERY, UNCITED, judge_of_world, write_world

OUTSIDE = Outside(limits=Limits(wait_scale=0, attempts=3))
TEXTS = {"cited": CITED, "uncited": UNCITED}


@dataclass
class Runs:
    """Makes runs in one folder with one judge."""

    folder: Path
    chat: ScriptedChat
    defaults: dict[str, Any] = field(default_factory=dict)

    def ask(
        self, out: str, tasks: Sequence[str] = ("t1",), systems: Sequence[str] = ("cited", "uncited"), **wishes: Any
    ) -> Any:
        """An evaluation of these systems on these tasks, all of the same query."""
        files = []
        for system in systems:
            lines = [{"id": task, "prompt": f"{QUERY} ({task})", "article": TEXTS[system]} for task in tasks]
            path = self.folder / f"asked-{out}" / f"{system}.jsonl"
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(map(json.dumps, lines)))
            files.append(path)
        given = {
            "judge": self.chat.judge,
            "search": f"corpus:{self.folder / 'corpus'}",
            "as_of": AS_OF,
            "out": self.folder / out,
            "ledger": self.folder / "ledger.sqlite",
            "questions": 4,
            "reasoning": 2,
        }
        return prepare(files, **{**given, **self.defaults, **wishes})

    async def run(self, out: str, *args: Any, on_progress: Any = None, control: Any = None, **wishes: Any) -> RunResult:
        """Carry one out."""
        ask = self.ask(out, *args, **wishes)
        return await perform(ask, ledger_mode=Mode.CACHE, on_progress=on_progress, control=control, outside=OUTSIDE)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A judge, a corpus, and nothing done yet."""
    write_world(tmp_path)
    with judge_of_world() as chat:
        yield Runs(tmp_path, chat)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two systems on two tasks by all six metrics of DREAM. Read only."""
    folder = tmp_path_factory.mktemp("finished")
    write_world(folder)
    with judge_of_world() as chat:
        metrics = "wq,kic,rq,factuality,ci,da"
        asyncio.run(Runs(folder, chat).run("run", ("t1", "t2"), metrics=metrics))
    return folder / "run"


@pytest.fixture(scope="session")
def make_runs() -> type[Runs]:
    """The class, for fixtures that last a session."""
    return Runs


@pytest.fixture
def dream(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process: exit code, standard output, standard error."""

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(args)
        return code, *capsys.readouterr()

    return call
