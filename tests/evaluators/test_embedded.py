"""What the embedded judge is asked: fewer words, fewer tokens, and claims that code has chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dream_eval.core import Coverage, Outcome, Task
from dream_eval.evaluators import make_claims
from dream_eval.evaluators.kic import statement_of
from dream_eval.evaluators.small_judge import same_words, visible_conflict
from dream_eval.protocols.schema import KeyQuestion
from evaluating import Bench, about, claim, claim_list, doc, plain_report, protocol
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
        ((2,), "The Ronda works make 40 cells a day."),
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


ALBA = "https://works-register.org/alba"
TALK = "Guests may see the halls. In the last count the Alba works made {} cells, says the town. Tours are free."


def said(answer: str, *sentences: int) -> dict[str, Any]:
    return {"answer": answer, "sentences": list(sentences)}


async def test_it_is_asked_yes_or_no_and_never_for_a_verdict(bench: Any, chat: ScriptedChat) -> None:
    chat.always(said("yes", 2))
    claims = claim_list(claim(1, "The Alba works made 110 cells in May.", sources=["s1"]))
    async with bench([doc(ALBA, TALK.format(110))]) as b:
        embedded(b).report = plain_report(f"Line ([source]({ALBA})).\n")
        await b.run("factuality", claims=claims)
        result = await b.run("ci", claims=claims)
    assert result.score == 100
    assert result.items[0].evidence[0].quote == "In the last count the Alba works made 110 cells, says the town."
    assert all("Does the evidence say that this is so?" in text for text in chat.texts())
    assert not any("contradicted" in body["grammar"] for body in chat.requests)


@pytest.mark.parametrize(
    ("reply", "number", "outcome"),
    [
        (said("yes", 2), 110, Outcome.SUPPORTED),
        (said("yes", 2), 90, Outcome.UNDECIDED),
        (said("no"), 90, Outcome.CONTRADICTED),
        (said("no"), 110, Outcome.UNDECIDED),
    ],
)
async def test_its_answer_and_what_code_sees_make_the_stance(
    bench: Any, chat: ScriptedChat, reply: dict[str, Any], number: int | str, outcome: Outcome
) -> None:
    chat.always(reply)
    async with bench([doc(ALBA, TALK.format(number))]) as b:
        claims = claim_list(claim(1, "The Alba works made 110 cells in spring."))
        result = await embedded(b).run("factuality", claims=claims)
    assert result.items[0].outcome is outcome


async def test_a_yes_does_not_hold_against_the_opposite_direction(bench: Any, chat: ScriptedChat) -> None:
    chat.always(said("yes", 1))
    text = "Exports of copper from Alba fell in 2023, says the town. Imports of grain rose. Tours are free."
    async with bench([doc(ALBA, text)]) as b:
        claims = claim_list(claim(1, "Exports of copper from Alba rose in 2023."))
        result = await embedded(b).run("factuality", claims=claims)
    assert result.items[0].outcome is Outcome.UNDECIDED
    assert result.items[0].detail["label_flags"] == [["opposite_direction"]]


async def test_what_stands_there_in_the_same_words_is_not_asked_about(bench: Any, chat: ScriptedChat) -> None:
    async with bench([doc(ALBA, TALK.format(110))]) as b:
        claims = claim_list(claim(1, "The Alba works made 110 cells."))
        result = await embedded(b).run("factuality", claims=claims)
    assert result.items[0].outcome is Outcome.SUPPORTED
    assert result.items[0].detail["label_flags"] == [["same_words"]]
    assert result.items[0].evidence[0].quote.startswith("In the last count")
    assert chat.requests == []


async def test_a_yes_without_a_sentence_is_asked_once_more(bench: Any, chat: ScriptedChat) -> None:
    chat.always(said("yes", 9))
    async with bench([doc(ALBA, TALK.format(110))]) as b:
        claims = claim_list(claim(1, "The Alba works made 110 cells in spring."))
        result = await embedded(b).run("factuality", claims=claims)
    assert (result.items[0].outcome, result.items[0].flags) == (Outcome.UNDECIDED, ("quote_not_found",))
    assert len(chat.requests) == 2


@pytest.mark.parametrize(
    ("claim_", "sentences", "place"),
    [
        ("Prices fell by 20%.", ["Rain fell.", "Prices fell by 14%."], 2),
        ("Prices fell by 20%.", ["Prices fell by 20%.", "Rents fell by 14%."], None),
        ("Prices fell by 20%.", ["Prices fell over 14 weeks."], None),
        ("Prices fell by 20%.", ["Rents of flats rose by 14%."], None),
        ("The Ronda plant has 40 halls.", ["The Ronda plant is large.", "It has 30 halls."], 2),
        ("The plant was opened in 1990.", ["The plant was opened in May 1991."], None),
        ("The plant was opened in 1990.", ["That the plant was opened in 1990 is a myth."], 1),
        ("The plant was opened.", ["The plant was never opened."], 1),
        ("Copper exports rose.", ["Copper exports fell."], 1),
        ("Copper exports rose.", ["Copper exports rose, imports fell."], None),
        ("Copper exports rose.", ["Nobody knows the plans of the town for its schools."], None),
        ("Copper exports rose.", [], None),
        ("国家药品监督管理局批准该药物用于治疗肺癌。", ["国家药品监督管理局没有批准该药物用于治疗肺癌。"], 1),
        (
            "The dam gives 12 percent of the power.",
            ["The dam's part of the power is counted.", "It was 31 percent."],
            2,
        ),
        ("The dam gives 12 of its watts.", ["The dam's part of the power is counted.", "It was 31."], None),
        (
            "The dam gives 12 percent of the power.",
            ["The dam's part of the power is counted.", "It rained.", "It snowed.", "It was 31 percent."],
            None,
        ),
    ],
)
def test_conflicts_that_code_can_see(claim_: str, sentences: list[str], place: int | None) -> None:
    assert visible_conflict(claim_, sentences) == place


@pytest.mark.parametrize(
    ("claim_", "sentences", "place"),
    [
        ("The plant was opened in 1990.", ["It rained.", "In 1990 the plant was opened by the mayor."], 2),
        ("The plant was opened in 1990.", ["In 1991 the plant was opened by the mayor."], None),
        ("The plant was opened in 1990.", ["In 1990 the plant was not opened by the mayor."], None),
        ("The plant was opened in 1990.", ["In 1990 the mayor spoke."], None),
        (
            "The capital of the province is Odra.",
            ["The province is big.", "Its capital is Lumo.", "Odra is small."],
            None,
        ),
        ("The plant was opened in 1990.", [], None),
    ],
)
def test_the_same_words(claim_: str, sentences: list[str], place: int | None) -> None:
    assert same_words(claim_, sentences) == place


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


async def test_key_questions_are_asked_one_by_one_and_numbers_settled_by_code(bench: Any, chat: ScriptedChat) -> None:
    chat.on("Fact: Is it stated: it makes 40 cells", said("yes", 2))
    chat.on("Fact: Is it stated: it is red", said("no"))
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
    assert len(chat.requests) == 2
    assert result.score == pytest.approx(100 / 3)


async def test_one_key_question_that_fails_moves_coverage_only(bench: Any, chat: ScriptedChat) -> None:
    chat.on("it is red", error(400, "filter", param="prompt"))
    chat.always(said("yes", 2))
    async with bench() as b:
        embedded(b).report = plain_report(TEXT)
        result = await b.run("kic", protocol=protocol("it makes 40 cells", "it is red"))
    assert result.score == 100
    assert result.coverage == Coverage(decided=1, checked=2)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Does the report state that NIST chose HQC?", "NIST chose HQC"),
        ("Does the report say that it rains?", "it rains"),
        ("Is HQC named as a backup?", "Is HQC named as a backup?"),
    ],
)
def test_a_question_as_a_statement(text: str, statement: str) -> None:
    assert statement_of(KeyQuestion(id="k1", text=text, fact="f")) == statement


async def test_another_judge_is_asked_all_of_it(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"k1": {"answer": "no", "sentences": []}})
    async with bench() as b:
        b.report = plain_report(TEXT)
        result = await b.run("kic", protocol=protocol("it was built in 1985"))
    assert result.items[0].flags == ()
    assert "k1:" in chat.texts()[0]
