"""A scripted OpenAI-compatible server on a real loopback socket.

::

    with ScriptedChat() as chat:
        chat.on(lambda body: "capital" in last_user(body), {"answer": "Paris"})   # rules, asked in order
        chat.queue("first", error(500), "second")                                  # served before any rule
        chat.always("no idea")                                                     # when nothing else applies
        async with open_model(chat.judge, ledger, limits=Limits(wait_scale=0)) as model: ...
        assert len(chat.requests) == 4

A reply is a string, a JSON value or pydantic model (sent as JSON text), a :class:`Reply`, or a function of the
request's body that returns one of these. A request that nothing answers gets a 400 and makes ``__exit__`` fail.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import BaseModel

Body = dict[str, Any]
Test = Callable[[Body], bool]


@dataclass(frozen=True)
class Reply:
    """One answer of the server. ``raw`` replaces the whole HTTP body."""

    text: str | None = ""
    status: int = 200
    finish: str = "stop"
    usage: dict[str, Any] | str | None = "counted"
    """``counted``: words of prompt and reply; None: left out; a dict: sent as it is."""
    cached: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    logprobs: dict[str, float] | None = None
    raw: bytes | None = None
    delay_s: float = 0.0
    cut: bool = False
    """Announce the whole body, send half of it, close the connection."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More members of the reply's JSON object; they replace what would be there."""


Scripted = str | dict[str, Any] | list[Any] | BaseModel | Reply | Callable[[Body], Any]


def say(text: str | None, **options: Any) -> Reply:
    """A text, with any options of :class:`Reply`."""
    return Reply(text=text, **options)


def error(
    status: int,
    message: str = "scripted error",
    *,
    code: str | None = None,
    param: str | None = None,
    retry_after: str | float | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """An error in OpenAI's shape."""
    fault = {"message": message, "type": "scripted", "code": code, "param": param}
    sent = dict(headers or {})
    if retry_after is not None:
        sent["Retry-After"] = str(retry_after)
    return Reply(status=status, raw=json.dumps({"error": fault}).encode(), headers=sent)


def rate_limited(retry_after: str | float | None = 1) -> Reply:
    """429 with Retry-After."""
    return error(429, "Rate limit reached", code="rate_limit_exceeded", retry_after=retry_after)


def hang(seconds: float = 30.0) -> Reply:
    """An answer that comes far too late."""
    return Reply(text="too late", delay_s=seconds)


def cut() -> Reply:
    """A connection that breaks in the middle of the body."""
    return Reply(text="a reply that is cut off " * 20, cut=True)


def garbage(raw: bytes = b"<html>Bad gateway</html>", status: int = 200) -> Reply:
    """A body that is not what the protocol promises."""
    return Reply(raw=raw, status=status)


def no_choices() -> Reply:
    """A reply with an empty list of choices."""
    return Reply(extra={"choices": []})


def no_usage(text: str) -> Reply:
    """A reply without usage."""
    return Reply(text=text, usage=None)


def last_user(body: Body) -> str:
    """The text of the last user message."""
    return next((str(m["content"]) for m in reversed(body["messages"]) if m["role"] == "user"), "")


def prompt(body: Body) -> str:
    """All messages' texts, joined by line breaks."""
    return "\n".join(str(m["content"]) for m in body["messages"])


def schema_sent(body: Body) -> dict[str, Any] | None:
    """The JSON schema in ``response_format``, or None."""
    wanted = (body.get("response_format") or {}).get("json_schema") or {}
    found: dict[str, Any] | None = wanted.get("schema")
    return found


class ScriptedChat:
    """The server. ``refuse``: names of parameters it answers with 400, of ``json_schema``, ``response_format``,
    ``temperature``, ``max_tokens``, ``max_completion_tokens``, ``stop``, ``logprobs``. ``key``: a bearer key it
    insists on. ``delay_s``: time every answer takes. ``keep``: False keeps no requests (benchmarks)."""

    def __init__(
        self,
        *,
        refuse: Sequence[str] = (),
        key: str | None = None,
        model: str = "scripted",
        delay_s: float = 0.0,
        strict: bool = True,
        keep: bool = True,
    ) -> None:
        self.refuse, self.key, self.model, self.delay_s, self.strict = set(refuse), key, model, delay_s, strict
        self.keep = keep
        self.requests: list[Body] = []
        """Bodies of all completion requests, refused ones included, in order of arrival."""
        self.headers: list[dict[str, str]] = []
        """Their headers, names in lower case."""
        self.unanswered: list[Body] = []
        self.running = self.peak = 0
        """Requests in work now, and at most at the same time."""
        self.connected = 0
        """Connections that are open."""
        self._queue: deque[Scripted] = deque()
        self._rules: list[tuple[Test, Scripted, list[int]]] = []
        self._fallback: Scripted | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.chat = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Base URL, ``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def judge(self) -> str:
        """Name for ``open_model``."""
        return f"{self.url}#{self.model}"

    def queue(self, *replies: Scripted) -> ScriptedChat:
        """Replies that are served once each, in order, before any rule."""
        with self._lock:
            self._queue.extend(replies)
        return self

    def on(self, test: Test | str, reply: Scripted, *, times: int | None = None, first: bool = False) -> ScriptedChat:
        """A rule: requests for which ``test`` is true (a string: that stands in the last user message) get
        ``reply``, ``times`` times at most. The first rule that applies answers; ``first`` puts it before the others."""
        wanted = test
        check: Test = (lambda body: wanted in last_user(body)) if isinstance(wanted, str) else wanted
        self._rules.insert(0 if first else len(self._rules), (check, reply, [-1 if times is None else times]))
        return self

    def always(self, reply: Scripted) -> ScriptedChat:
        """What is answered when no rule applies."""
        self._fallback = reply
        return self

    def texts(self) -> list[str]:
        """The last user message of each request."""
        return [last_user(body) for body in self.requests]

    def __enter__(self) -> ScriptedChat:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop()
        if kind is None and self.strict and self.unanswered:
            asked = "; ".join(last_user(body)[-200:] for body in self.unanswered[:3])
            raise AssertionError(f"{len(self.unanswered)} requests had no scripted reply, such as: {asked}")

    def wait_until_left(self) -> None:
        """Wait until nobody is connected any more: all that processes now dead have sent is then in ``requests``."""
        with socket.create_connection(self._server.server_address[:2]) as last:  # after theirs in the queue
            last.sendall(b"GET /v1/models HTTP/1.0\r\n\r\n")
            while last.recv(4096):
                pass
        while self.connected:
            time.sleep(0.002)

    def stop(self) -> None:
        """End the server: what hangs is cut off, and connections are refused from now on."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    # what follows is called by the handler's threads

    def answer(self, body: Body, headers: dict[str, str]) -> Reply:
        """The reply to a request."""
        with self._lock:
            if self.keep:
                self.requests.append(body)
                self.headers.append(headers)
            if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
                return error(401, "Incorrect API key provided", code="invalid_api_key")
            refused = self._refusal(body)
            if refused is not None:
                return refused
            scripted = self._choose(body)
        return self._reply(scripted, body)

    def _refusal(self, body: Body) -> Reply | None:
        form = (body.get("response_format") or {}).get("type")
        sent = {*body, *([form] if form else [])}
        for name in sorted(self.refuse & sent):
            param = "response_format" if name == "json_schema" else name
            words = f"Unsupported parameter: '{param}' is not supported with this model ({name})."
            return error(400, words, code="unsupported_parameter", param=param)
        return None

    def _choose(self, body: Body) -> Scripted:
        if self._queue:
            return self._queue.popleft()
        for test, reply, left in self._rules:
            if left[0] != 0 and test(body):
                left[0] -= 1
                return reply
        if self._fallback is None:
            self.unanswered.append(body)
            return error(400, f"no scripted reply for: {last_user(body)[-200:]}", code="unscripted")
        return self._fallback

    def _reply(self, scripted: Any, body: Body) -> Reply:
        while callable(scripted) and not isinstance(scripted, Reply):
            scripted = scripted(body)
        if isinstance(scripted, Reply):
            return scripted
        if isinstance(scripted, BaseModel):
            scripted = scripted.model_dump(mode="json")
        return Reply(text=scripted if isinstance(scripted, str) else json.dumps(scripted, ensure_ascii=False))

    def entered(self) -> None:
        """A request begins."""
        with self._lock:
            self.running += 1
            self.peak = max(self.peak, self.running)

    def left(self) -> None:
        """A request is done."""
        with self._lock:
            self.running -= 1

    def connections(self, more: int) -> None:
        """A connection is accepted, or done with."""
        with self._lock:
            self.connected += more

    def sleep(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""
        if seconds > 0:
            self._stopping.wait(seconds)


def encode(reply: Reply, body: Body) -> bytes:
    """The HTTP body of a reply."""
    if reply.raw is not None:
        return reply.raw
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text},
        "finish_reason": reply.finish,
    }
    if reply.logprobs is not None:
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in reply.logprobs.items()]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    data: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model", "scripted"),
        "choices": [choice],
    }
    if reply.usage == "counted":
        asked, said = len(prompt(body).split()), len((reply.text or "").split())
        details = {"cached_tokens": reply.cached}
        data["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": said,
            "total_tokens": asked + said,
            "prompt_tokens_details": details,
        }
    elif reply.usage is not None:
        data["usage"] = reply.usage
    return json.dumps({**data, **reply.extra}, ensure_ascii=False).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    chat: ScriptedChat

    def process_request(self, request: Any, client_address: Any) -> None:
        self.chat.connections(1)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        super().process_request_thread(request, client_address)
        self.chat.connections(-1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        """The list of models."""
        chat = self.server.chat
        found = self.path.rstrip("/").endswith("/models")
        models = {"object": "list", "data": [{"id": chat.model, "object": "model"}]}
        self._send(replace(Reply(), status=200 if found else 404, raw=json.dumps(models).encode()), {})

    def do_POST(self) -> None:
        """A completion."""
        chat = self.server.chat
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self.path.endswith("/chat/completions"):
            self._send(error(404, f"no such path: {self.path}"), {})
            return
        chat.entered()
        try:
            body = json.loads(raw)
            reply = chat.answer(body, {name.lower(): value for name, value in self.headers.items()})
            chat.sleep(reply.delay_s + chat.delay_s)
        finally:
            chat.left()
        self._send(reply, body)

    def _send(self, reply: Reply, body: Body) -> None:
        data = encode(reply, body)
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.cut:
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.wfile.write(data)
        except OSError:
            self.close_connection = True
