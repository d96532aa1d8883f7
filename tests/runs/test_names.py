"""Names of reports for people."""

from __future__ import annotations

from dream_eval.runs.names import names_of


def test_a_name_is_the_id_or_the_id_with_its_task() -> None:
    places = [("t1", "ids"), ("t2", "ids"), ("t1", "own")]
    assert names_of(places) == {("t1", "ids"): "ids#t1", ("t2", "ids"): "ids#t2", ("t1", "own"): "own"}
    assert names_of(places[1:]) == {("t2", "ids"): "ids", ("t1", "own"): "own"}
    assert names_of([]) == {}
