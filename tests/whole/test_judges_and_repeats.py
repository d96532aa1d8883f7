"""Runs of several systems, tasks, judges and repeats over real sockets; every score was worked out by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dream_eval.core import Status, Task
from dream_eval.errors import UserError
from dream_eval.runs.api import prepare
from dream_eval.runs.data import Exit, RunState
from dream_eval.runs.perform import RunResult
from dream_eval.runs.reading import open_run
from dream_eval.runs.replay import replay
from dream_eval.runs.summary import gate_codes
from servers.chat import Body, ScriptedChat, last_user, prompt
from world import CITED, QUERY, SCORES, UNCITED, WRITING, is_claims, judge_of_world

pytestmark = pytest.mark.cluster

STRICT = {"organisation": 3, "clarity": 2, "coherence": 2, "concision": 1, "format": 3, "language": 2, "faults": []}
"""13 of 30: (2 + 1 + 1 + 0 + 2 + 1) / 24 of the scale."""
LENIENT, HARSH = 100 * 19 / 24, 100 * 7 / 24


def is_writing(body: Body) -> bool:
    return "Score the writing of the report" in last_user(body)


def is_creator(body: Body) -> bool:
    return "prepare the evaluation of research reports" in prompt(body)


def strict_judge() -> ScriptedChat:
    """A judge that finds everything badly written, and else judges as the other one."""
    return judge_of_world(model="strict").on(is_writing, STRICT, first=True)


def kinds_of(chat: ScriptedChat) -> Counter[str]:
    tests = {"claims": is_claims, "writing": is_writing, "protocol": is_creator}
    return Counter(name for body in chat.requests for name, test in tests.items() if test(body))


async def test_two_judges_share_protocol_and_claims_and_score_on_their_own(world: Any) -> None:
    with strict_judge() as strict:
        result = await world.run(judge=[world.chat.judge, strict.judge])
        assert result.state is RunState.FINISHED
        assert [name.rpartition("#")[2] for name in result.config.judges] == ["scripted", "strict"]
        assert kinds_of(strict) == {"writing": 2}, "only the maker makes protocols and claims"
        assert kinds_of(world.chat) == {"claims": 2, "protocol": 2, "writing": 2}
        for (report, metric), expected in SCORES.items():
            for judge in (world.chat.judge, strict.judge):
                want = HARSH if (metric, judge) == ("wq", strict.judge) else expected
                assert result.score(report, metric, judge=judge) == (None if want is None else pytest.approx(want))
    assert len(result.keys) == 2 * len(SCORES)
    assert (await replay(world.out)).difference is None
    assert {line.judge for line in open_run(world.out).results()} == set(result.config.judges)


async def test_a_repeat_is_asked_again_and_shares_what_is_made_once(world: Any) -> None:
    turns: list[int] = []

    def moody(body: Body) -> dict[str, Any]:
        turns.append(1)
        return STRICT if len(turns) > 2 else WRITING

    world.chat.on(is_writing, moody, first=True)
    first = await world.run(metrics="wq,kic")
    assert first.score("cited", "wq") == pytest.approx(LENIENT)
    before = kinds_of(world.chat)
    result = await world.run(metrics="wq,kic", repeats=3)
    after = kinds_of(world.chat) - before
    assert after == {"writing": 4}, "two more draws of two reports, and nothing else is made again"
    for repeat, want in enumerate((LENIENT, HARSH, HARSH)):
        assert result.score("cited", "wq", repeat=repeat) == pytest.approx(want)
        assert result.score("cited", "kic", repeat=repeat) == 75
    assert result.config.repeats == 3
    cell = next(c for c in result.summary.systems if (c.system, c.metric) == ("cited", "wq"))
    assert cell.score == pytest.approx((LENIENT + 2 * HARSH) / 3)
    assert (await replay(world.out)).difference is None


def two_tasks(world: Any) -> dict[str, Any]:
    """Systems ``good`` and ``poor`` with a report each on two tasks."""
    tasks = [Task(id="t1", prompt=QUERY), Task(id="t2", prompt=f"{QUERY} Be brief.")]
    for system, texts in {"good": (CITED, CITED), "poor": (UNCITED, CITED)}.items():
        lines = [{"id": t.id, "prompt": t.prompt, "article": x} for t, x in zip(tasks, texts, strict=True)]
        (world.folder / f"{system}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    systems = {name: world.folder / f"{name}.jsonl" for name in ("good", "poor")}
    return {"reports": systems, "tasks": tasks, "query": None}


async def test_systems_are_compared_over_tasks(world: Any) -> None:
    result = await world.run(**two_tasks(world))
    assert result.config.systems == ("good", "poor")
    assert [ref.task for ref in result.config.reports] == ["t1", "t2", "t1", "t2"]
    cells = {(cell.system, cell.metric): cell for cell in result.summary.systems}
    assert cells["good", "wq"].score == pytest.approx(LENIENT)
    assert cells["good", "wq"].interval is None, "two tasks are too few for one"
    kic = cells["poor", "kic"]
    assert (kic.score, kic.scored, kic.thin) == (None, 0, 2), "four questions a task are too few to be ranked"
    assert kic.shown == (50 + 75) / 2
    poor = cells["poor", "da"]
    assert (poor.scored, poor.expected) == (1, 1), "not applicable on one task"
    assert poor.score == pytest.approx(SCORES["cited", "da"])
    assert gate_codes(result.summary, {"kic": 62.5}) == set()
    assert gate_codes(result.summary, {"kic": 62.6}) == {Exit.GATE}
    assert gate_codes(result.summary, {"race": 1}) == {Exit.COVERAGE}
    assert result.score("poor#t1", "kic") == 50
    assert kinds_of(world.chat)["protocol"] == 2 * 2, "one a task"
    assert (await replay(world.out)).difference is None


async def test_adding_a_judge_a_metric_a_system_or_a_task_does_only_what_is_new(world: Any) -> None:
    wishes = two_tasks(world)
    both, tasks = wishes["reports"], wishes["tasks"]
    small = {**wishes, "reports": {"good": both["good"]}, "tasks": tasks}
    await world.run(**small, metrics="wq")
    assert kinds_of(world.chat) == {"writing": 2}
    await world.run(**small, metrics="wq,kic")
    assert kinds_of(world.chat) == {"writing": 2, "protocol": 4}
    await world.run(**wishes, metrics="wq,kic")
    assert kinds_of(world.chat) == {"writing": 3, "protocol": 4}, "one of the two new reports is word for word known"
    asked = len(world.chat.requests)
    with strict_judge() as strict:
        result = await world.run(**wishes, metrics="wq,kic", judge=[world.chat.judge, strict.judge])
        assert kinds_of(strict) == {"writing": 3}
        assert len(world.chat.requests) == asked
    assert result.score("poor#t2", "wq", judge=strict.judge) == pytest.approx(HARSH)
    fewer = await world.run(**small, metrics="wq")
    assert len(fewer.keys) == 2
    assert len(world.chat.requests) == asked
    assert len((world.out / "results.jsonl").read_text().splitlines()) == 2


async def test_all_systems_advance_together_task_by_task(world: Any) -> None:
    """With one call at a time the order of the calls is the order of the work."""
    tasks = [Task(id=f"t{n}", prompt=f"{QUERY} In {n} sentences.") for n in range(1, 7)]
    for system in ("a", "b"):
        lines = [{"id": t.id, "prompt": t.prompt, "article": f"{UNCITED}\nBy {system}.\n"} for t in tasks]
        (world.folder / f"{system}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    systems = {name: world.folder / f"{name}.jsonl" for name in ("a", "b")}
    done: list[tuple[str, str]] = []

    def seen(_: Any, notice: Any) -> None:
        if notice is not None and notice.kind == "unit":
            done.append((notice.line.task, notice.line.report))

    await world.run(reports=systems, query=None, tasks=tasks, metrics="wq", concurrency=1, on_progress=seen)
    assert len(done) == 12
    assert [task for task, _ in done] == [task.id for task in tasks for _ in systems]
    assert all({done[i][1], done[i + 1][1]} == {"a", "b"} for i in range(0, 12, 2))


async def test_an_interrupted_run_of_many_holds_whole_tasks_first(world: Any) -> None:
    from dream_eval.errors import Interrupted
    from dream_eval.runs.control import Control

    control, ended = Control(), [0]

    def stop(_: Any, notice: Any) -> None:
        if notice is not None and notice.kind == "unit":
            ended[0] += 1
            if ended[0] == 4:
                control.stop(Interrupted("interrupted"))

    tasks = [Task(id=f"t{n}", prompt=f"{QUERY} In {n} sentences.") for n in range(1, 9)]
    for system in ("a", "b"):
        lines = [{"id": t.id, "prompt": t.prompt, "article": f"{UNCITED}\nBy {system}.\n"} for t in tasks]
        (world.folder / f"{system}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    wishes = {"reports": {s: world.folder / f"{s}.jsonl" for s in ("a", "b")}, "query": None, "tasks": tasks}
    part = await world.run(**wishes, metrics="wq", concurrency=1, control=control, on_progress=stop)
    assert part.state is RunState.INTERRUPTED
    assert part.exit_code == Exit.INTERRUPTED
    cells = part.summary.systems
    assert abs(cells[0].scored - cells[1].scored) <= 1
    assert 4 <= sum(cell.scored for cell in cells) < 16
    whole = await world.run(**wishes, metrics="wq")
    assert whole.state is RunState.FINISHED
    assert kinds_of(world.chat) == {"writing": 16}


async def test_a_failing_judge_fails_its_own_units_and_no_other(world: Any) -> None:
    from servers.chat import error

    with judge_of_world(model="picky").on(is_writing, error(400, "filter"), first=True) as picky:
        result = await world.run(metrics="wq", judge=[world.chat.judge, picky.judge])
    assert result.score("cited", "wq") == pytest.approx(LENIENT)
    assert result.score("cited", "wq", judge=picky.judge) is None
    cells = {(cell.system, cell.judge.rpartition("#")[2]): cell for cell in result.summary.systems}
    assert (cells["cited", "picky"].score, cells["cited", "picky"].scored) == (None, 0)
    assert result.exit_code == Exit.COVERAGE
    failed = [line for line in result.results if line.result.status is Status.FAILED]
    assert {line.judge for line in failed} == {result.config.judges[1]}


def test_wishes_that_make_no_sense_are_refused(world: Any) -> None:
    def ask(**changes: Any) -> None:
        prepare(changes.pop("reports", world.reports()), **world.all_wishes(**changes))

    with pytest.raises(UserError, match="named twice"):
        ask(judge=["local", "local"])
    with pytest.raises(UserError, match="--repeats must be above 0"):
        ask(repeats=0)
    with pytest.raises(UserError, match="two reports on task"):
        ask(reports={"one": world.reports()})
    with pytest.raises(UserError, match="--reference nobody: neither a system"):
        ask(reference="nobody")


async def test_results_are_read_when_they_are_asked_for(world: Any, tmp_path: Path) -> None:
    result: RunResult = await world.run(metrics="wq")
    assert [line.report for line in result.results] == ["cited", "uncited"]
    (world.out / "results.jsonl").rename(tmp_path / "away")
    assert result.results == ()
