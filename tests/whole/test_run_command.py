"""``dream run``: the file, the plan, the options, the gates, and the same as a Python call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dream_eval
import pytest
from dream_eval.cli import run
from dream_eval.errors import UserError
from servers.chat import ScriptedChat
from world import AS_OF, CITED, QUERY, REASONING, UNCITED

pytestmark = pytest.mark.cluster

Dream = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dream(world: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dream:
    """The command line in this process, in the world's folder: exit code and what it prints."""
    monkeypatch.chdir(world.folder)

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(args)
        return code, *capsys.readouterr()

    return call


def write_eval(world: Any, *lines: str, judge: str = "") -> None:
    """An ``eval.toml`` of two systems on two tasks."""
    tasks = [{"id": "t1", "prompt": QUERY}, {"id": "t2", "prompt": f"{QUERY} Be brief."}]
    (world.folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    for system, texts in {"good": (CITED, CITED), "poor": (UNCITED, CITED)}.items():
        rows = [{**task, "article": text} for task, text in zip(tasks, texts, strict=True)]
        (world.folder / f"{system}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    head = (
        'name = "two"',
        'tasks = "tasks.jsonl"',
        f'judges = ["{judge or world.chat.judge}"]',
        'search = ["corpus:corpus"]',
        f"as_of = {AS_OF}",
        'ledger = "ledger.sqlite"',
        "questions = 4",
        f"reasoning = {len(REASONING)}",
        *lines,
        "[systems]",
        'good = "good.jsonl"',
        'poor = "poor.jsonl"',
    )
    (world.folder / "eval.toml").write_text("\n".join(head) + "\n")


def calls_in(text: str) -> int:
    found = re.search(r"(\d+) judge calls", text)
    assert found, text
    return int(found[1])


def test_the_file_is_done_and_a_table_of_systems_printed(world: Any, dream: Dream) -> None:
    write_eval(world)
    code, out, err = dream("run")
    assert (code, err) == (0, "")
    assert "4 reports (2 systems on 2 tasks) × 6 metrics = 24 units" in out
    for shown in ("system", "good", "poor", "factuality", "Mean over tasks", "next: dream compare dream-runs/two"):
        assert shown in out, shown
    assert (world.folder / "dream-runs" / "two" / "results.jsonl").exists()
    asked = len(world.chat.requests)
    code, out, _ = dream("run")
    assert code == 0
    assert "all 24 units stand in dream-runs/two" in out
    assert len(world.chat.requests) == asked
    command = json.loads((world.folder / "dream-runs" / "two" / "run.json").read_text())["command"]
    assert command


def test_a_plan_needs_no_key_calls_nobody_and_leaves_nothing(
    world: Any, dream: Dream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write_eval(world, judge="openai/gpt-5-mini")
    code, out, err = dream("run", "--plan")
    assert (code, err) == (0, "")
    assert re.search(r"protocol +│ +2 │", out), "one a task"
    assert re.search(r"claims +│ +4 │", out), "one a report"
    assert re.search(r"\$[\d.]+–[\d.]+ at list prices of", out)
    assert "from defaults" in out
    assert not (world.folder / "dream-runs").exists()
    code, _, err = dream("run")
    assert code == 2
    assert "OPENAI_API_KEY" in err
    assert not (world.folder / "dream-runs").exists()
    code, out, _ = dream(
        "evaluate", "cited.md", "--query", QUERY, "--judge", "openai/gpt-5-mini", "--metrics", "wq", "--plan"
    )
    assert code == 0
    assert "1 report × 1 metric = 1 unit" in out


def test_a_plan_knows_what_is_done_and_what_the_ledger_answers(world: Any, dream: Dream) -> None:
    write_eval(world)
    assert dream("run", "--metrics", "wq,kic")[0] == 0
    asked = len(world.chat.requests)
    code, out, _ = dream("run", "--metrics", "wq,kic,da", "--plan")
    assert code == 0
    assert "8 of 12 units stand already in dream-runs/two" in out
    assert "protocol" not in out.split("12 units\n")[1].split("expected")[0].replace("protocols", "")
    assert re.search(r"da +│ +3 │", out), "the report without a citation needs no call"
    code, out, _ = dream("run", "--metrics", "wq,kic", "--out", "elsewhere", "--plan")
    assert code == 0
    assert "the ledger answers 8 of the 8 units left" in out
    assert calls_in(out) == 0
    assert len(world.chat.requests) == asked
    assert not (world.folder / "elsewhere").exists()


def test_the_price_range_comes_from_like_work_when_the_ledger_has_seen_enough(world: Any, dream: Dream) -> None:
    write_eval(world)
    assert dream("run", "--metrics", "wq")[0] == 0  # three different reports and one known one: four uses
    with ScriptedChat(model="other") as other:
        code, out, _ = dream("run", "--metrics", "wq", "--judge", other.judge, "--out", "other", "--plan")
    assert code == 0
    assert "4 by other judges" in out
    assert "no charge" in out, "an endpoint on this machine"
    prompts = [body["messages"] for body in world.chat.requests]
    words = sum(len(m["content"].split()) for messages in prompts for m in messages) / len(prompts)
    found = re.search(r"([\d,]+)–([\d,]+) tokens", out)
    assert found
    low, high = (int(part.replace(",", "")) for part in found.groups())
    assert low <= 4 * (words + 20) <= high * 1.2


def test_options_replace_the_file_and_gates_are_about_systems(world: Any, dream: Dream) -> None:
    write_eval(world)
    gates = (("kic=62.5", 0), ("kic=62.6", 10), ("wq=79", 0), ("wq=80", 10))
    for gate, code in gates:
        assert dream("run", "--metrics", "wq,kic", "--fail-under", gate)[0] == code, gate
    code, _, err = dream("run", "--metrics", "wq", "--fail-under", "kic=1")
    assert code == 2
    assert "--fail-under kic: is not among the metrics of this run (wq)" in err
    code, _, err = dream("run", "--system", "third")
    assert code == 2
    assert "write NAME=FILE" in err
    (world.folder / "third.md").write_text(UNCITED)
    code, out, _ = dream(
        "run", "--metrics", "wq", "--system", "third=third.md", "--task", "tasks.jsonl#t1", "--name", "Three of them"
    )
    assert code == 0
    assert "third" in out
    assert "cited" not in out.replace("uncited", "").split("written:")[0], "the file's systems are replaced"


def test_mistakes_are_one_line_and_leave_nothing(world: Any, dream: Dream) -> None:
    code, _, err = dream("run")
    assert code == 2
    assert "there is no eval.toml here: dream run init writes one to start from" in err
    write_eval(world, "budget_usd = 1.0", judge="openai/no-such-model")
    code, out, err = dream("run")
    assert (code, out) == (2, ""), "refused before anything is said"
    assert "use --budget-tokens instead" in err
    code, out, err = dream("run", "--plan")
    assert (code, out) == (2, "")
    assert not (world.folder / "dream-runs").exists()


def test_init_writes_a_file_that_is_read(world: Any, dream: Dream) -> None:
    code, out, _ = dream("run", "init")
    assert code == 0
    assert "dream run --plan" in out
    code, out, err = dream("run", "--plan", "--metrics", "da", "--ledger", "none.sqlite")
    assert code == 0, err
    assert "3 reports × 1 metric = 3 units" in out
    assert dream("run", "init")[0] == 2
    assert dream("run", "--help")[0] == 0
    assert "status" in dream("run", "--help")[1]


def test_the_python_calls_refuse_plainly_without_a_key(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(world.folder)
    write_eval(world, judge="openai/gpt-5-mini")
    calls: tuple[Callable[[], Any], ...] = (
        lambda: dream_eval.run("eval.toml"),
        lambda: dream_eval.evaluate("cited.md", query=QUERY, judge="openai/gpt-5-mini"),
    )
    for call in calls:
        with pytest.raises(UserError, match="OPENAI_API_KEY") as error:
            call()
        assert error.value.__context__ is None
    assert not (world.folder / "dream-runs").exists()


def test_run_as_a_python_call_does_what_the_command_does(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.folder)
    write_eval(world)
    result = dream_eval.run("eval.toml", metrics=("wq", "kic"), repeats=2)
    assert result.folder == Path("dream-runs/two")
    assert {(cell.system, cell.metric) for cell in result.summary.systems} == {
        (system, metric) for system in ("good", "poor") for metric in ("wq", "kic")
    }
    assert result.score("poor#t1", "kic", repeat=1) == 50
    assert [json.loads(line)["repeat"] for line in (result.folder / "results.jsonl").open()][:4] == [0, 1, 0, 1]
