"""The recording proxy: OpenAI's interface on loopback, passed on to an endpoint and kept in the ledger.

A system under test is pointed at it by ``OPENAI_BASE_URL`` and is otherwise left as it is: what it asks goes out
unchanged, errors and rate limits come back unchanged, streams flow as they come. Only
``stream_options.include_usage`` is added, so that streams can be counted, and the chunk that it brings is taken out.

Equal requests of one attempt are draws of their own: the first, second … time a request is made is part of its ledger
key, and so is the attempt. So a system that samples several answers gets several, two systems never share one, and a
collection that was killed gets what it had asked before without paying again.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...core import Json
from ...errors import AccountRefused, BudgetReached, CallFailed, DreamError, HostStop, Overloaded, ReplayMiss, UserError
from ...ledger import Answer, Kind, Ledger, Mode, Record, Reserve, Usage, canonical, digest, scope
from ...ledger import Request as LedgerRequest
from ...models.faults import Fault, from_parts
from .data import Meter
from .http import HOST, JSON, Exchange, Gone, error_body, serve
from .meter import events_of, read_usage, reserve_for
from .upstream import Upstream

if TYPE_CHECKING:
    import httpx

_PATHS = re.compile(r"/(?:chat/completions|completions|embeddings|models(?:/[^?]+)?|responses(?:/[^?]+)?)(?:\?.*)?\Z")
_TARGET = re.compile(r"(?:/t/(?P<token>[\w-]+))?(?:/v1)?(?P<path>/.*)\Z")
_NOT_SENT = {
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "accept-encoding",
    "cookie",
    "expect",
    "te",
} | {*("upgrade", "keep-alive", "proxy-authorization", "proxy-connection")}
"""Headers of a request that belong to this very connection."""
_KEPT = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id")
"""Headers of a reply that are recorded and passed back."""
_KEYS = ("authorization", "api-key", "x-api-key")
"""Headers of a request that hold keys."""
PLACEHOLDER = "dream-proxy"
"""Stands for a key where the command has none of its own; the proxy puts the real one in."""
TIMEOUT_S = 1_800.0


@dataclass
class Pass:
    """Whose calls these are: one attempt at one task, or all calls of a proxy that stands alone."""

    label: str
    base_url: str
    meter: Meter = Meter()  # noqa: RUF009  # frozen
    refused: str = ""
    """What the endpoint said when it refused the account, the last time."""
    counted: set[str] = field(default_factory=set)
    """Background responses whose use is counted."""
    seen: Counter[str] = field(default_factory=Counter)
    calls: set[asyncio.Task[None]] = field(default_factory=set)


@dataclass(frozen=True)
class _Call:
    """One request on its way."""

    method: str
    path: str
    headers: dict[str, str]
    value: dict[str, Any]
    """The JSON body; empty for GET and DELETE."""
    text: str

    @property
    def model(self) -> str:
        """As the request names it."""
        return str(self.value.get("model") or "")

    @property
    def paid(self) -> bool:
        """Whether a model works for it."""
        return self.method == "POST" and not self.path.endswith("/cancel")


class Proxy:
    """The proxy while it serves. Made by :func:`open_proxy`."""

    def __init__(
        self,
        ledger: Ledger,
        upstream: Upstream,
        on_stop: Callable[[DreamError], None],
        on_key: Callable[[str], None],
    ) -> None:
        self.port = 0
        self._ledger, self._upstream, self._on_stop, self._on_key = ledger, upstream, on_stop, on_key
        self._passes: dict[str, Pass] = {}
        self._client: httpx.AsyncClient | None = None
        self._plain_streams = False
        """The endpoint knows no ``stream_options``."""
        if upstream.key:
            ledger.hide(upstream.key)

    @property
    def key(self) -> str | None:
        """The endpoint's key, where there is one: commands need none of their own."""
        return self._upstream.key

    def admit(self, label: str, *, token: str | None = None) -> Pass:
        """A way in of its own for an attempt; ``token`` empty: the one without a token in its address."""
        token = secrets.token_urlsafe(12) if token is None else token
        way = f"/t/{token}" if token else ""
        found = self._passes[token] = Pass(label, f"http://{HOST}:{self.port}{way}/v1")
        return found

    async def dismiss(self, gone: Pass) -> None:
        """Close a way in: calls under way are cut short, later ones refused."""
        self._passes = {token: one for token, one in self._passes.items() if one is not gone}
        for call in list(gone.calls):
            call.cancel()
        await asyncio.gather(*gone.calls, return_exceptions=True)

    async def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        target = _TARGET.match(exchange.request.target)
        found = self._passes.get(target["token"] or "") if target else None
        if target is None or found is None or not _is_known(target["path"]):
            known = (
                "passed on are chat/completions, completions, responses, embeddings, models, under the given address"
            )
            await exchange.reply(404, JSON, error_body(known, "not_found"))
            return
        job = asyncio.ensure_future(self._serve(exchange, found, target["path"]))
        found.calls.add(job)
        try:
            await asyncio.wait([job])
        finally:
            found.calls.discard(job)
            job.cancel()
            with suppress(asyncio.CancelledError, Gone):
                await job

    async def _serve(self, exchange: Exchange, owner: Pass, path: str) -> None:
        call = _read_call(exchange, path)
        if call is None:
            await exchange.reply(400, JSON, error_body("the body is no JSON object", "bad_request"))
            return
        try:
            with scope(owner.label):
                record = await self._record(exchange, owner, call)
        except (HostStop, ReplayMiss, UserError) as stop:
            self._on_stop(stop)
            await _tell(exchange, *_stopped(stop))
            return
        except CallFailed as failed:
            await _tell(exchange, 502, str(failed), failed.code)
            return
        if call.paid or record.usage.tokens:
            owner.meter = owner.meter.plus(record.usage, reused=record.reused)
        if not exchange.started:
            await _give(exchange, record.body)
        else:
            await exchange.end()

    async def _record(self, exchange: Exchange, owner: Pass, call: _Call) -> Record:
        body: dict[str, Json] = {"model": call.model, "method": call.method, "path": call.path, "for": owner.label}
        body["request"] = call.value
        key = digest(body)
        sample = owner.seen[key]
        owner.seen[key] += 1
        request = LedgerRequest(Kind.COMPLETION, self._upstream.endpoint, body, sample)
        price = self._upstream.price(call.model)
        writes = "embeddings" not in call.path
        reserve = reserve_for(call.value, call.text, price, writes=writes) if call.paid else Reserve()
        return await self._ledger.call(request, lambda: self._ask(exchange, owner, call), reserve=reserve)

    async def _ask(self, exchange: Exchange, owner: Pass, call: _Call) -> Answer:
        """Pass the call on, and a stream back while it comes. Raises Overloaded when the endpoint cannot be reached."""
        import httpx

        try:
            answer = await self._once(exchange, owner, call, counted=_streams(call) and not self._plain_streams)
            if answer is None:
                self._plain_streams = True
                answer = await self._once(exchange, owner, call, counted=False)
        except httpx.HTTPError as error:
            words = f"{self._upstream.endpoint}: {type(error).__name__}: {error}"
            raise Overloaded(words[:300], subject=self._upstream.endpoint) from error
        assert answer is not None
        return answer

    async def _once(self, exchange: Exchange, owner: Pass, call: _Call, *, counted: bool) -> Answer | None:
        """One try; None when the endpoint did not like being asked to count."""
        assert self._client is not None
        content = _counting(call.value) if counted else exchange.request.body
        url, headers = self._upstream.base_url + call.path, self._headers(call)
        async with self._client.stream(call.method, url, headers=headers, content=content) as reply:
            kept = {name: reply.headers[name] for name in _KEPT if name in reply.headers}
            if reply.status_code < 400 and reply.headers.get("content-type", "").startswith("text/event-stream"):
                return await self._stream(exchange, call, reply, kept, strip=counted and not _wants_usage(call))
            text = (await reply.aread()).decode("utf-8", "replace")
        if counted and reply.status_code in (400, 422) and "stream_options" in text:
            return None
        if reply.status_code >= 400:
            self._note(owner, call, reply.status_code, text)
            body: dict[str, Json] = {"status": reply.status_code, "headers": dict(kept), "text": text}
            return Answer(body, usable=False, reason=f"HTTP {reply.status_code}")
        usage = self._usage(owner, call, text)
        return Answer({"status": reply.status_code, "headers": dict(kept), "text": text}, usage=usage)

    async def _stream(
        self, exchange: Exchange, call: _Call, reply: httpx.Response, kept: dict[str, str], *, strip: bool
    ) -> Answer:
        """Pass events on as they come. ``strip``: without the chunk that only counts, which nobody asked for.

        A client that leaves in the middle (many stop at a word) is charged for the whole: the rest is read and kept.
        """
        whole: list[str] = []
        passed: list[str] = []
        gone = False
        await exchange.start(reply.status_code, kept)
        async for event in _events(reply):
            whole.append(event)
            if strip and _only_counts(event):
                continue
            passed.append(event)
            if not gone:
                gone = await _is_gone(exchange, event)
        usage = read_usage("".join(whole), streamed=True, asked=call.text, price=self._upstream.price(call.model))
        return Answer({"status": reply.status_code, "headers": dict(kept), "text": "".join(passed)}, usage=usage)

    def _usage(self, owner: Pass, call: _Call, text: str) -> Usage:
        price = self._upstream.price(call.model or _model_in(text))
        if call.paid:
            return read_usage(text, streamed=False, asked=call.text, price=price)
        if call.method != "GET" or not call.path.startswith("/responses/") or call.path in owner.counted:
            return Usage()
        usage = read_usage(text, streamed=False, asked=None, price=price)
        if usage.tokens:
            owner.counted.add(call.path)
        return usage

    def _note(self, owner: Pass, call: _Call, status: int, text: str) -> None:
        """Remember that the account was refused: no later task will fare better."""
        try:
            error: Any = json.loads(text)
        except ValueError:
            error = text
        trouble = from_parts(status, error, {})
        if call.paid and trouble.fault is Fault.ACCOUNT:
            owner.refused = f"{self._upstream.endpoint}: {trouble.message}"

    def _headers(self, call: _Call) -> dict[str, str]:
        headers = {name: value for name, value in call.headers.items() if name not in _NOT_SENT}
        for key in filter(None, map(_key, (headers.get(name, "") for name in _KEYS))):
            self._ledger.hide(key)
            self._on_key(key)
        if not _key(headers.get("authorization", "")):
            headers.pop("authorization", None)
            if self._upstream.key:
                headers["authorization"] = f"Bearer {self._upstream.key}"
        return headers


def _key(header: str) -> str:
    """The key in the value of a header; empty for none and for the placeholder."""
    given = header.removeprefix("Bearer ").strip()
    return "" if given == PLACEHOLDER else given


@asynccontextmanager
async def open_proxy(
    ledger: Ledger,
    upstream: Upstream,
    *,
    port: int = 0,
    on_stop: Callable[[DreamError], None] = lambda _: None,
    on_key: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[Proxy]:
    """Serve on loopback until the end of the block. ``port`` 0: a free one. ``on_stop`` is told what must end the whole
    collection (budget, a missing record in replay, an unknown price), ``on_key`` each key that a request brings.
    UserError when the port is taken."""
    import httpx

    proxy = Proxy(ledger, upstream, on_stop, on_key)
    timeout = httpx.Timeout(TIMEOUT_S, connect=10.0)
    client = httpx.AsyncClient(timeout=timeout, trust_env=not upstream.own, limits=httpx.Limits(max_connections=200))
    async with client:
        proxy._client = None if ledger.mode is Mode.REPLAY else client
        async with serve(proxy.handle, port) as proxy.port:
            yield proxy


def _is_known(path: str) -> bool:
    """Whether a path is one of those that are passed on, and leads nowhere else."""
    return _PATHS.match(path) is not None and "/." not in path and "%2e" not in path.lower()


def _read_call(exchange: Exchange, path: str) -> _Call | None:
    request = exchange.request
    text = request.body.decode("utf-8", "replace")
    value: Any = {}
    if text.strip():
        try:
            value = json.loads(text)
            canonical(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, dict):
        return None
    return _Call(request.method, path, dict(request.headers), value, text)


async def _is_gone(exchange: Exchange, event: str) -> bool:
    """Send an event; True when there is nobody any more to send it to."""
    try:
        await exchange.send(event.encode())
    except Gone:
        return True
    return False


async def _give(exchange: Exchange, body: Json) -> None:
    """A recorded answer."""
    assert isinstance(body, dict)
    headers = {str(name): str(value) for name, value in dict(body["headers"] or {}).items()}  # type: ignore[arg-type]
    await exchange.reply(int(str(body["status"])), headers, str(body["text"]).encode())


async def _tell(exchange: Exchange, status: int, message: str, code: str) -> None:
    """An error of ours; in the middle of a stream the connection just ends."""
    if exchange.started:
        raise Gone
    await exchange.reply(status, JSON, error_body(message, code))


def _stopped(stop: DreamError) -> tuple[int, str, str]:
    """Status, words and code for what ends a collection; a status that clients do not try again."""
    if isinstance(stop, BudgetReached):
        return 402, str(stop), "budget_reached"
    if isinstance(stop, AccountRefused):
        return 401, str(stop), "account_refused"
    return (404, str(stop), "replay_miss") if isinstance(stop, ReplayMiss) else (400, str(stop), "stopped")


def _streams(call: _Call) -> bool:
    """A streamed chat completion: the only kind that does not count by itself."""
    return call.value.get("stream") is True and call.path.split("?")[0] in ("/chat/completions", "/completions")


def _counting(value: dict[str, Any]) -> bytes:
    """The request with the wish that its stream be counted."""
    options = value.get("stream_options")
    options = {**(options if isinstance(options, dict) else {}), "include_usage": True}
    return json.dumps({**value, "stream_options": options}).encode()


def _wants_usage(call: _Call) -> bool:
    options = call.value.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


async def _events(reply: httpx.Response) -> AsyncIterator[str]:
    """Server-sent events one by one, each with the empty line that ends it."""
    lines: list[str] = []
    async for line in reply.aiter_lines():
        lines.append(line)
        if not line:
            yield "\n".join(lines) + "\n"
            lines = []
    if any(lines):
        yield "\n".join(lines) + "\n\n"


def _only_counts(event: str) -> bool:
    """The last chunk of a counted stream: usage and no choice."""
    return any(value.get("usage") and not value.get("choices") for value in events_of(event))


def _model_in(text: str) -> str:
    try:
        return str(json.loads(text).get("model") or "")
    except (ValueError, AttributeError):
        return ""
