"""The engines of the ``ddgs`` package, one by one and by name, watched at the wire.

The package answers an empty page, a refusal and a changed layout with the same exception. So each engine is asked by
itself, and what its server sent decides: a status, the marks of a challenge page, or the engine's own words for
*nothing found*.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from ..core import Json, SearchState
from ..errors import UserError
from .limits import Endpoints, ToolLimits
from .search import Ask, Found, RawHit
from .states import challenge_mark

REFUSED_ENGINES = {
    "auto": "it mixes engines at random and puts machine-written encyclopaedias first",
    "all": "it mixes engines at random and puts machine-written encyclopaedias first",
    "grokipedia": "its articles are machine-written",
}
_NOTHING = re.compile(
    r"no[- ]results|no (more |relevant |web |search )?results|did not match any|didn't match any|no pages found"
    r"|there are no results|we did not find results|could not find any|not many (great )?matches|nothing found",
    re.IGNORECASE,
)
_CAPTCHA = re.compile(
    r"anomaly[-_]modal|anomaly\.js|bots use duckduckgo|unfortunately, bots|captcha|automated (queries|requests)"
    r"|unusual traffic|verify you are human|are you a robot|access denied|pow-captcha|blocked your ip"
    r"|too many requests",
    re.IGNORECASE,
)
_REGIONS = dict(
    pair.split(":")
    for pair in [
        "de:de-de",
        "fr:fr-fr",
        "es:es-es",
        "it:it-it",
        "pt:br-pt",
        "nl:nl-nl",
        "pl:pl-pl",
        "ru:ru-ru",
        "zh:cn-zh",
        "ja:jp-jp",
        "ko:kr-kr",
        "tr:tr-tr",
        "sv:se-sv",
        "da:dk-da",
        "fi:fi-fi",
        "ar:xa-ar",
        "cs:cz-cs",
        "uk:ua-uk",
        "he:il-he",
        "vi:vn-vi",
        "id:id-id",
        "el:gr-el",
        "hu:hu-hu",
        "ro:ro-ro",
    ]
)


class _Watch:
    """Stands before an engine's client and remembers what came."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.client = client.client
        self.status: int | None = None
        self.text = ""

    def request(self, *args: Any, **kwargs: Any) -> Any:
        got = self._client.request(*args, **kwargs)
        self.status, self.text = got.status_code, got.text or ""
        return got


class DdgsBackend:
    """One engine of the ddgs package."""

    offline = False

    def __init__(self, engine: str, limits: ToolLimits, endpoints: Endpoints) -> None:
        _known(engine)
        self._engine, self._seconds = engine, limits.search_s
        self._url = endpoints.ddgs.get(engine)

    @property
    def name(self) -> str:
        """``ddgs:`` and the engine."""
        return f"ddgs:{self._engine}"

    @property
    def extra(self) -> Mapping[str, Json]:
        """Nothing."""
        return {}

    async def search(self, ask: Ask) -> Found:
        """Ask the engine in a thread, within the time limit."""
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(self._ask, ask)
        except TimeoutError:
            return Found(state=SearchState.FAILED, reason=f"no answer within {self._seconds:g} s")

    def _ask(self, ask: Ask) -> Found:
        from ddgs.engines import ENGINES
        from ddgs.exceptions import DDGSException

        engine = ENGINES["text"][self._engine](timeout=max(1, int(self._seconds)))
        if self._url:
            engine.search_url = self._url
        watch = _Watch(engine.http_client)
        engine.http_client = watch  # type: ignore[assignment]
        try:
            found = engine.search(
                ask.query, region=region_of(ask.language), safesearch="off", timelimit=self._until(ask)
            )
        except DDGSException as error:
            return Found(state=SearchState.FAILED, reason=_cause(error))
        except Exception as error:  # the engine met a page that it does not understand
            return self._judge(watch, f"{type(error).__name__} while reading the answer")
        hits = [RawHit(url=r.href, title=r.title, snippet=r.body) for r in found or [] if r.href.startswith("http")]
        return Found(state=SearchState.OK, hits=tuple(hits[: ask.limit])) if hits else self._judge(watch)

    def _until(self, ask: Ask) -> str | None:
        """Only DuckDuckGo takes a range of dates."""
        if self._engine != "duckduckgo" or ask.until is None:
            return None
        return f"1990-01-01..{ask.until.isoformat()}"

    def _judge(self, watch: _Watch, otherwise: str = "") -> Found:
        """No results came: why?"""
        status, text = watch.status, watch.text
        if status is None:
            return Found(state=SearchState.FAILED, reason=otherwise or "no answer")
        if status != 200:
            blocked = status in (202, 302, 401, 403, 418, 429, 451)
            return Found(state=SearchState.BLOCKED if blocked else SearchState.FAILED, reason=f"status {status}")
        mark = challenge_mark({}, text[:200_000])
        words = _CAPTCHA.search(text[:200_000])
        if mark or words:
            return Found(
                state=SearchState.BLOCKED, reason=f"challenge page ({mark or (words and words.group(0).lower())})"
            )
        if _NOTHING.search(text) or (self._engine == "wikipedia" and text.lstrip().startswith("[") and not otherwise):
            return Found(state=SearchState.EMPTY, reason="the engine found nothing")
        return Found(state=SearchState.FAILED, reason=otherwise or "an answer without results that does not say so")


def _known(engine: str) -> None:
    from ddgs.engines import ENGINES

    if engine in REFUSED_ENGINES:
        raise UserError(f"--search ddgs:{engine} is not offered: {REFUSED_ENGINES[engine]}")
    known = sorted(set(ENGINES["text"]) - set(REFUSED_ENGINES))
    if engine not in known:
        raise UserError(f"--search ddgs:{engine}: no such engine; there are {', '.join(known)}")


def region_of(language: str | None) -> str:
    """The region that ddgs's engines take, for a BCP 47 tag; the United States' English when in doubt."""
    if not language:
        return "us-en"
    main, _, rest = language.lower().partition("-")
    if len(rest) == 2 and rest.isalpha():
        return f"{rest}-{main}"
    return _REGIONS.get(main, "us-en")


def _cause(error: Exception) -> str:
    """What went wrong in a few words; the package nests errors of its own, of the client and of its TLS library."""
    text = re.sub(r"https?://\S+", "…", str(error))
    return next((plain for sign, plain in _PLAIN.items() if sign in text.lower()), f"ddgs: {text[:160]}")


_PLAIN = {
    "timed out": "timed out",
    "timeout": "timed out",
    "resolving dns": "its name does not resolve: is there a network?",
    "dnserror": "its name does not resolve: is there a network?",
    "connection refused": "connection refused",
    "certificate": "its certificate is not trusted here",
}
"""A sign in an error's text, and what it means."""
