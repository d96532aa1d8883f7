"""Active fact-checking in its three ways: by agent, guided, and by the embedded judge's rules; ratio by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from dream_eval.core import Coverage, Outcome, Status
from dream_eval.evaluators.dre_facts import GROUP, grouped
from dream_eval.ledger import list_calls
from dream_eval.protocols.schema import Mode as AgentMode
from evaluating import about, claim, claim_list, doc, lines_of, plain_report, reads_figures, verdict_on
from servers.chat import Body, ScriptedChat, error, last_user, prompt

HOST = "https://works-register.org"
CLAIM = re.compile(r"^(c\d+): (.*)\n<evidence \w+>\n((?:\[\d+\] .*\n)*)", re.MULTILINE)
WORDS = {"supported": "right", "contradicted": "wrong", "not_enough_evidence": "unknown"}


def page(name: str, number: int) -> dict[str, Any]:
    return doc(
        f"{HOST}/{name.lower()}", f"The register was begun in 1990. The {name} works made {number} cells in a year."
    )


def says(number: int, name: str, cells: int, **more: Any) -> Any:
    return claim(number, f"The {name} works made {cells} cells in a year.", **more)


PAGES = [page("Alba", 110), page("Berga", 120)]
CLAIMS = claim_list(says(1, "Alba", 110), says(2, "Alba", 999), says(3, "Berga", 120), says(4, "Coria", 130))
TEXT = "# Works\n\nThe Alba works made 110 cells. The Berga works made 120 cells.\n"

LOOK = """
for name in ('Alba', 'Berga', 'Coria'):
    hits = web_search(name + ' works cells')
    for hit in hits:
        print(hit['url'], read_page(hit['url'])['text'])
"""


def python(source: str) -> str:
    return f"I go on.\n<code>\n{source}\n</code>"


def final(**verdicts: Any) -> str:
    return python(f"final_answer({verdicts!r})")


def right(name: str) -> dict[str, Any]:
    return {"verdict": "Right", "evidence": [[f"{HOST}/{name.lower()}", 2]], "reasoning": "It says so."}


WRONG = {"verdict": "wrong", "evidence": [[f"{HOST}/alba", 2]], "reasoning": "It made 110."}
UNKNOWN = {"verdict": "unknown", "evidence": [], "reasoning": "Nothing on it."}


async def by_agent(bench: Any, claims: Any = CLAIMS, docs: Any = PAGES, **options: Any) -> Any:
    async with bench(docs, **options) as b:
        b.settings = replace(b.settings, mode=AgentMode.AGENT)
        b.report = plain_report(TEXT)
        return await b.run("dre_facts", claims=claims)


async def test_an_agent_checks_neighbouring_claims_in_one_job(bench: Any, chat: ScriptedChat) -> None:
    # Right 2, wrong 1, unknown 1: the ratio is 2 / 4.
    chat.queue(python(LOOK), final(c1=right("Alba"), c2=WRONG, c3=right("Berga"), c4=UNKNOWN))
    result = await by_agent(bench)
    assert result.score == pytest.approx(50)
    assert result.parts == {"right": 50, "wrong": 25, "unknown": 25}
    assert {name: result.counts[name] for name in ("right", "wrong", "unknown", "not_checked")} == {
        "right": 2,
        "wrong": 1,
        "unknown": 1,
        "not_checked": 0,
    }
    assert result.coverage == Coverage(decided=4, checked=4)
    assert [item.outcome for item in result.items] == [
        Outcome.SUPPORTED,
        Outcome.CONTRADICTED,
        Outcome.SUPPORTED,
        Outcome.UNDECIDED,
    ]
    assert result.items[1].evidence[0].quote == "The Alba works made 110 cells in a year."
    assert result.items[1].evidence[0].url == f"{HOST}/alba"
    assert result.items[1].reason == "It made 110."
    assert len(chat.requests) == 2, "four claims in two calls"
    assert "steps" in result.items[0].detail
    assert result.items[1].detail["job"] == "c1", "the steps are kept once"


async def test_the_agent_sees_claims_and_their_place_but_not_the_whole_report(bench: Any, chat: ScriptedChat) -> None:
    chat.queue(python(LOOK), final(c1=right("Alba")))
    claims = claim_list(says(1, "Alba", 110, sentences=[3]))
    async with bench(PAGES) as b:
        b.settings = replace(b.settings, mode=AgentMode.AGENT)
        b.report = plain_report("# Works\n\nIn town. Alba made 110. Berga too.\n\nThe end comes here.\n")
        await b.run("dre_facts", claims=claims)
    asked = last_user(chat.requests[0])
    assert "c1: The Alba works made 110 cells" in asked
    assert "[3] Alba made 110." in asked
    assert "[2] In town." in asked
    assert "The end comes here" not in asked


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ({"c1": {"verdict": "right", "evidence": [], "reasoning": "I know."}}, "c1: right needs evidence"),
        ({"c1": right("Alba") | {"evidence": [["https://made.up/page", 1]]}}, "was not read"),
        ({"c1": right("Alba") | {"evidence": [[f"{HOST}/alba", 9]]}}, "no sentence 9"),
        ({"c2": right("Alba")}, "c1 is missing"),
        ({"c1": right("Alba") | {"verdict": "mostly right"}}, "c1.verdict"),
    ],
)
async def test_an_answer_that_does_not_hold_is_sent_back(
    bench: Any, chat: ScriptedChat, first: dict[str, Any], told: str
) -> None:
    # In the original labels are unchecked, and nobody looks whether the quote stands on the page.
    chat.queue(python(LOOK), final(**first), final(c1=right("Alba")))
    result = await by_agent(bench, claim_list(says(1, "Alba", 110)))
    assert told in prompt(chat.requests[2])
    assert result.score == 100


async def test_evidence_that_never_holds_makes_an_unknown(bench: Any, chat: ScriptedChat) -> None:
    invented = right("Alba") | {"evidence": [["https://made.up/page", 1]]}
    chat.queue(python(LOOK), *[final(c1=invented)] * 3)
    result = await by_agent(bench, claim_list(says(1, "Alba", 110)))
    assert (result.score, result.items[0].outcome) == (0, Outcome.UNDECIDED)
    assert result.items[0].flags == ("quote_not_found",)


async def test_an_unknown_without_a_look_is_sent_back(bench: Any, chat: ScriptedChat) -> None:
    chat.queue(final(c1=UNKNOWN), python(LOOK), final(c1=UNKNOWN))
    result = await by_agent(bench, claim_list(says(1, "Coria", 130)))
    assert "nothing was looked up" in prompt(chat.requests[1])
    assert (result.score, result.parts["unknown"]) == (0, 100)


async def test_an_unknown_where_nobody_could_look_is_no_verdict(bench: Any, chat: ScriptedChat) -> None:
    # A search that is down says nothing of a claim: in the original its error becomes text for the model to judge.
    chat.queue(python("print(web_search('Alba'))"), final(c1=UNKNOWN))
    async with bench(search=("searxng:http://127.0.0.1:9/",)) as b:
        b.settings = replace(b.settings, mode=AgentMode.AGENT)
        result = await b.run("dre_facts", claims=claim_list(says(1, "Alba", 110)))
    assert (result.status, result.score) == (Status.FAILED, None)
    assert "no search could be done" in result.reason


async def test_a_job_that_failed_lowers_coverage_and_is_tried_again(bench: Any, chat: ScriptedChat) -> None:
    # In the original a part that fails is left out of the ratio without a trace.
    many = [says(n, "Alba", 110) for n in range(1, GROUP + 1)]
    other = says(GROUP + 1, "Berga", 120, section=("Other",))

    def is_last(body: Body) -> bool:
        return f"c{GROUP + 1}: " in prompt(body)

    chat.on(is_last, error(400, "no", code="content_filter"))
    chat.on(lambda body: len(body["messages"]) == 2, python(LOOK))
    chat.always(final(**{one.id: right("Alba") for one in many}))
    result = await by_agent(bench, claim_list(*many, other))
    assert result.score == 100
    assert result.coverage == Coverage(decided=GROUP, checked=GROUP + 1)
    assert result.counts["not_checked"] == 1
    assert not result.settled


async def test_all_jobs_failed_is_no_zero(bench: Any, chat: ScriptedChat) -> None:
    # In the original: an empty list, exit code 0, counted as a success.
    chat.always(error(500))
    result = await by_agent(bench)
    assert (result.status, result.score) == (Status.FAILED, None)
    assert result.reason.startswith("evidence_unavailable")


async def test_the_interval_and_a_wide_list(bench: Any, chat: ScriptedChat) -> None:
    many = [says(n, "Alba", 110) for n in range(1, GROUP + 1)]
    verdicts = {one.id: right("Alba") if n < 6 else WRONG for n, one in enumerate(many)}
    chat.queue(python(LOOK), final(**verdicts))
    result = await by_agent(bench, claim_list(*many))
    assert result.score == pytest.approx(75)
    assert result.interval is not None
    assert result.interval.kind == "wilson"
    # Wilson, p = 0.75, n = 8: (0.75 + 3.8415/16 ± 1.96·√(0.75·0.25/8 + 3.8415/256)) / (1 + 3.8415/8)
    assert (result.interval.low, result.interval.high) == pytest.approx((40.93, 92.85), abs=0.01)


def test_claims_of_a_section_stay_together() -> None:
    sizes = [3, 4, 2, GROUP + 3, 1]
    claims, number = [], 0
    for place, size in enumerate(sizes):
        for _ in range(size):
            number += 1
            claims.append(says(number, "Alba", number, section=(f"Section {place}",)))
    groups = grouped(claims)
    assert [len(group) for group in groups] == [7, 2, GROUP, 4]
    assert [one for group in groups for one in group] == claims


# --- guided ----------------------------------------------------------------------------------------------------------


def is_guided(body: Body) -> bool:
    return "Each claim has its own evidence." in prompt(body)


def reads_claims(body: Body) -> dict[str, Any]:
    found = {}
    for id, text, evidence in CLAIM.findall(last_user(body)):
        verdict = verdict_on(text, lines_of(evidence))
        found[id] = {"why": "I read it.", "verdict": WORDS[verdict["verdict"]], "sentences": verdict["sentences"]}
    return found


async def test_guided_one_question_on_all_claims_of_a_group(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_guided, reads_claims)
    async with bench(PAGES) as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_facts", claims=CLAIMS)
        searches = {call.key for call in list_calls(b.ledger.path, "test") if call.kind == "search"}
        chat.on(about("Alba", "Berga", "Coria"), reads_figures)
        await b.run("factuality", claims=CLAIMS)
        assert {call.key for call in list_calls(b.ledger.path, "test") if call.kind == "search"} == searches
    assert result.score == pytest.approx(50)
    assert result.counts["wrong"] == 1
    assert result.items[1].reason == "I read it."
    assert result.items[1].evidence[0].quote == "The Alba works made 110 cells in a year."
    assert len([body for body in chat.requests if is_guided(body)]) == 1


async def test_guided_a_pointer_at_another_claims_evidence_is_none(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_guided, {id: {"why": "", "verdict": "right", "sentences": [1]} for id in ("c1", "c2")})
    async with bench(PAGES) as b:
        b.report = plain_report(TEXT)
        result = await b.run("dre_facts", claims=claim_list(says(1, "Alba", 110), says(2, "Berga", 120)))
    assert [item.outcome for item in result.items] == [Outcome.SUPPORTED, Outcome.UNDECIDED]
    assert result.items[1].flags == ("quote_not_found",)
    assert "c2: with right or wrong, name at least one sentence" in last_user(chat.requests[1])


async def test_no_claim_no_ratio(bench: Any) -> None:
    async with bench() as b:
        result = await b.run("dre_facts", claims=claim_list())
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "no_check_worthy_claim")
