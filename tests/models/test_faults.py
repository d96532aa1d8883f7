from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from dream_eval.errors import AccountRefused, CallRefused, Interrupted, Overloaded
from dream_eval.ledger import Event, Ledger
from dream_eval.models import ChatModel, Limits, open_model, user
from dream_eval.models.faults import Fault, Trouble, backoff, retry_after, sort_status
from dream_eval.models.limiter import Limiter
from servers.chat import Reply, ScriptedChat, cut, error, garbage, hang, no_choices, rate_limited, say

QUICK = Limits(wait_scale=0)

TEMPORARY = {
    "429": rate_limited(),
    "429 without a hint": rate_limited(None),
    "500": error(500),
    "502 with a page": garbage(status=502),
    "503": error(503, retry_after=1),
    "529": error(529, "Overloaded"),
    "408": error(408),
    "409": error(409),
    "no json": garbage(),
    "half json": garbage(b'{"choices": [{"message": {"content": "x'),
    "json, no object": garbage(b"[1, 2]"),
    "null": garbage(b"null"),
    "empty body": garbage(b""),
    "deep json": garbage(b"[" * 100_000),
    "no choices": no_choices(),
    "choices null": Reply(extra={"choices": None}),
    "choices of a wrong shape": Reply(extra={"choices": ["x"]}),
    "error within 200": Reply(extra={"choices": [], "error": {"code": 503, "message": "upstream is down"}}),
    "error text within 200": Reply(extra={"choices": None, "error": "upstream is down"}),
    "cut off": cut(),
}


@pytest.mark.parametrize("trouble", TEMPORARY.values(), ids=TEMPORARY.keys())
async def test_temporary_faults_are_tried_again(chat: ScriptedChat, ledger: Ledger, trouble: Reply) -> None:
    heard: list[Event] = []
    ledger.listen(heard.append)
    chat.queue(trouble, trouble, "at last")
    async with open_model(chat.judge, ledger, limits=QUICK) as model:
        assert (await model.complete([user("hi")], max_tokens=3)).text == "at last"
    assert len(chat.requests) == 3
    waits = [event for event in heard if event.phase == "wait"]
    assert len(waits) == 2
    assert all(event.subject == model.name and event.reason for event in waits)
    assert ledger.totals().made == 1


@pytest.mark.parametrize("trouble", TEMPORARY.values(), ids=TEMPORARY.keys())
async def test_temporary_faults_that_last_end_as_overloaded(chat: ScriptedChat, ledger: Ledger, trouble: Reply) -> None:
    chat.always(trouble)
    async with open_model(chat.judge, ledger, limits=Limits(wait_scale=0, attempts=3)) as model:
        with pytest.raises(Overloaded, match="gave up after 3 tries") as caught:
            await model.complete([user("hi")], max_tokens=3)
    assert caught.value.subject == model.name
    assert len(chat.requests) == 3
    assert ledger.totals().failed == 1


REFUSED = {
    "400": error(400, "bad request", param="messages"),
    "413": error(413, "too large"),
    "422": error(422, "unprocessable", param="messages"),
    "context": error(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
    "filter": error(400, "flagged by the content filter", code="content_filter"),
    "moderation": error(403, "input flagged by moderation"),
    "415": error(415, "unsupported media"),
    "filtered reply": say("", finish="content_filter"),
    "refusal": Reply(extra={"choices": [{"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}]}),
}


@pytest.mark.parametrize("trouble", REFUSED.values(), ids=REFUSED.keys())
async def test_a_refused_call_fails_at_once_and_others_go_on(
    chat: ScriptedChat, model: ChatModel, trouble: Reply
) -> None:
    chat.queue(trouble, "next")
    with pytest.raises(CallRefused) as caught:
        await model.complete([user("hi")], max_tokens=3)
    assert caught.value.subject == model.name
    assert (await model.complete([user("other")], max_tokens=3)).text == "next"
    assert len(chat.requests) == 2


ACCOUNT = {
    "401": error(401, "Incorrect API key", code="invalid_api_key"),
    "402": error(402, "payment required"),
    "403": error(403, "no access"),
    "404": error(404, "The model `x` does not exist", code="model_not_found"),
    "quota": error(429, "You exceeded your current quota, check your plan and billing", code="insufficient_quota"),
    "400 key": error(400, "API key not valid. Please pass a valid API key."),
    "400 model": error(400, "Model Not Exist"),
    "400 credit": error(400, "Your credit balance is too low to access the API"),
    "402 within 200": Reply(extra={"choices": [], "error": {"code": 402, "message": "Insufficient credits"}}),
}


@pytest.mark.parametrize("trouble", ACCOUNT.values(), ids=ACCOUNT.keys())
async def test_a_refused_account_stops_everything_at_once(
    chat: ScriptedChat, model: ChatModel, ledger: Ledger, trouble: Reply
) -> None:
    chat.queue(trouble).always("never")
    for text in ("hi", "other"):
        with pytest.raises(AccountRefused) as caught:
            await model.complete([user(text)], max_tokens=3)
        assert caught.value.subject == model.name
    assert len(chat.requests) == 1, "after a refusal nothing more goes out"
    assert ledger.totals().failed >= 1


async def test_an_endpoint_that_was_never_reached_ends_the_run(ledger: Ledger) -> None:
    with ScriptedChat() as chat:
        gone = chat.judge
    async with open_model(gone, ledger, limits=Limits(wait_scale=0)) as model:
        for _ in range(2):
            with pytest.raises(AccountRefused, match="nobody answers there"):
                await model.complete([user("hi")], max_tokens=3)


async def test_a_hanging_server_costs_one_time_limit_a_try(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.queue(hang(), hang()).always("at last")
    limits = Limits(wait_scale=0, timeout_s=0.15)
    began = time.monotonic()
    async with open_model(chat.judge, ledger, limits=limits) as model:
        assert (await model.complete([user("hi")], max_tokens=3)).text == "at last"
    assert time.monotonic() - began >= 0.3


async def test_retry_after_is_waited_for(chat: ScriptedChat, ledger: Ledger) -> None:
    heard: list[Event] = []
    ledger.listen(heard.append)
    chat.queue(rate_limited(0.2), rate_limited(3600), "at last")
    began = time.monotonic()
    async with open_model(chat.judge, ledger, limits=Limits(wait_cap_s=0.3)) as model:
        assert (await model.complete([user("hi")], max_tokens=3)).text == "at last"
    waits = [event.seconds for event in heard if event.phase == "wait"]
    assert 0.2 <= waits[0] <= 0.3
    assert waits[1] == 0.3, "clamped"
    assert time.monotonic() - began >= sum(waits)


async def test_the_total_wait_is_capped(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.always(rate_limited(30))
    limits = Limits(wait_scale=0, attempts=100, total_wait_s=100)
    async with open_model(chat.judge, ledger, limits=limits) as model:
        with pytest.raises(Overloaded, match="gave up after 4 tries"):
            await model.complete([user("hi")], max_tokens=3)


async def test_a_stop_ends_the_waiting(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.always(rate_limited(30))
    async with open_model(chat.judge, ledger) as model:
        call = asyncio.create_task(model.complete([user("hi")], max_tokens=3))
        while not chat.requests:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        ledger.stop(Interrupted("Ctrl-C"))
        with pytest.raises(Interrupted):
            await asyncio.wait_for(call, 25)


async def test_many_at_once_stay_within_the_limit(chat: ScriptedChat, ledger: Ledger) -> None:
    def crowd(body: Any) -> str:
        until = time.monotonic() + 60
        while len(chat.requests) > 25 and chat.peak < 20 and time.monotonic() < until:
            time.sleep(0.002)  # later ones are held until as many are here as may be
        return "ok"

    chat.always(crowd)
    async with open_model(chat.judge, ledger, limits=Limits(concurrency=20)) as model:
        await asyncio.gather(*(model.complete([user(f"{n}")], max_tokens=3) for n in range(60)))
        assert model._open_line().limiter.allowed == 20
    assert chat.peak == 20, "starts at ten, rises to twenty, and stays within it"
    assert len(chat.requests) == 60


@pytest.mark.parametrize(("most", "first"), [(1, 1), (6, 6), (16, 8), (64, 32)])
def test_half_of_the_calls_are_allowed_at_once(most: int, first: int) -> None:
    assert Limiter(most).allowed == first


async def test_one_at_a_time(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.delay_s = 0.005
    chat.always("ok")
    limits = Limits(concurrency=1)
    async with open_model(chat.judge, ledger, limits=limits) as one, open_model(f"{chat.url}#b", ledger) as two:
        await asyncio.gather(*(model.complete([user(f"{n}")], max_tokens=3) for n in range(10) for model in (one, two)))
    assert chat.peak == 1


async def test_rate_limits_lower_the_number_at_once(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.delay_s = 0.01
    chat.queue(*[rate_limited(0)] * 4).always("ok")
    async with open_model(chat.judge, ledger, limits=QUICK) as model:
        limiter = model._open_line().limiter
        began = limiter.allowed
        await asyncio.gather(*(model.complete([user(f"{n}")], max_tokens=3) for n in range(4)))
        assert limiter.allowed < began
        assert limiter.running == 0
    assert len(chat.requests) == 8


NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HINTS: list[tuple[dict[str, str], str, float | None]] = [
    ({"retry-after": "7"}, "", 7.0),
    ({"retry-after": "0.5"}, "", 0.5),
    ({"retry-after": "-3"}, "", 0.0),
    ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, "", 90.0),
    ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, "", 0.0),
    ({"retry-after": "soon"}, "", None),
    ({"retry-after": "inf"}, "", None),
    ({"retry-after": "nan"}, "", None),
    ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
    ({}, "Please retry in 23.5s.", 23.5),
    ({}, 'details: {"retryDelay": "17s"}', 17.0),
    ({}, "Please try again in 120ms.", 0.12),
    ({}, "no hint at all", None),
    ({}, "", None),
]


@pytest.mark.parametrize(("headers", "words", "seconds"), HINTS)
def test_hints_how_long_to_wait(headers: dict[str, str], words: str, seconds: float | None) -> None:
    assert retry_after(headers, words, NOW) == seconds


def test_waits_grow_jitter_and_are_capped() -> None:
    trouble = Trouble(Fault.TRANSIENT, "x")
    waits = [[backoff(tries, trouble, 60) for _ in range(200)] for tries in (1, 3, 30)]
    assert max(waits[0]) <= 2
    assert 2 < max(waits[1]) <= 8
    assert 30 < max(waits[2]) <= 60
    assert min(waits[2]) < 10, "full jitter"
    assert backoff(1, Trouble(Fault.RATE, "x", retry_after_s=500), 60) == 60


SORTED: list[Any] = [
    (429, "rate_limit_exceeded", "Rate limit reached for requests per minute; see billing", Fault.RATE),
    (429, "", "", Fault.RATE),
    (429, "insufficient_quota", "", Fault.ACCOUNT),
    (500, "", "", Fault.TRANSIENT),
    (503, "", "model not found in pool", Fault.TRANSIENT),
    (400, "", "", Fault.REFUSED),
    (403, "", "flagged", Fault.REFUSED),
    (403, "", "", Fault.ACCOUNT),
    (404, "", "", Fault.ACCOUNT),
    (418, "", "", Fault.REFUSED),
]


@pytest.mark.parametrize(("status", "code", "words", "fault"), SORTED)
def test_statuses_are_sorted(status: int, code: str, words: str, fault: Fault) -> None:
    assert sort_status(status, code, words) is fault
