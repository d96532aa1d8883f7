"""FACT: pairs by our parser, figures by hand, pages shared with CI, and the faults of the original that we have not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dream_eval.core import Coverage, Outcome, Status
from dream_eval.evaluators.fact import CALL_STATEMENTS, pairs_of
from dream_eval.ledger import list_calls
from dream_eval.reports.data import Report
from dream_eval.tools import Endpoints
from evaluating import claim, claim_list, doc, is_page, lines_of, plain_report, verdict_on
from servers.chat import Body, ScriptedChat, error, last_user, prompt
from servers.web import Reply, article, json_reply, web_server

HOST = "https://works-register.org"
NAME = "pages.ronda-town.org"
STATEMENT = re.compile(r"^(s\d+): (.*)$", re.MULTILINE)
PAGE = re.compile(r"^Of page (\d+) \(sentences (\d+) to (\d+)\):$\n((?:s\d+: .*(?:\n|$))+)", re.MULTILINE)


def is_fact(body: Body) -> bool:
    return "Each statement cites one page." in prompt(body)


def blocks(body: Body) -> list[tuple[dict[str, str], dict[int, str]]]:
    """Statements and sentences of each page in a question."""
    text = prompt(body)
    shown = lines_of(text.partition("Each statement cites one page.")[0])
    return [
        (dict(STATEMENT.findall(listed)), {n: shown[n] for n in range(int(first), int(last) + 1)})
        for _, first, last, listed in PAGE.findall(text + "\n")
    ]


def reads(body: Body) -> dict[str, Any]:
    return {id: verdict_on(text, lines) for statements, lines in blocks(body) for id, text in statements.items()}


def page(name: str, number: int, *more: str) -> dict[str, Any]:
    text = f"The register was begun in 1990. The {name} works made {number} cells. {' '.join(more)}"
    return doc(f"{HOST}/{name.lower()}", text)


def at(server: Any) -> dict[str, Any]:
    """A bench whose web is this server: every name leads to it, no archive has anything."""

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    server.routes["/wayback"] = json_reply({"archived_snapshots": {}})
    address = f"http://{NAME}:{server.port}"
    ends = Endpoints(
        allow=frozenset({(NAME, server.port)}),
        resolver=resolve,
        wayback=f"{address}/wayback",
        wayback_pages=f"{address}/archived/",
    )
    return {"endpoints": ends, "search": (f"searxng:{address}/",)}


def served(name: str, number: int) -> Reply:
    """The same page as :func:`page`, from a server."""
    text = f"The register was begun in 1990. The {name} works made {number} cells."
    return Reply(article(name, text, "More on it is told here. " * 30))


def there(server: Any, text: str) -> Report:
    """A report whose links lead to the server."""
    return plain_report(text.replace(HOST, f"http://{NAME}:{server.port}"))


def cites(name: str, number: int) -> str:
    return f"The {name} works made {number} cells ([register]({HOST}/{name.lower()})).\n\n"


async def test_figures_worked_out_by_hand(bench: Any, chat: ScriptedChat) -> None:
    # Alba right and wrong, Berga right, Coria in part, Dora is not to be found: 3 of 4 decided pairs are supported,
    # 2 of 4 in full; 3 of 5 where the unknown one counts against the report.
    def judge(body: Body) -> dict[str, Any]:
        found = reads(body)
        for statements, lines in blocks(body):
            for id, text in statements.items():
                if "Coria" in text:
                    found[id] = {"verdict": "partly_supported", "sentences": [min(lines)]}
        return found

    chat.on(is_fact, judge)
    text = cites("Alba", 110) + cites("Alba", 999) + cites("Berga", 120) + cites("Coria", 130) + cites("Dora", 140)
    routes = {f"/{name.lower()}": served(name, n) for name, n in (("Alba", 110), ("Berga", 120), ("Coria", 131))}
    async with web_server(routes | {"/dora": Reply("no", status=403)}) as web, bench(**at(web)) as b:
        b.report = there(web, text)
        result = await b.run("fact")
    assert result.score == pytest.approx(75)
    assert result.parts == pytest.approx({"unknown_rate": 20, "strict": 50, "low": 60})
    assert {name: result.counts[name] for name in ("pairs", "pages", "effective", "not_supported", "unknown")} == {
        "pairs": 5,
        "pages": 4,
        "effective": 3,
        "not_supported": 1,
        "unknown": 1,
    }
    assert result.coverage == Coverage(decided=4, checked=5)
    assert [item.outcome for item in result.items] == [
        Outcome.SUPPORTED,
        Outcome.CONTRADICTED,
        Outcome.SUPPORTED,
        Outcome.PARTLY,
        Outcome.NOT_CHECKED,
    ]
    assert result.items[0].evidence[0].quote == "The Alba works made 110 cells."
    assert len(chat.requests) == 1, "three pages in one call"


async def test_the_quote_is_copied_from_the_page(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_fact, reads)
    async with bench([page("Berga", 120), page("Alba", 110)]) as b:
        b.report = plain_report(cites("Berga", 120) + cites("Alba", 999))
        result = await b.run("fact")
    (evidence,) = result.items[1].evidence
    assert (evidence.quote, evidence.stance, evidence.url) == (
        "The Alba works made 110 cells.",
        "refutes",
        f"{HOST}/alba",
    )
    assert evidence.start == len("The register was begun in 1990. ")
    assert len(chat.requests) == 1


async def test_the_page_that_ci_read_is_not_read_again(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_fact, reads)
    chat.on(is_page, {"c1": {"verdict": "supported", "sentences": [2]}})
    async with web_server({"/alba": served("Alba", 110)}) as web, bench(**at(web)) as b:
        b.report = there(web, cites("Alba", 110))
        claims = claim_list(claim(1, "The Alba works made 110 cells.", sources=["s1"]))
        cited = await b.run("ci", claims=claims)
        facts = await b.run("fact")
        pages = [call for call in list_calls(b.ledger.path, "test") if call.kind == "page"]
        assert web.paths().count("/alba") == 1
    assert cited.score == facts.score == 100
    assert cited.items[0].evidence[0].key == facts.items[0].evidence[0].key
    assert len({call.key for call in pages}) == 1


async def test_a_page_that_is_gone_supports_nothing(bench: Any, chat: ScriptedChat) -> None:
    # In the original it is "unknown", and citing pages that do not exist raises the accuracy.
    chat.on(is_fact, reads)
    async with web_server({"/alba": served("Alba", 110)}) as web, bench(**at(web)) as b:
        b.report = there(web, cites("Alba", 110) + cites("Berga", 120))
        result = await b.run("fact")
    assert result.score == pytest.approx(50)
    assert "dead_citation" in result.flags
    assert result.items[1].outcome is Outcome.NO


async def test_no_page_readable_is_no_zero(bench: Any) -> None:
    async with web_server({"*": Reply("no", status=403)}) as web, bench(**at(web)) as b:
        b.report = there(web, cites("Alba", 110))
        result = await b.run("fact")
    assert (result.status, result.score) == (Status.FAILED, None)
    assert result.reason.startswith("no_page_readable")


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("The works are old.\n", ()),
        ("The works are old.\n\n## Sources\n\n- https://works-register.org/alba\n", ("listed_only",)),
    ],
)
async def test_a_report_without_citations_has_no_accuracy(bench: Any, text: str, flags: tuple[str, ...]) -> None:
    async with bench() as b:
        b.report = plain_report(text)
        result = await b.run("fact")
    assert (result.status, result.reason, result.flags) == (Status.NOT_APPLICABLE, "no_citations", flags)
    assert result.counts["effective"] == 0


async def test_a_verdict_that_rests_on_another_page_is_asked_once_more(bench: Any, chat: ScriptedChat) -> None:
    def wrong_page(body: Body) -> dict[str, Any]:
        (one, _), (two, second) = blocks(body)
        return {id: {"verdict": "supported", "sentences": [min(second)]} for id in one} | {
            id: {"verdict": "supported", "sentences": [min(second) + 1]} for id in two
        }

    chat.on(is_fact, wrong_page)
    async with bench([page("Alba", 110), page("Berga", 120)]) as b:
        b.report = plain_report(cites("Alba", 110) + cites("Berga", 120))
        result = await b.run("fact")
    assert len(chat.requests) == 2
    assert "s1: name at least one sentence of the statement's own page" in last_user(chat.requests[1])
    assert [item.outcome for item in result.items] == [Outcome.UNDECIDED, Outcome.SUPPORTED]
    assert result.items[0].flags == ("quote_not_found",)


async def test_a_failed_call_loses_its_pages_only(bench: Any, chat: ScriptedChat) -> None:
    # In the original one exception ends a worker, and articles vanish from the statistics.
    filler = [f"The hall of number {n} is painted in the colour of the day and stands by the road." for n in range(400)]
    pages = [page(name, 110, *filler) for name in ("Alba", "Berga", "Coria", "Dora")]
    chat.on(lambda body: is_fact(body) and "The Alba works" in prompt(body), error(400, "no", code="content_filter"))
    chat.on(is_fact, reads)
    async with bench(pages, context=1_000) as b:
        b.report = plain_report("".join(cites(name, 110) for name in ("Alba", "Berga", "Coria", "Dora")))
        result = await b.run("fact")
    lost = [item for item in result.items if "call_failed" in item.flags]
    assert 0 < len(lost) < 4
    assert result.score == 100
    assert not result.settled


async def test_a_claim_whose_number_the_page_does_not_have_is_partly_supported_at_most(
    bench: Any, chat: ScriptedChat
) -> None:
    chat.on(is_fact, lambda body: {"s1": {"verdict": "supported", "sentences": [1]}})
    async with bench([page("Alba", 110)]) as b:
        b.report = plain_report(cites("Alba", 4321))
        result = await b.run("fact")
    assert result.items[0].outcome is Outcome.PARTLY
    assert (result.score, result.parts["strict"]) == (100, 0)


async def test_statements_of_one_page_beyond_a_call_go_into_another(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_fact, reads)
    count = CALL_STATEMENTS + 5
    async with bench([page("Alba", 110)]) as b:
        b.report = plain_report("".join(cites("Alba", 1000 + n) for n in range(count)))
        result = await b.run("fact")
    assert len(result.items) == count
    assert len(chat.requests) == 2
    assert result.score == 0


async def test_a_page_in_other_words_is_shown_from_its_beginning(bench: Any, chat: ScriptedChat) -> None:
    chat.on(is_fact, reads)
    long = "登记处始于一九九〇年。" * 400
    async with bench([doc(f"{HOST}/alba", long)]) as b:
        b.report = plain_report(cites("Alba", 110))
        result = await b.run("fact")
    assert "登记处始于" in last_user(chat.requests[0])
    assert len(last_user(chat.requests[0])) < 4_000
    assert result.score == 0


def test_pairs_of_a_report() -> None:
    numbered = (
        "# Works\n\nThe Alba works made 110 cells [1, 2]. It was the first one [2]. Others followed.\n\n"
        "See [3].\n\nThe Coria works cite nothing that exists [9]. The Dora works stand in the town.\n\n"
        "## References\n\n[1] https://one.org/a\n[2] https://two.org/b\n[3] https://three.org/c\n"
    )
    pairs = pairs_of(plain_report(numbered))
    assert [(pair.text, pair.url, pair.context) for pair in pairs] == [
        ("The Alba works made 110 cells.", "https://one.org/a", ""),
        ("The Alba works made 110 cells.", "https://two.org/b", ""),
        ("It was the first one.", "https://two.org/b", "The Alba works made 110 cells."),
    ]
    assert pairs[2].shown.endswith("(said before it: The Alba works made 110 cells.)")
    twice = "The Berga works made 120 cells ([a](https://a.org/x?utm_source=y), [again](https://a.org/x)).\n"
    assert [(pair.text, pair.url) for pair in pairs_of(plain_report(twice))] == [
        ("The Berga works made 120 cells.", "https://a.org/x")
    ]
