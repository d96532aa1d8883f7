"""RACE: the formula by hand in both orders, and the original's faults, none of which we have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from dream_eval.core import Outcome, Status
from dream_eval.evaluators.race import article, pieces_of
from dream_eval.reports import read_report
from evaluating import plain_report
from rubrics import asked, is_comparing, rubric
from servers.chat import Body, ScriptedChat, error, prompt, say

RUBRIC = rubric(
    "race",
    {
        "comprehensiveness": (30, {"names all works": 3, "names all years": 1}),
        "insight": (40, {"says why": 1}),
        "instruction_following": (20, {"answers the question": 1}),
        "readability": (10, {"is in order": 1}),
    },
)
TARGET = plain_report(
    "# Target\n\nThe Ronda works make cells [1]. They are old ([list](https://a.org/list)).\n\n## Sources\n\n[1] https://b.org\n"
)
REFERENCE = read_report("# Reference\n\nThe Ronda works make plates.\n", id="reference")
FAIR = {
    "names all works": (8, 4),
    "names all years": (4, 4),
    "says why": (5, 5),
    "answers the question": (9, 6),
    "is in order": (6, 2),
}
"""Scores of target and reference by a judge that favours no place."""


def target_is_first(body: Body) -> bool:
    shown = prompt(body).partition("Article A:")[2].partition("Article B:")[0]
    return "# Target" in shown


def compares(given: Mapping[str, tuple[float, float]], *, first: float = 0.0) -> Callable[[Body], dict[str, Any]]:
    """A judge that adds ``first`` to whatever stands first."""

    def answer(body: Body) -> dict[str, Any]:
        found = {}
        for id, text in asked(body).items():
            if text in given:
                target, reference = given[text]
                a, b = (target, reference) if target_is_first(body) else (reference, target)
                found[id] = {"why": "It is so.", "a": min(10, a + first), "b": b}
        return found

    return answer


async def run(bench: Any, **case: Any) -> Any:
    async with bench(context=case.pop("context", None)) as b:
        b.report = case.pop("report", TARGET)
        return await b.run("race", **{"rubric": RUBRIC, "reference": REFERENCE} | case)


async def test_the_score_worked_out_by_hand(bench: Any, chat: ScriptedChat) -> None:
    # T = 0.3·(3·8 + 4)/4 + 0.4·5 + 0.2·9 + 0.1·6 = 2.1 + 2 + 1.8 + 0.6 = 6.5; R = 1.2 + 2 + 1.2 + 0.2 = 4.6.
    chat.on(is_comparing, compares(FAIR))
    result = await run(bench)
    assert result.score == pytest.approx(100 * 6.5 / 11.1)
    assert result.parts == pytest.approx(
        {
            "comprehensiveness": 100 * 7 / 11,
            "insight": 50,
            "instruction_following": 60,
            "readability": 75,
            "target": 65,
            "reference": 46,
            "order_gap": 0,
        }
    )
    assert [target_is_first(body) for body in chat.requests].count(True) == 1
    assert len(chat.requests) == 2, "once in each order"
    assert result.items[0].value == 8
    assert result.items[0].detail["reference"] == 4


async def test_a_judge_that_favours_a_place_is_evened_out(bench: Any, chat: ScriptedChat) -> None:
    # First place is worth one point more. T = (7.5 + 6.5) / 2, R = (4.6 + 5.6) / 2.
    chat.on(is_comparing, compares(FAIR, first=1))
    result = await run(bench)
    assert result.score == pytest.approx(100 * 7.0 / (7.0 + 5.1))
    assert result.parts["order_gap"] == pytest.approx(100 * (7.5 / 12.1 - 6.5 / 12.1))
    assert result.interval is not None
    assert (result.interval.low, result.interval.high) == pytest.approx((100 * 6.5 / 12.1, 100 * 7.5 / 12.1))


async def test_equal_articles_get_fifty(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_comparing, compares(dict.fromkeys(FAIR, (6, 6)), first=2))
    assert (await run(bench)).score == pytest.approx(50)


async def test_the_reference_is_not_compared_with_itself(bench: Any, chat: ScriptedChat) -> None:
    result = await run(bench, report=read_report(REFERENCE.text, id="another name"))
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "is_reference")
    assert not chat.requests


async def test_without_a_reference_it_fails(bench: Any) -> None:
    result = await run(bench, reference=None)
    assert (result.status, result.reason.partition(":")[0]) == (Status.FAILED, "no_reference")


async def test_citations_are_taken_out_by_our_parser_and_the_judge_sees_no_weight(
    bench: Any, chat: ScriptedChat
) -> None:
    chat.on(is_comparing, compares(FAIR))
    await run(bench)
    for body in chat.requests:
        text = prompt(body)
        assert not any(part in text for part in ("a.org", "b.org", "[1]"))
        assert "The Ronda works make cells" in text
        assert "weight" not in text.lower()
    assert article(TARGET, range(1, 4)) == "# Target\nThe Ronda works make cells. They are old."


async def test_a_dimension_without_scores_is_no_zero_for_both(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_comparing, compares({text: both for text, both in FAIR.items() if text != "is in order"}))
    result = await run(bench)
    assert (result.status, result.score) == (Status.FAILED, None)
    assert "readability" in result.reason


async def test_a_criterion_scored_in_one_order_only_counts_in_none(bench: Any, chat: ScriptedChat) -> None:
    # Left of comprehensiveness are the years: 4 and 4. T = 1.2 + 2 + 1.8 + 0.6, R = 1.2 + 2 + 1.2 + 0.2.
    some = {text: both for text, both in FAIR.items() if text != "names all works"}
    chat.on(lambda body: is_comparing(body) and target_is_first(body), compares(some))
    chat.on(is_comparing, compares(FAIR))
    result = await run(bench)
    assert result.score == pytest.approx(100 * 5.6 / 10.2)
    assert result.items[0].outcome is Outcome.NOT_CHECKED
    assert result.counts["missing"] == 1


async def test_an_order_that_failed_fails_the_unit(bench: Any, chat: ScriptedChat) -> None:
    chat.on(lambda body: is_comparing(body) and target_is_first(body), error(400, "no", code="content_filter"))
    chat.on(is_comparing, compares(FAIR))
    result = await run(bench)
    assert (result.status, result.score) == (Status.FAILED, None)
    assert not result.settled


async def test_a_score_off_the_scale_is_refused(bench: Any, chat: ScriptedChat) -> None:
    # The original takes a 95 on its scale of 0 to 10.
    chat.on(lambda body: is_comparing(body) and "cannot be used" in prompt(body), compares(FAIR))
    chat.on(is_comparing, lambda body: compares(FAIR)(body) | {"c1": {"why": "", "a": 95, "b": 2}})
    result = await run(bench)
    assert result.score == pytest.approx(100 * 6.5 / 11.1)
    assert len(chat.requests) == 4


async def test_brackets_in_a_reason_are_no_score(bench: Any, chat: ScriptedChat) -> None:
    def chatty(body: Body) -> Any:
        inner = re.sub(r"It is so\.", "As [2] says, [0] holds.", str(compares(FAIR)(body)))
        return say(f"I compared [1] with [2].\n{inner}")

    chat.on(is_comparing, chatty)
    assert (await run(bench)).score == pytest.approx(100 * 6.5 / 11.1)


async def test_nothing_but_zeros_is_no_score(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_comparing, compares(dict.fromkeys(FAIR, (0, 0))))
    result = await run(bench)
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "both_zero")


async def test_a_report_of_464_kb_is_compared_piece_by_piece(bench: Any, chat: ScriptedChat) -> None:
    long = plain_report("# Target\n\n" + "The Ronda works make cells in the early hall. " * 10_200)
    assert len(long.text) > 464_000
    reference = read_report("# Reference\n\n" + "The Ronda works make plates in the hall. " * 900, id="reference")

    def answer(body: Body) -> dict[str, Any]:
        first = "cells" in prompt(body).partition("Article A:")[2].partition("Article B:")[0]
        return {id: {"why": "", "a": 6 if first else 3, "b": 3 if first else 6} for id in asked(body)}

    chat.on(is_comparing, answer)
    result = await run(bench, report=long, reference=reference, context=60_000)
    assert result.score == pytest.approx(100 * 6 / 9)
    assert result.flags == ("windowed",)
    assert result.counts["windows"] == len(chat.requests) / 2 > 1
    assert any("part 1 of" in prompt(body) for body in chat.requests)  # they arrive in any order


async def test_pieces_hold_each_sentence_once(bench: Any) -> None:
    one = plain_report("\n\n".join(f"Sentence number {n} of the first text stands here." for n in range(60)))
    other = read_report("\n\n".join(f"The other text says {n} things." for n in range(25)), id="o")
    async with bench() as b:
        for room in (10_000, 500, 200):
            pieces = pieces_of(one, other, room, b.judge)
            whole = "\n".join(piece.target for piece in pieces).split("\n")
            assert whole == [sentence.text for sentence in one.sentences]
            assert "\n".join(piece.reference for piece in pieces).count("The other") == 25
            assert all(b.judge.count(piece.target) + b.judge.count(piece.reference) <= room for piece in pieces)
            assert all(piece.count == len(pieces) for piece in pieces)
