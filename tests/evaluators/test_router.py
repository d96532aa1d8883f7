"""Routing, the wrapper around every unit, and what it lets through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from dream_eval.core import Status
from dream_eval.errors import (
    AccountRefused,
    AgentFailed,
    BadReply,
    BudgetReached,
    DeadlineReached,
    ReplayMiss,
    ToolFailed,
    UserError,
)
from dream_eval.evaluators import VERSIONS, Settings, evaluate_metric, route
from dream_eval.evaluators.base import reason_of, together
from dream_eval.evaluators.router import EVALUATORS
from dream_eval.ledger import Budget, Mode
from dream_eval.protocols.catalogue import METRICS
from dream_eval.protocols.schema import Mode as AgentMode
from evaluating import claim, claim_list, doc, is_passage, reads_figures
from servers.chat import ScriptedChat, error

ALL = tuple(METRICS)


@dataclass
class Abilities:
    """What a toolbox says of itself."""

    abilities: frozenset[str]


def test_every_metric_of_the_catalogue_has_an_evaluator_and_a_version() -> None:
    assert list(EVALUATORS) == list(METRICS)
    assert set(VERSIONS) == set(METRICS)
    assert all(version > 0 for version in VERSIONS.values())


async def test_every_metric_is_served_over_a_corpus(bench: Any, chat: ScriptedChat) -> None:
    async with bench() as b:
        routes = route(ALL, b.judge, b.toolbox, AgentMode.AGENT)
    assert [(r.metric, r.kind) for r in routes] == [
        ("wq", "llm"),
        ("kic", "llm"),
        ("rq", "agent"),
        ("factuality", "workflow"),
        ("ci", "workflow"),
        ("da", "workflow"),
        ("dre_quality", "llm"),
        ("dre_facts", "agent"),
        ("race", "llm"),
        ("fact", "workflow"),
    ]
    needs = {r.metric: sorted(map(str, r.needs)) for r in routes}
    assert needs["wq"] == needs["kic"] == needs["da"] == ["chat"]
    assert needs["rq"] == ["chat", "code", "pages", "search"]
    assert needs["dre_facts"] == needs["rq"]
    assert needs["dre_quality"] == needs["race"] == ["chat"]
    assert needs["ci"] == needs["fact"] == ["chat", "pages"]


@pytest.mark.parametrize(
    ("metric", "abilities", "missing"),
    [
        ("factuality", {"pages"}, "search missing"),
        ("factuality", set(), "pages and search missing"),
        ("ci", {"search"}, "pages missing"),
        ("rq", {"pages"}, "search missing"),
    ],
)
def test_what_nothing_can_serve_is_the_users_to_change(metric: str, abilities: set[str], missing: str) -> None:
    toolbox: Any = Abilities(frozenset(abilities))
    judge: Any = None
    with pytest.raises(UserError, match=missing):
        route([metric], judge, toolbox, AgentMode.GUIDED)
    assert route(["wq", "kic", "da"], judge, toolbox, AgentMode.GUIDED)


def test_unknown_metrics_and_impossible_modes_are_named() -> None:
    toolbox: Any = Abilities(frozenset({"search", "pages"}))
    judge: Any = None
    with pytest.raises(UserError, match="no metric is called 'rouge'"):
        route(["rouge"], judge, toolbox, AgentMode.AGENT)
    with pytest.raises(UserError, match="agent or guided"):
        route(["rq"], judge, toolbox, AgentMode.STATIC)


# --- the wrapper -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (BadReply("no JSON", subject="j", raw="x"), "bad_reply: no JSON"),
        (ToolFailed("no route", subject="u"), "tool_failed: no route"),
        (AgentFailed("12 steps", state="max_steps"), "agent_failed (max_steps): 12 steps"),
        (DeadlineReached("120 s"), "deadline_reached: 120 s"),
        (KeyError("secret"), "internal: KeyError"),
    ],
)
def test_reasons_are_one_line_and_stable(failure: Exception, reason: str) -> None:
    assert reason_of(failure) == reason


async def test_our_own_mistake_fails_the_unit_and_not_the_run(
    bench: Any, chat: ScriptedChat, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench() as b:
        result = await b.run("wq", task=None)
    assert (result.status, result.reason) == (Status.FAILED, "internal: AttributeError")
    assert "Traceback" in caplog.text, "the log has what happened"


async def test_an_account_that_is_refused_stops_the_run(bench: Any, chat: ScriptedChat) -> None:
    chat.always(error(401, "bad key", code="invalid_api_key"))
    async with bench([doc("https://works-register.org/alba", "The Alba works made 110 cells.")]) as b:
        with pytest.raises(AccountRefused):
            await b.run("factuality", claims=claim_list(claim(1, "The Alba works made 110 cells.")))
        with pytest.raises(AccountRefused):
            await b.run("wq")


async def test_a_budget_that_is_used_up_stops_the_run(bench: Any, chat: ScriptedChat) -> None:
    chat.always("{}")
    async with bench(budget=Budget(tokens=50)) as b:
        with pytest.raises(BudgetReached):
            await b.run("wq")


@pytest.mark.parametrize("metric", ["wq", "factuality", "ci", "da"])
async def test_a_replay_without_the_calls_is_said_clearly(bench: Any, chat: ScriptedChat, metric: str) -> None:
    async with bench() as b:
        pass
    from evaluating import plain_report

    async with bench(mode=Mode.REPLAY) as b:
        b.report = plain_report("The Alba works made 110 cells ([count](https://works-register.org/alba)).\n")
        with pytest.raises(ReplayMiss):
            await b.run(metric, claims=claim_list(claim(1, "The Alba works made 110 cells.", sources=["s1"])))
    assert chat.requests == []


@pytest.mark.parametrize("metric", ["factuality", "ci"])
async def test_a_missing_claim_list_fails_the_unit(bench: Any, chat: ScriptedChat, metric: str) -> None:
    async with bench() as b:
        result = await b.run(metric)
    assert (result.status, result.reason) == (Status.FAILED, "claims_failed: no claim list")


async def test_nothing_in_a_result_is_from_the_clock_or_the_order_of_answers(bench: Any, chat: ScriptedChat) -> None:
    from servers.chat import Reply, prompt

    def slow_for_some(body: Any) -> Any:
        import json

        late = "Alba" in prompt(body).rpartition("Claim: ")[2]
        return Reply(text=json.dumps(reads_figures(body)), delay_s=0.3 if late else 0)

    chat.on(is_passage, slow_for_some)
    names = ["Alba", "Berga", "Coria"]
    docs = [doc(f"https://works-register.org/{n}", f"The {n} works made 110 cells in the count.") for n in names]
    claims = claim_list(*(claim(i, f"The {n} works made 110 cells.") for i, n in enumerate(names, 1)))
    async with bench(docs) as b:
        result = await b.run("factuality", claims=claims)
    assert [item.id for item in result.items] == ["c1", "c2", "c3"]


# --- settings and helpers --------------------------------------------------------------------------------------------


@dataclass
class Judge:
    """What settings are fitted to."""

    embedded: bool
    context: int


def test_the_embedded_judge_is_shown_less() -> None:
    hosted: Any = Judge(embedded=False, context=128_000)
    small: Any = Judge(embedded=True, context=8192)
    settings = Settings()
    assert settings.fit(hosted) == settings
    fitted = settings.fit(small)
    assert (fitted.pages, fitted.passages, fitted.window, fitted.page_tokens, fitted.overlap) == (3, 3, 3, 260, 0.3)
    assert replace(settings, passages=1, overlap=0.5).fit(small).passages == 1
    assert replace(settings, overlap=0.5).fit(small).overlap == 0.5


async def test_the_first_error_ends_the_other_work() -> None:
    import asyncio

    ended: list[str] = []

    async def fails() -> None:
        await asyncio.sleep(0.01)
        raise BudgetReached("used up")

    async def waits() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("ended")

    with pytest.raises(BudgetReached):
        await together([waits(), fails(), waits()])
    assert ended == ["ended", "ended"]


async def test_a_failure_lets_the_others_finish_and_the_first_in_order_is_raised() -> None:
    import asyncio

    done: list[str] = []

    async def fails(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        raise ToolFailed(name)

    async def works() -> None:
        await asyncio.sleep(0.05)
        done.append("done")

    with pytest.raises(ToolFailed, match="first"):
        await together([works(), fails("first", 0.03), fails("second", 0.0)])
    assert done == ["done"]
    assert await together([]) == []


def test_the_documented_call_is_a_coroutine() -> None:
    import inspect

    assert inspect.iscoroutinefunction(evaluate_metric)
