"""Hosted research models behind OpenAI's interface, as systems under test: chat completions and responses.

A response is asked for in the background and polled. Its id is recorded as soon as it is known, so that a collection
that was killed polls the same response again instead of paying for another one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from ...core import Json
from ...errors import CallRefused, InputError, Overloaded
from ...ledger import Answer, Kind, Ledger, Mode, Record, Request, Reserve, Usage, scope
from ...models import Limits, count_tokens, parse_judge
from ...models.describing import judge_price
from ...models.faults import Failed, Fault, Trouble, backoff, from_exception
from ...models.line import Line, open_line
from ...models.providers import Judge
from ...reports import Source, scalar_json
from ...reports.records import Record as Loaded
from ...reports.records import loose_report
from .data import Asked, Delivery, Meter, NoReport, State
from .meter import UNSTATED_OUTPUT, read_usage
from .systems import Given

Api = Literal["chat", "responses"]
POLL_S = (2.0, 15.0)
"""First and longest wait between two looks at a background response."""
_RUNNING = ("queued", "in_progress")
_ENDED = ("completed", "failed", "incomplete", "cancelled")


@dataclass
class EndpointSystem:
    """A hosted research model. Made by :func:`open_endpoint`."""

    judge: Judge
    api: Api
    ledger: Ledger
    line: Line | None
    limits: Limits
    seconds: float
    """For one report, waiting included."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """More members of the request, such as ``tools``."""

    async def report(self, asked: Asked) -> Given:
        """Ask once. Raises NoReport, CallRefused, Overloaded, HostStop, ReplayMiss."""
        meter = Meter()
        with scope(asked.label):
            records = [record async for record in self._records(asked, monotonic() + self.seconds)]
        for record in records:
            meter = meter.plus(record.usage, reused=record.reused)
        return Given(read_reply(records[-1].body), meter, "ledger")

    async def _records(self, asked: Asked, until: float) -> AsyncIterator[Record]:
        """The request, and for a background response its end."""
        request = self.request(asked.task.prompt)
        first = await self._call(asked, self._path, request, lambda: self._post(self._path, request, until))
        yield first
        body = first.body
        if isinstance(body, dict) and body.get("status") in _RUNNING and isinstance(body.get("id"), str):
            place = f"/responses/{body['id']}"
            yield await self._call(asked, place, {}, lambda: self._poll(place, until))

    @property
    def _path(self) -> str:
        return "/chat/completions" if self.api == "chat" else "/responses"

    def request(self, prompt: str) -> dict[str, Json]:
        """The request for one task."""
        asked: dict[str, Json] = {"model": self.judge.model}
        if self.api == "chat":
            return asked | {"messages": [{"role": "user", "content": prompt}]} | dict(self.extra)
        asked |= {"input": prompt, "background": True}
        if "deep-research" in self.judge.model:
            asked["tools"] = [{"type": "web_search_preview"}]  # they refuse to work without a source of data
        return asked | dict(self.extra)

    async def _call(
        self, asked: Asked, path: str, request: Mapping[str, Json], do: Callable[[], Awaitable[Answer]]
    ) -> Record:
        body: dict[str, Json] = {"model": self.judge.model, "path": path, "for": asked.label, "request": dict(request)}
        reserve = self._reserve(request) if request else Reserve()
        return await self.ledger.call(Request(Kind.COMPLETION, self.judge.endpoint, body), do, reserve=reserve)

    def _reserve(self, request: Mapping[str, Json]) -> Reserve:
        """The prompt and the output limit; what a research model reads besides is only known when it is settled."""
        prompt, price = count_tokens(json.dumps(request)), judge_price(self.judge)
        limits = [request.get(name) for name in ("max_completion_tokens", "max_output_tokens", "max_tokens")]
        new = next((limit for limit in limits if isinstance(limit, int)), UNSTATED_OUTPUT)
        return Reserve(prompt + new, price.cost(prompt, 0, new) if price else None)

    async def _post(self, path: str, request: dict[str, Json], until: float) -> Answer:
        """Send the request; without ``background`` where the endpoint does not know it."""
        try:
            return self._answer(await self._patiently("POST", path, request, until), request)
        except CallRefused as refused:
            if not (request.get("background") and "background" in str(refused)):
                raise
        plain = {name: value for name, value in request.items() if name != "background"}
        return self._answer(await self._patiently("POST", path, plain, until), plain)

    async def _poll(self, path: str, until: float) -> Answer:
        """Wait until the response has ended; when its time is over it is called off."""
        wait = POLL_S[0]
        while True:
            data = await self._patiently("GET", path, {}, until)
            if data.get("status") not in _RUNNING:
                return self._answer(data, {})
            if monotonic() > until:
                with suppress(Failed):
                    await self._once("POST", f"{path}/cancel", {})
                words = f"{self.judge.name}: no report after {self.seconds:g} s; the response was called off"
                raise Overloaded(words, subject=self.judge.name)
            await asyncio.sleep(wait * self.limits.wait_scale)
            wait = min(POLL_S[1], wait * 1.5)

    def _answer(self, data: dict[str, Any], request: Mapping[str, Json]) -> Answer:
        running = data.get("status") in _RUNNING
        text = json.dumps(data, ensure_ascii=False)
        price = judge_price(self.judge)
        usage = Usage() if running else read_usage(text, streamed=False, asked=json.dumps(request), price=price)
        usable = not (self.api == "responses" and data.get("status") in ("failed", "cancelled"))
        return Answer(data, usage=usage, usable=usable, reason="" if usable else f"status {data.get('status')}")

    async def _patiently(self, method: str, path: str, body: Mapping[str, Json], until: float) -> dict[str, Any]:
        """Try until it works, nothing helps, or the time is over. Raises CallRefused, Overloaded, AccountRefused."""
        waited, tries = 0.0, 0
        while True:
            try:
                return await self._once(method, path, body)
            except Failed as failed:
                trouble = failed.trouble
            tries += 1
            if trouble.fault in (Fault.REFUSED, Fault.ACCOUNT):
                raise trouble.error(self.judge.name)
            seconds = backoff(tries, trouble, self.limits.wait_cap_s)
            late = monotonic() + seconds > until
            if late or tries >= self.limits.attempts or waited + seconds > self.limits.total_wait_s:
                words = f"{self.judge.name}: gave up after {tries} tries: {trouble.message}"
                raise Overloaded(words, subject=self.judge.name)
            waited += seconds
            await self.ledger.pause(self.judge.name, seconds * self.limits.wait_scale, trouble.message)

    async def _once(self, method: str, path: str, body: Mapping[str, Json]) -> dict[str, Any]:
        """One try. Raises Failed."""
        import httpx
        import openai

        if self.line is None:
            raise RuntimeError("a replayed endpoint cannot be called")
        async with self.line.limiter.slot():
            try:
                if method == "POST":
                    reply = await self.line.client.post(path, cast_to=httpx.Response, body=dict(body))
                else:
                    reply = await self.line.client.get(path, cast_to=httpx.Response)
            except openai.APIError as error:
                raise Failed(from_exception(error)) from error
        self.line.limiter.went_well()
        return _object(reply.content)


def _object(content: bytes) -> dict[str, Any]:
    try:
        data = scalar_json(json.loads(content))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise Failed(Trouble(Fault.TRANSIENT, f"the endpoint sent no JSON object ({len(content)} bytes)"))
    return data


@asynccontextmanager
async def open_endpoint(
    name: str,
    ledger: Ledger,
    *,
    api: Api | None = None,
    seconds: float = 3_600.0,
    extra: Mapping[str, Json] | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[EndpointSystem]:
    """Open ``provider/model`` or ``https://host/v1#model`` as a system under test.

    ``api``: by default responses for OpenAI, chat completions elsewhere. UserError for a bad name, a missing key, or a
    budget in dollars without a known price.
    """
    judge = parse_judge(name)
    limits = limits or Limits(timeout_s=seconds)
    chosen: Api = api or ("responses" if judge.provider.name == "openai" else "chat")
    system = EndpointSystem(judge, chosen, ledger, None, limits, seconds, extra or {})
    if ledger.mode is Mode.REPLAY:
        yield system
        return
    ledger.require_price(judge_price(judge) is not None, judge.name)
    key = judge.key()
    if key:
        ledger.hide(key)
    async with open_line(judge.provider.base_url, key, limits, own=judge.provider.free) as system.line:
        yield system


def read_reply(body: Json) -> Delivery:
    """The report in a chat completion or response, its citations and annotations as sources. Raises NoReport."""
    data: dict[str, Any] = body if isinstance(body, dict) else {}
    status = data.get("status")
    if status in _ENDED and status != "completed":
        raise NoReport(State.FAILED, f"the response ended as {status}{_why(data)}")
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        finish = choices[0].get("finish_reason")
        if finish in ("length", "content_filter"):
            raise NoReport(State.FAILED, f"the report was cut off ({finish})")
    shown = {name: data[name] for name in ("choices", "output", "citations", "search_results") if data.get(name)}
    try:
        loose = loose_report(Loaded(shown, None), Path("reply"))
    except InputError:
        raise NoReport(State.EMPTY, "the reply holds no text") from None
    return Delivery(loose.text, tuple(_source(one) for one in loose.listed))


def _source(source: Source) -> Json:
    entry: dict[str, Json] = {"url": source.raw, "title": source.title, "number": source.label}
    return {name: value for name, value in entry.items() if value is not None}


def _why(data: Mapping[str, Any]) -> str:
    for name in ("error", "incomplete_details"):
        told = data.get(name)
        if isinstance(told, dict):
            return f": {str(told.get('message') or told.get('reason') or told)[:200]}"
    return ""
