"""How a run stands: done, stopped, at work in another process, and after that process died. Nothing is written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run_status
from dream_eval.errors import InputError, UserError
from dream_eval.runs.lock import RunLock
from dream_eval.runs.status import newest_run, owner_of, status_of
from servers.chat import hang
from world import AS_OF, QUERY

pytestmark = pytest.mark.cluster

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


def fingerprint(folder: Path) -> dict[str, str]:
    """Of every file of a folder."""
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_finished_run(finished: Path) -> None:
    before = fingerprint(finished)
    status = status_of(finished)
    assert (status.state, status.owner, status.advice) == ("finished", None, "")
    assert (status.planned, status.done, status.failed, status.left) == (24, 24, 0, 0)
    cell = next(cell for cell in status.cells if (cell.system, cell.metric) == ("cited", "kic"))
    assert (cell.planned, cell.done, cell.left) == (2, 2, 0)
    assert status.totals is not None
    assert status.totals.made > 0
    assert fingerprint(finished) == before


@pytest.mark.parametrize(
    ("state", "said"),
    [("interrupted", "to go on: "), ("budget", "raise the budget"), ("refused", "see to the account")],
)
def test_a_stopped_run_says_why_and_how_to_go_on(finished: Path, tmp_path: Path, state: str, said: str) -> None:
    shutil.copytree(finished, tmp_path / "run")
    summary = json.loads((finished / "summary.json").read_text()) | {"state": state, "reason": "because"}
    (tmp_path / "run" / "summary.json").write_text(json.dumps(summary))
    config = json.loads((finished / "run.json").read_text()) | {"command": "dream run eval.toml"}
    (tmp_path / "run" / "run.json").write_text(json.dumps(config))
    lines = (finished / "results.jsonl").read_text().splitlines()
    (tmp_path / "run" / "results.jsonl").write_text("\n".join(lines[:10]) + "\n")
    status = status_of(tmp_path / "run")
    assert (status.state, status.reason, status.done, status.left) == (state, "because", 10, 14)
    assert status.advice.startswith(said)
    assert status.advice.endswith("dream run eval.toml")


def test_a_ledger_that_is_gone_is_unknown_and_not_zero(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    config = json.loads((finished / "run.json").read_text()) | {"ledger": str(tmp_path / "gone.sqlite")}
    (tmp_path / "run" / "run.json").write_text(json.dumps(config))
    assert status_of(tmp_path / "run").totals is None
    assert not (tmp_path / "gone.sqlite").exists()


def test_looking_from_the_process_that_works_does_not_let_the_lock_go(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    with RunLock(tmp_path / "run"):
        status = status_of(tmp_path / "run")
        assert status.state == "running"
        assert status.owner is not None
        assert (status.owner.pid, status.owner.alive) == (os.getpid(), True)
        code = (
            "import sys, pathlib; from dream_eval.runs import lock; lock.RunLock(pathlib.Path(sys.argv[1])).__enter__()"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "run")], capture_output=True, text=True, check=False
        )
        assert "is in use by process" in other.stderr
    assert status_of(tmp_path / "run").state == "finished"


def test_an_owner_elsewhere_cannot_be_asked_and_one_here_that_is_dead_is_seen(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    said = {"pid": os.getpid(), "host": "elsewhere", "started": "2026-05-01T10:00:00+00:00"}
    (tmp_path / "run" / "lock").write_text(json.dumps(said))
    owner = owner_of(tmp_path / "run")
    assert owner is not None
    assert owner.alive is None
    assert status_of(tmp_path / "run").state == "running"
    # the number of a dead process may have gone to another one, such as this: the lock tells
    (tmp_path / "run" / "lock").write_text(json.dumps(said | {"host": socket.gethostname()}))
    status = status_of(tmp_path / "run")
    assert (status.state, status.owner.alive if status.owner else None) == ("died", False)
    assert "same command again" in status.advice
    (tmp_path / "run" / "lock").write_text("{broken")
    assert status_of(tmp_path / "run").owner is None


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 100) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def test_a_run_at_work_in_another_process_and_after_its_death(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    out = runs.folder / "run"

    def told(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return run_status.command.main(list(args), standalone_mode=False), *capsys.readouterr()

    command = [
        "evaluate",
        str(runs.folder / "cited.md"),
        "--query",
        QUERY,
        "--judge",
        runs.chat.judge,
        "--as-of",
        AS_OF,
    ]
    command += ["--search", f"corpus:{runs.folder / 'corpus'}", "--out", str(out), "--metrics", "wq,ci,da"]
    command += ["--ledger", str(runs.folder / "ledger.sqlite")]
    runs.chat._rules.insert(0, (lambda body: "Its kind and its score?" in str(body), hang(600), [-1]))
    process = subprocess.Popen(
        [*DREAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        wait_for(lambda: (out / "results.jsonl").exists() and b'"wq"' in (out / "results.jsonl").read_bytes(), process)
        code, said, err = told(str(out), "--json")
        assert (code, err) == (0, "")
        status = json.loads(said)
        assert (status["state"], status["owner"]["pid"], status["owner"]["alive"]) == ("running", process.pid, True)
        assert status["left"] >= 1
        assert status["done"] >= 1
        assert status["totals"]["prompt_tokens"] > 0
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = fingerprint(out)
    code, said, _ = told(str(out))
    assert code == 0
    assert "died" in said
    assert f"process {process.pid} on {socket.gethostname()}, gone" in said
    assert "\nto go on: " in said
    assert fingerprint(out) == before


def test_the_newest_run_and_no_run(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run in it"):
        newest_run(tmp_path)
    for number, name in enumerate(("b", "a")):
        shutil.copytree(finished, tmp_path / name)
        os.utime(tmp_path / name / "run.json", (1000 + number, 1000 + number))
    assert newest_run(tmp_path).name == "a"
    with pytest.raises(InputError, match="no run here"):
        status_of(tmp_path)
