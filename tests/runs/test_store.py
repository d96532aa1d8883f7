"""The run folder: atomic files, broken lines, the lock, what is kept and what is reused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dream_eval.core import Status
from dream_eval.errors import InputError, UserError
from dream_eval.evaluators.results import MetricResult
from dream_eval.runs.data import Exit, RunConfig, UnitResult
from dream_eval.runs.files import append_line, read_lines, slug, write_atomic
from dream_eval.runs.results import dump_line, line_at
from dream_eval.runs.store import RunFolder


def unit(key: str, *, score: float | None = 50.0, metric: str = "wq", reason: str = "") -> UnitResult:
    status = Status.FAILED if score is None else Status.SCORED
    result = MetricResult(
        metric=metric, version=1, status=status, score=score, reason=reason or ("x" if score is None else "")
    )
    return UnitResult(unit=key, task="t", report="r", metric=metric, judge="j", inputs={"version": 1}, result=result)


def test_write_atomic_leaves_the_old_file_when_the_write_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old")
    with pytest.raises(TypeError):
        write_atomic(path, object())  # type: ignore[arg-type]
    write_atomic(path, "new")
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from dream_eval.runs.files import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_atomic(Path(sys.argv[1]), 'x' * 100_000)\n"
    )
    path = tmp_path / "a.json"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "OSError" in done.stderr
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_broken_last_line_is_skipped_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    append_line(path, '{"a": 1}')
    with path.open("a") as file:
        file.write('{"a": 2')  # killed in the middle of a write
    assert list(read_lines(path)) == [{"a": 1}]
    append_line(path, '{"a": 3}')
    assert list(read_lines(path)) == [{"a": 1}, {"a": 3}]


def test_results_survive_broken_and_foreign_lines(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.append(unit("k1"))
    append_line(folder.results_path, '{"unit": "old format"}')
    append_line(folder.results_path, "[1, 2]")
    folder.append(unit("k2"))
    assert [line.unit for line in folder.lines()] == ["k1", "k2"]


def test_a_failed_unit_is_not_known_and_a_later_success_is(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.append(unit("k1", score=None))
    assert folder.index().settled == {}
    folder.append(unit("k1", score=70))
    found = line_at(folder.index().settled["k1"])
    assert found is not None
    assert found.result.score == 70


def test_finish_writes_plan_order_and_keeps_what_the_plan_no_longer_holds(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    spots = {key: folder.append(unit(key)) for key in ("k3", "k1", "k2")}
    folder.finish([spots["k1"], spots["k2"]])
    assert [line.unit for line in folder.lines()] == ["k1", "k2"]
    assert set(folder.index().settled) == {"k1", "k2", "k3"}
    for _ in range(2):
        known = folder.index().settled
        folder.finish([known["k2"], known["k3"]])
    assert [line.unit for line in folder.lines()] == ["k2", "k3"]
    assert set(folder.index().settled) == {"k1", "k2", "k3"}
    assert len(list(read_lines(tmp_path / "superseded.jsonl"))) == 2


def test_lines_are_the_same_whatever_the_order_of_keys() -> None:
    line = dump_line(unit("k1"))
    assert line == json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert "\n" not in line


def test_secrets_are_masked_in_everything_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, secrets=["sk-marker-123", "another-marker"])
    spot = folder.append(unit("k1", score=None, reason="401 for sk-marker-123"))
    folder.append(unit("k1", score=None, reason="401 for sk-marker-123"))
    folder.finish([spot])
    folder.save("x.json", unit("k2", score=None, reason="another-marker"))
    folder.note_error("Traceback sk-marker-123")
    written = "".join(p.read_text() for p in tmp_path.iterdir())
    assert "marker" not in written
    assert written.count("[masked]") == 3


def test_an_unreadable_run_json_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"run\.json.*move it away") as error:
        RunFolder(tmp_path).config()
    assert "\n" not in str(error.value)
    assert RunFolder(tmp_path / "new").load("run.json", RunConfig) is None


def test_a_folder_of_other_things_is_no_run_folder_and_stays_as_it_is(tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "file"
    (other / "sub").mkdir(parents=True)
    (other / "summary.json").write_text("mine")
    (other / "sub" / ".x.tmp").write_text("mine")
    file.write_text("mine")
    for place, said in ((other, "holds no run"), (file, "Not a directory"), (file / "x", "Not a directory")):
        with pytest.raises(UserError, match=f"--out {place}: .*{said}"):
            RunFolder(place).check()
    assert sorted(path.name for path in tmp_path.rglob("*")) == [".x.tmp", "file", "other", "sub", "summary.json"]
    for name in ("nul\0", "x" * 300):
        with pytest.raises(UserError, match="--out"):
            RunFolder(tmp_path / name).check()
    with pytest.raises(UserError, match=r"--out .*Not a directory"):
        RunFolder(file / "x").lock().__enter__()


def test_an_empty_folder_and_what_a_killed_start_left_are_taken(tmp_path: Path) -> None:
    RunFolder(tmp_path / "new").check()
    RunFolder(tmp_path).check()
    (tmp_path / "lock").touch()
    (tmp_path / ".run.json.ab12_xyz.tmp").touch()
    (tmp_path / "l.sqlite-wal").touch()
    RunFolder(tmp_path).check(ledger=tmp_path / "l.sqlite")
    with pytest.raises(UserError, match=r"l\.sqlite-wal"):
        RunFolder(tmp_path).check()


def test_tidying_removes_our_temporary_files_and_no_others(tmp_path: Path) -> None:
    ours = (".summary.json.ab12_xyz.tmp", ".results.jsonl.abcdefgh.tmp", "claims/.a-1.json.ab12_xyz.tmp")
    others = (".notes.tmp", ".run.json.tmp", "notes/.a.json.ab12_xyz.tmp", "reports/x/.a.json.ab12_xyz.tmp")
    for name in (*ours, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    RunFolder(tmp_path).tidy()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.tmp")} == set(others)


HOLD = """
import sys, time
from dream_eval.runs.store import RunFolder
with RunFolder(sys.argv[1]).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_process_is_refused_by_name_and_a_dead_owner_does_not_block(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"process {holder.pid} on {os.uname().nodename} since 20"):
            RunFolder(tmp_path).lock().__enter__()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert str(holder.pid) in (tmp_path / "lock").read_text()
        with RunFolder(tmp_path).lock():
            assert str(os.getpid()) in (tmp_path / "lock").read_text()
    finally:
        holder.kill()
        holder.wait()
    assert (tmp_path / "lock").read_text() == ""


def test_the_lock_holds_within_a_process_and_against_others_after_a_refusal(tmp_path: Path) -> None:
    with RunFolder(tmp_path).lock():
        with pytest.raises(UserError, match="another call in this process"):
            RunFolder(tmp_path).lock().__enter__()
        other = subprocess.run([sys.executable, "-c", HOLD, str(tmp_path)], capture_output=True, text=True, timeout=200)
        assert "is in use by process" in other.stderr
    with RunFolder(tmp_path).lock():
        pass


@pytest.mark.parametrize(
    ("codes", "first"),
    [
        (set(), 0),
        ({Exit.GATE, Exit.COVERAGE}, 6),
        ({Exit.GATE, Exit.COVERAGE, Exit.INTERRUPTED}, 3),
        ({Exit.INTERRUPTED, Exit.BUDGET}, 4),
        ({Exit.BUDGET, Exit.REFUSED, Exit.GATE}, 5),
    ],
)
def test_the_order_of_exit_codes(codes: set[Exit], first: int) -> None:
    assert Exit.first(codes) == first


def test_slugs_are_safe_file_names() -> None:
    assert slug("../..//Etc Passwd\x1b[31m") == "etc-passwd-31m"
    assert slug("报告") == "x"
    assert len(slug("a" * 500)) == 40
