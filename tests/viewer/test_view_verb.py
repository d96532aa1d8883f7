"""``dream view`` as it is typed, and the line that other verbs print."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from dream_eval.cli import run
from dream_eval.cli.viewing import page_line


def test_a_run(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert run(["view", str(run_folder), "--out", str(page), "--no-open"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"written: {page} (0.")
    assert page.read_text().startswith("<!doctype html>")
    assert run(["view", str(run_folder), "--out", str(page)]) == 0  # no terminal: nothing is opened
    assert page.as_uri() in capsys.readouterr().out


def test_the_default_places(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dream_eval.viewer import default_out

    monkeypatch.chdir(tmp_path)
    assert default_out([run_folder]) == run_folder / "report.html"
    assert default_out([run_folder, "../other"]) == Path("plain-and-other.html")
    assert default_out(["questions/t7.json"]) == Path("questions/t7.html")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        (["nowhere"], "no such run folder or protocol file"),
        (["a", "b", "c"], "one run folder, two run folders"),
    ],
)
def test_mistakes_take_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["view", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_page_of_a_finished_run_never_ends_it(run_folder: Path, tmp_path: Path) -> None:
    assert page_line(run_folder) == f"page: {run_folder / 'report.html'}"
    assert page_line(tmp_path).startswith("no page was written: ")
    (tmp_path / "report.html").mkdir()
    for name in ("run.json", "results.jsonl"):
        (tmp_path / name).write_bytes((run_folder / name).read_bytes())
    assert page_line(tmp_path).startswith("no page was written: ")


def test_served_until_it_is_stopped(run_folder: Path) -> None:
    code = "import sys; from dream_eval.cli import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-u", "-c", code, "view", str(run_folder), "--serve", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"}) as process:
        assert process.stdout
        address = process.stdout.readline().split()[1]
        assert httpx.get(address, timeout=200).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=200) == 0
