"""A hosted model endpoint on a real loopback socket: chat completions, streams, background responses, embeddings.

::

    async with hosted() as server:
        server.on("/chat/completions", lambda seen: completion("hello"))
        server.on("/responses", lambda seen: {"id": "r1", "status": "queued"})
        ...
        assert server.asked[0].body["model"] == "m"

A reply is a dict (JSON, 200), a :class:`Reply`, or a :class:`Stream` of server-sent events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """A JSON answer with a status and headers; ``cut``: the connection breaks in the middle."""

    value: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Stream:
    """Server-sent events. ``gate``: waited for before the last of them; ``cut``: the connection breaks there."""

    events: Sequence[dict[str, Any] | str]
    gate: asyncio.Event | None = None
    cut: bool = False


Handler = Callable[[Asked], Any]


def completion(text: str, *, prompt: int = 10, new: int = 5, **message: Any) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": new, "total_tokens": prompt + new},
    }


def chunk(text: str | None = None, *, usage: dict[str, int] | None = None, finish: str | None = None) -> dict[str, Any]:
    """A chunk of a streamed chat completion; with ``usage`` the one that only counts."""
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    if usage is not None:
        return {**base, "choices": [], "usage": usage}
    return {**base, "choices": [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}]}


def response(text: str, annotations: Sequence[dict[str, Any]] = (), **more: Any) -> dict[str, Any]:
    """A finished response of the responses interface."""
    part = {"type": "output_text", "text": text, "annotations": list(annotations)}
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [{"type": "reasoning", "id": "x", "summary": []}, message],
        "usage": {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150},
        **more,
    }


class Hosted:
    """The server. The newest handler of a path answers; a list of handlers is used up one by one."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.port = 0
        self._handlers: dict[str, Handler] = {}

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def on(self, path: str, handler: Handler | Any) -> Hosted:
        """Answer ``path`` (as written, or up to a ``*``) with what ``handler`` gives, or is."""
        self._handlers[path] = handler if callable(handler) else lambda _: handler
        return self

    def _find(self, path: str) -> Handler | None:
        bare = path.split("?")[0]
        stars = [h for name, h in self._handlers.items() if name.endswith("*") and bare.startswith(name[:-1])]
        return self._handlers.get(bare) or next(iter(stars), None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                handler = self._find(asked.path)
                reply = handler(asked) if handler else Reply({"error": {"message": "no such path"}}, 404)
                if not await _write(reply, writer):
                    break
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode().split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path.removeprefix("/v1"), headers, json.loads(raw) if raw else None)


async def _write(reply: Any, writer: asyncio.StreamWriter) -> bool:
    if isinstance(reply, Stream):
        return await _stream(reply, writer)
    reply = reply if isinstance(reply, Reply) else Reply(reply)
    await asyncio.sleep(reply.delay_s)
    data = json.dumps(reply.value).encode()
    extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    head = f"HTTP/1.1 {reply.status} X\r\nContent-Type: application/json\r\n{extra}Content-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + (data[: len(data) // 2] if reply.cut else data))
    await writer.drain()
    return not reply.cut


async def _stream(reply: Stream, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    last = len(reply.events) - 1
    for place, event in enumerate(reply.events):
        if place == last and reply.gate is not None:
            await reply.gate.wait()
        if place == last and reply.cut:
            return False
        data = f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


@asynccontextmanager
async def hosted() -> AsyncIterator[Hosted]:
    """Serve on 127.0.0.1 at a free port."""
    server = Hosted()
    listening = await asyncio.start_server(server._serve, "127.0.0.1", 0, limit=1 << 24)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
