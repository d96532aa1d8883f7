"""``dream bench``: a benchmark in its own layout, from tasks to a compared and shown run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from dream_eval.agents.research import Profile
from dream_eval.agents.research.benches import footprint, open_bench, reports_on, select
from dream_eval.cli import run
from dream_eval.core import Task
from dream_eval.errors import UserError
from dream_eval.reports import read_report
from servers.chat import ScriptedChat
from world import AS_OF, CITED, QUERY, UNCITED, judge_of_world, write_world

Dream = Callable[..., tuple[int, str, str]]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, ScriptedChat]]:
    """Three tasks, two systems of the benchmark's own, and a judge."""
    write_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    (data / "raw_data").mkdir(parents=True)
    tasks = [{"id": n, "prompt": f"{QUERY} ({n})", "topic": "energy", "language": "en"} for n in (51, 52, 60)]
    (data / "query.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    for system, text in (("grok", CITED), ("perplexity", UNCITED)):
        rows = [{"id": task["id"], "prompt": task["prompt"], "article": text} for task in tasks]
        (data / "raw_data" / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with judge_of_world() as chat:
        yield data, chat


@pytest.fixture
def dream(capsys: pytest.CaptureFixture[str]) -> Dream:
    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(args)
        return code, *capsys.readouterr()

    return call


def wishes(data: Path, chat: ScriptedChat, systems: str) -> list[str]:
    return [
        *("bench", "drb", "--data", str(data), "--systems", systems, "--tasks", "51-52", "--judge", chat.judge),
        *("--metrics", "wq,factuality,ci", "--search", f"corpus:{data.parent / 'corpus'}", "--as-of", AS_OF),
        *("--ledger", str(data.parent / "ledger.sqlite")),
    ]


def test_collect_run_compare_and_show(bench: Any, dream: Dream, program: Any) -> None:
    data, chat = bench
    command = program(
        f"print(json.dumps({{'article': {CITED!r}, 'usage': {{'prompt_tokens': 40, 'completion_tokens': 9}}}}))"
    )
    asked = [*wishes(data, chat, "mine,perplexity"), "--command", f"mine={command}"]
    code, out, err = dream(*asked)
    assert code == 0, out + err
    assert "mine is to write 2 of 2 reports" in out
    assert "mine: time is at worst 60 min (at most 30 min a report, 1 at a time)" in out
    assert "no earlier report of it says what it takes" in out
    assert "mine: cost is not known before; its model calls are not seen: no budget holds" in out
    assert re.search(r"judging them, if they are about 1,200 words long: expected .* [1-9]\d* judge calls", out)
    reports = data.parent / "dream-bench/drb/reports/mine.jsonl"
    assert [json.loads(line)["id"] for line in reports.read_text().splitlines()] == ["51", "52"]
    (page,) = (data.parent / "dream-bench/drb/runs").glob("*/report.html")
    assert page.stat().st_size > 10_000
    rows = {line.split()[0]: line.split()[1:] for line in out[out.rindex("citations") :].splitlines() if line.strip()}
    assert rows["mine"][0] == "2"
    assert rows["mine"][-2:] == ["49", "?"]
    assert rows["perplexity"] == ["2", "16", "0", "?", "?", "?"]
    # The same again: nothing is collected, nothing is asked.
    asked_before = len(chat.requests)
    code, out, _ = dream(*asked)
    assert code == 0
    assert "is to write" not in out
    assert len(chat.requests) == asked_before


def test_earlier_reports_say_what_the_missing_ones_take(
    bench: Any, dream: Dream, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, chat = bench
    reports = data.parent / "dream-bench/drb/reports/mine.jsonl"
    reports.parent.mkdir(parents=True)
    profile = {"seconds": 120, "prompt_tokens": 900, "completion_tokens": 100, "cost_usd": 0.25}
    line = {"id": "60", "prompt": f"{QUERY} (60)", "system": "mine", "article": CITED, "profile": profile}
    reports.write_text(json.dumps(line) + "\n")
    ask = Mock(return_value=False)
    monkeypatch.setattr("dream_eval.cli.benching.go_on", ask)
    asked = [*wishes(data, chat, "mine"), "--command", f"mine={program('print(1)')}", "--jobs", "2"]
    code, out, _ = dream(*asked)
    assert (code, ask.call_count) == (3, 1)
    assert "at worst 30 min" in out
    assert "2 min each, 2 min in all; 1,000 tokens each, 2,000 tokens in all; US$ 0.250 each, US$ 0.500 in all" in out
    assert "cost is not known" not in out
    assert not chat.requests
    assert len(reports.read_text().splitlines()) == 1


def test_a_system_that_fails_on_a_task_is_judged_on_the_others(bench: Any, dream: Dream, program: Any) -> None:
    data, chat = bench
    command = program(f"print({CITED!r}) if task['id'] == '51' else sys.exit(1)")
    code, out, _ = dream(*wishes(data, chat, "mine,grok"), "--command", f"mine={command}")
    assert code == 6
    assert "1 of 2 tasks have a report" in out


@pytest.mark.parametrize(
    ("systems", "more", "words"),
    [
        ("nobody", [], "its systems: grok, perplexity"),
        ("grok", ["--command", "mine=x"], "name there"),
        ("grok", ["--command", "mine"], "NAME=VALUE"),
        ("grok", ["--tasks", "51,99"], "no task 99"),
    ],
)
def test_mistakes(bench: Any, dream: Dream, systems: str, more: list[str], words: str) -> None:
    code, _, err = dream(*wishes(*bench, systems), *more)
    assert code == 2
    assert words in err


def test_layouts(tmp_path: Path) -> None:
    (tmp_path / "data/prompt_data").mkdir(parents=True)
    (tmp_path / "data/test_data/raw_data").mkdir(parents=True)
    (tmp_path / "data/prompt_data/query.jsonl").write_text('{"id": 1, "prompt": "x"}\n')
    (tmp_path / "data/test_data/raw_data/a.jsonl").write_text('{"id": 1, "prompt": "x", "article": "A."}\n')
    found = open_bench("drb", tmp_path)
    assert found.systems() == ["a"]
    assert found.reports("a") == tmp_path / "data/test_data/raw_data/a.jsonl"
    with pytest.raises(UserError, match=r"no query\.jsonl"):
        open_bench("drb", tmp_path / "data/test_data")


def test_public_layouts(shared_data: Path) -> None:
    drb = open_bench("drb", shared_data / "drb")
    assert len(drb.systems()) == 3
    path = drb.reports(drb.systems()[0])
    assert path is not None
    assert {report.task_id for report in reports_on(path, drb.tasks, drb.tasks)} <= {task.id for task in drb.tasks}
    dre = open_bench("dre", shared_data / "dre")
    path = dre.reports("gemini_2.5_pro")
    assert path is not None
    assert reports_on(path, dre.tasks, dre.tasks)


def test_selection() -> None:
    tasks = [Task(id=str(n), prompt="x") for n in range(1, 10)]
    assert [task.id for task in select(tasks, "3-5,9,4")] == ["3", "4", "5", "9"]
    assert len(select(tasks, None)) == 9
    for bad in ("", "0", "5-20", "a"):
        with pytest.raises(UserError):
            select(tasks, bad)


def test_footprint_leaves_out_what_is_not_known() -> None:
    reports = [read_report("One two three.", id="s", task_id=id) for id in ("a", "b", "c")]
    profiles = {
        "a": Profile(seconds=10, prompt_tokens=100, completion_tokens=10, cost_usd=0.5),
        "b": Profile(seconds=1, prompt_tokens=300, completion_tokens=30, reused=4),
    }
    found = footprint("s", reports, profiles)
    assert (found.reports, found.words, found.seconds, found.tokens, found.cost_usd) == (3, 3, 10, 220, 0.5)
    assert footprint("s", reports, {}).seconds is None
