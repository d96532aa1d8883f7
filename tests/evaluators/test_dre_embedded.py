"""The peers' metrics by the embedded judge's own, shorter ways."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dream_eval.core import Outcome
from dream_eval.reports import read_report
from evaluating import Bench, claim, claim_list, doc, plain_report
from rubrics import asked, is_comparing, is_scoring, rubric
from servers.chat import ScriptedChat, say, schema_sent

HOST = "https://works-register.org"
PAGES = [doc(f"{HOST}/alba", "The register was begun in 1990. The Alba works made 110 cells in a year.")]
TABLE = {
    "comprehensiveness": (1, {"names all works": 1, "names all years": 1}),
    "insight": (1, {"says why": 1}),
    "instruction_following": (1, {"answers the question": 1}),
    "readability": (1, {"is in order": 1}),
}


def embedded(b: Bench) -> Bench:
    """The same bench, its judge taken for the embedded one."""
    b.judge.card = replace(b.judge.card, embedded=True)
    return b


async def test_quality_a_dimension_a_call_and_scores_alone(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_scoring, lambda body: {id: {"score": 6} for id in asked(body)})
    names = ("coverage", "insight", "instruction_following", "clarity")
    one = rubric("dre_quality", dict(zip(names, TABLE.values(), strict=True)))
    async with bench() as b:
        result = await embedded(b).run("dre_quality", rubric=one)
    assert result.score == pytest.approx(60)
    assert sorted(len(asked(body)) for body in chat.requests) == [1, 1, 1, 2]
    assert all("why" not in str(schema_sent(body)) for body in chat.requests)
    assert result.items[0].evidence == ()


async def test_race_a_dimension_a_call_in_both_orders(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_comparing, lambda body: {id: {"a": 6, "b": 4} for id in asked(body)})
    async with bench() as b:
        other = read_report("Another text.", id="other")
        result = await embedded(b).run("race", rubric=rubric("race", TABLE), reference=other)
    assert result.score == pytest.approx(50), "who stands first wins, and both did"
    assert result.parts["order_gap"] == pytest.approx(20)
    assert len(chat.requests) == 8


async def test_fact_asks_nothing_where_code_sees_it(bench: Any, chat: ScriptedChat) -> None:
    text = f"The Alba works made 110 cells in a year ([register]({HOST}/alba)).\n"
    async with bench(PAGES) as b:
        b.report = plain_report(text)
        result = await embedded(b).run("fact")
    assert (result.score, result.items[0].outcome) == (100, Outcome.SUPPORTED)
    assert chat.requests == []


async def test_facts_take_factualitys_verdicts_and_calls(bench: Any, chat: ScriptedChat) -> None:
    chat.on("Answer with one letter.", say("C", logprobs={"C": -0.1, "A": -4.0, "B": -4.0}))
    chat.on("Answer yes or no.", say("no", logprobs={"no": -0.1, "yes": -4.0}))
    claims = claim_list(
        claim(1, "The Alba works made 110 cells in a year."),
        claim(2, "The Alba works made 999 cells in a year."),
        claim(3, "The Alba works were painted in a year of the register."),
    )
    async with bench(PAGES) as b:
        first = await embedded(b).run("factuality", claims=claims)
        before = len(chat.requests)
        result = await b.run("dre_facts", claims=claims)
    assert len(chat.requests) == before, "no call of its own"
    assert [item.outcome for item in result.items] == [Outcome.SUPPORTED, Outcome.CONTRADICTED, Outcome.UNDECIDED]
    assert result.score == pytest.approx(100 / 3)
    assert first.score == pytest.approx(50), "undecided claims are in the peer's ratio and not in Factuality"
