"""Search engines behind one interface, each telling *nothing found* from *not answered*.

A back end answers with :class:`Found`. Only ``ok`` and ``empty`` say something about the world; ``empty`` is only said
when the engine itself says so.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from pydantic import Field

from ..core import AsOf, Frozen, Json, SearchState
from ..errors import UserError
from .fetch import Fetched, Fetcher, FetchFailed
from .guard import Refused
from .records import words_of


class RawHit(Frozen):
    """One result as the engine gave it."""

    url: str
    title: str = ""
    snippet: str = ""
    published: dt.date | None = None
    language: str | None = None


class Found(Frozen):
    """What one back end answered."""

    state: SearchState
    hits: tuple[RawHit, ...] = ()
    reason: str = ""


class Ask(Frozen):
    """What is asked of a back end."""

    query: str
    limit: int = Field(ge=1, le=50)
    language: str | None = None
    as_of: AsOf

    @property
    def until(self) -> dt.date | None:
        """The last day of interest, when somebody set one."""
        return self.as_of.day if self.as_of.given else None


class Backend(Protocol):
    """One engine. ``name`` and ``extra`` go into the ledger key."""

    @property
    def name(self) -> str:
        """``ddgs:duckduckgo``, ``serper`` …"""

    @property
    def extra(self) -> Mapping[str, Json]:
        """What else makes its answers what they are (the digest of a corpus)."""

    @property
    def offline(self) -> bool:
        """True when it touches no network."""

    async def search(self, ask: Ask) -> Found:
        """Answer. Never raises for what an engine or the network does."""


class ApiBackend:
    """An engine with a JSON interface, asked through the guarded client."""

    offline = False

    def __init__(self, name: str, fetcher: Fetcher, send: Sender, read: Reading) -> None:
        self._name, self._fetcher, self._send, self._read = name, fetcher, send, read

    @property
    def name(self) -> str:
        """As in the choice of back ends."""
        return self._name

    @property
    def extra(self) -> Mapping[str, Json]:
        """Nothing."""
        return {}

    async def search(self, ask: Ask) -> Found:
        """Ask once; what the status and the body say becomes the state."""
        try:
            got = await self._send(self._fetcher, ask)
        except Refused as error:
            return Found(state=SearchState.FAILED, reason=str(error)[:200])
        except FetchFailed as error:
            return Found(state=SearchState.FAILED, reason=f"{error.fault}: {error}"[:200])
        if state := state_of(got):
            return Found(state=state, reason=f"status {got.status}{_message(got)}")
        try:
            hits = self._read(got.json())
        except (ValueError, TypeError, KeyError, AttributeError):
            return Found(state=SearchState.FAILED, reason="the answer is not what this engine answers")
        return Found(state=SearchState.OK if hits else SearchState.EMPTY, hits=tuple(hits[: ask.limit]))


class Sender(Protocol):
    """Sends a question to an engine."""

    async def __call__(self, fetcher: Fetcher, ask: Ask) -> Fetched:
        """The engine's answer. Raises Refused, FetchFailed."""


Reading = Callable[[Json], list[RawHit]]
"""Reads an engine's JSON; raises when it is something else."""


def state_of(got: Fetched) -> SearchState | None:
    """The state that a status stands for; None for a good one."""
    if got.status == 200:
        return None
    text = got.body[:2000].decode("utf-8", "replace").lower()
    credit = re.search(r"credit|quota|usage limit|plan limit|exceeds your plan|billing|not enough", text)
    if got.status in (402, 432, 433) or (credit and got.status in (400, 401, 403, 429)):
        return SearchState.OUT_OF_CREDIT
    return SearchState.BLOCKED if got.status in (202, 403, 418, 429, 451) else SearchState.FAILED


def _message(got: Fetched) -> str:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", got.body[:600].decode("utf-8", "replace"))).strip()
    return f": {text[:120]}" if text else ""


def serper(fetcher: Fetcher, key: str) -> ApiBackend:
    """Google's results by serper.dev."""

    async def send(fetcher: Fetcher, ask: Ask) -> Fetched:
        body: dict[str, Json] = {"q": ask.query, "num": ask.limit}
        if ask.language:
            body["hl"] = ask.language.split("-")[0].lower()
        if ask.until:
            body["tbs"] = f"cdr:1,cd_min:1/1/1990,cd_max:{ask.until.month}/{ask.until.day}/{ask.until.year}"
        return await fetcher.post(fetcher.endpoints.serper, body, headers={"X-API-KEY": key})

    return ApiBackend("serper", fetcher, send, lambda value: _hits(value, ("organic",), "link", "snippet", "date"))


def tavily(fetcher: Fetcher, key: str) -> ApiBackend:
    """Tavily's own index."""

    async def send(fetcher: Fetcher, ask: Ask) -> Fetched:
        body: dict[str, Json] = {"query": ask.query[:400], "max_results": min(ask.limit, 20), "search_depth": "basic"}
        if ask.until:
            body["end_date"] = ask.until.isoformat()
        return await fetcher.post(fetcher.endpoints.tavily, body, headers={"Authorization": f"Bearer {key}"})

    return ApiBackend(
        "tavily", fetcher, send, lambda value: _hits(value, ("results",), "url", "content", "published_date")
    )


def brave(fetcher: Fetcher, key: str) -> ApiBackend:
    """Brave's own index, by its API."""

    async def send(fetcher: Fetcher, ask: Ask) -> Fetched:
        asked = {"q": ask.query[:400], "count": str(min(ask.limit, 20)), "text_decorations": "false"}
        if ask.language:
            asked["search_lang"] = {"zh": "zh-hans", "ja": "jp", "pt": "pt-pt"}.get(ask.language[:2], ask.language[:2])
        if ask.until:
            asked["freshness"] = f"1990-01-01to{ask.until.isoformat()}"
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return await fetcher.get(f"{fetcher.endpoints.brave}?{urlencode(asked)}", headers=headers, redirects=0)

    def read(value: Json) -> list[RawHit]:
        if not isinstance(value, dict) or value.get("type") != "search":
            raise ValueError("no search answer")
        return _hits(value, ("web", "results"), "url", "description", "page_age") if "web" in value else []

    return ApiBackend("brave", fetcher, send, read)


def searxng(fetcher: Fetcher, base: str) -> ApiBackend:
    """A SearXNG instance of one's own, with its JSON format switched on."""

    async def send(fetcher: Fetcher, ask: Ask) -> Fetched:
        asked = {"q": ask.query, "format": "json", "safesearch": "0", "language": ask.language or "all"}
        return await fetcher.get(f"{base.rstrip('/')}/search?{urlencode(asked)}", redirects=2)

    def read(value: Json) -> list[RawHit]:
        hits = _hits(value, ("results",), "url", "content", "publishedDate")
        silent = value.get("unresponsive_engines") if isinstance(value, dict) else None
        if not hits and silent:
            raise Silent(f"engines that did not answer: {_names(silent)}")
        return hits

    return _Searxng(f"searxng:{base.rstrip('/')}", fetcher, send, read)


class Silent(Exception):
    """Nothing found, but some engine behind the engine did not answer."""


class _Searxng(ApiBackend):
    async def search(self, ask: Ask) -> Found:
        """As any; nothing found while engines were silent is *blocked*, and 403 means that JSON is switched off."""
        try:
            found = await super().search(ask)
        except Silent as error:
            return Found(state=SearchState.BLOCKED, reason=str(error)[:200])
        if found.reason.startswith("status 403"):
            return Found(
                state=SearchState.FAILED, reason="status 403: its JSON format is switched off (search.formats)"
            )
        return found


def _names(silent: Json) -> str:
    rows = silent if isinstance(silent, list) else []
    return ", ".join(" ".join(map(str, row)) if isinstance(row, list) else str(row) for row in rows)


def _hits(value: Json, path: Sequence[str], url: str, snippet: str, date: str) -> list[RawHit]:
    """Results of a JSON answer. KeyError or TypeError when there is no list at ``path``."""
    for name in path:
        if not isinstance(value, dict):
            raise TypeError(name)
        value = value[name]
    if not isinstance(value, list):
        raise TypeError("no list of results")
    rows = [row for row in value if words_of(row, url).startswith("http")]
    return [
        RawHit(
            url=words_of(row, url),
            title=words_of(row, "title"),
            snippet=words_of(row, snippet),
            published=read_date(words_of(row, date)),
            language=words_of(row, "language") or None,
        )
        for row in rows
    ]


_AGO = re.compile(r"(\d+)\s+(minute|hour|day|week|month|year)s?\s+ago", re.IGNORECASE)
_DAYS = {"minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}
_FORMS = ("%Y-%m-%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%a, %d %b %Y", "%Y/%m/%d")


def read_date(text: str, today: dt.date | None = None) -> dt.date | None:
    """A result's date: ISO, ``Mar 3, 2024``, RFC 2822, or so long ago. None when it is none of these."""
    if not (text := text.strip()):
        return None
    if ago := _AGO.fullmatch(text):
        return (today or dt.date.today()) - dt.timedelta(days=int(ago.group(1)) * _DAYS[ago.group(2).lower()])
    iso = re.match(r"\d{4}-\d\d-\d\d", text)
    text = iso.group(0) if iso else re.sub(r" \d\d:\d\d.*$", "", text)
    for form in _FORMS:
        try:
            return dt.datetime.strptime(text, form).date()
        except ValueError:
            continue
    return None


def own_pair(base: str) -> tuple[str, int]:
    """Host and port of an address that the user typed in. UserError when it is no web address."""
    try:
        parts = urlsplit(base)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        raise UserError(f"--search searxng:{base}: give an address such as searxng:http://localhost:8888") from None
    if not parts.hostname:
        raise UserError(f"--search searxng:{base}: no host in the address")
    return parts.hostname, port
