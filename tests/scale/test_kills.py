"""SIGKILL at random moments, then the same run again: nothing that was finished is lost, nothing is paid for twice."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dream_eval.runs.reading import open_run
from dream_eval.runs.results import parse_line
from forks import CONCURRENCY
from servers.chat import ScriptedChat
from world import judge_of_world, write_world

SUPPORT = Path(__file__).resolve().parents[1] / "support"
SEEDS = range(50)
LANES = 2
"""Series at the same time, one a core."""
DELAY_S = 0.02
"""That every answer of the judge takes."""


@dataclass
class Lane:
    """A process that forks runs, and the judge that they ask."""

    forks: subprocess.Popen[str]
    chat: ScriptedChat

    def run(self, folder: Path, *, kill_after: float | None = None) -> dict[str, Any]:
        """How a run ended."""
        assert self.forks.stdin is not None
        assert self.forks.stdout is not None
        job = {"folder": str(folder), "judge": self.chat.judge, "kill_after": kill_after}
        self.forks.stdin.write(json.dumps(job) + "\n")
        self.forks.stdin.flush()
        answer: dict[str, Any] = json.loads(self.forks.stdout.readline())
        return answer

    def asked(self) -> Counter[str]:
        """How often each question has arrived, once nothing is under way any more."""
        self.chat.wait_until_left()
        return Counter(json.dumps(body, sort_keys=True) for body in self.chat.requests)


@contextmanager
def lane() -> Iterator[Lane]:
    command = [sys.executable, str(SUPPORT / "forks.py")]
    with judge_of_world(delay_s=DELAY_S) as chat:
        forks = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert forks.stdin is not None
        assert forks.stdout is not None
        forks.stdout.readline()
        try:
            yield Lane(forks, chat)
        finally:
            forks.stdin.close()
            forks.wait()


def completions(folder: Path) -> int:
    """Recorded answers of the judge; the file must be sound."""
    if not (folder / "ledger.sqlite").exists():
        return 0
    with sqlite3.connect(folder / "ledger.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
            return 0
        found: int = db.execute("SELECT count(*) FROM calls WHERE kind = 'completion'").fetchone()[0]
        return found


def results(folder: Path) -> list[bytes]:
    """The lines of results that are whole. Only the last one may be broken."""
    path = folder / "run" / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    readable = [line for line in lines if parse_line(line) is not None]
    assert readable in (lines, lines[:-1])
    return readable


def parse_all(folder: Path) -> None:
    """Every file of the run that is no result is whole JSON."""
    for path in (folder / "run").rglob("*.json"):
        if not path.name.startswith("."):
            json.loads(path.read_bytes())


def one_kill(lane: Lane, folder: Path, moment: float) -> tuple[bool, int]:
    """Whether the run was killed, and how many units it had finished by then."""
    write_world(folder)
    lane.chat.requests.clear()
    killed = bool(lane.run(folder, kill_after=moment)["killed"])
    begun, kept, recorded = lane.asked(), results(folder), completions(folder)
    parse_all(folder)
    in_flight = begun.total() - recorded
    assert 0 <= in_flight <= CONCURRENCY
    assert max(begun.values(), default=0) <= 1
    assert lane.run(folder)["code"] == 0
    after = lane.asked()
    assert after.total() - len(after) <= in_flight, "a call that was recorded was made again"
    whole = results(folder)
    assert len(whole) == 12
    assert set(kept) <= set(whole), "a finished unit was lost or done again"
    parse_all(folder)
    assert open_run(folder / "run").summary is not None
    assert not list((folder / "run").rglob(".*.tmp"))
    return killed, len(kept)


def series(seeds: list[int], folder: Path) -> list[tuple[bool, int]]:
    """Kills at moments drawn by seed, over the length of a run that nobody disturbs."""
    with lane() as mine:
        write_world(folder / "whole")
        whole = mine.run(folder / "whole")
        assert whole["code"] == 0
        found = []
        for seed in seeds:
            moment = random.Random(seed).uniform(0, whole["s"])
            try:
                found.append(one_kill(mine, folder / f"{seed}", moment))
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, killed after {moment:.3f} s: {error}") from error
            shutil.rmtree(folder / f"{seed}")
        return found


@pytest.mark.cluster
@pytest.mark.timeout(600)
def test_a_kill_costs_the_calls_in_flight_and_nothing_else(tmp_path: Path) -> None:
    lots = [[seed for seed in SEEDS if seed % LANES == number] for number in range(LANES)]
    with ThreadPoolExecutor(LANES) as pool:
        folders = [tmp_path / f"lane{number}" for number in range(LANES)]
        found = [one for lot in pool.map(series, lots, folders) for one in lot]
    assert len(found) == len(SEEDS)
    assert any(killed and 0 < units < 12 for killed, units in found), "no kill fell into the middle of a run"
