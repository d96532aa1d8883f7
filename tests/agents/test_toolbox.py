"""The six tools as an agent's code calls them, over real local servers."""

import json
from contextlib import asynccontextmanager

import pytest
from dream_eval.agents.creator import page_chars
from dream_eval.agents.run import run_agent
from dream_eval.agents.shelf import Shelf
from dream_eval.agents.toolbox import agent_tools, signatures, tool_names
from dream_eval.core import AsOf
from dream_eval.tools import open_toolbox
from outside import DAY, LIMITS, ends
from servers.arxiv import FakeArxiv, FakePaper
from servers.github import FakeGitHub, FakeRepository
from servers.search import duckduckgo_page
from servers.web import Reply, web_server

PAGE = """<html><head><title>Rivers</title><meta property="article:published_time" content="2026-02-01"></head><body>
<article><h1>Rivers</h1><p>The river Glomma carried 700 cubic metres a second in 2025. Its level was measured in Oslo.
%s
</p></article></body></html>""" % ("Sediment moves with the flow of the water and settles behind dams. " * 12)

HITS = [
    ("http://127.0.0.1:1/x", "Elsewhere", "snippet " * 100),
    ("https://example.org/rivers", "Rivers", "On rivers."),
]
PAPERS = [
    FakePaper("2401.00001", "Sediment transport", "We study sediment. " * 60, ["2024-01-02"]),
    FakePaper("2606.00001", "Sediment later", "After the day.", ["2026-06-01"]),
]
REPOSITORIES = [
    FakeRepository("river/sediment", "sediment models", readmes=[("2021-01-01", "# First. It models sediment.")]),
    FakeRepository("river/later", "sediment too", created="2026-06-01", readmes=[("2026-06-02", "# New")]),
]


@asynccontextmanager
async def world(ledger):
    routes = {
        "/duckduckgo": Reply(duckduckgo_page(HITS)),
        "/page": Reply(PAGE),
        "/gone": Reply("gone", status=404),
        "/api/query": FakeArxiv(PAPERS),
        "*": FakeGitHub(REPOSITORIES),
    }
    as_of = AsOf(day=DAY)
    async with (
        web_server(routes) as server,
        open_toolbox(ledger, as_of=as_of, limits=LIMITS, endpoints=ends(server), search=["ddgs:duckduckgo"]) as toolbox,
    ):
        yield server, toolbox, Shelf(as_of)


@pytest.fixture
def ask(chat, model, job, ledger):
    """Runs a program with the six tools and gives back the JSON that it hands in as text."""

    async def go(program, toolbox, shelf):
        chat.queue(f"<code>\nimport json\n{program}\nfinal_answer({{'text': json.dumps(x)}})\n</code>")
        tools = agent_tools(toolbox, shelf, page_chars(model))
        run = await run_agent(model, job(tools=tools, task=f"Run: {program}", max_steps=1))
        return json.loads(run.value.text), run.steps[0].tools[0]

    return go


async def test_web_search(ask, ledger):
    async with world(ledger) as (_, toolbox, shelf):
        found, use = await ask("x = web_search('rivers')", toolbox, shelf)
    assert [hit["url"] for hit in found] == [url for url, _, _ in HITS]
    assert found[1] == {
        "url": "https://example.org/rivers",
        "title": "Rivers",
        "published": None,
        "snippet": "On rivers.",
    }
    assert len(found[0]["snippet"]) < 340
    assert len(use.key) == 64
    assert shelf.queries == ["rivers"]


async def test_read_page_numbers_sentences_and_finds(ask, ledger):
    async with world(ledger) as (server, toolbox, shelf):
        url = f"{server.url}/page"
        whole, use = await ask(f"x = read_page('{url}')", toolbox, shelf)
        part, again = await ask(f"x = read_page('{url}', find='Glomma')", toolbox, shelf)
    assert whole["state"] == "ok"
    assert (whole["title"], whole["published"]) == ("Rivers", "2026-02-01")
    glomma = next(line for line in whole["text"].splitlines() if "Glomma" in line)
    number = int(glomma[1 : glomma.index("]")])
    assert glomma in part["text"].splitlines()
    assert len(part["text"]) < len(whole["text"])
    assert use.key == again.key
    quote = shelf.provenance(url, number)
    assert quote.quote == "The river Glomma carried 700 cubic metres a second in 2025."
    assert quote.key == use.key
    assert shelf.provenance(url, 999) is None


async def test_a_page_that_cannot_be_read_is_a_state(ask, ledger):
    async with world(ledger) as (server, toolbox, shelf):
        found, _ = await ask(f"x = read_page('{server.url}/gone')", toolbox, shelf)
    assert found["state"] == "gone"
    assert found["text"] == ""
    assert shelf.problem(f"{server.url}/gone", 1) == "that url was not read with read_page in this job"


async def test_arxiv(ask, ledger):
    async with world(ledger) as (_, toolbox, shelf):
        found, use = await ask("x = arxiv_search('sediment')", toolbox, shelf)
        read, _ = await ask("x = arxiv_read('2401.00001')", toolbox, shelf)
    assert [(paper["id"], paper["published"]) for paper in found] == [("2401.00001v1", "2024-01-02")]
    assert len(found[0]["abstract"]) < 650
    assert len(use.key) == 64
    assert read["state"] == "ok"
    assert "[1] " in read["text"]
    assert shelf.get(read["url"]) is not None


async def test_github(ask, ledger):
    async with world(ledger) as (_, toolbox, shelf):
        found, _ = await ask("x = github_search('sediment')", toolbox, shelf)
        read, use = await ask("x = github_read('river/sediment')", toolbox, shelf)
        later, _ = await ask("x = github_read('river/later')", toolbox, shelf)
        missing, _ = await ask("x = github_read('river/none')", toolbox, shelf)
    assert "river/sediment" in [repository["name"] for repository in found]
    assert read["state"] == "ok"
    assert "It models sediment." in read["text"]
    assert shelf.provenance(read["url"], 1).key == use.key
    assert later["state"] == "after_the_as_of_date"
    assert missing["state"] == "empty"


async def test_a_search_that_could_not_be_done_is_no_empty_result(chat, model, job, ledger):
    async with world(ledger) as (server, toolbox, shelf):
        server.routes["/duckduckgo"] = Reply("busy", status=503)
        tools = agent_tools(toolbox, shelf, 2_000)
        chat.queue(
            "<code>\nprint(web_search('rivers'))\n</code>", "<code>\nfinal_answer({'text': 'could not look'})\n</code>"
        )
        run = await run_agent(model, job(tools=tools))
    assert "the search could not be done" in run.steps[0].error


@pytest.mark.parametrize("call", ["web_search('')", "web_search(3)", "read_page()", "web_search('a', 'b')"])
async def test_bad_arguments_are_told(chat, model, job, ledger, call):
    async with world(ledger) as (_, toolbox, shelf):
        chat.queue(f"<code>\n{call}\n</code>", "<code>\nfinal_answer({'text': 'x'})\n</code>")
        run = await run_agent(model, job(tools=agent_tools(toolbox, shelf, 2_000)))
    assert "must be a text" in run.steps[0].error or "takes" in run.steps[0].error


async def test_names_and_signatures(ledger, toolbox):
    async with world(ledger) as (_, online, _shelf):
        assert tool_names(online) == (
            "web_search",
            "read_page",
            "arxiv_search",
            "arxiv_read",
            "github_search",
            "github_read",
        )
        assert len(signatures(online).splitlines()) == 6
    assert tool_names(toolbox) == ("web_search", "read_page"), "a corpus serves search and pages"
    assert "read_page(url, find=None)" in signatures(toolbox)
