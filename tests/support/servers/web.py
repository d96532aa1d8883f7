"""A web server over raw sockets: every page state, and every way to misbehave, by path."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""

    @property
    def host(self) -> str:
        return self.headers.get("host", "")


@dataclass
class Reply:
    """What to answer. ``announce``: Content-Length to claim; ``cut``: close after so many bytes."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] | list[tuple[str, str]] = field(default_factory=dict)
    type: str | None = "text/html; charset=utf-8"
    delay: float = 0.0
    drip: float = 0.0
    announce: int | None = None
    cut: int | None = None

    def data(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


Handler = Callable[[Seen], Reply | Awaitable[Reply]]


class WebServer:
    """Routes by path (query ignored unless given with it). Unknown paths are 404."""

    def __init__(self, routes: Mapping[str, Reply | Handler] | None = None) -> None:
        self.routes: dict[str, Reply | Handler] = dict(routes or {})
        self.seen: list[Seen] = []
        self.port = 0
        self.open_now = 0
        self.most_open = 0
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [seen.path for seen in self.seen]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (seen := await _read(reader)) is not None:
                self.seen.append(seen)
                self.open_now += 1
                self.most_open = max(self.most_open, self.open_now)
                try:
                    keep = await self._answer(seen, writer)
                finally:
                    self.open_now -= 1
                if not keep:
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        route = self.routes.get(seen.path) or self.routes.get(seen.path.split("?")[0]) or self.routes.get("*")
        if route is None:
            route = Reply("<html><title>404</title><h1>Not Found</h1></html>", status=404)
        found = route(seen) if callable(route) else route
        reply = found if isinstance(found, Reply) else await found
        return await _write(reply, writer)


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, body)


async def _write(reply: Reply, writer: asyncio.StreamWriter) -> bool:
    await asyncio.sleep(reply.delay)
    data = reply.data()
    pairs = list(reply.headers.items()) if isinstance(reply.headers, Mapping) else list(reply.headers)
    if reply.type:
        pairs.insert(0, ("Content-Type", reply.type))
    pairs.append(("Content-Length", str(len(data) if reply.announce is None else reply.announce)))
    head = f"HTTP/1.1 {reply.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs) + "\r\n"
    writer.write(head.encode("utf-8"))
    if reply.drip:
        for i in range(len(data)):
            writer.write(data[i : i + 1])
            await writer.drain()
            await asyncio.sleep(reply.drip)
    else:
        writer.write(data if reply.cut is None else data[: reply.cut])
        await writer.drain()
    return reply.cut is None and reply.announce is None


@asynccontextmanager
async def web_server(routes: Mapping[str, Reply | Handler] | None = None, **options: Any) -> AsyncIterator[WebServer]:
    """Serve on 127.0.0.1 at a free port. ``ssl=`` makes it speak TLS."""
    server = WebServer(routes)
    listening = await asyncio.start_server(server._serve, "127.0.0.1", 0, limit=1 << 22, **options)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


def redirect(to: str, status: int = 302, **headers: str) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"Location": to, **headers})


def article(title: str, *paragraphs: str, head: str = "", published: str | None = None) -> str:
    """An ordinary article page."""
    date = f'<meta property="article:published_time" content="{published}T08:00:00Z">' if published else ""
    text = "".join(f"<p>{p}</p>" for p in paragraphs)
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>{title}</title>{date}{head}</head><body>"
        f"<nav><a href='/'>Home</a></nav>"
        f"<article><h1>{title}</h1>{text}</article><footer>Imprint</footer></body></html>"
    )


def gzip_bomb(megabytes: int) -> bytes:
    """Gzip data that grows to so many MB of blanks."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b" " * 1_000_000
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


def packed(text: str) -> bytes:
    """Gzip."""
    return gzip.compress(text.encode())


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer."""
    return Reply(json.dumps(value), status=status, type="application/json", headers=headers)


def pdf(pages: list[str], *, created: str = "D:20240305120000Z", title: str = "A study") -> bytes:
    """A small valid PDF with one line of text after the other on each page."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects.append(font)
    kids = []
    for text in pages:
        lines = [line.replace("\\", "").replace("(", "[").replace(")", "]") for line in text.split("\n")]
        show = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 50 780 Td {show} ET".encode("cp1252", "replace")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % content
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    objects.append(f"<< /Title ({title}) /CreationDate ({created}) >>".encode())
    return _assemble(objects)


def _assemble(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, data in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, data)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return bytes(out + trailer % (len(objects) + 1, len(objects), table))
