"""What the embedded judge is asked: fewer words, fewer tokens, and claims that code has chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dream_eval.core import Outcome, Task
from dream_eval.evaluators import make_claims
from dream_eval.evaluators.verdicts import FewVerdict
from evaluating import Bench, about, claim, claim_list, doc, is_page, is_passage, plain_report, protocol, reads_figures
from servers.chat import ScriptedChat, error

TEXT = """\
# Ronda

The Ronda works make 40 cells a day ([count](https://works-register.org/ronda)).

They employ 12 people.

One should visit them.

The Ronda works were built in 1990 by the town of Ronda.

Cells are useful.
"""
TASK = Task(id="t", prompt="What is known about the Ronda works?")


def embedded(b: Bench) -> Bench:
    """The same bench, its judge taken for the embedded one."""
    b.judge.card = replace(b.judge.card, embedded=True)
    return b


async def test_code_chooses_the_claims_and_the_model_only_words_them(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"s3": "The Ronda works employ 12 people."})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), embedded(b).judge)
    assert [(c.sentences, c.text) for c in claims.claims] == [
        ((2,), "The Ronda works make 40 cells a day (count)."),
        ((3,), "The Ronda works employ 12 people."),
        ((5,), "The Ronda works were built in 1990 by the town of Ronda."),
    ]
    assert all(c.check_worthy for c in claims.claims)
    (text,) = chat.texts()
    assert "s3: They employ 12 people." in text
    assert "s2:" not in text, "what stands alone is not asked about"


async def test_the_most_salient_are_selected(bench: Any, chat: ScriptedChat) -> None:
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), embedded(b).judge, max_claims=1)
    assert [(c.sentences, c.selected, c.importance) for c in claims.claims] == [
        ((2,), True, 5),
        ((3,), False, 2),
        ((5,), False, 4),
    ]
    assert chat.requests == [], "nothing that was selected leans on another sentence"


@pytest.mark.parametrize("wording", ["The Ronda works employ 15 people.", "They all sing.", ""])
async def test_a_wording_that_changes_the_claim_is_not_taken(bench: Any, chat: ScriptedChat, wording: str) -> None:
    chat.always({"s3": wording})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), embedded(b).judge)
    assert claims.claims[1].text == "They employ 12 people."


async def test_a_wording_that_fails_is_counted(bench: Any, chat: ScriptedChat) -> None:
    chat.always(error(400, "filter", param="prompt"))
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), embedded(b).judge)
    assert claims.failed_batches == 1
    assert len(claims.claims) == 3


async def test_it_is_offered_three_words_and_one_pointer(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_page, {"c1": {"verdict": "supported", "sentences": [2]}})
    chat.on(is_passage, reads_figures)
    page = doc("https://works-register.org/alba", "The count began in 1990. The Alba works made 110 cells in it.")
    claims = claim_list(claim(1, "The Alba works made 110 cells.", sources=["s1"]))
    async with bench([page]) as b:
        embedded(b).report = plain_report("Line ([source](https://works-register.org/alba)).\n")
        await b.run("factuality", claims=claims)
        result = await b.run("ci", claims=claims)
    assert result.score == 100
    forms = [body["grammar"] for body in chat.requests]
    assert len(forms) == 2
    assert all("not_enough_evidence" in form and "partly" not in form for form in forms)
    assert [len(FewVerdict(verdict="supported", sentences=(1, 2, 3)).sentences)] == [1]
    assert not any("partly" in text for text in chat.texts())


async def test_a_passage_off_the_topic_is_not_shown_to_it(bench: Any, chat: ScriptedChat) -> None:
    text = "Alba is a town. Roses bloom there in June. Tourists come by boat."
    async with bench([doc("https://works-register.org/alba", text)]) as b:
        result = await embedded(b).run("factuality", claims=claim_list(claim(1, "The Alba works made 110 cells.")))
    assert result.items[0].outcome is Outcome.UNDECIDED
    assert result.items[0].detail["label_flags"] == [["off_topic"]]
    assert chat.requests == []


async def test_another_judge_is_shown_it(bench: Any, chat: ScriptedChat) -> None:
    chat.on(about("Alba"), {"verdict": "not_enough_evidence", "sentences": []})
    text = "Alba is a town. Roses bloom there in June. Tourists come by boat."
    async with bench([doc("https://works-register.org/alba", text)]) as b:
        await b.run("factuality", claims=claim_list(claim(1, "The Alba works made 110 cells.")))
    assert len(chat.requests) == 1


async def test_it_is_not_asked_for_faults_of_the_writing(bench: Any, chat: ScriptedChat) -> None:
    scores = dict.fromkeys(("organisation", "clarity", "coherence", "concision", "format", "language"), 4)
    chat.always(scores)
    async with bench() as b:
        result = await embedded(b).run("wq")
    assert result.score == 75
    assert "faults" not in chat.requests[0]["grammar"]
    assert "show a fault" not in chat.texts()[0]


async def test_a_number_that_the_report_does_not_have_is_a_no_by_code(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"k2": {"answer": "yes", "sentences": [2]}, "k3": {"answer": "no", "sentences": []}})
    facts = protocol("it was built in 1985", "it makes 40 cells", "it is red")
    async with bench() as b:
        embedded(b).report = plain_report(TEXT)
        result = await b.run("kic", protocol=facts)
    assert [(item.id, item.outcome, item.flags) for item in result.items] == [
        ("k1", Outcome.NO, ("number_not_in_report",)),
        ("k2", Outcome.YES, ()),
        ("k3", Outcome.NO, ()),
    ]
    assert result.items[0].reason == "the report does not have 1985"
    assert "k1:" not in chat.texts()[0]
    assert result.score == pytest.approx(100 / 3)


async def test_another_judge_is_asked_all_of_it(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"k1": {"answer": "no", "sentences": []}})
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("kic", protocol=protocol("it was built in 1985"))
    assert result.items[0].flags == ()
    assert "k1:" in chat.texts()[0]
