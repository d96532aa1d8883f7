"""Metrics against people's scores of reports, and the command that holds judges against people."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run
from dream_eval.errors import InputError
from dream_eval.runs.calibrated import records_folder
from dream_eval.studies.human_reports import compare_with_people, load_scores, pairs_in_order
from dream_eval.studies.pool import pool_runs
from servers.chat import ScriptedChat, prompt

Write = Callable[..., Path]
SYSTEMS = {"a": 1, "b": 2, "c": 3}


def ratings(folder: Path, *, tasks: int = 8) -> Path:
    """Two people a report; both prefer c to b to a."""
    path = folder / "ratings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("task", "system", "score"))
        writer.writerows(
            (f"t{n}", system, worth + more)
            for n in range(tasks)
            for system, worth in SYSTEMS.items()
            for more in (0, 1)
        )
    return path


def test_a_metric_that_follows_people_is_told_from_one_that_does_not(write_run: Write, tmp_path: Path) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
        return {"wq": 20.0 * SYSTEMS[system], "kic": 90 - 20.0 * SYSTEMS[system], "da": 50.0}[metric]

    path = write_run(score, systems=tuple(SYSTEMS), metrics=("wq", "kic", "da"))
    found = compare_with_people(pool_runs([path]), load_scores(ratings(tmp_path)))
    by_metric = {one.metric: one for one in found.metrics}
    assert [one.pairs and one.pairs.value for one in found.metrics] == [0.5, 1, 0, 0.5]  # length, wq, kic, da
    assert by_metric["wq"].rho is not None
    assert by_metric["wq"].rho.value == pytest.approx(1)
    assert by_metric["kic"].rho is not None
    assert by_metric["kic"].rho.value == pytest.approx(-1)
    assert by_metric["da"].rho is None
    assert (by_metric["wq"].reports, by_metric["wq"].pairs and by_metric["wq"].pairs.n) == (24, 24)


def test_ties_of_people_are_no_pair_and_ties_of_metrics_count_half() -> None:
    people = {("t", "a"): 1.0, ("t", "b"): 1.0, ("t", "c"): 2.0, ("u", "a"): 1.0}
    scores = {("t", "a"): 5.0, ("t", "b"): 9.0, ("t", "c"): 5.0, ("u", "a"): 1.0}
    found = pairs_in_order(scores, people)
    assert found is not None
    assert (found.value, found.n, found.low) == (0.25, 2, None)
    assert pairs_in_order(scores, {("u", "a"): 1.0}) is None


def test_scores_without_a_report_are_named(
    write_run: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(lambda *_: 50.0, systems=tuple(SYSTEMS))
    assert run(["study", "human", str(path), "--labels", str(ratings(tmp_path, tasks=9))]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "No report of these in the runs: a on t8, b on t8, c on t8" in shown


def test_bad_ratings(write_run: Write, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    for score in ("good", "nan", "1e999"):
        path.write_text(f"task,system,score\nt1,a,{score}\n")
        with pytest.raises(InputError, match=r"r\.csv:2 \(score\): must be a number"):
            load_scores(path)
    path.write_text("task,system,score\nt1,,3\n")
    with pytest.raises(InputError, match=r"\(system\): is missing"):
        load_scores(path)
    with pytest.raises(InputError, match="none of these tasks"):
        compare_with_people(pool_runs([write_run(lambda *_: 50.0)]), {("x", "y"): 1.0})


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    rows = "".join(f"Works number {n} closed in May.,Works number {n} closed in May.,supports\n" for n in range(6))
    rows += "".join(f"Works number {n} closed in May.,It never closed.,refutes\n" for n in range(6, 12))
    path.write_text("claim,evidence,label\n" + rows)
    return path


def says(verdict: str) -> dict[str, Any]:
    """An answer that fits both questions, the product's and the plain one."""
    return {"verdict": verdict, "answers": [{"id": "P1", "verdict": verdict, "sentences": [1]}]}


def test_the_command_prints_keeps_a_record_and_asks_nothing_twice(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedChat() as chat:
        chat.on(lambda body: "It never closed" in prompt(body), says("contradicted"))
        chat.always(says("supported"))
        command = [
            "study",
            "human",
            "--labels",
            str(labels),
            "--judge",
            chat.judge,
            "--ledger",
            str(tmp_path / "l.sqlite"),
        ]
        assert run(command) == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines()[:-2])) <= 80
        for words in ("Agreement with people", "F1 by label", "plain prompt says", "Calibration", "within noise"):
            assert words in " ".join(shown.split())
        (record,) = records_folder().glob("*.json")
        assert str(record) in shown
        asked = len(chat.requests)
        assert run([*command, "--to", "json"]) == 0
        assert len(chat.requests) == asked
    study = json.loads(capsys.readouterr().out)
    assert study["methods"][0]["confusion"] == [[6, 0, 0], [0, 6, 0], [0, 0, 0]]


def test_a_sample_and_its_picture(labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedChat() as chat:
        chat.always(says("supported"))
        base = [
            "study",
            "human",
            "--labels",
            str(labels),
            "--judge",
            chat.judge,
            "--ledger",
            str(tmp_path / "l.sqlite"),
        ]
        more = ["--max", "4", "--no-plain", "--plots", str(tmp_path / "p"), "--out", str(tmp_path / "records")]
        assert run([*base, *more]) == 0
        assert len(chat.requests) == 4
    shown = " ".join(capsys.readouterr().out.split())
    assert "4 drawn with seed 7, labels mixed evenly" in shown
    assert "too weak here" in shown
    assert {path.name for path in (tmp_path / "p").iterdir()} == {"calibration.png", "calibration.svg"}
    assert len(list((tmp_path / "records").iterdir())) == 1
    assert not list(records_folder().glob("*.json"))
