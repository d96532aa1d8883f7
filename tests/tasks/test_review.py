"""Sheets for raters: written, filled in by hostile spreadsheets and people, read back with agreement."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from dream_eval.cli import run
from dream_eval.core import Task
from dream_eval.errors import InputError, UserError
from dream_eval.reports import load_tasks
from dream_eval.tasks import read_sheets, review, write_sheets
from dream_eval.tasks.review import guarded, sheet, unguarded

HOSTILE = '=HYPERLINK("http://x.example","Compare")'
TASKS = [
    Task(id="health-en-1", prompt="Compare bus fares, since 2025.", language="en", topic="Health"),
    Task(id="health-en-2", prompt=HOSTILE, language="en", topic="=1+1"),
    Task(id="health-zh-3", prompt="比较票价；“提交”表格", language="zh", topic="健康"),
    Task(id="-4", prompt="Two\nlines and a 'quote'", language="en"),
]


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def filled(path: Path, answers: dict[str, str], *, comma: str = ",", encoding: str = "utf-8-sig") -> None:
    """The sheet as a spreadsheet would save it."""
    told = rows(path)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, told[0].keys(), delimiter=comma)
    writer.writeheader()
    for row in told:
        writer.writerow({**row, "qualified": answers.get(unguarded(row["id"]), "")})
    path.write_bytes(text.getvalue().encode(encoding))


def test_a_sheet_a_rater_each_in_its_own_order(tmp_path: Path) -> None:
    many = [Task(id=f"t-{number}", prompt=f"Task {number}") for number in range(12)]
    paths = write_sheets(many, ["anna", "ben"], tmp_path / "sheets")
    orders = [[row["id"] for row in rows(path)] for path in paths]
    assert [path.name for path in paths] == ["anna.csv", "ben.csv"]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(task.id for task in many)
    assert orders[0] != orders[1]
    assert sheet(many, "anna", {}) == sheet(many, "anna", {})
    assert paths[0].read_bytes().startswith(b"\xef\xbb\xbf")


def test_no_verdict_of_the_judge_is_on_a_sheet_but_the_person_is(tmp_path: Path) -> None:
    known = {
        "health-en-1": {
            "persona": {"name": "Kim", "role": "Nurse", "background": "Buys."},
            "qualification": {"depth": "no"},
        }
    }
    (path,) = write_sheets(TASKS, ["anna"], tmp_path, known)
    row = next(row for row in rows(path) if row["id"] == "health-en-1")
    assert row["person"] == "Nurse. Buys"
    assert set(row) == {"id", "language", "topic", "person", "prompt", "qualified", "comment"}


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "|calc", "%0A", "＝1", "'quoted", "\r\n=1", "\x00=1", "\ufeff=1"],
)
def test_no_cell_is_a_formula(cell: str) -> None:
    safe = guarded(cell)
    assert safe.startswith("'")
    assert "\n" not in safe
    assert unguarded(safe) == " ".join(cell.split())


def test_plain_cells_stay_as_they_are() -> None:
    assert guarded("Compare: 2024–2026 = more?") == "Compare: 2024–2026 = more?"


@pytest.mark.parametrize(("comma", "encoding"), [(",", "utf-8-sig"), (";", "utf-8"), ("\t", "utf-16")])
def test_there_and_back_through_any_spreadsheet(tmp_path: Path, comma: str, encoding: str) -> None:
    paths = write_sheets(TASKS, ["anna", "ben"], tmp_path)
    filled(paths[0], {"health-en-1": "yes", "health-en-2": "NO", "-4": "1"}, comma=comma, encoding=encoding)
    filled(paths[1], {"health-en-1": "是", "health-zh-3": "nein "}, comma=comma, encoding=encoding)
    anna, ben = read_sheets([tmp_path], TASKS)
    assert (anna.rater, ben.rater) == ("anna", "ben")
    assert anna.answers == {"health-en-1": True, "health-en-2": False, "-4": True}
    assert ben.answers == {"health-en-1": True, "health-zh-3": False}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("yes", "maybe"), r"anna.csv:\d+ \(qualified\): 'maybe' is neither yes nor no"),
        (("health-en-1", "health-en-9"), r"\(id\): there is no task 'health-en-9'"),
        (("health-zh-3", "health-en-1"), r"'health-en-1' is there twice \(first on line \d\)"),
        (("bus fares", "train fares"), r"\(prompt\): not the text of the task"),
        (('"qualified"', '"good"'), "needs one column 'qualified'"),
        (('"id"', '"qualified"'), "needs one column"),
        (('"health-zh-3"', '"health-zh-3'), "not CSV"),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_line(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    (path,) = write_sheets(TASKS, ["anna"], tmp_path)
    text = path.read_text(encoding="utf-8-sig").replace('"",""\n', '"yes",""\n')
    assert change[0] in text
    path.write_text(text.replace(change[0], change[1], 1), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_sheets([path], TASKS)


def test_sheets_that_may_be_filled_in_are_not_overwritten(tmp_path: Path) -> None:
    write_sheets(TASKS, ["anna"], tmp_path)
    with pytest.raises(UserError, match="may be filled in"):
        write_sheets(TASKS, ["ben", "anna"], tmp_path)
    assert not (tmp_path / "ben.csv").exists()


@pytest.mark.parametrize("names", [["../up"], ["a/b"], [""], ["anna", "Anna"], [], [".hidden"], ["x" * 41]])
def test_names_of_raters_are_names_of_files(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(UserError, match="--raters"):
        write_sheets(TASKS, names, tmp_path)


# --- agreement -------------------------------------------------------------------------------------------------------


def answers(tmp_path: Path, table: dict[str, str]) -> list[Path]:
    """Sheets of raters whose answers to the four tasks are given as ``yn-?``."""
    words = {"y": "yes", "n": "no", "-": ""}
    paths = write_sheets(TASKS, list(table), tmp_path)
    for path, letters in zip(paths, table.values(), strict=True):
        filled(path, {task.id: words[letter] for task, letter in zip(TASKS, letters, strict=True)})
    return paths


def test_by_hand(tmp_path: Path) -> None:
    sheets = read_sheets(answers(tmp_path, {"a": "yyny", "b": "yynn", "c": "ynny"}), TASKS)
    found = review(TASKS, sheets)
    assert found.at_least == 2
    assert [(task.yes, task.no, task.qualified) for task in found.tasks] == [
        (3, 0, True),
        (2, 1, True),
        (0, 3, False),
        (2, 1, True),
    ]
    assert found.share == 0.75
    assert found.interval is not None
    assert found.interval.low == pytest.approx(30.06, abs=0.05)  # Wilson, 3 of 4
    assert found.interval.high == pytest.approx(95.44, abs=0.05)
    # 12 values, 7 yes and 5 no; disagreeing pairs 2 × 2 of 2 units: Do = 4/12; De = 2·7·5 / (12·11)
    assert found.alpha == pytest.approx(1 - (4 / 12) / (70 / 132))
    assert found.shares == {"a": 0.75, "b": 0.5, "c": 0.5}
    assert review(TASKS, sheets, 3).share == 0.25


def test_missing_answers_leave_a_task_open_and_never_count_as_no(tmp_path: Path) -> None:
    sheets = read_sheets(answers(tmp_path, {"a": "yy-n", "b": "y--n", "c": "---y"}), TASKS)
    found = review(TASKS, sheets, 2)
    assert [task.qualified for task in found.tasks] == [True, None, None, False]
    assert found.share == 0.5
    assert found.answered == {"a": 3, "b": 2, "c": 1}
    assert found.ids(None) == ["health-en-2", "health-zh-3"]


def test_nothing_can_be_told_of_one_rater(tmp_path: Path) -> None:
    found = review(TASKS, read_sheets(answers(tmp_path, {"a": "yyyy"}), TASKS))
    assert (found.share, found.alpha) == (1.0, None)
    with pytest.raises(UserError, match="--at-least 2: there are 1 raters"):
        review(TASKS, read_sheets([tmp_path], TASKS), 2)


def test_four_of_seven_by_default(tmp_path: Path) -> None:
    sheets = read_sheets(answers(tmp_path, {f"r{number}": "yyyy" for number in range(7)}), TASKS)
    assert review(TASKS, sheets).at_least == 4


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "tasks.jsonl", tmp_path / "sheets"
    file.write_text("".join(task.model_dump_json(exclude_none=True) + "\n" for task in TASKS), encoding="utf-8")
    assert run(["tasks", "review", str(file), "--write", str(folder), "--raters", "anna, ben"]) == 0
    assert "to read them back: dream tasks review" in capsys.readouterr().out
    for name, letters in {"anna": "yyny", "ben": "yynn"}.items():
        words = {task.id: {"y": "yes", "n": "no"}[letter] for task, letter in zip(TASKS, letters, strict=True)}
        filled(folder / f"{name}.csv", words)
    good = tmp_path / "good.jsonl"
    assert run(["tasks", "review", str(file), "--read", str(folder), "--out", str(good)]) == 0
    shown = capsys.readouterr().out
    assert "anna: 75% yes (4 of 4 rated)" in shown
    assert "qualified by at least 2 of 2 raters: 2 of 4 tasks, 50% (95 %: 15–85 %)" in shown
    assert "Krippendorff's alpha: 0.53" in shown
    assert [task.id for task in load_tasks(good)] == ["health-en-1", "health-en-2"]
    assert run(["tasks", "review", str(file), "--read", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["at_least"] == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "say --write DIR"),
        (["--write", "d", "--read", "d"], "say --write DIR"),
        (["--write", "d"], "name the raters"),
        (["--read", "d", "--raters", "a"], "belongs to --write"),
        (["--write", "d", "--raters", "a", "--out", "x"], "belong to --read"),
        (["--read", "nowhere.csv"], "No such file"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(TASKS[0].model_dump_json(exclude_none=True) + "\n", encoding="utf-8")
    assert run(["tasks", "review", str(file), *options]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert len(told.splitlines()) == 1


def test_nothing_is_overwritten_by_what_stands_the_review(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text("".join(json.dumps({"id": task.id, "prompt": task.prompt}) + "\n" for task in TASKS))
    before = tasks.read_bytes()
    write_sheets(TASKS, ["anna"], tmp_path / "sheets")
    for out, words in ((tasks, "exists"), (tmp_path / "new.jsonl", "no task stands")):
        assert run(["tasks", "review", str(tasks), "--read", str(tmp_path / "sheets"), "--out", str(out)]) == 2
        assert words in capsys.readouterr().err
    assert tasks.read_bytes() == before
    assert not (tmp_path / "new.jsonl").exists()
