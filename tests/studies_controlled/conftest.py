"""Set-ups for the controlled studies: a scripted judge on a real socket, corpora on disk, a ledger of their own."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dream_eval.models import Limits
from dream_eval.protocols.schema import Mode
from dream_eval.runs.perform import Outside
from dream_eval.studies.harness import Setup
from servers.chat import ScriptedChat
from world import AS_OF, judge_of_world, write_world

WORKS = ("Alma", "Brol", "Cima", "Dorn", "Elva", "Fano", "Gera", "Hult")


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with ScriptedChat() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ScriptedChat]:
    """The small world on disk in ``tmp_path`` and its judge."""
    write_world(tmp_path)
    with judge_of_world() as server:
        yield server


@pytest.fixture
def setup_for(tmp_path: Path) -> Callable[..., Setup]:
    """A set-up for a judge on a socket."""

    def make(chat: ScriptedChat, corpus: Path | None = None, **changes: Any) -> Setup:
        plain: dict[str, Any] = {
            "judge": chat.judge,
            "search": (f"corpus:{corpus or tmp_path / 'corpus'}",),
            "as_of": dt.date.fromisoformat(AS_OF),
            "mode": Mode.AGENT,
            "questions": 4,
            "reasoning": 2,
            "ledger": tmp_path / "ledger.sqlite",
            "outside": Outside(limits=Limits(wait_scale=0, attempts=2)),
        }
        return Setup(**(plain | changes))

    return make


@pytest.fixture
def works(tmp_path: Path) -> tuple[Path, Path]:
    """Claims with false twins, and a corpus of two independent pages a claim: (claims, corpus)."""
    claims = [
        {
            "id": name,
            "true": f"The {name} works made {n * 120 + 40} cells.",
            "false": f"The {name} works made {n * 120 + 97} cells.",
        }
        for n, name in enumerate(WORKS, 1)
    ]
    pages = [
        {
            "url": f"https://{site}.org/{row['id'].lower()}",
            "title": f"{row['id']} works",
            "published": "2025-03-01",
            "text": f"{row['true']} {rest}",
        }
        for row in claims
        for site, rest in (("register", "It is in the register."), ("chronicle", "The chronicle says so as well."))
    ]
    for name, rows in (("claims", claims), ("pages", pages)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "claims.jsonl", tmp_path / "pages.jsonl"
