"""The guard: what may be fetched at all, and the only way in which a connection is opened.

A name is resolved once, at the moment of connecting; its addresses are checked and the connection goes to one of the
checked addresses. TLS and the Host header keep the original name. So an answer that changes between check and use (DNS
rebinding) gains nothing, and a spelling that some parser reads otherwise is judged by where it really leads.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpcore
import httpx

from ..errors import ToolFailed
from .addresses import Address, local_name, read_host, refusal
from .limits import NoSuchHost, Resolver

_NEVER = re.compile(r"[\x00-\x20\x7f\\]")
_PORTS = {"http": 80, "https": 443}


class Refused(ToolFailed):
    """The guard does not let this through. ``subject`` is the URL or host."""

    code = "refused"


@dataclass(frozen=True)
class Target:
    """A URL that may be asked for, in canonical spelling and without user name or password."""

    address: httpx.URL
    """As it is asked for: what was checked is not read again."""
    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The address in full."""
        return str(self.address)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port


def check_url(url: str, *, allow: frozenset[tuple[str, int]] = frozenset()) -> Target:
    """Read ``url`` and refuse what must not be fetched: other schemes, local names, local addresses in any spelling.

    Names are not resolved here; that happens, with the same check, when a connection is opened. Raises Refused.
    """
    text = url.strip()
    if _NEVER.search(text):
        raise Refused("white space, control characters or backslashes in the address", subject=url)
    try:
        parts = urlsplit(text)
        host, port = _host_and_port(parts.netloc)
    except ValueError as error:
        raise Refused(f"malformed address: {error}", subject=url) from None
    if parts.scheme not in _PORTS:
        raise Refused(f"scheme {parts.scheme or 'missing'}: only http and https", subject=url)
    number = port or _PORTS[parts.scheme]
    name = f"[{host}]" if isinstance(host, ipaddress.IPv6Address) else str(host)
    if (str(host), number) not in allow:
        _check_host(host, url)
    try:
        canonical = httpx.URL(f"{parts.scheme}://{name}:{number}{parts.path or '/'}")
        if (query := _query(text)) is not None:
            canonical = canonical.copy_with(query=query)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise Refused(f"malformed address: {error}", subject=url) from None
    return Target(canonical, parts.scheme, str(host), number)


def _query(url: str) -> bytes | None:
    head = url.split("#", 1)[0]
    if "?" not in head:
        return None
    return httpx.URL("http://x/?" + head.split("?", 1)[1]).query


def _host_and_port(netloc: str) -> tuple[Address | str, int | None]:
    place = netloc.rsplit("@", 1)[-1]
    if place.startswith("["):
        inside, bracket, rest = place[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("unbalanced bracket in the host")
        host, port = f"[{inside}]", rest[1:]
    else:
        host, _, port = place.partition(":")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"port {port!r}")
    return read_host(host), int(port) if port else None


def _check_host(host: Address | str, url: str) -> None:
    why = ("local name" if local_name(host) or "." not in host else None) if isinstance(host, str) else refusal(host)
    if why:
        raise Refused(f"{host} is refused: {why}", subject=url)


def _refusal(address: str) -> str | None:
    try:
        return refusal(ipaddress.ip_address(address))
    except ValueError:
        return "no address"


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system's resolver. Raises NoSuchHost or OSError."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_NONAME:
            raise NoSuchHost(f"no such host: {host}") from None
        raise OSError(f"name not resolved: {host} ({error.strerror})") from None
    return list(dict.fromkeys(str(info[4][0]) for info in found))


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections for an httpcore pool: resolve, check every address, connect to a checked one."""

    def __init__(self, resolver: Resolver | None, allow: frozenset[tuple[str, int]]) -> None:
        self._resolver = resolver or resolve
        self._allow = allow
        self._inner = httpcore.AnyIOBackend()

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host, all of them checked. Raises Refused, NoSuchHost, OSError."""
        try:
            found = [str(ipaddress.ip_address(host))]
        except ValueError:
            found = await self._resolver(host, port)
        if not found:
            raise NoSuchHost(f"no address for {host}")
        if (host, port) not in self._allow:
            for address in found:
                if why := _refusal(address):
                    raise Refused(f"{host} leads to {address}: {why}", subject=host)
        return found

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first checked address that answers."""
        found = (await self.addresses(host.strip("[]"), port))[:4]
        share = timeout / len(found) if timeout is not None else None
        failure: Exception = httpcore.ConnectError(f"no connection to {host}")
        for address in found:
            try:
                return await self._inner.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        """Refused always."""
        raise Refused("no local sockets", subject=path)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Certificates are always verified; ``ca_file`` adds one authority (tests)."""
    context = httpx.create_ssl_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context
