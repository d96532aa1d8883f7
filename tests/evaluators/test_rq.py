"""RQ: from verifications to scores, with the guided verifier over a corpus, and what happens when it cannot look."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from dream_eval.agents.verification import Flaw, FlawKind, Found, Verification
from dream_eval.core import AsOf, Coverage, Outcome, Status, Task
from dream_eval.evaluators.base import Case
from dream_eval.evaluators.rq import item_of, score
from dream_eval.protocols.schema import Maker, Plan, Protocol, ReasoningQuestion
from dream_eval.protocols.schema import Mode as AgentMode
from evaluating import DAY, QUERY, doc, plain_report
from servers.chat import ScriptedChat, error, prompt

TEXT = "# Ronda\n\nThe Ronda works make cells because they make cells.\n\nSo the Ronda works are the best.\n"


def question(number: int) -> ReasoningQuestion:
    plan = Plan(extract=f"topic {number}", lookup="Ronda works cells", cross_check="compare", against="no basis")
    return ReasoningQuestion(id=f"r{number}", text=f"How does the report argue on topic {number}?", plan=plan)


def protocol(count: int) -> Protocol:
    return Protocol(
        task=Task(id="t", prompt=QUERY),
        as_of=AsOf(day=dt.date(2025, 6, 30)),
        created_at=dt.datetime(2025, 6, 30, tzinfo=dt.UTC),
        maker=Maker(model="by hand", mode=AgentMode.GUIDED, prompt_version=1),
        key_questions=(),
        reasoning_questions=tuple(question(i) for i in range(1, count + 1)),
    )


def says(coherence: int, validity: int, evidence: int = 1, *flaws: dict[str, Any]) -> dict[str, Any]:
    return {
        "flaws": list(flaws),
        "coherence": coherence,
        "evidence": evidence,
        "validity": validity,
        "reason": "It is so.",
    }


def asked(number: int) -> Any:
    return lambda body: f"on topic {number}?" in prompt(body)


DOCS = [doc("https://works-register.org/ronda", "The Ronda works make cells. They were built in 1990 by the town.")]


async def test_two_questions_worked_out_by_hand(bench: Any, chat: ScriptedChat) -> None:
    # (8 + 6) / 20 and (4 + 2) / 20: RQ = 100 · (0.7 + 0.3) / 2
    chat.on(asked(1), says(8, 6))
    chat.on(asked(2), says(4, 2, 1, {"kind": "circular reasoning", "sentence": 2}))
    async with bench(DOCS) as b:
        b.report = plain_report(TEXT)
        result = await b.run("rq", protocol=protocol(2))
    assert result.score == pytest.approx(50)
    assert result.interval is not None
    assert (result.interval.kind, result.interval.low, result.interval.high) == ("range", 30, 70)
    assert result.parts == {"coherence": pytest.approx(60), "validity": pytest.approx(40)}
    assert result.coverage == Coverage(decided=2, checked=2)
    assert result.flags == ()
    assert result.counts == {"questions": 2, "flaws": 1}
    (flaw,) = result.items[1].detail["flaws"]  # type: ignore[misc]
    assert flaw["name"] == "circular reasoning"  # type: ignore[index,call-overload]
    assert "make cells because they make cells" in flaw["where"]  # type: ignore[index,call-overload,operator]
    assert result.items[0].evidence[0].url == "https://works-register.org/ronda"


async def test_a_question_without_outside_evidence_is_not_in_the_score(bench: Any, chat: ScriptedChat) -> None:
    chat.on(asked(1), says(8, 6))
    chat.on(asked(2), says(2, 0, 0))
    async with bench(DOCS) as b:
        b.report = plain_report(TEXT)
        result = await b.run("rq", protocol=protocol(2))
    assert result.score == pytest.approx(70)
    assert result.coverage == Coverage(decided=1, checked=2)
    assert result.items[1].outcome is Outcome.NOT_CHECKED
    assert result.items[1].detail["coherence"] == 2
    assert result.parts["coherence"] == pytest.approx(50), "its coherence is shown apart"
    assert result.parts["validity"] == pytest.approx(60)


@pytest.mark.parametrize("reply", [error(400, "filter"), "prose", says(11, 3)], ids=["400", "prose", "out of range"])
async def test_a_question_that_fails_moves_coverage_and_not_the_score(
    bench: Any, chat: ScriptedChat, reply: Any
) -> None:
    chat.on(asked(2), reply)
    chat.always(says(8, 6))
    async with bench(DOCS) as b:
        b.report = plain_report(TEXT)
        result = await b.run("rq", protocol=protocol(3))
    assert result.score == pytest.approx(70)
    assert result.coverage == Coverage(decided=2, checked=3)
    assert result.items[1].outcome is Outcome.NOT_CHECKED
    assert result.items[1].reason


async def test_no_question_left_fails_the_unit(bench: Any, chat: ScriptedChat) -> None:
    chat.always(error(400, "filter"))
    async with bench(DOCS) as b:
        b.report = plain_report(TEXT)
        result = await b.run("rq", protocol=protocol(2))
    assert (result.status, result.score) == (Status.FAILED, None)
    assert result.reason.startswith("call_refused")


async def test_an_agent_that_does_not_succeed_is_a_failure_and_no_score(bench: Any, chat: ScriptedChat) -> None:
    chat.always("I do not know how to use code.")
    async with bench(DOCS) as b:
        b.settings = replace(b.settings, mode=AgentMode.AGENT)
        b.report = plain_report(TEXT)
        result = await b.run("rq", protocol=protocol(1))
    assert (result.status, result.score) == (Status.FAILED, None)
    assert result.reason.startswith("agent_failed")


async def test_no_questions_is_a_failed_protocol(bench: Any, chat: ScriptedChat) -> None:
    async with bench(DOCS) as b:
        result = await b.run("rq", protocol=protocol(0))
        without = await b.run("rq")
    assert {(r.status, r.reason.partition(":")[0]) for r in (result, without)} == {(Status.FAILED, "protocol_failed")}


FOUND = Found(url="https://a.org/", quote="Q.", start=0, end=2, key="k", decisive=True)
CASE = Case(task=Task(id="t", prompt=QUERY), report=plain_report(TEXT), as_of=DAY)


@pytest.mark.parametrize(
    ("coherence", "validity", "evidence", "value"),
    [
        (8, 6, (FOUND,), 14),
        (0, 0, (FOUND,), 0),
        (10, 10, (FOUND,), 20),
        (8, 6, (), None),
        (8, 6, (FOUND.model_copy(update={"decisive": False}),), None),
        (8, None, (FOUND,), None),
        (None, 6, (FOUND,), None),
    ],
)
def test_validity_counts_only_with_deciding_evidence(
    coherence: int | None, validity: int | None, evidence: tuple[Found, ...], value: float | None
) -> None:
    item = item_of(question(1), Verification(coherence=coherence, validity=validity, evidence=evidence), CASE)
    assert item.value == value
    assert item.outcome is (None if value is not None else Outcome.NOT_CHECKED)
    assert item.detail["coherence"] == coherence


def test_flaws_point_into_the_report() -> None:
    flaw = Flaw(kind=FlawKind.CHERRY_PICKED, sentences=(3,), quote="So the Ronda works are the best.")
    item = item_of(question(1), Verification(coherence=1, validity=1, evidence=(FOUND,), flaws=(flaw,)), CASE)
    inside = [one for one in item.evidence if one.url is None]
    assert [one.quote for one in inside] == ["So the Ronda works are the best."]
    assert CASE.report.text[inside[0].start : inside[0].end] == inside[0].quote


def test_under_half_is_thin() -> None:
    verified = [Verification(coherence=5, validity=5, evidence=(FOUND,)), *[Verification(coherence=5)] * 2]
    result = score([item_of(question(i), one, CASE) for i, one in enumerate(verified, 1)])
    assert (result.score, result.flags) == (50, ("thin",))
