"""The recording proxy, between OpenAI's own client and an endpoint on a socket."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from dream_eval.agents.research.proxy import PLACEHOLDER, Pass, Proxy, open_proxy
from dream_eval.agents.research.upstream import Upstream, parse_upstream
from dream_eval.errors import BudgetReached, DreamError, ReplayMiss, UserError
from dream_eval.ledger import Budget, Ledger, Mode, list_calls
from servers.hosted import Hosted, Reply, Stream, chunk, completion, hosted, response

UNLIMITED = Budget()
KEY = "sk-secret-key-of-somebody"
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


class Setup:
    """A ledger, an endpoint, and proxies between them."""

    def __init__(self, path: Path, server: Hosted) -> None:
        self.path, self.server = path, server
        self.stops: list[DreamError] = []

    @asynccontextmanager
    async def proxy(
        self,
        *,
        mode: Mode = Mode.CACHE,
        budget: Budget = UNLIMITED,
        label: str = "s/t/1",
        upstream: Upstream | None = None,
    ) -> AsyncIterator[tuple[Proxy, Pass, Ledger]]:
        with Ledger.open(self.path, run="r", mode=mode, budget=budget) as ledger:
            target = upstream or parse_upstream(self.server.url)
            async with open_proxy(ledger, target, on_stop=self.stops.append) as proxy:
                yield proxy, proxy.admit(label), ledger


def client(way: Pass, key: str = KEY) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=way.base_url, api_key=key, max_retries=0)


@pytest.fixture
async def setup(ledger_path: Path) -> AsyncIterator[Setup]:
    async with hosted() as server:
        yield Setup(ledger_path, server)


async def test_a_completion_comes_back_unchanged_and_is_counted(setup: Setup) -> None:
    setup.server.on("/chat/completions", completion("hi", prompt=11, new=3))
    async with setup.proxy() as (_, way, ledger), client(way) as ai:
        reply = await ai.chat.completions.create(**ASK, temperature=0.3)
        assert reply.choices[0].message.content == "hi"
        assert setup.server.asked[0].body == {**ASK, "temperature": 0.3}
        assert (way.meter.calls, way.meter.prompt_tokens, way.meter.completion_tokens) == (1, 11, 3)
        assert ledger.totals().prompt_tokens == 11
    (call,) = list_calls(setup.path, "r")
    assert (call.scope, call.subject, call.endpoint) == ("s/t/1", "m", "http://127.0.0.1/v1")


async def test_keys_reach_the_endpoint_and_nothing_else(setup: Setup) -> None:
    """The reply repeats the key, and so does the question: neither is kept."""
    setup.server.on("/chat/completions", lambda _: completion(f"your key is {KEY}"))
    async with setup.proxy() as (_, way, _), client(way) as ai:
        asked = {**ASK, "messages": [{"role": "user", "content": f"is {KEY} good?"}]}
        await ai.chat.completions.create(**asked)
    assert setup.server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    with sqlite3.connect(setup.path) as db:
        assert KEY not in "\n".join(db.iterdump())
    assert all(KEY.encode() not in file.read_bytes() for file in setup.path.parent.iterdir())


@pytest.mark.parametrize("header", ["api-key", "x-api-key"])
async def test_keys_in_other_headers_are_not_kept_either(setup: Setup, header: str) -> None:
    setup.server.on("/chat/completions", Reply({"error": {"message": f"no such key: {KEY}"}}, 403))
    async with setup.proxy() as (_, way, _), httpx.AsyncClient() as plain:
        reply = await plain.post(f"{way.base_url}/chat/completions", json=ASK, headers={header: KEY})
        assert reply.status_code == 403
    assert setup.server.asked[0].headers[header] == KEY
    assert all(KEY.encode() not in file.read_bytes() for file in setup.path.parent.iterdir())


async def test_the_placeholder_gives_way_to_the_real_key(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAM_API_KEY", KEY)
    setup.server.on("/chat/completions", completion("hi"))
    async with setup.proxy() as (_, way, _), client(way, PLACEHOLDER) as ai:
        await ai.chat.completions.create(**ASK)
    assert setup.server.asked[0].headers["authorization"] == f"Bearer {KEY}"


async def test_another_providers_key_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert parse_upstream("groq").key is None
    assert parse_upstream("https://somewhere.example/v1").key is None
    assert parse_upstream("openai").key == KEY
    assert parse_upstream().key == KEY
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    assert parse_upstream().key == KEY


async def test_equal_requests_are_draws_of_their_own_and_a_second_run_gets_the_same(setup: Setup) -> None:
    number = iter(range(100))
    setup.server.on("/chat/completions", lambda _: completion(f"draw {next(number)}"))

    async def draws(label: str) -> tuple[list[Any], int]:
        async with setup.proxy(label=label) as (_, way, _), client(way) as ai:
            replies = [await ai.chat.completions.create(**ASK) for _ in range(3)]
            return [reply.choices[0].message.content for reply in replies], way.meter.reused

    first, _ = await draws("s/t/1")
    assert first == ["draw 0", "draw 1", "draw 2"]
    assert await draws("s/t/1") == (first, 3)
    other, _ = await draws("s/t/2")
    assert other == ["draw 3", "draw 4", "draw 5"]


async def test_replay_needs_no_endpoint(setup: Setup) -> None:
    setup.server.on(
        "/chat/completions",
        lambda asked: (
            Stream([chunk("a"), chunk("b", finish="stop"), "[DONE]"])
            if asked.body.get("stream")
            else completion("whole")
        ),
    )
    setup.server.on("/models", {"object": "list", "data": [{"id": "m", "object": "model"}]})
    nowhere = parse_upstream("http://127.0.0.1:9/v1")

    async def use(way: Pass) -> list[Any]:
        async with client(way) as ai:
            whole = await ai.chat.completions.create(**ASK)
            parts = [part async for part in await ai.chat.completions.create(**ASK, stream=True)]
            models = [model.id async for model in ai.models.list()]
            text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
            return [whole.choices[0].message.content, text, models]

    async with setup.proxy() as (_, way, _):
        live = await use(way)
    assert live == ["whole", "ab", ["m"]]
    asked = len(setup.server.asked)
    async with setup.proxy(mode=Mode.REPLAY, upstream=nowhere) as (_, way, _):
        assert await use(way) == live
        assert way.meter.reused == way.meter.calls
    assert len(setup.server.asked) == asked


async def test_replay_misses_end_the_collection(setup: Setup) -> None:
    async with setup.proxy():
        pass
    async with setup.proxy(mode=Mode.REPLAY) as (_, way, _), client(way) as ai:
        with pytest.raises(openai.NotFoundError, match="no answer"):
            await ai.chat.completions.create(**ASK)
    assert isinstance(setup.stops[0], ReplayMiss)


async def test_streams_flow_as_they_come_and_are_counted(setup: Setup) -> None:
    gate = asyncio.Event()
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    setup.server.on(
        "/chat/completions", Stream([chunk("one "), chunk("two", finish="stop"), chunk(usage=usage), "[DONE]"], gate)
    )
    async with setup.proxy() as (_, way, _), client(way) as ai:
        seen = []
        async for part in await ai.chat.completions.create(**ASK, stream=True):
            seen.append(part)
            gate.set()  # the last event is only sent when the first has come through
        assert [part.choices[0].delta.content for part in seen] == ["one ", "two"]  # no chunk that nobody asked for
        assert setup.server.asked[0].body["stream_options"] == {"include_usage": True}
        assert (way.meter.prompt_tokens, way.meter.completion_tokens) == (9, 2)


async def test_a_client_that_leaves_in_the_middle_is_counted_all_the_same(setup: Setup) -> None:
    gate = asyncio.Event()
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    events = [chunk("one "), *[chunk("x" * 1000) for _ in range(300)], chunk("end", finish="stop"), chunk(usage=usage)]
    setup.server.on("/chat/completions", Stream(events, gate))
    async with setup.proxy() as (_, way, ledger):
        async with client(way) as ai, await ai.chat.completions.create(**ASK, stream=True) as stream:
            await anext(aiter(stream))
        gate.set()
        while not way.meter.calls:
            await asyncio.sleep(0.01)
        assert way.meter.completion_tokens == 2
        assert ledger.totals().cut_short == 0


async def test_who_asks_for_the_count_gets_it(setup: Setup) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    setup.server.on("/chat/completions", Stream([chunk("x", finish="stop"), chunk(usage=usage), "[DONE]"]))
    async with setup.proxy() as (_, way, _), client(way) as ai:
        stream = await ai.chat.completions.create(**ASK, stream=True, stream_options={"include_usage": True})
        assert [part.usage.prompt_tokens for part in [part async for part in stream] if part.usage] == [9]


async def test_an_endpoint_that_cannot_count_streams(setup: Setup) -> None:
    def answer(asked: Any) -> Any:
        if "stream_options" in asked.body:
            return Reply({"error": {"message": "Unrecognized request argument: stream_options"}}, 400)
        return Stream([chunk("x" * 27, finish="stop"), "[DONE]"])

    setup.server.on("/chat/completions", answer)
    async with setup.proxy() as (_, way, ledger), client(way) as ai:
        assert len([part async for part in await ai.chat.completions.create(**ASK, stream=True)]) == 1
        assert way.meter.completion_tokens >= 10  # estimated, an upper bound
        await ai.chat.completions.create(**ASK, stream=True)
        assert ["stream_options" in asked.body for asked in setup.server.asked] == [True, False, False]
        assert ledger.totals().failed == 0


async def test_a_streamed_response_is_passed_on_counted_and_replayed(setup: Setup) -> None:
    """The responses interface counts by itself: nothing is added to the request, and every event comes through."""
    done = response("report")
    delta = {"type": "response.output_text.delta", "delta": "re", "item_id": "m1", "output_index": 0}
    events = [{"type": "response.created", "response": {**done, "status": "in_progress", "usage": None}}, delta]
    gate = asyncio.Event()
    setup.server.on("/responses", Stream([*events, {"type": "response.completed", "response": done}], gate))

    async def kinds(way: Pass) -> list[str]:
        async with client(way) as ai:
            found = []
            async for event in await ai.responses.create(model="m", input="x", stream=True):
                found.append(event.type)
                gate.set()
            return found

    async with setup.proxy() as (_, way, _):
        live = await kinds(way)
        assert live == ["response.created", "response.output_text.delta", "response.completed"]
        assert setup.server.asked[0].body == {"model": "m", "input": "x", "stream": True}
        assert (way.meter.prompt_tokens, way.meter.completion_tokens) == (100, 50)
    async with setup.proxy(mode=Mode.REPLAY) as (_, way, _):
        assert await kinds(way) == live
    assert len(setup.server.asked) == 1


@pytest.mark.parametrize("status", [400, 404, 409, 422, 429, 500, 503])
async def test_an_error_has_its_own_status_body_and_headers(setup: Setup, status: int) -> None:
    body = {"error": {"message": "so it is", "type": "odd", "param": None, "code": 7, "more": [1]}}
    setup.server.on("/chat/completions", Reply(body, status, {"X-Should-Retry": "false", "X-Request-Id": "r-1"}))
    async with setup.proxy() as (_, way, _), httpx.AsyncClient() as plain:
        reply = await plain.post(f"{way.base_url}/chat/completions", json=ASK)
    assert (reply.status_code, reply.json()) == (status, body)
    assert (reply.headers["x-should-retry"], reply.headers["x-request-id"]) == ("false", "r-1")


async def test_errors_come_back_as_they_are(setup: Setup) -> None:
    limited = Reply({"error": {"message": "slow down", "code": "rate_limit"}}, 429, {"Retry-After": "7"})
    replies = iter([limited, completion("now")])
    setup.server.on("/chat/completions", lambda _: next(replies))
    async with setup.proxy() as (_, way, _), client(way) as ai:
        with pytest.raises(openai.RateLimitError, match="slow down") as caught:
            await ai.chat.completions.create(**ASK)
        assert caught.value.response.headers["retry-after"] == "7"
        assert way.refused == ""
        assert (await ai.chat.completions.create(**ASK)).choices[0].message.content == "now"
    async with setup.proxy(mode=Mode.REPLAY) as (_, way, _), client(way) as ai:  # the failure too, in its place
        with pytest.raises(openai.RateLimitError, match="slow down"):
            await ai.chat.completions.create(**ASK)
        assert (await ai.chat.completions.create(**ASK)).choices[0].message.content == "now"


async def test_a_refused_account_is_remembered(setup: Setup) -> None:
    setup.server.on("/chat/completions", Reply({"error": {"message": "Incorrect API key provided"}}, 401))
    async with setup.proxy() as (_, way, _), client(way) as ai:
        with pytest.raises(openai.AuthenticationError):
            await ai.chat.completions.create(**ASK)
        assert "Incorrect API key" in way.refused


async def _consume(ai: openai.AsyncOpenAI, *, stream: bool) -> None:
    found: Any = await ai.chat.completions.create(**ASK, stream=stream)
    if stream:
        _ = [part async for part in found]


@pytest.mark.parametrize("reply", [Reply(completion("x" * 1000), cut=True), Stream([chunk("a"), chunk("b")], cut=True)])
async def test_a_broken_connection_is_a_failure(setup: Setup, reply: Any) -> None:
    setup.server.on("/chat/completions", reply)
    async with setup.proxy() as (_, way, ledger), client(way) as ai:
        with pytest.raises((openai.APIError, httpx.HTTPError)):
            await _consume(ai, stream=isinstance(reply, Stream))
        assert ledger.totals().failed == 1


async def test_responses_in_the_background_are_counted_once(setup: Setup) -> None:
    setup.server.on("/responses", {"id": "r1", "object": "response", "status": "queued", "output": [], "model": "m"})
    setup.server.on("/responses/r1", response("report"))
    async with setup.proxy() as (_, way, _), client(way) as ai:
        queued = await ai.responses.create(model="m", input="x", background=True)
        assert queued.status == "queued"
        assert way.meter.prompt_tokens == 0
        for _ in range(2):
            assert (await ai.responses.retrieve("r1")).output_text == "report"
        assert (way.meter.prompt_tokens, way.meter.completion_tokens) == (100, 50)


async def test_embeddings(setup: Setup) -> None:
    data = [{"object": "embedding", "index": 0, "embedding": [0.5, 1.0]}]
    usage = {"prompt_tokens": 4, "total_tokens": 4}
    setup.server.on("/embeddings", {"object": "list", "model": "m", "data": data, "usage": usage})
    async with setup.proxy(budget=Budget(tokens=200)) as (_, way, _), client(way) as ai:
        found = await ai.embeddings.create(model="m", input="hello", encoding_format="float")
        assert found.data[0].embedding == [0.5, 1.0]
        assert (way.meter.prompt_tokens, way.meter.completion_tokens) == (4, 0)


async def test_the_budget_holds(setup: Setup) -> None:
    setup.server.on("/chat/completions", completion("hi", prompt=400, new=100))
    async with setup.proxy(budget=Budget(tokens=1_000)) as (_, way, _), client(way) as ai:
        await ai.chat.completions.create(**ASK, max_tokens=600)
        with pytest.raises(openai.APIStatusError, match="budget reached") as caught:
            await ai.chat.completions.create(**ASK, max_tokens=600)
        assert caught.value.status_code == 402
    assert isinstance(setup.stops[0], BudgetReached)
    assert len(setup.server.asked) == 1


async def test_a_dollar_budget_needs_a_price(setup: Setup) -> None:
    from dataclasses import replace

    target = parse_upstream(setup.server.url)
    paid = replace(target, provider=replace(target.provider, free=False))
    async with setup.proxy(budget=Budget(usd=1.0), upstream=paid) as (_, way, _), client(way) as ai:
        with pytest.raises(openai.BadRequestError, match="no price"):
            await ai.chat.completions.create(**ASK)
    assert isinstance(setup.stops[0], UserError)


async def test_dismissed_calls_are_cut_short(setup: Setup) -> None:
    setup.server.on("/chat/completions", Reply(completion("late"), delay_s=60))
    async with setup.proxy() as (proxy, way, ledger), client(way) as ai:
        call = asyncio.ensure_future(ai.chat.completions.create(**ASK))
        while not setup.server.asked:
            await asyncio.sleep(0.01)
        await proxy.dismiss(way)
        with pytest.raises(openai.APIConnectionError):
            await call
        with pytest.raises(openai.NotFoundError):
            await ai.chat.completions.create(**ASK)
        assert ledger.totals().cut_short == 1


Raw = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.mark.parametrize(
    ("path", "headers", "body", "status"),
    [
        ("/v1/chat/completions", {"Origin": "https://evil.example"}, b"{}", 403),
        ("/v1/chat/completions", {"Host": "evil.example:80"}, b"{}", 403),
        ("/v1/chat/completions", {}, b"not json", 400),
        ("/v1/chat/completions", {}, b'{"x": NaN}', 400),
        ("/v1/chat/completions", {}, b"[1]", 400),
        ("/v1/files", {}, b"{}", 404),
        ("/v1/../secrets", {}, b"{}", 404),
        ("/t/wrong/v1/chat/completions", {}, b"{}", 404),
    ],
)
async def test_what_is_not_served(setup: Setup, path: str, headers: Any, body: bytes, status: int) -> None:
    async with setup.proxy() as (proxy, _, _), httpx.AsyncClient() as web:
        proxy.admit("alone", token="")
        reply = await web.post(f"http://127.0.0.1:{proxy.port}{path}", headers=headers, content=body)
        assert reply.status_code == status
        assert reply.json()["error"]["code"]
    assert not setup.server.asked


@pytest.mark.parametrize("path", ["/v1/models/../files", "/v1/responses/%2e%2E/files", "/v1/responses/./x"])
async def test_paths_that_lead_elsewhere(setup: Setup, path: str) -> None:
    async with setup.proxy() as (proxy, _, _):
        proxy.admit("alone", token="")
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 404")
        writer.close()
    assert not setup.server.asked


async def test_without_a_token_nobody_comes_in(setup: Setup) -> None:
    async with setup.proxy() as (proxy, _, _), httpx.AsyncClient() as web:
        reply = await web.post(f"http://127.0.0.1:{proxy.port}/v1/chat/completions", json=ASK)
        assert reply.status_code == 404


@pytest.mark.parametrize(
    "raw", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nbad header\r\n\r\n", b"x" * 100_000]
)
async def test_what_is_no_http(setup: Setup, raw: bytes) -> None:
    setup.server.on("/chat/completions", completion("hi"))
    async with setup.proxy() as (proxy, way, _), client(way) as ai:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(raw)
        assert (await reader.read()).startswith(b"HTTP/1.1 4")
        writer.close()
        assert (await ai.chat.completions.create(**ASK)).choices[0].message.content == "hi"


async def test_many_at_once_each_to_its_own(setup: Setup) -> None:
    setup.server.on(
        "/chat/completions", lambda asked: completion(asked.body["messages"][0]["content"], prompt=1, new=1)
    )
    async with setup.proxy() as (proxy, _, _):
        ways = [proxy.admit(f"s/t{number}/1") for number in range(10)]

        async def use(way: Pass) -> list[str | None]:
            async with client(way) as ai:
                asks = [{**ASK, "messages": [{"role": "user", "content": f"{way.label} {n}"}]} for n in range(5)]
                replies = await asyncio.gather(*(ai.chat.completions.create(**ask) for ask in asks))
                return [reply.choices[0].message.content for reply in replies]

        for way, texts in zip(ways, await asyncio.gather(*map(use, ways)), strict=True):
            assert texts == [f"{way.label} {n}" for n in range(5)]
            assert way.meter.calls == 5
