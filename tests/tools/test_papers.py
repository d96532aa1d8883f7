"""arXiv with the real client against a local Atom endpoint."""

import asyncio
import time
from dataclasses import replace

import pytest
from dream_eval.core import Dating, PageState, SearchState
from outside import LIMITS
from servers.arxiv import ERROR, FakeArxiv, FakePaper, feed
from servers.web import Reply, pdf, web_server

PAPERS = [
    FakePaper(
        "2401.00001",
        "Rivers and sediment",
        "We measure sediment in rivers.",
        ["2024-01-02", "2025-03-04", "2026-06-07"],
    ),
    FakePaper("2605.00002", "Rivers of the future", "Sediment after the day.", ["2026-05-20"]),
    FakePaper("2302.00003", "Lakes", "Nothing about the others.", ["2023-02-01"]),
]


def routes():
    return {"/api/query": FakeArxiv(PAPERS)}


async def test_search_honours_the_day(box):
    async with web_server(routes()) as server, box(server) as toolbox:
        found = await toolbox.arxiv_search("sediment of the rivers")
    assert [p.id for p in found.papers] == ["2401.00001v3"]
    assert (found.state, found.papers[0].dating) == (SearchState.OK, Dating.BEFORE)
    assert found.papers[0].authors == ("Ada Example",)
    assert server.routes["/api/query"].queries[0]["search_query"] == (
        "(all:sediment AND all:rivers) AND submittedDate:[199101010000 TO 202605012359]"
    )


async def test_search_loosens_only_when_nothing_is_found(box):
    async with web_server(routes()) as server, box(server) as toolbox:
        found = await toolbox.arxiv_search("sediment lakes")
        none = await toolbox.arxiv_search("volcano")
    assert {p.id for p in found.papers} == {"2401.00001v3", "2302.00003v1"}
    assert none.state is SearchState.EMPTY


async def test_the_version_of_the_day_is_read(box):
    body = pdf(["Full text of the second version. " * 2] * 3)
    async with web_server(routes()) as server:
        server.routes["/arxiv-pdf/2401.00001v2"] = Reply(body, type="application/pdf")
        async with box(server) as toolbox:
            page = await toolbox.arxiv_read("2401.00001")
            same = await toolbox.read("https://arxiv.org/abs/2401.00001")
            doi = await toolbox.read("https://doi.org/10.48550/arXiv.2401.00001")
    assert page.state is PageState.OK
    assert (page.title, str(page.published), page.site) == ("Rivers and sediment", "2025-03-04", "arXiv")
    assert page.text.startswith("Full text of the second version")
    assert same.text == doi.text == page.text
    assert len([p for p in server.paths() if p.startswith("/arxiv-pdf")]) == 1


async def test_a_version_asked_for_is_the_version_read(box):
    async with web_server(routes()) as server, box(server) as toolbox:
        page = await toolbox.read("https://arxiv.org/pdf/2401.00001v1.pdf")
    assert (str(page.published), page.flags) == ("2024-01-02", ("abstract_only",))
    assert page.text == "We measure sediment in rivers."


async def test_a_paper_of_later_is_marked_as_later(box):
    async with web_server(routes()) as server, box(server) as toolbox:
        page = await toolbox.arxiv_read("2605.00002")
    assert page.dating is Dating.AFTER


async def test_no_such_paper_is_gone(box):
    async with web_server(routes()) as server, box(server) as toolbox:
        page = await toolbox.arxiv_read("9999.99999")
    assert page.state is PageState.GONE


@pytest.mark.parametrize(
    ("reply", "state", "why"),
    [
        (Reply("busy", status=503), SearchState.FAILED, "status 503"),
        (Reply("slow down", status=429), SearchState.BLOCKED, "status 429"),
        (Reply("<html><body>We are down</body></html>"), SearchState.FAILED, "not an Atom feed"),
        (Reply(ERROR, type="application/atom+xml"), SearchState.FAILED, "incorrect id format"),
        (Reply(feed([]), type="application/atom+xml"), SearchState.EMPTY, ""),
    ],
)
async def test_failures_are_told_apart(box, reply, state, why):
    async with web_server({"/api/query": reply}) as server, box(server) as toolbox:
        found = await toolbox.arxiv_search("ti:rivers")
    assert (found.state, why in found.reason) == (state, True), found.reason
    assert "127.0.0.1" not in found.reason


async def test_a_hanging_arxiv_ends_at_our_deadline(box):
    limits = replace(LIMITS, arxiv_s=0.6)
    async with web_server({"/api/query": Reply("x", delay=300)}) as server, box(server, limits=limits) as toolbox:
        found = await toolbox.arxiv_search("ti:rivers")  # else it would take longer than a test may
    assert found.state is SearchState.FAILED


async def test_requests_are_one_by_one_and_apart(box):
    limits = replace(LIMITS, arxiv_delay_s=0.3)
    async with web_server(routes()) as server, box(server, limits=limits) as toolbox:
        start = time.monotonic()
        await asyncio.gather(*(toolbox.arxiv_search(f"ti:rivers{n}") for n in range(3)))
        took = time.monotonic() - start
    assert server.most_open == 1
    assert took >= 0.6
