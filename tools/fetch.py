"""The one HTTP client of the tools: guarded, capped, polite, and without memory from one fetch to the next."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urljoin

import httpcore

from ..core import Json
from ..errors import ToolFailed
from ..reports import scalar_json
from .guard import GuardedBackend, Refused, Target, check_url, tls_context
from .limits import Endpoints, NoSuchHost, ToolLimits

USER_AGENT = "Mozilla/5.0 (compatible; dream-eval/0.1; reads single cited pages)"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.5"
AT_ONCE = 40
"""Fetches at once, of all hosts."""
KEPT_OPEN = 8
"""Idle connections. Few: each request looks at all of them, and most hosts are asked once."""
HOSTS_KNOWN = 256
"""Hosts whose politeness is kept without looking whether it still has to be."""
_CONTROL_NAMES = ("example.com", "www.iana.org", "one.one.one.one")


class Fault(StrEnum):
    """Why a fetch brought no answer."""

    REFUSED = "refused"
    NO_HOST = "no_host"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    REDIRECTS = "redirects"
    TOO_LARGE = "too_large"


TRANSIENT = frozenset({Fault.CONNECT, Fault.PROTOCOL, Fault.DNS})


class FetchFailed(ToolFailed):
    """No complete answer came. ``fault`` says why, ``subject`` is the URL."""

    code = "fetch_failed"

    def __init__(self, fault: Fault, message: str, *, subject: str) -> None:
        super().__init__(message, subject=subject)
        self.fault = fault


@dataclass(frozen=True)
class Fetched:
    """A complete answer, whatever its status."""

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case; the last of several wins."""
    body: bytes
    """Decompressed."""
    hops: tuple[str, ...] = ()
    """The addresses that redirected, in order."""

    @property
    def content_type(self) -> str:
        """Media type in lower case without parameters; empty when not said."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    def json(self) -> Json:
        """The body as JSON, lone surrogates in it as U+FFFD. Raises ValueError."""
        value: Json = scalar_json(json.loads(self.body))
        return value


@dataclass
class _Host:
    """Politeness towards one host."""

    slots: asyncio.Semaphore
    next_start: float = 0.0
    guests: int = 0
    """Fetches that wait for it or are under way."""


@dataclass
class _Chain:
    """What one fetch carries from hop to hop: caller's headers (first origin only) and cookies a host has set."""

    headers: dict[str, str]
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    hops: list[str] = field(default_factory=list)
    clock: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))

    def head(self, target: Target) -> dict[str, str]:
        head = {"User-Agent": USER_AGENT, "Accept": _ACCEPT, "Accept-Encoding": "gzip, deflate", **self.headers}
        if jar := self.cookies.get(target.host):
            head["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        return head

    def keep_cookies(self, target: Target, lines: list[str]) -> None:
        jar = self.cookies.setdefault(target.host, {})
        for line in lines[:20]:
            try:
                jar.update({name: morsel.coded_value for name, morsel in SimpleCookie(line).items()})
            except CookieError:
                continue


class Fetcher:
    """Fetches over http and https through the guard. One a toolbox; close it after use."""

    def __init__(self, limits: ToolLimits | None = None, endpoints: Endpoints | None = None) -> None:
        self.limits = limits or ToolLimits()
        self.endpoints = endpoints or Endpoints()
        self._allow = self.endpoints.allow
        self._backend = GuardedBackend(self.endpoints.resolver, self._allow)
        self._tls: ssl.SSLContext | None = None
        self._pool: httpcore.AsyncConnectionPool | None = None
        self._hosts: dict[str, _Host] = {}
        self._places = asyncio.Semaphore(AT_ONCE)  # the pool would look at all who wait, at each request
        self._names_work: bool | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._pool is not None:
            await self._pool.aclose()

    async def get(self, url: str, *, headers: Mapping[str, str] | None = None, redirects: int | None = None) -> Fetched:
        """Fetch ``url``, following redirects. ``headers`` go to the first origin only, never along a redirect.

        Raises Refused (guard) and FetchFailed. A status such as 404 is an answer, not an error.
        """
        return await self._fetch("GET", url, headers, None, redirects)

    async def post(self, url: str, body: Json, *, headers: Mapping[str, str] | None = None) -> Fetched:
        """Send JSON and take the answer; a redirect is not followed. Raises as :meth:`get`."""
        head = {"Content-Type": "application/json", **(headers or {})}
        return await self._fetch("POST", url, head, json.dumps(body).encode(), 0)

    async def _fetch(
        self, method: str, url: str, headers: Mapping[str, str] | None, body: bytes | None, redirects: int | None
    ) -> Fetched:
        target = check_url(url, allow=self._allow)
        most = self.limits.redirects if redirects is None else redirects
        clock = asyncio.timeout(self.limits.fetch_s)
        try:
            async with clock:
                return await self._follow(method, target, _Chain(dict(headers or {}), clock=clock), body, most)
        except TimeoutError:
            raise FetchFailed(Fault.TIMEOUT, f"not done after {self.limits.fetch_s:g} s", subject=url) from None

    async def _follow(self, method: str, first: Target, chain: _Chain, body: bytes | None, most: int) -> Fetched:
        target = first
        while True:
            status, headers, content = await self._hop(method, target, chain, body)
            place = headers.get("location")
            if status not in _REDIRECTS or not place or most == 0:
                return Fetched(first.url, target.url, status, headers, content, tuple(chain.hops))
            if len(chain.hops) >= most:
                raise FetchFailed(Fault.REDIRECTS, f"more than {most} redirects", subject=first.url)
            chain.hops.append(target.url)
            chain.headers.clear()
            target = self._next(target, place)

    def _next(self, target: Target, place: str) -> Target:
        joined = urljoin(target.url, place.strip())
        return check_url(joined.replace(" ", "%20"), allow=self._allow)

    async def _hop(
        self, method: str, target: Target, chain: _Chain, body: bytes | None
    ) -> tuple[int, dict[str, str], bytes]:
        async with self._turn(target, chain.clock):
            try:
                async with self._open(method, target, chain, body) as response:
                    headers = self._headers(response, target, chain)
                    redirect = response.status in _REDIRECTS and "location" in headers
                    return response.status, headers, b"" if redirect else await self._body(response, headers, target)
            except (httpcore.TimeoutException, TimeoutError) as error:
                raise FetchFailed(Fault.TIMEOUT, _words(error, "timed out"), subject=target.url) from None
            except NoSuchHost as error:
                raise await self._no_host(error, target) from None
            except ssl.SSLError as error:
                raise FetchFailed(Fault.TLS, f"TLS: {error.reason or error}", subject=target.url) from None
            except (httpcore.NetworkError, OSError) as error:
                raise _network_fault(error, target) from None
            except httpcore.ProtocolError as error:
                raise FetchFailed(Fault.PROTOCOL, _words(error, "broken answer"), subject=target.url) from None

    @asynccontextmanager
    async def _turn(self, target: Target, clock: asyncio.Timeout) -> AsyncIterator[None]:
        """Wait for a place at this host (so many at once, so far apart) and in all. The fetch's clock stands still
        meanwhile."""
        loop_time = asyncio.get_running_loop().time
        left = (clock.when() or 0.0) - loop_time()
        clock.reschedule(None)
        with self._visit(target.host) as host:
            async with host.slots:
                now = time.monotonic()
                start = max(now, host.next_start)
                host.next_start = start + self.limits.spacing_s
                await asyncio.sleep(start - now)
                async with self._places:
                    clock.reschedule(loop_time() + left)
                    yield

    @contextmanager
    def _visit(self, name: str) -> Iterator[_Host]:
        """What is known of a host. Of many, those are forgotten that nobody visits and that may be asked at once."""
        if len(self._hosts) >= HOSTS_KNOWN and name not in self._hosts:
            now = time.monotonic()
            self._hosts = {known: host for known, host in self._hosts.items() if host.guests or host.next_start > now}
        host = self._hosts.setdefault(name, _Host(asyncio.Semaphore(self.limits.per_host)))
        host.guests += 1
        try:
            yield host
        finally:
            host.guests -= 1

    @asynccontextmanager
    async def _open(
        self, method: str, target: Target, chain: _Chain, body: bytes | None
    ) -> AsyncIterator[httpcore.Response]:
        url = target.address
        head = [
            (name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in chain.head(target).items()
        ]
        head.insert(0, (b"Host", url.netloc))
        if body is not None:
            head.append((b"Content-Length", str(len(body)).encode()))
        core_url = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        timeouts = dict.fromkeys(("connect", "pool", "read", "write"), self.limits.connect_s)
        timeouts["read"] = self.limits.fetch_s
        async with self._connections().stream(
            method, core_url, headers=head, content=body, extensions={"timeout": timeouts}
        ) as response:
            yield response

    def _connections(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            self._tls = tls_context(self.endpoints.ca_file)
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=AT_ONCE,
                max_keepalive_connections=KEPT_OPEN,
                keepalive_expiry=15.0,
                network_backend=self._backend,
            )
        return self._pool

    def _headers(self, response: httpcore.Response, target: Target, chain: _Chain) -> dict[str, str]:
        size = sum(len(name) + len(value) for name, value in response.headers)
        if size > self.limits.max_header_bytes or len(response.headers) > self.limits.max_headers:
            said = f"{len(response.headers)} headers of {size} bytes"
            raise FetchFailed(Fault.TOO_LARGE, said, subject=target.url)
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers]
        chain.keep_cookies(target, [value for name, value in pairs if name == "set-cookie"])
        return {name: value for name, value in pairs if name != "set-cookie"}

    async def _body(self, response: httpcore.Response, headers: Mapping[str, str], target: Target) -> bytes:
        cap = self.limits.max_pdf_bytes if "pdf" in headers.get("content-type", "") else self.limits.max_bytes
        said = headers.get("content-length", "")
        if said.isdigit() and int(said) > cap:
            raise FetchFailed(Fault.TOO_LARGE, f"{said} bytes announced, the cap is {cap}", subject=target.url)
        inflate = _Inflate(headers.get("content-encoding", ""), cap, target.url)
        parts: list[bytes] = []
        async for chunk in response.aiter_stream():
            parts.append(inflate.feed(chunk))
        return b"".join(parts)

    async def _no_host(self, error: NoSuchHost, target: Target) -> FetchFailed:
        """``no_host`` only when names that surely exist do resolve: being offline must not make pages *gone*."""
        if self._names_work is None:
            self._names_work = False
            for name in _CONTROL_NAMES:
                try:
                    await self._backend.addresses(name, 443)
                except (OSError, Refused):
                    continue
                self._names_work = True
                break
        fault, note = (Fault.NO_HOST, "") if self._names_work else (Fault.DNS, " (and no other name resolves)")
        return FetchFailed(fault, f"{error}{note}", subject=target.url)


class _Inflate:
    """Undo a content encoding within a cap on what comes out."""

    def __init__(self, encoding: str, cap: int, url: str) -> None:
        names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
        if len(names) > 1 or (names and names[0] not in ("gzip", "x-gzip", "deflate")):
            raise FetchFailed(Fault.PROTOCOL, f"content encoding {encoding!r} not asked for", subject=url)
        self._codec = zlib.decompressobj(47) if names else None
        self._raw_deflate = bool(names) and names[0] == "deflate"
        self._left, self._cap, self._url = cap, cap, url
        self._started = False

    def feed(self, chunk: bytes) -> bytes:
        """The next piece of the body. Raises FetchFailed when the cap is passed or the data is broken."""
        out = chunk if self._codec is None else self._decompress(chunk)
        self._left -= len(out)
        if self._left < 0:
            raise FetchFailed(Fault.TOO_LARGE, f"more than {self._cap} bytes", subject=self._url)
        return out

    def _decompress(self, chunk: bytes) -> bytes:
        assert self._codec is not None
        try:
            out = self._codec.decompress(chunk, self._left + 1)
        except zlib.error:
            if self._started or not self._raw_deflate:
                raise FetchFailed(Fault.PROTOCOL, "compressed body is broken", subject=self._url) from None
            self._codec = zlib.decompressobj(-15)
            self._started = True
            return self._decompress(chunk)
        self._started = True
        return out


def _words(error: BaseException, otherwise: str) -> str:
    return str(error) or otherwise


def _network_fault(error: Exception, target: Target) -> FetchFailed:
    text = _words(error, "connection failed")
    if "SSL" in text or "certificate" in text.lower():
        return FetchFailed(Fault.TLS, f"TLS: {text}", subject=target.url)
    fault = Fault.DNS if "not resolved" in text else Fault.CONNECT
    return FetchFailed(fault, text, subject=target.url)
