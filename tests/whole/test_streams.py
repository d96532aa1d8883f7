"""Standard output that is closed early, or cannot say every character."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.cluster

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


def test_a_reader_that_goes_away_does_not_end_the_run(world: Any) -> None:
    process = subprocess.Popen(
        [*DREAM, *world.command("--metrics", "wq,da")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=world.folder,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert "2 reports" in process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(200), err) == (0, "")
    assert json.loads((world.out / "summary.json").read_text())["state"] == "finished"


@pytest.mark.parametrize("verb", [["ledger", "show"], ["lint", "--all", "--json", "cited.md"], ["--help"]])
def test_other_verbs_end_without_a_traceback(world: Any, verb: list[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    ledger = ["--ledger", "l.sqlite"] if verb[0] == "ledger" else []
    done = subprocess.run([*DREAM, *verb, *ledger], stdout=theirs, stderr=subprocess.PIPE, cwd=world.folder, text=True)
    os.close(theirs)
    assert done.stderr == ""
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_the_character_writes_a_question_mark(world: Any, encoding: str) -> None:
    done = subprocess.run(
        [*DREAM, *world.command("--metrics", "wq,da")],
        capture_output=True,
        cwd=world.folder,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"source quality" in done.stdout
    done.stdout.decode(encoding)


def test_closed_standard_input_is_said(world: Any) -> None:
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", *DREAM, "lint", "-"]
    done = subprocess.run(shell, capture_output=True, cwd=world.folder, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("dream: standard input is closed")
