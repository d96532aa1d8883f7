"""Rubric files: weights, digests, the bench's own criteria, and everything that is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from dream_eval.core import Task
from dream_eval.errors import InputError
from dream_eval.protocols import lint_rubric, load_criteria, load_protocol, load_rubric, rubric_for, save_rubric
from dream_eval.protocols.rubric import rubric_digest, seal_rubric
from hypothesis import given
from hypothesis import strategies as st
from rubrics import rubric

TABLE: dict[str, Any] = {
    "coverage": (40, {"names all works": 3, "names all years": 1}),
    "insight": (20, {"says why it is so": 1, "weighs the sides": 2}),
    "instruction_following": (10, {"answers the question": 1, "keeps to the scope": 1}),
    "clarity": (10, {"is in order": 1, "is easy to read": 1}),
    "Grid cost": (20, {"gives the cost": 1, "splits up what is paid": 1}),
}


def line(**changes: Any) -> dict[str, Any]:
    """A line of the bench's file."""
    names = ("comprehensiveness", "insight", "instruction_following", "readability")
    whole: dict[str, Any] = {
        "id": 7,
        "prompt": "What holds?",
        "dimension_weight": dict.fromkeys(names, 0.25),
        "criterions": {name: [{"criterion": f"{name} one", "explanation": "e", "weight": 1.0}] for name in names},
    }
    return whole | changes


def test_a_rubric_is_written_and_read_as_it_is(tmp_path: Path) -> None:
    made = rubric("dre_quality", TABLE)
    path = save_rubric(made, tmp_path / "rubrics" / "one.json")
    assert load_rubric(path) == made
    assert load_criteria(path) == (made,)
    assert load_criteria(path.parent) == (made,)
    assert lint_rubric(made) == []


@given(st.lists(st.floats(0.001, 1000), min_size=5, max_size=5))
def test_weights_sum_to_one_and_stay_so(weights: list[float]) -> None:
    made = rubric("dre_quality", {name: (w, TABLE[name][1]) for name, w in zip(TABLE, weights, strict=True)})
    assert math.fsum(d.weight for d in made.dimensions) == pytest.approx(1)
    assert all(math.fsum(c.weight for c in d.criteria) == pytest.approx(1) for d in made.dimensions)
    assert seal_rubric(made) == made, "sealing twice changes nothing"


def test_the_digest_is_of_query_and_dimensions() -> None:
    made = rubric("dre_quality", TABLE)
    assert rubric_digest(made.model_copy(update={"maker": "someone else"})) == made.digest
    assert rubric_digest(made.model_copy(update={"task": Task(id="other", prompt=made.task.prompt)})) == made.digest
    assert rubric("dre_quality", TABLE, task="Another query?").digest != made.digest
    assert rubric("dre_quality", TABLE | {"clarity": (11, {"is in order": 1})}).digest != made.digest


def test_a_rubric_changed_by_hand_says_so(tmp_path: Path) -> None:
    path = save_rubric(rubric("dre_quality", TABLE), tmp_path / "r.json")
    raw = json.loads(path.read_text())
    raw["dimensions"][0]["weight"] = 5
    path.write_text(json.dumps(raw))
    read = load_rubric(path)
    assert read.flags == ("edited",)
    assert math.fsum(d.weight for d in read.dimensions) == pytest.approx(1)
    assert read.digest != raw["digest"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda raw: raw["dimensions"].pop(0), "the general dimensions are"),
        (lambda raw: raw["dimensions"].append(raw["dimensions"][4]), "'grid cost' is there twice"),
        (lambda raw: raw["dimensions"][4].update(name="specific_share"), "is a name of its own"),
        (lambda raw: raw["dimensions"][0].update(weight=0), r"dimensions\.0\.weight"),
        (lambda raw: raw["dimensions"][0].update(weight=float("nan")), "weight"),
        (lambda raw: raw["dimensions"][0]["criteria"][0].update(id="c2"), "'c2' is there twice"),
        (lambda raw: raw["dimensions"][0].update(criteria=[]), "criteria"),
        (lambda raw: raw.update(kind="race"), "the general dimensions are"),
        (lambda raw: raw.update(schema_version=9), "newer"),
        (lambda raw: raw.pop("dimensions"), "not a rubric"),
    ],
)
def test_what_is_no_rubric_is_refused_with_its_place(tmp_path: Path, change: Any, told: str) -> None:
    path = save_rubric(rubric("dre_quality", TABLE), tmp_path / "r.json")
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))
    with pytest.raises(InputError, match=told):
        load_rubric(path)


def test_a_rubric_is_no_protocol(tmp_path: Path) -> None:
    path = save_rubric(rubric("dre_quality", TABLE), tmp_path / "r.json")
    with pytest.raises(InputError):
        load_protocol(path)


def test_the_benchs_criteria(tmp_path: Path) -> None:
    path = tmp_path / "criteria.jsonl"
    path.write_text(json.dumps(line()) + "\n\n" + json.dumps(line(id=8, prompt="And now?")) + "\n")
    one, other = load_criteria(path)
    assert (one.kind, one.task, one.maker) == ("race", Task(id="7", prompt="What holds?"), "criteria.jsonl")
    assert [d.weight for d in one.dimensions] == [0.25] * 4
    assert one.criteria[0].explanation == "e"
    assert rubric_for(Task(id="1", prompt="And  now?"), "race", [one, other]) == other
    assert rubric_for(Task(id="7", prompt="What else holds?"), "race", [one, other]) is None, "ids of two sets overlap"
    assert rubric_for(Task(id="7", prompt="What holds?"), "dre_quality", [one, other]) is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"dimension_weight": {"coverage": 1.0}}, "wrong or missing: comprehensiveness, coverage"),
        ({"criterions": {"insight": [{"criterion": "x", "weight": 1}]}}, "criterions"),
        ({"prompt": ""}, "prompt"),
        ({"dimension_weight": dict.fromkeys(line()["dimension_weight"], -1)}, "weight"),
        ({"criterions": line()["criterions"] | {"insight": [{"criterion": "x", "weight": 0}]}}, "weight"),
        ({"criterions": line()["criterions"] | {"insight": []}}, "criteria"),
    ],
)
def test_wrong_criteria_are_refused_with_their_line(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    path = tmp_path / "criteria.jsonl"
    path.write_text(json.dumps(line()) + "\n" + json.dumps(line(**changes)) + "\n")
    with pytest.raises(InputError, match=told) as caught:
        load_criteria(path)
    assert caught.value.line == 2


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"id": 1', "\xff"])
def test_what_are_no_criteria(tmp_path: Path, text: str) -> None:
    path = tmp_path / "criteria.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        load_criteria(path)


def test_all_shipped_criteria_are_read(shared_data: Path) -> None:
    found = load_criteria(shared_data / "drb" / "criteria.jsonl")
    assert len(found) == 10
    assert all(math.fsum(d.weight for d in one.dimensions) == pytest.approx(1) for one in found)
    first = json.loads((shared_data / "drb" / "criteria.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert {d.name: d.weight for d in found[0].dimensions} == pytest.approx(first["dimension_weight"])


def test_lint_tells_what_is_doubtful() -> None:
    heavy = TABLE | {"Grid cost": (300, {"gives the cost": 1, "splits up what is paid": 1})}
    rules = [problem.rule for problem in lint_rubric(rubric("dre_quality", heavy))]
    assert rules == ["specific_weight", "one_dimension_decides"]
    same = {name: (1, {"says what it costs": 1, "says what it costs.": 2}) for name in TABLE}
    rules = [problem.rule for problem in lint_rubric(rubric("dre_quality", same))]
    assert rules[0] == "equal_weights"
    assert rules.count("duplicate_criterion") == 9
    few = {name: value for name, value in TABLE.items() if name != "Grid cost"}
    assert [p.rule for p in lint_rubric(rubric("dre_quality", few))] == ["specific_dimensions"]
