"""What the embedded judge is asked: fewer words, fewer tokens, and claims that code has chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dream_eval.core import Coverage, Outcome, Task
from dream_eval.evaluators import make_claims
from dream_eval.evaluators.kic import statement_of
from dream_eval.evaluators.small_judge import HEAD, LEAD, NEARLY, Odds, changed_figure, decided, same_words
from dream_eval.evaluators.stances import Stance
from dream_eval.protocols.schema import KeyQuestion
from evaluating import Bench, about, claim, claim_list, doc, each, plain_report, protocol
from servers.chat import Reply, ScriptedChat, error, say

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


def leaning(chat: ScriptedChat, letter: str, word: str) -> ScriptedChat:
    """A judge that prefers a letter and a word clearly, and spells them as models do."""
    letters = {"A": -4.0, "B": -4.0, " C": -4.5, "c": -5.5, "The": -6.0} | {letter: -0.1}
    words = {"Yes": -5.0, " no": -5.0, "It": -7.0} | {word: -0.1}
    chat.on("Answer with one letter.", say(letter, logprobs=letters))
    return chat.on("Answer yes or no.", say(word, logprobs=words))


async def test_two_first_tokens_are_asked_for_behind_one_beginning(bench: Any, chat: ScriptedChat) -> None:
    leaning(chat, "A", "Yes")
    claims = claim_list(claim(1, "The Alba works made 110 cells in spring.", sources=["s1"]))
    async with bench([doc(ALBA, TALK.format(110))]) as b:
        embedded(b).report = plain_report(f"Line ([source]({ALBA})).\n")
        await b.run("factuality", claims=claims)
        result = await b.run("ci", claims=claims)
    assert result.score == 100
    assert result.items[0].evidence[0].quote == "In the last count the Alba works made 110 cells, says the town."
    assert len(result.items[0].calls) == 2
    letter, word = chat.texts()[:2]
    assert letter.partition("Which is right?")[0] == word.partition("Does the evidence")[0]
    assert all((body["max_tokens"], body["top_logprobs"]) == (1, 20) for body in chat.requests)


@pytest.mark.parametrize(
    ("letter", "word", "number", "outcome"),
    [
        ("A", "Yes", 110, Outcome.SUPPORTED),
        ("A", "Yes", 90, Outcome.CONTRADICTED),
        ("B", " no", 110, Outcome.CONTRADICTED),
        (" C", " no", 110, Outcome.UNDECIDED),
    ],
)
async def test_what_it_leans_to_is_the_stance_but_for_another_number(
    bench: Any, chat: ScriptedChat, letter: str, word: str, number: int, outcome: Outcome
) -> None:
    leaning(chat, letter, word)
    async with bench([doc(ALBA, TALK.format(number))]) as b:
        claims = claim_list(claim(1, "The Alba works made 110 fine blue cells in spring and rain."))
        result = await embedded(b).run("factuality", claims=claims)
    assert result.items[0].outcome is outcome


async def test_a_judge_without_log_probabilities_has_not_answered(bench: Any, chat: ScriptedChat) -> None:
    chat.always(Reply(text="A"))
    async with bench([doc(ALBA, TALK.format(110))]) as b:
        claims = claim_list(claim(1, "The Alba works made 110 cells in spring."))
        result = await embedded(b).run("factuality", claims=claims)
    assert result.items[0].outcome is Outcome.NOT_CHECKED
    assert "no log-probabilities" in result.reason


async def test_a_support_does_not_hold_against_the_opposite_direction(bench: Any, chat: ScriptedChat) -> None:
    leaning(chat, "A", "Yes")
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


async def test_nor_is_another_number_in_the_same_words(bench: Any, chat: ScriptedChat) -> None:
    async with bench([doc(ALBA, TALK.format(90))]) as b:
        claims = claim_list(claim(1, "The Alba works made 110 cells."))
        result = await embedded(b).run("factuality", claims=claims)
    assert result.items[0].outcome is Outcome.CONTRADICTED
    assert result.items[0].detail["label_flags"] == [["changed_figure"]]
    assert result.items[0].evidence[0].quote.startswith("In the last count")
    assert chat.requests == []


@pytest.mark.parametrize(
    ("odds", "stance"),
    [
        (Odds(supports=4, refutes=0, said=5), Stance.SUPPORTS),
        (Odds(supports=0, refutes=4, said=-3), Stance.REFUTES),
        (Odds(supports=-4, refutes=-4, said=-3), Stance.NEITHER),
    ],
)
def test_clear_odds_decide(odds: Odds, stance: Stance) -> None:
    assert decided(odds) is stance


def test_what_is_nearly_a_support_is_part_of_one_on_pages_only() -> None:
    constant, *weights = HEAD[Stance.SUPPORTS]
    nearly = Odds(supports=(-0.5 * NEARLY - constant) / weights[0], refutes=0, said=0)
    assert decided(nearly) is Stance.NEITHER
    assert decided(nearly, parts=True) is Stance.PARTLY


def test_a_refutation_must_lead() -> None:
    constant, *weights = HEAD[Stance.REFUTES]
    level = Odds(supports=-9, refutes=(9 * weights[0] - constant) / weights[1], said=0)
    assert decided(replace(level, refutes=level.refutes + 0.5 * LEAD / weights[1])) is Stance.NEITHER
    assert decided(replace(level, refutes=level.refutes + 1.5 * LEAD / weights[1])) is Stance.REFUTES


def test_weights_point_the_way_that_their_names_say() -> None:
    assert HEAD[Stance.SUPPORTS][3] > HEAD[Stance.REFUTES][3], "a yes speaks for support"
    assert HEAD[Stance.REFUTES][2] > 0, "letter B against letter C speaks for a refutation"
    assert Stance.NEITHER not in HEAD


@pytest.mark.parametrize(
    ("claim_", "sentences", "place"),
    [
        ("Prices fell by 20%.", ["Rain fell.", "Prices fell by 14%."], 2),
        ("Prices fell by 20%.", ["Prices fell by 20%.", "Prices fell by 14%."], None),
        ("Prices fell by 20%.", ["Prices fell over 14 weeks."], None),
        ("Prices fell by 20%.", ["Rents of flats rose by 14%."], None),
        ("Prices fell by 20%.", ["Prices fell by a fifth."], None),
        ("The plant was opened in 1990.", ["The plant was opened in May 1991."], 1),
        ("The plant was opened in June.", ["The plant was opened in March."], 1),
        ("The plant was opened in June.", ["The plant was opened for 12 guests."], None),
        ("The plant has three halls.", ["The plant has four halls."], 1),
        ("The plant has three halls.", ["The plant has 3 halls, and four more plants are built."], None),
        ("Copper exports rose.", ["Copper exports rose by 12%."], None),
        ("Copper exports rose by 12%.", [], None),
    ],
)
def test_a_changed_number_or_date(claim_: str, sentences: list[str], place: int | None) -> None:
    assert changed_figure(claim_, sentences) == place


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
    chat.on(about("Alba"), each("not_enough_evidence"))
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
