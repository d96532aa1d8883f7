"""The peers' metrics in a run: rubrics made once a task and shared, references found, given ones used."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from dream_eval.core import Status, Task
from dream_eval.errors import UserError
from dream_eval.protocols import load_rubric
from dream_eval.runs.reading import open_run
from dream_eval.runs.replay import replay
from peer_work import scripted
from servers.chat import ScriptedChat, last_user
from world import CITED, QUERY, UNCITED, WRITING

WISHES = {"metrics": "dre_quality,race", "reference": "good"}


@pytest.fixture
def judge(world: Any) -> Iterator[ScriptedChat]:
    with scripted(ScriptedChat()).on("Score the writing of the report", WRITING) as chat:
        world.wishes = {"judge": chat.judge}
        yield chat


def two(world: Any) -> dict[str, Any]:
    """Systems ``good`` and ``poor`` on two tasks."""
    tasks = [Task(id="t1", prompt=QUERY), Task(id="t2", prompt=f"{QUERY} Be brief.")]
    for system, text in {"good": CITED, "poor": UNCITED}.items():
        rows = [{"id": task.id, "prompt": task.prompt, "article": text} for task in tasks]
        (world.folder / f"{system}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    systems = {name: world.folder / f"{name}.jsonl" for name in ("good", "poor")}
    return {"reports": systems, "tasks": tasks, "query": None, **WISHES}


def rubric_calls(chat: ScriptedChat) -> Counter[str]:
    asked = ("Give each dimension its weight", "For each dimension give")
    return Counter(text for body in chat.requests for text in asked if text in last_user(body))


async def test_rubrics_are_made_once_a_task_and_the_reference_is_held_against(world: Any, judge: ScriptedChat) -> None:
    result = await world.run(**two(world))
    assert set(rubric_calls(judge).values()) == {2 * 2}, "one a task and metric, shared by both systems"
    assert len(list((world.out / "rubrics").glob("*.json"))) == 4
    cells = {(cell.system, cell.metric): cell for cell in result.summary.systems}
    assert cells["poor", "race"].scored == 2
    assert (cells["good", "race"].score, cells["good", "race"].expected) == (None, 0)
    for line in result.results:
        if (line.report, line.metric) == ("good", "race"):
            assert (line.result.status, line.result.reason) == (Status.NOT_APPLICABLE, "is_reference")
    view = open_run(world.out)
    line = next(line for line in view.results() if line.metric == "race")
    rubric = view.rubric(line)
    assert rubric is not None
    assert (rubric.kind, rubric.digest) == ("race", line.inputs["rubric"])
    asked = len(judge.requests)
    await world.run(**two(world))
    assert len(judge.requests) == asked
    assert (await replay(world.out)).difference is None


async def test_a_changed_reference_redoes_just_the_comparison(world: Any, judge: ScriptedChat) -> None:
    (world.folder / "reference.md").write_text(f"{CITED}\nOne more thing.\n")
    wishes = {**WISHES, "reference": str(world.folder / "reference.md")}
    first = await world.run(**wishes)
    assert first.score("cited", "race") is not None
    assert (await replay(world.out)).difference is None
    judge.requests.clear()
    said: list[str] = []
    (world.folder / "reference.md").write_text(f"{CITED}\nAnother thing.\n")
    await world.run(**wishes, on_progress=lambda _, notice: said.append(notice.text) if notice else None)
    assert not rubric_calls(judge)
    assert all("Score both articles" in last_user(body) for body in judge.requests)
    assert "cited/race is done again: reference changed" in said
    assert not any("dre_quality is done again" in line for line in said)


async def test_a_given_rubric_is_used_and_kept(world: Any, judge: ScriptedChat) -> None:
    await world.run(**{**WISHES, "metrics": "dre_quality", "reference": None})
    (made,) = (world.out / "rubrics").glob("*.json")
    judge.requests.clear()
    other = {"out": world.folder / "other", "ledger": world.folder / "other.sqlite"}
    result = await world.run(metrics="dre_quality", rubric=made, **other)
    assert not rubric_calls(judge)
    assert list(result.config.rubrics.values()) == [load_rubric(made).digest]
    assert (await replay(world.folder / "other")).difference is None


async def test_without_a_rubric_the_units_that_need_it_fail_and_others_stand(world: Any, judge: ScriptedChat) -> None:
    from servers.chat import error

    judge.on("Give each dimension its weight", error(400, "content filter"), first=True)
    result = await world.run(metrics="wq,dre_quality")
    assert result.score("cited", "wq") is not None
    failed = [line.result for line in result.results if line.metric == "dre_quality"]
    assert {one.status for one in failed} == {Status.FAILED}
    assert all("rubric could not be made" in one.reason for one in failed)


def test_race_without_a_reference_says_which_option(world: Any) -> None:
    from dream_eval.runs.api import prepare

    with pytest.raises(UserError, match="--reference SYSTEM or --reference FILE"):
        prepare(world.reports(), **world.all_wishes(metrics="drb"))
