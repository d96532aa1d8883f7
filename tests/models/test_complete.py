from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import BudgetReached, ReplayMiss, UserError
from dream_eval.ledger import Budget, Kind, Ledger, Mode, Usage, find_call, scope
from dream_eval.models import ChatModel, Limits, open_model, price_of, run_sync, system, user
from dream_eval.models.chat import Card
from dream_eval.models.line import open_line
from dream_eval.models.prices import Price
from servers.chat import Reply, ScriptedChat, no_usage, say

QUICK = Limits(wait_scale=0)


async def test_what_is_sent_and_what_comes_back(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(say("Paris", cached=2))
    reply = await model.complete(
        [system("Be brief."), user("Capital of France?")], max_tokens=7, stop=["\n"], temperature=0.5
    )
    assert (reply.text, reply.finish, reply.usable) == ("Paris", "stop", True)
    assert reply.usage == Usage(prompt_tokens=5, cached_tokens=2, completion_tokens=1, cost_usd=0.0)
    assert chat.requests == [
        {
            "model": "scripted",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Capital of France?"},
            ],
            "max_tokens": 7,
            "stop": ["\n"],
            "temperature": 0.5,
        }
    ]


async def test_the_stored_request_is_canonical(chat: ScriptedChat, tmp_path: Path) -> None:
    chat.always("ok")
    path = tmp_path / "l.sqlite"
    with Ledger.open(path, run="r") as ledger:
        async with open_model(chat.judge, ledger) as model:
            with scope("a/wq"):
                reply = await model.complete([user("hi")], max_tokens=3, temperature=0)
    found = find_call(path, reply.key)
    assert found.request == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 3,
        "schema": None,
        "stop": [],
        "temperature": 0.0,
        "top_logprobs": 0,
    }
    assert found.answer == {"text": "ok", "finish": "stop"}
    assert (found.info.kind, found.info.endpoint, found.info.scope) == (
        Kind.COMPLETION,
        "http://127.0.0.1/v1",
        "a/wq",
    )
    port = chat.url.split(":")[2].split("/")[0]
    with closing(sqlite3.connect(path)) as db:
        assert port not in "".join(str(row) for row in db.execute("SELECT endpoint, request, answer FROM calls"))


async def test_replay_needs_neither_server_nor_key(chat: ScriptedChat, tmp_path: Path) -> None:
    chat.always(say("ok", logprobs={"yes": -0.1, "no": -2.5}))
    path = tmp_path / "l.sqlite"
    with Ledger.open(path, run="r") as ledger:
        async with open_model(chat.judge, ledger) as model:
            live = await model.complete([user("hi")], max_tokens=3, top_logprobs=2)
    chat.stop()
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        async with open_model("http://127.0.0.1:1/v1#scripted", ledger) as model:
            assert model.name == live_name(chat)
            assert await model.complete([user("hi")], max_tokens=3, top_logprobs=2) == live
            with pytest.raises(ReplayMiss):
                await model.complete([user("hi")], max_tokens=4, top_logprobs=2)
    assert live.logprobs == {"yes": -0.1, "no": -2.5}


def live_name(chat: ScriptedChat) -> str:
    return f"http://127.0.0.1/v1#{chat.model}"


async def test_samples_differ_and_equal_calls_do_not_go_out_twice(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(lambda body: str(len(chat.requests)))
    texts = [(await model.complete([user("hi")], max_tokens=3, sample=n)).text for n in (0, 1, 0, 1, 2)]
    assert texts == ["1", "2", "1", "2", "3"]


async def test_parts_of_content_and_empty_content(chat: ScriptedChat, model: ChatModel) -> None:
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}
    chat.queue(Reply(extra=parts), say(None), say("cut", finish="length"))
    replies = [await model.complete([user(str(n))], max_tokens=3) for n in range(3)]
    assert [(reply.text, reply.finish) for reply in replies] == [("ab", "stop"), ("", "stop"), ("cut", "length")]


CACHED = [
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}, {}, 4),
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": None}, {}, 0),
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 6}, {}, 6),
    ({"prompt_tokens": 10, "completion_tokens": 1}, {"timings": {"cache_n": 7, "prompt_n": 3}}, 7),
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 99}}, {}, 10),
]


@pytest.mark.parametrize(("usage", "extra", "cached"), CACHED)
async def test_cached_tokens_are_found_where_endpoints_put_them(
    chat: ScriptedChat, model: ChatModel, usage: dict[str, Any], extra: dict[str, Any], cached: int
) -> None:
    chat.always(say("x", usage=usage, extra=extra))
    reply = await model.complete([user("hi")], max_tokens=3)
    assert reply.usage == Usage(prompt_tokens=10, cached_tokens=cached, completion_tokens=1, cost_usd=0.0)


async def priced(chat: ScriptedChat, ledger: Ledger, price: Price | None, work: Any) -> Any:
    """Run ``work`` on a judge with a price of our choice at the scripted server."""
    card = Card(name="test/m", endpoint="https://priced/v1", model="m", context=1000, price=price)
    async with open_line(chat.url, None, QUICK) as line:
        return await work(ChatModel(card, ledger, line, QUICK))


async def test_cost_is_tokens_times_price_with_cached_ones_apart(chat: ScriptedChat, ledger: Ledger) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    chat.always(say("x", usage=usage))
    reply = await priced(chat, ledger, Price(2.0, 0.5, 8.0), lambda m: m.complete([user("hi")], max_tokens=3))
    assert reply.usage.cost_usd == pytest.approx((600 * 2.0 + 400 * 0.5 + 100 * 8.0) / 1e6)
    assert ledger.totals().cost_usd == reply.usage.cost_usd


async def test_unknown_price_is_unknown_and_not_nothing(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.always("x")
    reply = await priced(chat, ledger, None, lambda m: m.complete([user("hi")], max_tokens=3))
    assert reply.usage.cost_usd is None
    assert ledger.totals().cost_usd is None
    assert ledger.totals().unpriced == ("https://priced/v1",)


async def test_a_cost_that_the_endpoint_tells_is_used(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.always(say("x", usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0123}))
    reply = await priced(chat, ledger, None, lambda m: m.complete([user("hi")], max_tokens=3))
    assert reply.usage.cost_usd == 0.0123


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": 3}, {"prompt_tokens": -1}])
async def test_missing_usage_is_estimated_flagged_and_of_unknown_cost(
    chat: ScriptedChat, tmp_path: Path, usage: Any
) -> None:
    chat.always(say("a reply of some words", usage=usage))
    path = tmp_path / "l.sqlite"
    with Ledger.open(path, run="r") as ledger:
        price = Price(2.0, 0.5, 8.0)
        reply = await priced(chat, ledger, price, lambda m: m.complete([user("hello there")], max_tokens=3))
        assert ledger.totals().unpriced == ("https://priced/v1",)
    assert reply.usage.cost_usd is None
    assert reply.usage.prompt_tokens >= 2
    assert reply.usage.completion_tokens >= 5
    answer: Any = find_call(path, reply.key).answer
    assert answer["usage_estimated"] is True


async def test_missing_usage_of_a_free_server_costs_nothing(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(no_usage("x"))
    assert (await model.complete([user("hi")], max_tokens=3)).usage.cost_usd == 0.0


async def test_a_budget_stops_before_the_call(chat: ScriptedChat) -> None:
    chat.always(say("word " * 50))
    with Ledger.open(None, run="r", budget=Budget(tokens=400)) as ledger:
        async with open_model(chat.judge, ledger) as model:
            for n in range(3):
                await model.complete([user(f"hi {n}")], max_tokens=100)
            calls = (model.complete([user(f"hi {n}")], max_tokens=100) for n in range(3, 9))
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert any(isinstance(outcome, BudgetReached) for outcome in outcomes)
        assert ledger.totals().prompt_tokens + ledger.totals().completion_tokens <= 400
    assert 3 <= len(chat.requests) < 9


async def test_the_reservation_is_an_upper_bound_of_prompt_and_reply(chat: ScriptedChat) -> None:
    chat.always("x")
    price = Price(2.0, 0.5, 8.0)

    async def fits(budget: Budget) -> bool:
        with Ledger.open(None, run="r", budget=budget) as ledger:
            try:
                await priced(chat, ledger, price, lambda m: m.complete([user("three short words")], max_tokens=500))
            except BudgetReached:
                return False
            return True

    assert not await fits(Budget(tokens=502))
    assert await fits(Budget(tokens=530))
    assert not await fits(Budget(usd=(3 * 2.0 + 500 * 8.0) / 1e6 - 1e-9))
    assert await fits(Budget(usd=(30 * 2.0 + 500 * 8.0) / 1e6))


async def test_a_dollar_budget_does_not_start_with_an_unknown_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with Ledger.open(None, run="r", budget=Budget(usd=1)) as ledger:
        with pytest.raises(UserError, match="no price is known for openai/brand-new"):
            async with open_model("openai/brand-new", ledger):
                pass
        async with open_model("openai/gpt-5-mini-2025-08-07", ledger) as model:
            assert model.context == 400_000


async def test_a_dollar_budget_lets_no_call_of_unknown_price_out(chat: ScriptedChat) -> None:
    chat.always("x")
    with Ledger.open(None, run="r", budget=Budget(usd=1)) as ledger, pytest.raises(UserError, match="no price is"):
        await priced(chat, ledger, None, lambda m: m.complete([user("hi")], max_tokens=3))
    assert chat.requests == []


async def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        async with open_model("openai/gpt-5-mini", ledger):
            pass


async def test_the_key_is_sent_and_never_stored(
    chat: ScriptedChat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "marker-key-0123456789"
    monkeypatch.setenv("DREAM_API_KEY", key)
    chat.key = key
    chat.always(lambda body: f"you sent {key}")
    path = tmp_path / "l.sqlite"
    with Ledger.open(path, run="r") as ledger:
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            reply = await model.complete([user(f"what about {key}?")], max_tokens=9)
        assert reply.text == "you sent [masked]"
        assert chat.headers[0]["authorization"] == f"Bearer {key}"
        assert all(key.encode() not in file.read_bytes() for file in tmp_path.iterdir())


async def test_threads_call_through_the_loop_and_keep_their_scope(chat: ScriptedChat, tmp_path: Path) -> None:
    chat.always("ok")
    path = tmp_path / "l.sqlite"
    with Ledger.open(path, run="r") as ledger:
        async with open_model(chat.judge, ledger) as model:

            def agent() -> tuple[str, str]:
                one = model.run_sync(model.complete([user("one")], max_tokens=3))
                two = run_sync(model.complete([user("two")], max_tokens=3))
                return one.key, two.key

            with scope("a/rq"):
                keys = await asyncio.to_thread(agent)
            with pytest.raises(RuntimeError, match="await the call"):
                model.run_sync(model.complete([user("three")], max_tokens=3))
        with pytest.raises(RuntimeError, match="no judge is open"):
            await asyncio.to_thread(lambda: run_sync(model.complete([user("four")], max_tokens=3)))
    assert [find_call(path, key).info.scope for key in keys] == ["a/rq", "a/rq"]
    assert len(chat.requests) == 2


async def test_judges_of_one_endpoint_share_their_line(chat: ScriptedChat, ledger: Ledger) -> None:
    async with open_model(chat.judge, ledger) as one, open_model(f"{chat.url}#other", ledger) as two:
        assert one._open_line() is two._open_line()
        line = one._open_line()
        client = line.client
    async with open_model(chat.judge, ledger) as three:
        assert three._open_line() is not line
    assert client.is_closed()


async def test_a_judge_that_is_asked_nothing_needs_no_client(chat: ScriptedChat, ledger: Ledger) -> None:
    async with open_model(chat.judge, ledger) as model:
        line = model._open_line()
    assert "client" not in vars(line)


async def test_a_server_of_ones_own_is_reached_without_a_proxy(
    chat: ScriptedChat, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    chat.always("ok")
    async with open_model(chat.judge, ledger, limits=QUICK) as model:
        assert (await model.complete([user("hi")], max_tokens=3)).text == "ok"


def test_price_of_a_server_of_ones_own_is_nothing(chat: ScriptedChat) -> None:
    assert price_of(chat.judge) == Price(0, 0, 0)
    assert json.dumps(chat.requests) == "[]"
