"""Point-wise quality: the formula by hand, and the original's worst faults, none of which we have."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dream_eval.core import Coverage, Outcome, Status
from dream_eval.evaluators.weighing import dimension_scores, total
from dream_eval.protocols.rubric import Rubric
from evaluating import lines_of, plain_report
from hypothesis import given
from hypothesis import strategies as st
from rubrics import asked, is_scoring, rubric, scores
from servers.chat import Body, ScriptedChat, error, last_user, prompt, say

TEXT = "# Ronda\n\nThe Ronda works make cells. They were built in 1990.\n\nSo the works are old.\n"

RUBRIC = rubric(
    "dre_quality",
    {
        "coverage": (40, {"names all works": 3, "names all years": 1}),
        "insight": (20, {"says why": 1}),
        "instruction_following": (10, {"answers the question": 1}),
        "clarity": (10, {"is in order": 1}),
        "Grid cost": (20, {"gives the cost": 1, "splits the cost": 1}),
    },
)
SCORES = {
    "names all works": 8,
    "names all years": 4,
    "says why": 5,
    "answers the question": 10,
    "is in order": 6,
    "gives the cost": 4,
    "splits the cost": 2,
}


async def test_the_score_worked_out_by_hand(bench: Any, chat: ScriptedChat) -> None:
    # Coverage (3·8 + 1·4) / 4 = 7; grid cost 3. S = 0.4·7 + 0.2·5 + 0.1·10 + 0.1·6 + 0.2·3 = 6.0.
    # General alone: 5.4 / 0.8 = 6.75; on the task-specific dimension 20 % of the weight.
    chat.on(is_scoring, scores(SCORES))
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.score == pytest.approx(60)
    assert result.parts == pytest.approx(
        {
            "coverage": 70,
            "insight": 50,
            "instruction_following": 100,
            "clarity": 60,
            "Grid cost": 30,
            "general": 67.5,
            "specific": 30,
            "specific_share": 20,
        }
    )
    assert result.coverage == Coverage(decided=7, checked=7)
    assert result.flags == ()
    assert result.interval is not None
    assert (result.interval.kind, result.interval.low, result.interval.high) == ("range", 20, 100)
    assert result.items[0].evidence[0].quote == "Ronda"
    assert result.items[0].detail["weight"] == pytest.approx(0.3)
    assert len(chat.requests) == 1, "one call a report"


async def test_the_judge_sees_no_weight_and_the_report_first(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_scoring, scores(SCORES))
    async with bench() as b:
        b.report = plain_report(TEXT)
        await b.run("dre_quality", rubric=RUBRIC)
    text = last_user(chat.requests[0])
    question = text[text.index("Score the report") :]
    assert "weight" not in prompt(chat.requests[0]).lower()
    assert not re.search(r"0\.\d", question)
    assert text.index("The Ronda works make cells.") < text.index("names all works")


async def test_a_dimension_that_failed_is_no_zero(bench: Any, chat: ScriptedChat) -> None:
    # The original gives such a dimension 0.0, adds it to the total and keeps that as a success.
    known = {text: value for text, value in SCORES.items() if text != "says why"}
    chat.on(is_scoring, scores(known))
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.status is Status.FAILED
    assert "insight" in result.reason
    assert result.parts["insight"] is None
    assert result.parts["coverage"] == pytest.approx(70)
    assert result.parts["general"] is None


async def test_a_criterion_that_is_missing_leaves_its_weight_to_the_others(bench: Any, chat: ScriptedChat) -> None:
    known = {text: value for text, value in SCORES.items() if text != "names all years"}
    chat.on(is_scoring, scores(known))
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.parts["coverage"] == pytest.approx(80)
    assert result.score == pytest.approx(64)
    assert result.coverage == Coverage(decided=6, checked=7)
    missing = next(item for item in result.items if item.text == "names all years")
    assert (missing.outcome, missing.value) == (Outcome.NOT_CHECKED, None)
    assert result.settled, "the judge answered: asking again would not help"


async def test_a_judge_that_fails_gives_no_score_and_is_asked_again(bench: Any, chat: ScriptedChat) -> None:
    chat.always(error(400, "context length exceeded", code="context_length_exceeded"))
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.status is Status.FAILED
    assert result.score is None
    assert not result.settled
    assert {item.value for item in result.items} == {None}


async def test_a_number_in_brackets_in_the_reason_is_no_score(bench: Any, chat: ScriptedChat) -> None:
    # The original takes the first bracket of a reply for its JSON: "[2]" became the answer.
    def chatty(body: Body) -> Any:
        inner = ", ".join(
            f'"{id}": {{"why": "As [2] says, {{9}} of [0] hold.", "score": {SCORES[text]}, "sentences": [2]}}'
            for id, text in asked(body).items()
        )
        return say(f"As [2] shows, I went through sentence [1] first.\n```json\n{{{inner}}}\n```\nSee [3].")

    chat.on(is_scoring, chatty)
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.score == pytest.approx(60)
    assert result.items[0].reason == "As [2] says, {9} of [0] hold."


@pytest.mark.parametrize("wrong", [95, -1, True, "a lot"])
async def test_a_score_outside_of_the_scale_is_sent_back(bench: Any, chat: ScriptedChat, wrong: Any) -> None:
    chat.queue(lambda body: scores(SCORES)(body) | {"c3": {"score": wrong}})
    chat.on(lambda body: is_scoring(body) and "cannot be used" in prompt(body), lambda body: scores(SCORES)(body))
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.score == pytest.approx(60)
    assert len(chat.requests) == 2


async def test_a_pointer_at_a_sentence_that_is_not_there_is_dropped(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_scoring, scores(SCORES, sentences=[2, 77]))
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert result.counts["wrong_pointers"] == 7
    assert [evidence.quote for evidence in result.items[0].evidence] == ["The Ronda works make cells."]


async def test_a_report_of_464_kb_is_scored_in_windows(bench: Any, chat: ScriptedChat) -> None:
    # The original hands the report over as one argument of a command, which the kernel refuses from 128 KiB on.
    first = "The Ronda works make cells in the early hall. " * 5_000
    second = "The Ronda works make plates in the later hall. " * 5_000
    chat.on(lambda body: is_scoring(body) and "later" in prompt(body), scores(dict.fromkeys(SCORES, 4)))
    chat.on(is_scoring, scores(dict.fromkeys(SCORES, 8)))
    async with bench(context=100_000) as b:
        b.report = plain_report(f"{first}\n\n{second}")
        assert len(b.report.text) > 464_000
        result = await b.run("dre_quality", rubric=RUBRIC)
    sizes = [(len(lines_of(prompt(body))), 4 if "later" in prompt(body) else 8) for body in chat.requests]
    assert result.counts["windows"] == len(sizes) > 1
    assert sum(size for size, _ in sizes) == len(b.report.sentences), "each sentence once"
    assert result.flags == ("windowed",)
    expected = 10 * sum(size * value for size, value in sizes) / len(b.report.sentences)
    assert result.score == pytest.approx(expected, rel=0.01), "each window by its length"


async def test_no_text_no_score(bench: Any, chat: ScriptedChat) -> None:
    async with bench() as b:
        b.report = plain_report("")
        result = await b.run("dre_quality", rubric=RUBRIC)
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "empty_report")
    assert not chat.requests


async def test_without_a_rubric_it_fails(bench: Any) -> None:
    async with bench() as b:
        result = await b.run("dre_quality")
    assert (result.status, result.reason) == (Status.FAILED, "rubric_failed: no rubric")


@given(st.lists(st.floats(0, 10), min_size=7, max_size=7), st.sampled_from([0.001, 1, 250]))
def test_totals_lie_between_their_scores_whatever_the_scale_of_the_weights(values: list[float], scale: float) -> None:
    plain = {f"c{n}": value for n, value in enumerate(values, 1)}
    found = dimension_scores(RUBRIC, plain)
    whole = total(RUBRIC, found)
    assert whole is not None
    assert min(values) - 1e-9 <= whole <= max(values) + 1e-9
    stretched = _scaled(RUBRIC, scale)
    assert total(stretched, dimension_scores(stretched, plain)) == pytest.approx(whole)


def _scaled(one: Rubric, scale: float) -> Rubric:
    dimensions = tuple(d.model_copy(update={"weight": d.weight * scale}) for d in one.dimensions)
    return one.model_copy(update={"dimensions": dimensions})
