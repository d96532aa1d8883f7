"""What endpoints, disks and clocks do to a run: no failure becomes a number, nothing is paid twice, nothing is lost."""

from __future__ import annotations

import datetime as dt
import json
import random
import sqlite3
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from dream_eval.core import Status, Task
from dream_eval.models import Limits, count_tokens
from dream_eval.models.counting import PER_MESSAGE
from dream_eval.runs.api import prepare
from dream_eval.runs.data import Exit, RunState
from dream_eval.runs.perform import Outside, RunResult, perform
from dream_eval.runs.replay import replay
from servers.chat import Body, Reply, error, garbage, last_user, rate_limited, say
from world import QUERY, SCORES, UNCITED, WRITING, judge_of_world

pytestmark = pytest.mark.cluster

PATIENT = Outside(limits=Limits(wait_scale=0, concurrency=50))


async def run(world: Any, outside: Outside = PATIENT, **changes: Any) -> RunResult:
    ask = prepare(changes.pop("reports", world.reports()), **world.all_wishes(**changes))
    return await perform(ask, outside=outside)


def many(world: Any, count: int) -> dict[str, Any]:
    """One system with a report on each of so many tasks."""
    tasks = [Task(id=f"t{n}", prompt=f"{QUERY} In {n} sentences.") for n in range(count)]
    rows = [{"id": task.id, "prompt": task.prompt, "article": UNCITED} for task in tasks]
    (world.folder / "many.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return {"reports": {"many": world.folder / "many.jsonl"}, "tasks": tasks, "query": None, "metrics": "wq"}


TOGETHER = 17


def crowded(world: Any) -> Any:
    """A judge that answers once so many calls are under way, after thirty that let the limiter grow."""
    met, seen = threading.Event(), count(1)

    def answer(body: Body) -> Reply:
        if next(seen) > 30:
            for _ in range(3000):
                if met.wait(0.01) or world.chat.running >= TOGETHER:
                    break
            met.set()
        return costly(body)

    return answer


def costly(body: Body) -> Reply:
    """Uses all that a call was held to use at most."""
    prompt = sum(count_tokens(message["content"]) + PER_MESSAGE for message in body["messages"])
    used = {"prompt_tokens": prompt, "completion_tokens": body["max_tokens"]}
    return say(json.dumps(WRITING), usage=used | {"total_tokens": sum(used.values())})


async def test_fifty_calls_at_once_never_exceed_the_budget(world: Any) -> None:
    world.chat.on("Score the writing", costly, first=True)
    one = await run(
        world, metrics="wq", reports=world.reports()[:1], out=world.folder / "one", ledger=world.folder / "one.sqlite"
    )
    world.chat.requests.clear()
    world.chat.on("Score the writing", crowded(world), first=True)
    budget = 60 * one.summary.totals.prompt_tokens
    small = await run(world, **many(world, 120), budget_tokens=budget)
    assert small.state is RunState.BUDGET
    totals = small.summary.totals
    assert budget / 2 < totals.prompt_tokens + totals.completion_tokens <= budget
    assert world.chat.peak >= TOGETHER, "many calls were under way together"
    done = len(world.chat.requests)
    assert 0 < done < 120
    assert len(small.keys) == done
    whole = await run(world, **many(world, 120), budget_tokens=10 * budget)
    assert whole.state is RunState.FINISHED
    assert len(world.chat.requests) == 120, "nothing is paid twice"


async def test_a_storm_of_429_that_ends_changes_no_score(world: Any) -> None:
    world.chat.queue(*[rate_limited(retry_after=3600)] * 8)
    result = await run(world)
    for (report, metric), expected in SCORES.items():
        found = result.score(report, metric)
        assert found == (None if expected is None else pytest.approx(expected)), (report, metric)
    assert result.exit_code == Exit.DONE


async def test_a_storm_of_429_that_lasts_fails_units_and_scores_none(world: Any) -> None:
    chat = judge_of_world().on(lambda _: True, rate_limited(retry_after=3600), first=True)
    waits: list[float] = []
    with chat:
        ask = prepare(world.reports(), **world.all_wishes(judge=chat.judge))

        def seen(_: Any, notice: Any) -> None:
            if notice is not None and notice.kind == "wait":
                waits.append(notice.event.seconds)

        result = await perform(ask, outside=PATIENT, on_progress=seen)
    assert waits, "waits are told"
    assert result.state is RunState.FINISHED
    assert result.exit_code == Exit.COVERAGE
    for line in result.results:
        if line.metric == "da" and line.report == "uncited":  # asks nobody
            assert line.result.status is Status.NOT_APPLICABLE
            continue
        assert line.result.status is Status.FAILED
        assert line.result.score is None
    assert not any(cell.shown for cell in result.summary.systems)
    whole = await run(world)  # the same run, another day
    assert whole.score("cited", "factuality") == SCORES["cited", "factuality"]


async def test_one_500_in_ten_and_one_broken_reply_in_twenty_move_no_score(world: Any) -> None:
    clean = await run(world, out=world.folder / "clean", ledger=world.folder / "clean.sqlite")
    before = {line.place: line.result for line in clean.results}
    dice, lock = random.Random(11), threading.Lock()
    chat = judge_of_world()
    answer = chat._choose
    broken = (garbage(b'{"choices": [{"message": {"content": "cut o'), garbage(b"<html>oops</html>"))

    def sometimes(body: Body) -> Any:
        with lock:
            throw = dice.random()
        if throw < 0.10:
            return error(500, "internal")
        return dice.choice(broken) if throw < 0.15 else answer(body)

    chat._choose = sometimes  # type: ignore[method-assign]  # the server's own answers, with faults in between
    with chat:
        for repeat in range(3):
            result = await run(
                world, judge=chat.judge, out=world.folder / f"r{repeat}", ledger=world.folder / f"{repeat}.sqlite"
            )
            assert result.state is RunState.FINISHED
            for line in result.results:
                found, want = line.result, before[line.place]
                if found.score is None:
                    assert found.status in (want.status, Status.FAILED)
                    continue
                assert want.score is not None
                low, high = (want.interval.low, want.interval.high) if want.interval else (want.score, want.score)
                assert min(low, want.score) - 1e-9 <= found.score <= max(high, want.score) + 1e-9, line.place
            scored = [line for line in result.results if line.result.score is not None]
            assert len(scored) >= 9, "six tries are enough for nearly all"


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from dream_eval.cli import main
main()
"""


def test_a_full_disk_ends_the_run_in_one_line_and_costs_nothing_twice(world: Any) -> None:
    """A limit on the size of files stands for the disk: what does not fit is not written."""
    code, _, err = limited(world, 120_000)
    assert code in (1, 2), err
    lines = [line for line in err.strip().splitlines() if not line.startswith("  ")]
    assert "Traceback" not in err
    assert len(lines) == 1, err
    for path in world.out.rglob("*.json"):
        json.loads(path.read_text())
    code, _, err = limited(world, 1 << 30)
    assert code == 0, err
    bodies = [json.dumps(body, sort_keys=True) for body in world.chat.requests]
    assert len(bodies) - len(set(bodies)) <= 16, "only what could not be recorded is asked again"
    scores = {(c.system, c.metric): c.shown for c in summary_of(world.out).systems}
    assert scores["cited", "factuality"] == SCORES["cited", "factuality"]


def limited(world: Any, size: int) -> tuple[int, str, str]:
    process = subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *world.command()], capture_output=True, text=True, timeout=120
    )
    return process.returncode, process.stdout, process.stderr


def summary_of(folder: Path) -> Any:
    from dream_eval.runs.reading import open_run

    return open_run(folder).summary


async def test_a_clock_that_was_moved_back_changes_nothing(world: Any) -> None:
    """As if the first part had been made a month from now."""
    await run(world, metrics="wq,kic")
    asked = len(world.chat.requests)
    with sqlite3.connect(world.ledger) as db:
        db.execute("UPDATE calls SET at = at + 2592000")
        db.execute("UPDATE runs SET at = at + 2592000")
    path = world.out / "run.json"
    config = json.loads(path.read_text())
    config["created_at"] = (dt.datetime.now(dt.UTC) + dt.timedelta(days=30)).isoformat()
    path.write_text(json.dumps(config))
    again = await run(world, metrics="wq,kic")
    assert len(world.chat.requests) == asked
    more = await run(world, metrics="wq,kic,da")
    assert len(world.chat.requests) - asked == 3
    assert more.summary.totals.made == again.summary.totals.made + 3
    fresh = prepare(world.reports(), **world.all_wishes(metrics="wq,kic,da"))
    from dream_eval.ledger import Mode

    await perform(fresh, outside=PATIENT, ledger_mode=Mode.REFRESH)
    assert (await replay(world.out)).difference is None


async def test_a_key_is_in_no_file_whatever_repeats_it(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = "sk-marker-0123456789-abcdef"
    monkeypatch.setenv("DREAM_API_KEY", marker)
    chat = judge_of_world(key=marker)
    chat.on(lambda body: "Score the writing" in last_user(body), WRITING | {"echo": marker}, first=True)
    chat.on(lambda body: "Its kind and its score?" in last_user(body), error(400, f"no quota for {marker}"), first=True)
    with chat:
        done = subprocess.run(
            [sys.executable, "-c", "from dream_eval.cli import main; main()", *command(world, chat)],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == Exit.COVERAGE, done.stderr
    assert "no quota for" in done.stdout
    assert marker not in done.stdout + done.stderr
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert {"report.html", "units.xml", "log.jsonl", "results.jsonl", "ledger.sqlite"} <= {path.name for path in files}
    for path in files:
        assert marker.encode() not in path.read_bytes(), path


def command(world: Any, chat: Any) -> list[str]:
    world.wishes = {"judge": chat.judge, "metrics": "wq,kic,da"}
    outputs = ["--junit", str(world.folder / "units.xml"), "--log-json", str(world.folder / "log.jsonl")]
    return [*world.command(), *outputs]
