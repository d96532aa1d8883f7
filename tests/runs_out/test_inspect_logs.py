"""Inspect AI reads what we write, with its own reader, and finds the scores where it looks for them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.runs.export import export
from dream_eval.runs.reading import open_run
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from servers.chat import prompt
from world import CITED


def logs_of(folder: Path) -> dict[str, EvalLog]:
    logs = [read_eval_log(info) for info in list_eval_logs(str(folder))]
    return {log.eval.model: log for log in logs}


def test_a_log_a_system_with_its_samples_and_scores(finished: Path, tmp_path: Path) -> None:
    paths = export(finished, "inspect", out=tmp_path / "logs")
    logs, view = logs_of(tmp_path / "logs"), open_run(finished)
    assert len(paths) == 2
    assert set(logs) == {"cited", "uncited"}
    for system, log in logs.items():
        assert log.status == "success"
        assert log.eval.task == "dream-eval"
        assert log.eval.model_roles is not None
        assert log.eval.model_roles["grader"].model == view.config.maker  # type: ignore[union-attr]
        assert log.eval.dataset.sample_ids == ["t1", "t2"]
        assert [(sample.id, sample.epoch) for sample in log.samples or []] == [("t1", 1), ("t2", 1)]
        for sample in log.samples or []:
            for line in view.results():
                if (line.task, line.report) == (sample.id, system) and line.result.score is not None:
                    assert sample.scores is not None
                    assert sample.scores[line.metric].value == line.result.score
    (first, _) = logs["cited"].samples or []
    assert first.input == view.task("t1").prompt
    assert first.output.completion == view.report("t1", "cited").text
    assert first.output.completion.strip() == CITED.strip()


def test_the_explanation_and_the_details_say_what_is_wrong(finished: Path, tmp_path: Path) -> None:
    export(finished, "inspect", out=tmp_path / "logs")
    (first, _) = logs_of(tmp_path / "logs")["cited"].samples or []
    score = (first.scores or {})["factuality"]
    assert "4 of 5 items decided" in (score.explanation or "")
    assert "contradicted claim: The Lindow barrage has 14 turbines." in (score.explanation or "")
    items = {item["text"]: item for item in (score.metadata or {})["items"]}
    assert items["The Lindow barrage has 14 turbines."]["outcome"] == "contradicted"
    assert "12 turbines" in items["The Lindow barrage has 14 turbines."]["quote"]


def test_what_has_no_score_is_no_score_and_counts_in_no_mean(finished: Path, tmp_path: Path) -> None:
    export(finished, "inspect", out=tmp_path / "logs")
    log = logs_of(tmp_path / "logs")["uncited"]
    for sample in log.samples or []:
        assert "da" not in (sample.scores or {})
        assert sample.metadata["not_scored"] == {"da": {"status": "not_applicable", "reason": "no_citations"}}
        assert not any(math.isnan(score.as_float()) for score in (sample.scores or {}).values())
    assert log.results is not None
    scores = {score.name: score for score in log.results.scores}
    assert scores["da"].metrics == {}
    assert (scores["da"].scored_samples, scores["da"].unscored_samples) == (0, 2)
    assert scores["kic"].metrics["mean"].value == 50.0
    assert (scores["kic"].scored_samples, scores["kic"].unscored_samples) == (2, 0)
    assert "nan" not in json.dumps(log.results.model_dump(mode="json")).lower()


async def test_repeats_are_epochs_and_judges_have_logs_of_their_own(runs: Any, tmp_path: Path) -> None:
    from world import judge_of_world

    with judge_of_world() as second:
        # the same model at two addresses is one judge; a name of its own makes it another
        other = second.judge.replace("#scripted", "#other")
        await runs.run("run", ("t1",), ("cited",), metrics="wq", judge=[runs.chat.judge, other], repeats=2)
    export(runs.folder / "run", "inspect", out=tmp_path / "logs")
    logs = [read_eval_log(info) for info in list_eval_logs(str(tmp_path / "logs"))]
    assert len({log.eval.model_roles["grader"].model for log in logs}) == 2  # type: ignore[index,union-attr]
    for log in logs:
        assert [(sample.id, sample.epoch) for sample in log.samples or []] == [("t1", 1), ("t1", 2)]
        assert log.eval.config.epochs == 2
        assert log.results is not None
        assert log.results.scores[0].scored_samples == 1


async def test_failures_and_what_was_not_reached_stand_in_the_metadata(runs: Any, tmp_path: Path) -> None:
    runs.chat._rules.insert(0, (lambda body: "Score the writing" in prompt(body), "no JSON at all", [-1]))
    await runs.run("run", ("t1",), ("cited",), metrics="wq,da")
    lines = (runs.folder / "run" / "results.jsonl").read_text().splitlines()
    kept = [line for line in lines if json.loads(line)["metric"] == "wq"]
    (runs.folder / "run" / "results.jsonl").write_text("\n".join(kept) + "\n")
    export(runs.folder / "run", "inspect", out=tmp_path / "logs")
    (sample,) = logs_of(tmp_path / "logs")["cited"].samples or []
    assert sample.scores == {}
    assert sample.metadata["not_scored"]["wq"]["status"] == "failed"
    assert sample.metadata["not_scored"]["wq"]["reason"]
    assert sample.metadata["not_scored"]["da"]["status"] == "not_reached"


@pytest.mark.parametrize(("state", "status"), [("interrupted", "cancelled"), ("budget", "error"), ("refused", "error")])
def test_a_run_that_stopped_says_so(finished: Path, tmp_path: Path, state: str, status: str) -> None:
    import shutil

    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "summary.json"
    summary = json.loads(path.read_text()) | {"state": state, "reason": "budget reached"}
    path.write_text(json.dumps(summary))
    export(tmp_path / "run", "inspect", out=tmp_path / "logs")
    log = logs_of(tmp_path / "logs")["cited"]
    assert log.status == status
    assert (log.error.message if log.error else "") == ("budget reached" if status == "error" else "")


def test_writing_twice_gives_the_same_samples(finished: Path, tmp_path: Path, dream: Callable[..., Any]) -> None:
    names = []
    for out in ("a", "b"):
        code, said, _ = dream("export", str(finished), "--to", "inspect", "--out", str(tmp_path / out))
        assert code == 0
        assert said.count("written: ") == 2
        names.append(sorted(path.name for path in (tmp_path / out).iterdir()))
    assert names[0] == names[1]
    pairs = zip(*(logs_of(tmp_path / out)["cited"].samples or [] for out in ("a", "b")), strict=True)
    assert all(left == right for left, right in pairs)
