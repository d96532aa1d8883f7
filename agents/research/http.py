"""A small HTTP/1.1 server on loopback: h11 for the protocol, asyncio for the sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import h11

from ...errors import UserError

HOST = "127.0.0.1"
MAX_BODY = 64_000_000
"""Bytes of a request; a conversation with a few images fits."""
_CHUNK = 1 << 16
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Request:
    """A request as it came; header names in lower case."""

    method: str
    target: str
    """Path and query."""
    headers: Mapping[str, str]
    body: bytes


class Gone(Exception):
    """The client is no longer there, or sent what is no HTTP."""


class Exchange:
    """One request and the way to answer it."""

    def __init__(self, request: Request, protocol: h11.Connection, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self._protocol, self._writer = protocol, writer
        self.started = False

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send status and headers; without a length the body goes out in chunks as it comes."""
        self.started = True
        await self._send(h11.Response(status_code=status, headers=list(headers.items())))

    async def send(self, data: bytes) -> None:
        """Send a part of the body. Raises Gone."""
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        """The body is complete."""
        await self._send(h11.EndOfMessage())

    async def reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send everything at once."""
        await self.start(status, {**headers, "content-length": str(len(body))})
        await self.send(body)
        await self.end()

    async def _send(self, event: h11.Event) -> None:
        data = self._protocol.send(event)
        try:
            if data:
                self._writer.write(data)
                await self._writer.drain()
        except OSError as error:
            raise Gone from error


Handler = Callable[[Exchange], Awaitable[None]]


@asynccontextmanager
async def serve(handler: Handler, port: int = 0) -> AsyncIterator[int]:
    """Serve on loopback until the end of the block; gives the port. UserError when it cannot be had."""
    open_now: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        job = asyncio.current_task()
        assert job is not None
        open_now.add(job)
        try:
            await _converse(handler, reader, writer)
        finally:
            open_now.discard(job)
            writer.close()

    try:
        server = await asyncio.start_server(connected, HOST, port)
    except OSError as error:
        raise UserError(f"port {port} cannot be used ({error.strerror}); give another with --port") from None
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for job in list(open_now):
            job.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)


async def _converse(handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=_CHUNK)
    with suppress(Gone, h11.LocalProtocolError, asyncio.CancelledError):
        while True:
            try:
                request = await _receive(protocol, reader, writer)
            except h11.RemoteProtocolError as error:
                await _complain(protocol, writer, error)
                return
            exchange = Exchange(request, protocol, writer)
            if not _ours(request):
                await exchange.reply(403, JSON, error_body("only programs of this machine are served", "forbidden"))
            else:
                await handler(exchange)
            if protocol.our_state is not h11.DONE or protocol.their_state is not h11.DONE:
                return
            protocol.start_next_cycle()


def _ours(request: Request) -> bool:
    """False for what a web page in a browser sends: it must not spend anybody's key."""
    host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
    return host in _LOOPBACK and "origin" not in request.headers


async def _receive(protocol: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = protocol.next_event()
        if event is h11.NEED_DATA:
            if protocol.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                writer.write(protocol.send(go_on) or b"")
            protocol.receive_data(await _read(reader))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_BODY:
                raise h11.RemoteProtocolError("the request is too large", error_status_hint=413)
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
            return Request(head.method.decode(), head.target.decode("latin-1"), headers, bytes(body))
        else:
            raise Gone


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(_CHUNK)
    except OSError as error:
        raise Gone from error


async def _complain(protocol: h11.Connection, writer: asyncio.StreamWriter, error: h11.RemoteProtocolError) -> None:
    if protocol.our_state in (h11.IDLE, h11.SEND_RESPONSE):
        empty = Request("GET", "/", {}, b"")
        body = error_body(str(error), "bad_request")
        headers = {**JSON, "connection": "close"}
        await Exchange(empty, protocol, writer).reply(error.error_status_hint, headers, body)


JSON = {"content-type": "application/json"}


def error_body(message: str, code: str) -> bytes:
    """An error in the shape that OpenAI's clients know."""
    fault: dict[str, Any] = {"message": message, "type": "dream_proxy", "code": code, "param": None}
    return json.dumps({"error": fault}).encode()
