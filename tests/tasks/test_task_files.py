"""The files of a set, and the command that makes them."""

from __future__ import annotations

import datetime as dt
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run
from dream_eval.core import AsOf
from dream_eval.errors import UserError
from dream_eval.reports import load_tasks
from dream_eval.tasks import output
from dream_eval.tasks.data import Sure
from servers.chat import ScriptedChat, error
from tasking import DAY, SURE, is_candidates, is_easy, is_judge, is_personas, is_qualify, order_for


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_files(make: Any, tmp_path: Path) -> None:
    made = await make()
    out, peer = tmp_path / "set" / "tasks.jsonl", tmp_path / "set" / "peer.jsonl"
    assert output.write(made, out, peer)
    tasks = load_tasks(out)
    assert [task.id for task in tasks] == [one.id for one in made.kept]
    assert {(task.language, task.topic, task.as_of) for task in tasks} == {
        ("en", "Health", DAY),
        ("en", "Politics", DAY),
    }
    provenance = output.read_provenance(output.beside(out, "provenance.jsonl"))
    assert list(provenance) == [one.id for one in made.candidates]
    first = provenance[made.kept[0].id]
    assert first["persona"]["role"].startswith("Head of ")
    assert first["qualification"]["confidence"] == 1.0
    assert first["necessity"]["accuracy"] == "weak"
    assert first["fate"] == "kept"
    assert all(len(key) == 64 for calls in first["calls"].values() for key in calls)
    summary = json.loads(output.beside(out, "summary.json").read_text())
    assert (summary["state"], summary["filters"], summary["prompts_version"]) == ("finished", True, 1)
    assert summary["totals"]["prompt_tokens"] > 0
    assert len(summary["sentinels"]) == 6
    assert not list(tmp_path.rglob("*.tmp"))


async def test_writing_again_gives_the_same_bytes(make: Any, tmp_path: Path) -> None:
    names = ("tasks.jsonl", "tasks.provenance.jsonl", "tasks.summary.json", "peer.jsonl")
    contents = []
    for folder in ("a", "b"):
        output.write(await make(), tmp_path / folder / "tasks.jsonl", tmp_path / folder / "peer.jsonl")
        contents.append([(tmp_path / folder / name).read_bytes() for name in names])
    assert contents[0] == contents[1]


async def test_without_a_day_the_tasks_carry_none(make: Any, tmp_path: Path) -> None:
    output.write(await make(as_of=AsOf(day=DAY, given=False)), tmp_path / "tasks.jsonl")
    assert all("as_of" not in line for line in lines(tmp_path / "tasks.jsonl"))


async def test_the_peers_shape(make: Any, tmp_path: Path) -> None:
    made = await make()
    output.write(made, tmp_path / "tasks.jsonl", tmp_path / "peer.jsonl")
    records = lines(tmp_path / "peer.jsonl")
    record = records[0]
    assert list(record) == [
        *("task_id", "domain", "expert", "query", "evaluation_results"),
        *("baseline_answer", "retention_reason", "generated_timestamp"),
    ]
    assert list(record["expert"]) == ["name", "role", "affiliation", "background", "subdomain"]
    assert record["query"] == {
        "deep_research_query": made.kept[0].prompt,
        "key_challenges": "Sources differ.",
        "expected_search_rounds": 2,
        "time_sensitivity": True,
        "time_constraint": "2024 to 2026",
    }
    assert record["evaluation_results"] == {
        "needs_deep_research": True,
        "confidence_score": 1.0,
        "search_complexity": "High",
        "information_sources_needed": ["law", "press"],
        "quality_assessment": "low",
        "quality_score": 0.35,
        "requires_search": True,
    }
    assert len({record["task_id"] for record in records}) == 4  # the peer's are unique within a persona only
    assert [task.prompt for task in load_tasks(tmp_path / "peer.jsonl")] == [one.prompt for one in made.kept]


def test_complexity_is_derived_from_the_verdict() -> None:
    assert output._complexity(Sure.CERTAIN, Sure.CERTAIN) == "High"
    assert output._complexity(Sure.CERTAIN, Sure.LIKELY) == "Medium"
    assert output._complexity(Sure.UNCLEAR, Sure.CERTAIN) == "Low"


async def test_a_set_that_is_short_is_not_written(make: Any, chat: ScriptedChat, tmp_path: Path) -> None:
    chat.on(is_personas, error(400, "no"), first=True)
    out = tmp_path / "tasks.jsonl"
    assert not output.write(await make(), out, tmp_path / "peer.jsonl")
    assert not out.exists()
    assert not (tmp_path / "peer.jsonl").exists()
    summary = json.loads(output.beside(out, "summary.json").read_text())
    assert (summary["state"], summary["tasks"]) == ("short", None)
    assert summary["shortfalls"][0]["cell"] == {"domain": "Health", "language": "en"}


def test_the_day_is_that_of_the_first_start(chat: ScriptedChat, tmp_path: Path) -> None:
    out = tmp_path / "tasks.jsonl"
    first = order_for(chat, as_of=AsOf(day=DAY, given=False))
    output.begin(out, first)
    later = AsOf(day=DAY + dt.timedelta(days=9), given=False)
    assert output.since_first_start(out, order_for(chat, as_of=later)) == first
    assert output.since_first_start(out, order_for(chat, as_of=later, keep=1)).as_of == first.as_of
    assert output.since_first_start(out, order_for(chat, as_of=later, languages="de")).as_of == later  # other work
    given = AsOf(day=later.day)
    assert output.since_first_start(out, order_for(chat, as_of=given)).as_of == given


def test_files_of_others_are_not_overwritten(chat: ScriptedChat, tmp_path: Path) -> None:
    out, peer = tmp_path / "tasks.jsonl", tmp_path / "peer.jsonl"
    output.check_free(out, peer)
    peer.write_text("mine")
    with pytest.raises(UserError, match=r"peer.jsonl stands there .* --peer"):
        output.check_free(out, peer)
    output.begin(out, order_for(chat))
    output.check_free(out, peer)
    with pytest.raises(UserError, match="the same file"):
        output.check_free(out, out)
    (tmp_path / "other.jsonl").write_text("mine")
    with pytest.raises(UserError, match="--out"):
        output.check_free(tmp_path / "other.jsonl")


# --- the command -----------------------------------------------------------------------------------------------------


def generate(chat: ScriptedChat, folder: Path, *more: str) -> int:
    sizes = ("--domains", "Health,Politics", "--personas", "2", "--candidates", "2")
    places = ("--out", str(folder / "tasks.jsonl"), "--ledger", str(folder / "ledger.sqlite"))
    return run(["tasks", "generate", "--judge", chat.judge, *sizes, *places, "--as-of", "2026-05-01", *more])


def test_the_command(chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(chat, tmp_path, "--peer", str(tmp_path / "peer.jsonl")) == 0
    shown = capsys.readouterr().out
    assert "2 domains × 1 language × 2 personas × 2 candidates = 8 · keep 2 of 4 each" in shown
    assert "sentinels: 3 of 3 known-easy tasks rejected, 3 of 3 known-hard kept" in shown
    assert "kept: 4 tasks of 4 personas, 4 en; 19 to 19 words, middle 19" in shown
    assert "the judge gave every candidate the same figure" in shown
    assert "run: 48 calls (48 completion)" in shown
    assert len(load_tasks(tmp_path / "tasks.jsonl")) == len(lines(tmp_path / "peer.jsonl")) == 4
    table = [line for line in shown.splitlines() if line.startswith(("Health", "all"))]
    assert table[0].split() == ["Health", "(en)", "4", "0", "0", "0", "0", "0", "2", "2"]
    assert table[1].split() == ["all", "8", "0", "0", "0", "0", "0", "4", "4"]
    asked = len(chat.requests)
    assert generate(chat, tmp_path, "--keep", "1") == 0
    assert len(chat.requests) == asked
    assert len(load_tasks(tmp_path / "tasks.jsonl")) == 2


def test_the_plan_asks_nothing(chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(chat, tmp_path, "--plan") == 0
    shown = capsys.readouterr().out
    assert "48 calls" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if "│" in line)
    assert chat.requests == []
    assert list(tmp_path.iterdir()) == []


def test_a_filter_that_does_not_filter_fails_the_command(
    chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.on(lambda body: is_qualify(body) and is_easy(body), SURE, first=True)
    chat.on(lambda body: is_judge(body) and is_easy(body), error(400, "no"), first=True)
    assert generate(chat, tmp_path) == 10
    shown = capsys.readouterr().out
    assert "THE FILTER DOES NOT FILTER" in shown
    assert "easy-1-en call_refused" in shown
    assert (tmp_path / "tasks.jsonl").exists()


def test_a_shortfall_fails_the_command(chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat.on(lambda body: is_candidates(body) and "dairies fares" in str(body), "no", first=True)
    assert generate(chat, tmp_path, "--keep", "3") == 6
    shown = capsys.readouterr().out
    assert "2 of 3 tasks (2 never written)" in shown
    assert "no tasks written: raise --candidates or --personas, or lower --keep (now 3)" in shown
    assert not (tmp_path / "tasks.jsonl").exists()
    assert generate(chat, tmp_path, "--keep", "2") == 0


def test_a_budget_that_is_reached_says_how_to_go_on(
    chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(chat, tmp_path, "--budget-tokens", "3000") == 4
    told = capsys.readouterr()
    assert "what was asked is kept; to continue: " in told.out
    assert "budget reached" in told.err
    assert generate(chat, tmp_path, "--budget-tokens", "300000") == 0


def test_killed_for_good_and_gone_on(chat: ScriptedChat, tmp_path: Path) -> None:
    killed = threading.Event()

    def late(_: object) -> bool:
        return len(chat.requests) >= 30 and not killed.is_set()

    chat.on(late, lambda _: killed.wait(600) and error(500), first=True)
    sizes = ("--domains", "Health,Politics", "--personas", "2", "--candidates", "2", "--as-of", "2026-05-01")
    places = ("--out", str(tmp_path / "tasks.jsonl"), "--ledger", str(tmp_path / "ledger.sqlite"))
    code = "import sys; from dream_eval.cli import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "tasks", "generate", "--judge", chat.judge, *sizes, *places]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while len(chat.requests) < 30 and process.poll() is None:
            time.sleep(0.005)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    killed.set()
    chat.wait_until_left()
    before = len(chat.requests)
    assert not (tmp_path / "tasks.jsonl").exists()
    assert generate(chat, tmp_path) == 0
    asked = [json.dumps(body, sort_keys=True) for body in chat.requests]
    assert len(asked) - len(set(asked)) <= 16  # only what was in flight at the kill is asked again
    assert len(asked) - before <= 48 - (before - 16)
    assert len(load_tasks(tmp_path / "tasks.jsonl")) == 4


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--language", "sw"), "choose among en, zh"),
        (("--budget-usd", "1"), "no price is known|--budget-usd"),
        (("--as-of", "2999-01-01"), "lies in the future"),
        (("--keep", "9"), "bring 4 at most"),
    ],
)
def test_mistakes_are_one_line(
    chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], words: str
) -> None:
    code = generate(chat, tmp_path, *more)
    told = capsys.readouterr().err
    if "usd" in more[0]:  # a server of one's own is free of charge
        assert code == 0
        return
    assert code == 2
    assert len(told.splitlines()) == 1
    assert pytest.importorskip("re").search(words, told)


def test_what_a_model_writes_cannot_steer_the_terminal(
    chat: ScriptedChat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tasking import draft, task_text

    evil = task_text("en", 20).replace("Compare", "Compare \x1b]0;gone\x07\u202e")
    chat.on(is_candidates, lambda body: {"items": [draft(evil)]}, first=True)
    generate(chat, tmp_path, "--personas", "1", "--candidates", "1", "--domains", "Health")
    shown = capsys.readouterr().out
    assert "Compare" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
