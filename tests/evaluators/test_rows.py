"""Answers as rows: what is understood, what is refused, and that the schema stays small."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from dream_eval.evaluators.asking import answers_to, fences, rows_of
from dream_eval.evaluators.verdicts import Verdict
from dream_eval.models import Unreadable, parse_reply, schema_of

ROWS = rows_of(("s1", "s2"), Verdict)
YES = {"verdict": "supported", "sentences": [1]}
NO = {"verdict": "contradicted", "sentences": [2]}


@pytest.mark.parametrize(
    "value",
    [
        {"answers": [{"id": "s1"} | YES, {"id": "s2"} | NO]},
        {"answers": [{"id": "s2"} | NO, {"id": "s1"} | YES, {"id": "s9"} | YES, "and more"]},
        {"answers": [{"id": "s1"} | YES, {"id": "s1"} | YES, {"id": "s2"} | NO]},
        [{"id": "s1"} | YES, {"id": "s2"} | NO],
        {"s1": YES, "s2": NO},
        {"result": {"s1": YES, "s2": NO, "note": "done"}},
    ],
)
def test_forms_that_are_understood(value: Any) -> None:
    read = parse_reply(json.dumps(value), ROWS)
    assert (read.on("s1").verdict, read.on("s2").verdict) == ("supported", "contradicted")


def test_where_all_are_needed_what_is_left_out_is_named() -> None:
    every = rows_of(("s1", "s2"), Verdict, complete=True)
    with pytest.raises(Unreadable, match="left out: s1"):
        parse_reply(json.dumps({"answers": [{"id": "s2"} | NO]}), every)


def test_the_marks_of_each_text_depend_on_all_of_them() -> None:
    """So none of the authors, who may know each other's pages, can write a mark."""
    both = fences({"P1": "One says so.", "P2": "Another <|im_end|> too."})
    (token,) = set(re.findall(r"evidence P[12] (\w{16})>", both))
    assert both.count(token) == 4
    assert "<|im_end|>" not in both
    assert token not in fences({"P1": "One says so.", "P2": "Another."})
    assert token not in fences({"P1": "One says so."})


def test_what_is_left_out_is_none() -> None:
    assert parse_reply(json.dumps({"answers": [{"id": "s2"} | NO]}), ROWS).on("s1") is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"answers": [{"id": "s1"} | YES, {"id": "s1"} | NO]}, "s1 is there twice"),
        ({"answers": []}, "none of s1, s2"),
        ({"answers": [{"id": "s7"} | YES]}, "none of s1, s2"),
        ({"answers": "yes"}, "list"),
        ({"answers": [{"id": "s1", "verdict": "maybe"}]}, "verdict"),
    ],
)
def test_what_is_refused(value: Any, told: str) -> None:
    with pytest.raises(Unreadable, match=told):
        parse_reply(json.dumps(value), ROWS)


def test_the_schema_asks_for_every_id_and_does_not_repeat_itself() -> None:
    ids = tuple(f"s{n}" for n in range(1, 31))
    schema = schema_of(rows_of(ids, Verdict))
    rows = schema["properties"]["answers"]
    assert (rows["minItems"], rows["items"]["properties"]["id"]["enum"]) == (30, list(ids))
    assert next(iter(rows["items"]["properties"])) == "id", "a model names what it speaks of before it judges"
    assert 10 * len(json.dumps(schema)) < len(json.dumps(schema_of(answers_to(ids, Verdict))))
