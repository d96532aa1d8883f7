"""Where noise comes from: known truth in runs on disk, and the study making its own runs over a real socket."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from dream_eval.cli import run
from dream_eval.core import Task
from dream_eval.errors import UserError
from dream_eval.evaluators.wq import CRITERIA
from dream_eval.studies.stability import study_stability
from dream_eval.studies.stability_tables import stability_tables
from servers.chat import Body, ScriptedChat
from written import result

Write = Callable[..., Path]


def bell(*names: object, sd: float) -> float:
    return random.Random("/".join(map(str, names))).gauss(0, sd)


def three_makings(write_run: Write, *, tasks: int = 60, repeats: int = 3) -> list[Path]:
    """Task SD 10, protocol SD 4, repeat SD 2; the second judge is 6 harsher; system b is 5 better."""
    asked = [Task(id=f"t{n}", prompt=f"Query {n}?") for n in range(tasks)]
    paths = []
    for making in range(3):

        def score(task: str, system: str, metric: str, judge: str, repeat: int, making: int = making) -> float:
            made = 0.0 if metric == "wq" else bell(task, system, metric, making, sd=4)
            noise = bell(task, system, metric, judge, making, repeat, sd=2)
            return 55 + bell(task, metric, sd=10) + made + noise - 6 * (judge == "x/b") + 5 * (system == "b")

        paths.append(
            write_run(
                score,
                name=f"making-{making}",
                systems=("a", "b"),
                judges=("x/a", "x/b"),
                metrics=("wq", "kic"),
                tasks=asked,
                repeats=repeats,
                protocol=lambda task, system, making=making: f"{task} {making}",
                ledger=f"ledger-{making}",
            )
        )
    return paths


def test_a_judge_that_always_says_the_same_shows_nothing(write_run: Write) -> None:
    one = study_stability([write_run(lambda *_: 50.0)]).metrics[0]
    assert (one.difference_sd, one.detectable, one.tasks_needed, one.tasks_with_repeats) == (0, None, None, None)


def test_the_true_parts_are_found(write_run: Write) -> None:
    found = {one.metric: one for one in study_stability(three_makings(write_run)).metrics}
    kic, wq = found["kic"], found["wq"]
    assert kic.made == "protocol"
    assert kic.repeat_sd == pytest.approx(2, rel=0.1)
    assert kic.making_sd == pytest.approx(4, rel=0.15)
    assert kic.judge_sd == pytest.approx(6 / 2**0.5, rel=0.15)
    assert kic.task_sd == pytest.approx(10, rel=0.25)
    assert kic.report_noise == pytest.approx(1.96 * 2**0.5 * (4 + 16) ** 0.5, rel=0.15)
    assert kic.system_noise == pytest.approx(kic.report_noise / 60**0.5)
    assert kic.difference_sd == pytest.approx((2 * (16 + 4)) ** 0.5, rel=0.15)
    assert (kic.makings, kic.repeats, kic.judges, kic.tasks) == (3, 3, 2, 60)
    assert wq.making_sd is None  # nothing is made for it
    assert wq.report_noise == pytest.approx(1.96 * 2**0.5 * 2, rel=0.1)
    assert kic.tasks_needed is not None
    assert kic.tasks_with_repeats is not None
    assert kic.tasks_needed > kic.tasks_with_repeats


def test_one_run_tells_repeats_and_not_makings(write_run: Write) -> None:
    found = study_stability(three_makings(write_run)[:1]).metrics
    assert {one.making_sd for one in found} == {None}
    assert all(one.repeat_sd is not None for one in found)
    shown = stability_tables(study_stability(three_makings(write_run)[:1]))
    assert all("–" in row for row in shown[0].rows)


def test_a_judge_that_never_varies_is_named(write_run: Write) -> None:
    found = study_stability([write_run(lambda task, *_: 40.0 + int(task[1:]), repeats=3)])
    assert found.metrics[0].repeat_sd == 0
    assert found.metrics[0].report_noise == 0
    assert "every repeat is the same" in found.notices[0]


def test_answers_reused_from_one_ledger_count_once(write_run: Write) -> None:
    path = write_run(lambda task, *_: 40.0 + int(task[1:]))
    found = study_stability([path, path])
    assert found.metrics[0].values == 16
    assert "32 scores rest on answers that another run gave" in found.notices[0]
    assert "nothing was judged twice" in found.notices[1]


def test_failed_units_are_no_scores(write_run: Write) -> None:
    path = write_run(lambda task, system, metric, judge, repeat: result(metric, None) if task == "t0" else 50.0)
    assert study_stability([path]).metrics[0].tasks == 7
    with pytest.raises(UserError, match="no scores"):
        study_stability([write_run(lambda *_: None, name="empty")])


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_reads_runs(write_run: Write, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(path) for path in three_makings(write_run, tasks=6)]
    assert run(["study", "stability", *paths, "--difference", "3"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "how many show 3 points" in " ".join(shown.split())
    assert run(["study", "stability", *paths, "--to", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["difference"] == 5
    for form in ("markdown", "latex"):
        assert run(["study", "stability", *paths, "--to", form]) == 0
        assert "Key-information coverage" in capsys.readouterr().out


def test_runs_and_reports_are_not_mixed(write_run: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "a.md"
    report.write_text("# Report\n\nIt is so.\n")
    assert run(["study", "stability", str(write_run(lambda *_: 50.0)), str(report)]) == 2
    assert "either run folders or reports" in capsys.readouterr().err


def test_the_command_makes_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two makings, two repeats: eight units of writing quality, each asked anew, by a judge that varies."""
    reports = []
    for name in ("a", "b"):
        reports.append(tmp_path / f"{name}.md")
        reports[-1].write_text(f"# Report {name}\n\nThe works employ 120 people. They make cells.\n")
    rng = random.Random(4)

    def rate(body: Body) -> dict[str, object]:
        return {name: rng.choice((2, 3, 4, 5)) for name in CRITERIA}

    with ScriptedChat() as chat:
        chat.always(rate)
        base = ["study", "stability", *map(str, reports), "--query", "Who works there?", "--judge", chat.judge]
        more = ["--metrics", "wq", "--repeats", "2", "--out", str(tmp_path / "out"), "-y"]
        assert run([*base, *more, "--plan"]) == 0
        assert chat.requests == []
        assert "makings 1 and 2 of 2, each" in capsys.readouterr().out
        assert run([*base, *more]) == 0, capsys.readouterr()
    shown = capsys.readouterr().out
    assert "Writing quality (wq)" in shown
    assert (tmp_path / "out" / "making-2" / "results.jsonl").read_text().count("\n") == 4
    assert len(chat.requests) == 8
    assert "4 repeats of a making" in " ".join(shown.split())
