"""From what a user names to reports with their tasks."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from dream_eval.core import AsOf, Task
from dream_eval.errors import InputError, UserError
from dream_eval.protocols.schema import Maker, Mode, Protocol
from dream_eval.runs.api import prepare
from dream_eval.runs.ask import Ask
from dream_eval.runs.cases import read_query, task_of

TASKS = [
    {"id": "q1", "prompt": "What do tides move?", "language": "en-GB", "as_of": "2025-01-01"},
    {"id": "q2", "prompt": "What does the moon do?", "as_of": "2025-01-01"},
]
TEXT = "# Tides\n\nTides move water.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, TASKS)))
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "qid_q1_report.md").write_text(TEXT)
    (tmp_path / "system" / "q2.md").write_text(TEXT)
    return tmp_path


def test_reports_of_a_folder_find_their_tasks_by_name(folder: Path) -> None:
    ask = prepare([folder / "system"], tasks=folder / "tasks.jsonl", judge="local")
    found = {case.system: case.task for case in ask.cases}
    assert {name: task.id for name, task in found.items()} == {"q2": "q2", "system": "q1"}
    assert found["system"].language == "en-GB"
    assert str(ask.as_of) == "2025-01-01"


def test_tasks_may_be_given_as_they_are_and_are_found_by_prompt(folder: Path) -> None:
    (folder / "answers.jsonl").write_text(json.dumps({"id": 7, "prompt": "what does the moon do", "article": TEXT}))
    tasks = [Task.model_validate(task) for task in TASKS]
    ask = prepare(str(folder / "answers.jsonl"), tasks=tasks, judge="local")
    assert [case.task.id for case in ask.cases] == ["q2"]


def test_what_fits_no_task_is_named(folder: Path) -> None:
    (folder / "system" / "q9.md").write_text(TEXT)
    with pytest.raises(InputError, match=r"'q9'.* fits none of the 2 tasks \(q1, q2"):
        prepare([folder / "system"], tasks=folder / "tasks.jsonl", judge="local")


def test_only_one_of_query_task_and_tasks(folder: Path) -> None:
    for wishes in ({"query": "q"}, {"task": Task(id="a", prompt="b")}):
        with pytest.raises(UserError, match="not both"):
            prepare([folder / "system"], tasks=folder / "tasks.jsonl", judge="local", **wishes)  # type: ignore[arg-type]


def test_the_text_as_given_when_asked(folder: Path) -> None:
    (folder / "chat.md").write_text("Here is the report:\n\n" + TEXT)
    texts = [
        next(prepare([folder / "chat.md"], query="q", judge="local", clean=clean).sources.read())[1].text
        for clean in (True, False)
    ]
    assert texts == [TEXT, "Here is the report:\n\n" + TEXT]


def protocol(day: str, *, given: bool = True) -> Protocol:
    maker = Maker(model="m", mode=Mode.STATIC, prompt_version=1)
    as_of = AsOf(day=dt.date.fromisoformat(day), given=given)
    made = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
    task = Task(id="q", prompt="q")
    return Protocol(task=task, as_of=as_of, created_at=made, maker=maker, key_questions=(), reasoning_questions=())


@pytest.mark.parametrize("given", [True, False])
def test_a_protocol_of_a_later_day_is_refused(folder: Path, given: bool) -> None:
    def ask(day: str | None, made: str) -> Ask:
        wishes = {"protocol": protocol(made, given=given), "judge": "local", "as_of": day}
        return prepare(folder / "system" / "q2.md", query="q", **wishes)  # type: ignore[arg-type]

    with pytest.raises(UserError, match=r"as of 2025-03-02 .* after 2025-03-01"):
        ask("2025-03-01", "2025-03-02")
    assert ask("2025-03-02", "2025-03-01").as_of == dt.date(2025, 3, 2)
    assert ask(None, "2025-03-01").as_of == (dt.date(2025, 3, 1) if given else None)
    with pytest.raises(UserError, match="2199-01-01"):
        ask(None, "2199-01-01")


def test_the_default_search_is_that_of_the_tools(folder: Path) -> None:
    from dream_eval.tools import DEFAULT_SEARCH

    assert prepare(folder / "system" / "q2.md", query="q", judge="local").search == DEFAULT_SEARCH
    from dream_eval.cli.evaluate import command as evaluate
    from dream_eval.cli.read import command as read

    for command in (evaluate, read):
        text = next(option.help for option in command.params if option.name == "search")  # type: ignore[attr-defined]
        assert f"{DEFAULT_SEARCH[0]} is the default" in text


def test_bytes_that_are_no_text_become_marks() -> None:
    assert task_of(read_query("What is \udcff?")).prompt == "What is \ufffd?"
