"""DA: which domains count, how often, and what their scores make."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dream_eval.core import Outcome, Status
from dream_eval.evaluators.authority import band, cited_domains, domain_of
from evaluating import plain_report
from servers.chat import Body, ScriptedChat, error, prompt

RATED = {"nist.gov": ("government", 10), "nature.com": ("academic", 9), "someone.github.io": ("personal", 2)}


def rates(body: Body) -> dict[str, Any]:
    found = re.search(r"^Domain: (\S+)$", prompt(body), re.MULTILINE)
    assert found
    kind, score = RATED[found[1]]
    return {"kind": kind, "score": score}


def linked(*urls: str) -> Any:
    return plain_report("".join(f"Sentence {i} stands here ([source]({url})).\n\n" for i, url in enumerate(urls)))


async def test_domains_worked_out_by_hand(bench: Any, chat: ScriptedChat) -> None:
    # Distinct: (10 + 2) / 2 = 6. By citation: nist.gov twice, so (10 + 10 + 2) / 3.
    chat.always(rates)
    async with bench() as b:
        b.report = linked("https://csrc.nist.gov/a", "https://www.nist.gov/b", "https://someone.github.io/c")
        result = await b.run("da")
    assert result.score == pytest.approx(60)
    assert result.parts["by_citation"] == pytest.approx(1000 * 22 / 3 / 100 * 1)
    assert result.interval is not None
    assert (result.interval.kind, result.interval.low, result.interval.high) == ("range", 20, 100)
    assert [(item.id, item.value, item.reason) for item in result.items] == [
        ("nist.gov", 10, "definitive"),
        ("someone.github.io", 2, "low"),
    ]
    assert result.items[0].detail == {"kind": "government", "citations": 2}
    assert result.counts["domains"] == 2


async def test_a_domain_is_asked_about_once_in_all_reports(bench: Any, chat: ScriptedChat) -> None:
    chat.always(rates)
    async with bench() as b:
        b.report = linked("https://nist.gov/a")
        await b.run("da")
        b.report = linked("https://nist.gov/b", "https://someone.github.io/c")
        await b.run("da")
    assert len(chat.requests) == 2
    assert not any("Sentence" in text for text in chat.texts()), "nothing of the report is in the prompt"


@pytest.mark.parametrize(
    ("target", "domain"),
    [
        ("https://csrc.nist.gov/pubs", "nist.gov"),
        ("https://ncsc.gov.uk/x", "ncsc.gov.uk"),
        ("https://someone.github.io/x", "someone.github.io"),
        ("https://web.archive.org/web/20240101000000/https://www.nist.gov/x", "nist.gov"),
        ("https://doi.org/10.1038/s41586-021-03819-2", "nature.com"),
        ("https://doi.org/10.9999/unknown", "doi.org"),
        ("https://www.nature.com/articles/x", "nature.com"),
        ("http://93.184.216.34/x", None),
    ],
)
def test_the_domain_an_address_stands_for(target: str, domain: str | None) -> None:
    assert domain_of(target) == domain


async def test_no_citations_is_not_applicable(bench: Any, chat: ScriptedChat) -> None:
    async with bench() as b:
        result = await b.run("da")
    assert (result.status, result.reason, result.score) == (Status.NOT_APPLICABLE, "no_citations", None)


async def test_an_address_without_a_domain_is_named_and_not_scored(bench: Any, chat: ScriptedChat) -> None:
    chat.always(rates)
    async with bench() as b:
        b.report = linked("https://nist.gov/a", "http://93.184.216.34/x")
        result = await b.run("da")
    assert result.score == 100
    assert [(item.id, item.value, item.outcome) for item in result.items] == [
        ("nist.gov", 10, None),
        ("http://93.184.216.34/x", None, Outcome.UNDECIDED),
    ]
    assert result.counts["without_domain"] == 1


@pytest.mark.parametrize(
    "reply", [error(400, "filter"), {"kind": "news", "score": 11}, {"kind": "blog", "score": 3}, {"kind": "news"}]
)
async def test_a_domain_that_fails_is_left_out(bench: Any, chat: ScriptedChat, reply: Any) -> None:
    chat.on(lambda body: "github.io" in prompt(body), reply)
    chat.always(rates)
    async with bench() as b:
        b.report = linked("https://nist.gov/a", "https://someone.github.io/c")
        result = await b.run("da")
    assert (result.score, result.flags) == (100, ("incomplete",))
    assert result.parts["by_citation"] == 100
    assert result.counts["could_not_check"] == 1
    assert result.items[1].outcome is Outcome.NOT_CHECKED
    assert result.items[1].reason


async def test_all_domains_failing_fails_the_unit(bench: Any, chat: ScriptedChat) -> None:
    chat.always(error(400, "filter"))
    async with bench() as b:
        b.report = linked("https://nist.gov/a")
        result = await b.run("da")
    assert result.status is Status.FAILED
    assert result.reason.startswith("call_refused")


def test_bands() -> None:
    assert [band(score) for score in range(1, 11)] == [
        *["low"] * 3,
        *["moderate"] * 3,
        *["high"] * 2,
        *["definitive"] * 2,
    ]


def test_a_source_counts_for_every_mark_and_once_if_only_listed() -> None:
    assert cited_domains(linked("https://nist.gov/a", "https://nist.gov/b")) == {"nist.gov": 2}
    assert cited_domains(plain_report("Nothing is cited here.\n")) == {}
