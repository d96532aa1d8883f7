"""Search engines over real sockets with the real ddgs package: found, nothing found, blocked, out of credit, failed."""

import datetime as dt
from dataclasses import replace

import pytest
from dream_eval.core import Dating, SearchState
from dream_eval.errors import UserError
from dream_eval.tools import Endpoints
from dream_eval.tools.ddgs_search import region_of
from dream_eval.tools.search import read_date
from outside import LIMITS, ends
from servers.search import (
    ANOMALY,
    brave_reply,
    engine,
    query_of,
    searxng_reply,
    serper_reply,
    tavily_reply,
)
from servers.web import Reply, json_reply, web_server

HITS = [(f"https://site{n}.example/page", f"Title {n}", f"River snippet {n}") for n in range(1, 6)]


@pytest.mark.parametrize("name", ["duckduckgo", "brave", "mojeek"])
async def test_ddgs_engine_by_name(box, name):
    async with web_server({f"/{name}": engine(name, HITS)}) as server, box(server, search=[f"ddgs:{name}"]) as toolbox:
        found = await toolbox.search("river sediment", limit=3)
    assert found.state is SearchState.OK
    assert [(h.url, h.title, h.rank, h.engine) for h in found.hits] == [
        (url, title, n, f"ddgs:{name}") for n, (url, title, _) in enumerate(HITS[:3], 1)
    ]
    assert "River snippet 1" in found.hits[0].snippet
    assert query_of(server.seen[0])["q"] == "river sediment"


CHANGED = "<html><body><main>A wholly new layout with river results</main></body></html>"


@pytest.mark.parametrize(
    ("reply", "state", "why"),
    [
        (engine("duckduckgo", []), SearchState.EMPTY, "nothing"),
        (Reply(ANOMALY, status=202), SearchState.BLOCKED, "status 202"),
        (Reply(ANOMALY), SearchState.BLOCKED, "challenge"),
        (Reply("no", status=403), SearchState.BLOCKED, "status 403"),
        (Reply("no", status=429), SearchState.BLOCKED, "status 429"),
        (Reply("no", status=500), SearchState.FAILED, "status 500"),
        (Reply(CHANGED), SearchState.FAILED, "does not say so"),
        (Reply(""), SearchState.FAILED, ""),
        (Reply("x" * 100, cut=10), SearchState.FAILED, ""),
    ],
)
async def test_ddgs_failures_are_told_apart(box, reply, state, why):
    async with web_server({"/duckduckgo": reply}) as server, box(server) as toolbox:
        found = await toolbox.search("river")
    assert (found.state, found.hits) == (state, ())
    assert why in found.reason


async def test_a_hanging_engine_ends_at_our_deadline(box):
    limits = replace(LIMITS, search_s=1.0)
    async with web_server({"/duckduckgo": Reply("x", delay=300)}) as server, box(server, limits=limits) as toolbox:
        found = await toolbox.search("river")  # else it would take longer than a test may
    assert found.state is SearchState.FAILED


async def test_the_next_engine_stands_in(box):
    routes = {"/duckduckgo": Reply("no", status=403), "/brave": engine("brave", []), "/mojeek": engine("mojeek", HITS)}
    search = ["ddgs:duckduckgo,brave,mojeek"]
    async with web_server(routes) as server, box(server, search=search) as toolbox:
        assert toolbox.engines == ("ddgs:duckduckgo", "ddgs:brave", "ddgs:mojeek")
        found = await toolbox.search("river")
        assert found.hits[0].engine == "ddgs:mojeek"
        del server.routes["/mojeek"]
        nothing = await toolbox.search("lake")
        server.routes["/brave"] = Reply("no", status=500)
        worse = await toolbox.search("sea")
    assert nothing.state is SearchState.EMPTY
    assert "ddgs:duckduckgo: status 403" in nothing.reason
    assert worse.state is SearchState.BLOCKED


@pytest.mark.parametrize(
    "entry", ["ddgs:auto", "ddgs:grokipedia", "ddgs:nosuch", "bing", "corpus:", "", "searxng:nope"]
)
async def test_what_is_not_offered_is_a_users_mistake(box, entry):
    async with web_server() as server:
        with pytest.raises(UserError):
            async with box(server, search=[entry]):
                pass


@pytest.mark.parametrize("entry", ["serper", "tavily", "brave"])
async def test_a_missing_key_is_a_users_mistake(box, entry):
    async with web_server() as server:
        with pytest.raises(UserError, match=f"{entry.upper()}_API_KEY"):
            async with box(server, search=[entry]):
                pass


APIS = [
    ("serper", "SERPER_API_KEY", "/serper", serper_reply(HITS), serper_reply([])),
    ("tavily", "TAVILY_API_KEY", "/tavily", tavily_reply(HITS), tavily_reply([])),
    ("brave", "BRAVE_API_KEY", "/brave-api", brave_reply(HITS), brave_reply([])),
]


@pytest.mark.parametrize(("entry", "variable", "path", "good", "empty"), APIS, ids=[a[0] for a in APIS])
async def test_apis(box, ledger, monkeypatch, entry, variable, path, good, empty):
    monkeypatch.setenv(variable, "k3y-that-is-secret")
    replies = {
        "good": (good, SearchState.OK),
        "empty": (empty, SearchState.EMPTY),
        "denied": (json_reply({"message": "Unauthorized."}, 403), SearchState.BLOCKED),
        "credit": (json_reply({"message": "Not enough credits"}, 400), SearchState.OUT_OF_CREDIT),
        "quota": (
            json_reply({"detail": {"error": "This request exceeds your plan's set usage limit"}}, 432),
            "out_of_credit",
        ),
        "paid": (Reply("", status=402), SearchState.OUT_OF_CREDIT),
        "limited": (json_reply({"message": "Rate limit"}, 429), SearchState.BLOCKED),
        "broken": (Reply("<html>"), SearchState.FAILED),
        "odd": (json_reply({"other": 1}), SearchState.FAILED),
        "list": (json_reply([1]), SearchState.FAILED),
        "down": (Reply("", status=500), SearchState.FAILED),
    }
    async with web_server() as server, box(server, search=[entry]) as toolbox:
        for name, (reply, state) in replies.items():
            server.routes[path] = reply
            found = await toolbox.search(name)
            assert found.state == state, (name, found)
        good_hits = (await toolbox.search("good")).hits
        bytes_on_disk = ledger.path.read_bytes()
    assert [h.url for h in good_hits] == [u for u, _, _ in HITS]
    if entry != "tavily":
        assert (good_hits[0].published, good_hits[0].dating) == (dt.date(2024, 3, 3), Dating.BEFORE)
    sent = " ".join(f"{s.path} {s.headers} {s.body!r}" for s in server.seen)
    assert "k3y-that-is-secret" in sent
    assert "2026" in server.seen[0].path + server.seen[0].body.decode()
    assert b"k3y-that-is-secret" not in bytes_on_disk


async def test_searxng_at_the_address_that_the_user_gave(box):
    async with web_server({"/search": searxng_reply(HITS)}) as server:
        search = [f"searxng:{server.url}/"]
        async with box(server, search=search, endpoints=Endpoints()) as toolbox:
            found = await toolbox.search("river", language="de")
            server.routes["/search"] = searxng_reply([], [["google", "CAPTCHA"]])
            silent = await toolbox.search("lake")
            server.routes["/search"] = searxng_reply([])
            empty = await toolbox.search("sea")
            server.routes["/search"] = Reply("Forbidden", status=403)
            off = await toolbox.search("pond")
            page = await toolbox.read(f"{server.url}/secret")
    assert found.hits[0].published == dt.date(2024, 3, 3)
    assert query_of(server.seen[0])["language"] == "de"
    assert (silent.state, empty.state, off.state) == (SearchState.BLOCKED, SearchState.EMPTY, SearchState.FAILED)
    assert "switched off" in off.reason
    assert page.reason.startswith("refused")
    assert "/secret" not in server.paths()


async def test_excluded_hosts_and_report_mirrors_are_no_hits(box):
    rows = [
        ("https://www.excluded.example/a", "a", "a"),
        ("https://sub.excluded.example/a", "a", "a"),
        ("https://notexcluded.example/a", "b", "b"),
        ("https://grokipedia.com/page/River", "c", "c"),
        ("https://chatgpt.com/share/abc", "c", "c"),
        ("https://github.com/owner/other", "d", "d"),
        ("https://github.com/owner/repo/x", "d", "d"),
        ("https://www.google.com/url?q=https://real.example/x&sa=U", "e", "e"),
    ]
    async with web_server({"/duckduckgo": engine("duckduckgo", rows)}) as server:
        hosts = ["https://www.Excluded.example/", "github.com/owner/repo"]
        async with box(server, exclude_hosts=hosts) as toolbox:
            found = await toolbox.search("river")
    assert [h.url for h in found.hits] == [
        "https://notexcluded.example/a",
        "https://github.com/owner/other",
        "https://real.example/x",
    ]
    assert [h.rank for h in found.hits] == [1, 2, 3]


async def test_only_excluded_hits_is_empty(box):
    routes = {"/duckduckgo": engine("duckduckgo", [("https://x.example/", "a", "a")])}
    async with web_server(routes) as server, box(server, exclude_hosts=["x.example"]) as toolbox:
        assert (await toolbox.search("river")).state is SearchState.EMPTY


async def test_the_day_goes_to_duckduckgo_when_somebody_set_one(box):
    async with web_server({"/duckduckgo": engine("duckduckgo", HITS)}) as server:
        async with box(server) as toolbox:
            await toolbox.search("river", language="de")
        async with box(server, given=False) as toolbox:
            await toolbox.search("lake", language="zh")
    first, second = map(query_of, server.seen)
    assert (first["df"], first["l"]) == ("1990-01-01..2026-05-01", "de-de")
    assert ("df" in second, second["l"]) == (False, "cn-zh")


@pytest.mark.parametrize(
    ("tag", "region"),
    [(None, "us-en"), ("en", "us-en"), ("en-GB", "gb-en"), ("de", "de-de"), ("ja", "jp-jp"), ("xx", "us-en")],
)
def test_regions(tag, region):
    assert region_of(tag) == region


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-03-05T10:00:00Z", "2024-03-05"),
        ("Mar 3, 2024", "2024-03-03"),
        ("3 March 2024", "2024-03-03"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05"),
        ("2 days ago", "2026-04-29"),
        ("5 hours ago", "2026-05-01"),
        ("", None),
        ("yesterday-ish", None),
        ("2024-13-45", None),
    ],
)
def test_dates(text, day):
    found = read_date(text, dt.date(2026, 5, 1))
    assert (found.isoformat() if found else None) == day


def test_ends_cover_every_address():
    class Server:
        url, port = "http://127.0.0.1:1", 1

    made = vars(ends(Server()))
    outside = {n: v for n, v in made.items() if isinstance(v, str) and v.startswith("https://")}
    assert outside == {}


async def test_half_characters_in_an_answer_are_replaced(box):
    answer = r'{"results": [{"url": "https://a.example/x", "title": "T\ud800", "content": "S \udfff"}]}'
    reply = Reply(body=answer.encode(), headers={"content-type": "application/json"})
    async with web_server({"/search": reply}) as server, box(server, search=[f"searxng:{server.url}"]) as toolbox:
        found = await toolbox.search("river")
    assert [(hit.title, hit.snippet) for hit in found.hits] == [("T\ufffd", "S \ufffd")]
