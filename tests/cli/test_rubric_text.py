"""A rubric on the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from dream_eval.cli import run
from dream_eval.cli.rubric_text import rubric_problems, shown_rubric
from dream_eval.protocols import save_rubric
from rich.console import Console
from rubrics import rubric

TABLE = {
    "coverage": (40, {"names all works": 3, "names all years": 1}),
    "insight": (20, {"says why it is so": 1, "weighs \x1b[31mthe sides": 1}),
    "instruction_following": (10, {"answers the question": 1, "keeps to the scope": 1}),
    "clarity": (10, {"is in order": 1, "is easy to read": 1}),
    "Grid cost": (20, {"gives the cost": 1, "splits up what is paid": 1}),
}


def shown(path: Path) -> tuple[bool, str]:
    console = Console(file=io.StringIO(), width=80)
    done = shown_rubric(console, str(path))
    assert isinstance(console.file, io.StringIO)
    return done, console.file.getvalue()


def test_weights_dimensions_and_criteria(tmp_path: Path) -> None:
    path = save_rubric(rubric("dre_quality", TABLE), tmp_path / "r.json")
    done, text = shown(path)
    assert done
    assert "20 % of the weight is on task-specific dimensions" in text
    assert "40 % coverage\n    75 % c1 names all works\n    25 % c2 names all years\n" in text
    assert "20 % Grid cost (task-specific)" in text
    assert "\x1b" not in text
    assert "weighs the sides" in text
    assert rubric_problems(str(path)) == []


def test_another_file_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"key_questions": []}')
    assert shown(tmp_path / "p.json") == (False, "")
    assert rubric_problems(str(tmp_path / "p.json")) is None


def test_the_verbs_take_a_rubric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(save_rubric(rubric("dre_quality", TABLE), tmp_path / "r.json"))
    assert run(["protocol", "show", path]) == 0
    assert "40 % coverage" in capsys.readouterr().out
    assert run(["protocol", "lint", path]) == 0
