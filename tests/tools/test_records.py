"""What the tools leave in the ledger: one key an ask and day, failures asked again by the next run, exact replay."""

import datetime as dt

import pytest
from dream_eval.core import AsOf, PageState, SearchState
from dream_eval.errors import Interrupted, ReplayMiss
from dream_eval.ledger import Ledger, Mode
from dream_eval.tools import open_toolbox
from outside import DAY
from servers.arxiv import FakeArxiv, FakePaper
from servers.github import FakeGitHub, FakeRepository
from servers.search import engine
from servers.web import Reply, article, pdf, redirect, web_server

TEXT = "The river carried two thousand tonnes of sediment in the year 2021. " * 12
HITS = [("https://a.example/", "A", "a river")]


async def everything(toolbox, url):
    return [
        await toolbox.search("river"),
        await toolbox.search("nothing here"),
        await toolbox.read(f"{url}/page"),
        await toolbox.read(f"{url}/gone"),
        await toolbox.read(f"{url}/blocked"),
        await toolbox.read("https://www.youtube.com/watch?v=x"),
        await toolbox.arxiv_search("ti:sediment"),
        await toolbox.arxiv_read("2401.00001"),
        await toolbox.github_search("sediment"),
        await toolbox.github_read("river/sediment"),
        await toolbox.read("https://github.com/river/sediment"),
    ]


def routes():
    return {
        "/duckduckgo": engine("duckduckgo", {"river": HITS}),
        "/page": Reply(article("Page", TEXT, published="2024-03-05")),
        "/blocked": Reply("no", status=403),
        "/api/query": FakeArxiv([FakePaper("2401.00001", "Sediment", "Of rivers.", ["2024-01-02"])]),
        "/arxiv-pdf/2401.00001v1": Reply(pdf(["Full text of a paper on rivers."]), type="application/pdf"),
        "*": FakeGitHub([FakeRepository("river/sediment", "sediment", readmes=[("2021-01-01", "# First")])]),
    }


async def test_replay_gives_the_same_without_a_server(tmp_path, box):
    async with web_server(routes()) as server:
        with Ledger.open(tmp_path / "l", run="r") as ledger:
            async with box(server, ledger=ledger) as toolbox:
                live = await everything(toolbox, server.url)
    with Ledger.open(tmp_path / "l", run="r", mode=Mode.REPLAY) as ledger:
        async with box(server, ledger=ledger) as toolbox:
            assert await everything(toolbox, server.url) == live
            with pytest.raises(ReplayMiss):
                await toolbox.read(f"{server.url}/other")
            with pytest.raises(ReplayMiss):
                await toolbox.search("other")
            with pytest.raises(ReplayMiss):
                await toolbox.arxiv_read("2401.99999")
            with pytest.raises(ReplayMiss):
                await toolbox.github_read("a/b")


async def test_every_result_has_a_key_of_the_ledger(tmp_path, box):
    from dream_eval.ledger import list_calls

    async with web_server(routes()) as server:
        with Ledger.open(tmp_path / "l", run="r") as ledger:
            async with box(server, ledger=ledger) as toolbox:
                keys = {result.key for result in await everything(toolbox, server.url)}
        assert keys <= {call.key for call in list_calls(tmp_path / "l", "r")}


async def test_lasting_answers_are_reused_and_failures_asked_again(tmp_path, box):
    async with web_server(routes()) as server:
        server.routes["/duckduckgo"] = Reply("no", status=403)
        for run in ("first", "second"):
            with Ledger.open(tmp_path / "l", run=run) as ledger:
                async with box(server, ledger=ledger) as toolbox:
                    for _ in range(2):
                        for path in ("page", "gone", "blocked"):
                            await toolbox.read(f"{server.url}/{path}")
                        state = (await toolbox.search("river")).state
        assert state is SearchState.BLOCKED
        asked = [path for path in server.paths() if not path.startswith("/wayback")]
        server.routes["/duckduckgo"] = engine("duckduckgo", HITS)
        with Ledger.open(tmp_path / "l", run="third") as ledger:
            async with box(server, ledger=ledger) as toolbox:
                assert (await toolbox.search("river")).state is SearchState.OK
    counts = {path: asked.count(path) for path in set(asked)}
    assert counts == {"/page": 1, "/gone": 1, "/blocked": 2, "/duckduckgo": 2}


async def test_another_day_is_another_answer(box, ledger):
    async with web_server(routes()) as server:
        for day in (DAY, DAY + dt.timedelta(days=1)):
            async with box(server, day=day, ledger=ledger) as toolbox:
                await toolbox.read(f"{server.url}/page")
                await toolbox.search("river")
    assert [path for path in server.paths() if "wayback" not in path] == ["/page", "/duckduckgo"] * 2


async def test_a_stop_is_not_swallowed(box, ledger):
    async with web_server(routes()) as server, box(server) as toolbox:
        ledger.stop(Interrupted("asked to stop"))
        for ask in (toolbox.search("x"), toolbox.read(server.url), toolbox.arxiv_read("1"), toolbox.github_read("a/b")):
            with pytest.raises(Interrupted):
                await ask


async def test_places_within_a_page_are_one_page(box):
    async with web_server({"/page": Reply(article("Page", TEXT))}) as server, box(server) as toolbox:
        one = await toolbox.read(f"{server.url}/page#a")
        two = await toolbox.read(f"{server.url}/page#:~:text=river")
    assert one.key == two.key
    assert server.paths() == ["/page"]


async def test_one_page_asked_for_ten_times_at_once_is_fetched_once(box):
    import asyncio

    async with web_server({"/page": Reply(article("Page", TEXT), delay=0.1)}) as server, box(server) as toolbox:
        pages = await asyncio.gather(*(toolbox.read(f"{server.url}/page") for _ in range(10)))
    assert server.paths() == ["/page"]
    assert {page.state for page in pages} == {PageState.OK}


class Changing:
    """A page with validators, as it should be served: 304 as long as what the client has still holds."""

    def __init__(self, name, value, asks):
        self.headers, self.value, self.asks = {name: value}, value, asks
        self.text = TEXT
        self.whole = 0

    def __call__(self, seen):
        if seen.headers.get(self.asks) == self.value:
            return Reply("", status=304, type=None)
        self.whole += 1
        return Reply(article("Page", self.text, published="2024-03-05"), headers=self.headers)


@pytest.mark.parametrize(
    ("name", "value", "asks"),
    [
        ("ETag", '"v1"', "if-none-match"),
        ("Last-Modified", "Tue, 05 Mar 2024 10:00:00 GMT", "if-modified-since"),
    ],
)
async def test_a_refresh_asks_only_whether_a_page_has_changed(tmp_path, box, name, value, asks):
    page = Changing(name, value, asks)

    async def look(run, mode=Mode.REFRESH):
        with Ledger.open(tmp_path / "l", run=run, mode=mode) as ledger:
            async with box(server, ledger=ledger) as toolbox:
                return await toolbox.read(f"{server.url}/page")

    async with web_server({"/page": page}) as server:
        first = await look("a", Mode.CACHE)
        again = await look("b")
        assert (page.whole, len(server.seen)) == (1, 2)
        assert again == first
        page.text, page.value = TEXT.replace("two thousand", "three thousand"), value.replace("1", "2")
        changed = await look("c")
        assert page.whole == 2
        assert "three thousand" in changed.text
    assert (await look("b", Mode.REPLAY)).text == first.text
    assert (await look("c", Mode.REPLAY)).text == changed.text


async def test_an_address_that_redirects_is_asked_for_anew(tmp_path, box):
    """The validators are those of the page that it led to: the first address must not get them."""
    page = Changing("ETag", '"v1"', "if-none-match")
    async with web_server({"/page": page, "/old": redirect("/page")}) as server:
        for mode in (Mode.CACHE, Mode.REFRESH):
            with Ledger.open(tmp_path / "l", run=mode, mode=mode) as ledger:
                async with box(server, ledger=ledger) as toolbox:
                    assert (await toolbox.read(f"{server.url}/old")).state is PageState.OK
    assert page.whole == 2
    assert not [seen for seen in server.seen if "if-none-match" in seen.headers]


async def test_a_304_that_nobody_asked_for_is_no_page(box):
    async with web_server({"/page": Reply("", status=304, type=None)}) as server, box(server) as toolbox:
        page = await toolbox.read(f"{server.url}/page")
    assert page.state is PageState.UNREACHABLE
    assert "status 304" in page.reason


async def test_half_characters_in_what_is_asked_are_replaced(tmp_path, ledger):
    path = tmp_path / "c.jsonl"
    path.write_text('{"url": "https://a.example/\ufffd", "title": "T", "text": "Rivers rise."}')
    async with open_toolbox(ledger, as_of=AsOf(day=DAY), search=[f"corpus:{path}"]) as toolbox:
        page = await toolbox.read("https://a.example/\udcff")
        found = await toolbox.search("rivers \udcff")
    assert page.text == "Rivers rise."
    assert found.query == "rivers \ufffd"
    assert [hit.title for hit in found.hits] == ["T"]
    page.model_dump_json()
    found.model_dump_json()
