"""Tables in each format: what a name may do to none of them; pictures; the command line."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from dream_eval.cli import run
from dream_eval.core import Task
from dream_eval.studies.output import Table, as_csv, latex, markdown

Write = Callable[..., Path]
TABLE = Table("Scores & such", ("system", "mean"), (("wq",), ("a|b_c <i>", "50 %")), ("below 5 % [x](y)",), groups=True)


def test_markdown_escapes_what_would_be_markup() -> None:
    text = markdown("A *title*", [TABLE], ["note"])
    assert "# A \\*title\\*" in text
    assert "| a\\|b\\_c \\<i\\> | 50 % |" in text
    assert "| :-- | --: |" in text
    assert "- below 5 % \\[x\\](y)" in text


def test_latex_escapes_what_would_be_a_command() -> None:
    text = latex([TABLE], ["a\n\\input{x}"])
    assert "\\caption{Scores \\& such}" in text
    assert "\\multicolumn{2}{l}{\\emph{wq}}" in text
    assert "a|b\\_c <i> & 50 \\% \\\\" in text
    assert text.splitlines()[1] == "% a \\input{x}"  # one line: it stays a comment
    assert text.count("{") == text.count("}")


def test_latex_keeps_what_has_no_columns() -> None:
    text = latex([Table("Tasks without a score", (), (), ("a_b: failed",))])
    assert "\\paragraph{Tasks without a score}\na\\_b: failed\\par" in text


def test_csv_has_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(("a", "b"), [("=1+1", -2.5), ('x,\n"y"', None), ("-", 0)]))))
    assert rows == [["a", "b"], ["'=1+1", "-2.5"], ['x, "y"', ""], ["'-", "0"]]


def noisy(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
    rng = random.Random(f"{task}{system}{metric}{judge}{repeat}")
    return 50 + 15 * (system == "a") + rng.uniform(-8, 8)


@pytest.fixture
def bench(write_run: Write) -> Path:
    tasks = [Task(id=f"t{n}", prompt=f"Query {n}?", topic="law" if n % 2 else "$a_b$") for n in range(8)]
    return write_run(
        noisy,
        systems=("a", "b$x_1$", "c\x1b[31m"),
        judges=("openai/x", "anthropic/y"),
        metrics=("wq", "kic"),
        tasks=tasks,
    )


@pytest.mark.parametrize("by", ["system", "judge"])
@pytest.mark.parametrize("to", [None, "markdown", "latex", "csv", "json"])
def test_compare_prints_every_format(bench: Path, capsys: pytest.CaptureFixture[str], by: str, to: str | None) -> None:
    assert run(["compare", str(bench), "--by", by, *(["--to", to] if to else [])]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    if to == "json":
        assert json.loads(shown)["by"] == by
    elif to == "csv":
        rows = list(csv.DictReader(io.StringIO(shown)))
        assert {"metric", "value", "low", "high", "n", "p"} <= set(rows[0])
        assert {row["kind"] for row in rows} >= ({"score", "pair"} if by == "system" else {"pair"})
    elif to is None:
        assert max(map(len, shown.splitlines())) <= 80
        assert "exact, 256 sign patterns" in " ".join(shown.split())
        assert "nobody has measured here" in " ".join(shown.split())


def test_compare_slices(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", str(bench), "--slice", "topic", "--slice", "vertical"]) == 0
    shown = capsys.readouterr().out
    assert "By topic" in shown
    assert "By vertical" in shown
    assert "law, kic" in shown
    assert "By language" not in shown
    assert run(["compare", str(bench), "--slice", "language"]) == 0
    assert "there are no scores, or all tasks have the same language or none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--judge", "nobody"], "no judge 'nobody'"),
        (["--by", "judge", "--vendor", "x"], "must be NAME=VENDOR"),
        (["--by", "judge", "--vendor", "nobody=openai"], "no system or judge 'nobody'"),
    ],
)
def test_mistakes_are_one_line(
    bench: Path, capsys: pytest.CaptureFixture[str], more: list[str], complaint: str
) -> None:
    assert run(["compare", str(bench), *more]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said


def test_a_folder_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", str(tmp_path)]) == 2
    assert "no run here" in capsys.readouterr().err


def test_pictures_are_drawn_whatever_the_names(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for by in ("system", "judge"):
        assert run(["compare", str(bench), "--by", by, "--plots", str(tmp_path / by)]) == 0
    names = {path.name for path in (tmp_path / "system").iterdir()}
    assert names == {f"{name}.{end}" for name in ("intervals", "ranks", "metric-agreement") for end in ("png", "svg")}
    svg = (tmp_path / "system" / "intervals.svg").read_text()
    assert "b$x_1$" in svg  # no mathematics
    assert (tmp_path / "system" / "ranks.png").read_bytes().startswith(b"\x89PNG")
    assert "drawn:" in capsys.readouterr().out


def test_that_there_is_nothing_to_draw_is_said(
    write_run: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = write_run(lambda *_: None)
    assert run(["compare", str(empty), "--plots", str(tmp_path / "pictures")]) == 0
    assert "nothing to draw: too few scores" in capsys.readouterr().out


def test_pictures_of_few_tasks(write_run: Write, tmp_path: Path) -> None:
    path = write_run(noisy, systems=("a", "b"), tasks=[Task(id="t", prompt="Query?")])
    assert run(["compare", str(path), "--plots", str(tmp_path / "p")]) == 0
    assert {one.name for one in (tmp_path / "p").iterdir()} == {"intervals.png", "intervals.svg"}


def test_drawing_twice_gives_the_same_svg(bench: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(["compare", str(bench), "--to", "json", "--plots", str(tmp_path / name)])
    one, two = ((tmp_path / name / "intervals.svg").read_bytes() for name in ("one", "two"))
    assert one == two
