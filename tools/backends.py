"""From the words of ``--search`` to back ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import Json, SearchState
from ..errors import UserError
from .corpus import Corpus
from .keys import key_of
from .limits import Endpoints, ToolLimits
from .search import Ask, Backend, Found, RawHit, brave, own_pair, searxng, serper, tavily

if TYPE_CHECKING:
    from .fetch import Fetcher


PACE = {"searxng": (16, 0.0), "serper": (8, 0.05)}
"""Searches at once and seconds between their starts, where they need not be as slow as page fetches: a SearXNG is the
user's own server, and Serper sells at least 50 a second. Others keep the pace of a page host."""


class CorpusBackend:
    """A corpus as a search engine. ``corpus`` None: only its digest is known (replay without the file)."""

    offline = True
    name = "corpus"

    def __init__(self, digest: str, corpus: Corpus | None) -> None:
        self.digest, self.corpus = digest, corpus

    @property
    def extra(self) -> Mapping[str, Json]:
        """The digest: another corpus gives other answers."""
        return {"corpus": self.digest}

    async def search(self, ask: Ask) -> Found:
        """Documents by BM25."""
        if self.corpus is None:
            return Found(state=SearchState.FAILED, reason="the corpus is not at hand")
        found = self.corpus.search(ask.query, limit=ask.limit)
        hits = tuple(RawHit(**hit.model_dump()) for hit in found)
        return Found(state=SearchState.OK if hits else SearchState.EMPTY, hits=hits)


@dataclass
class Backends:
    """The back ends in order, and what has to be closed after use."""

    engines: list[Backend] = field(default_factory=list)
    corpora: list[CorpusBackend] = field(default_factory=list)
    clients: list[Fetcher] = field(default_factory=list)

    @property
    def offline(self) -> bool:
        """Whether all of them are corpora: then nothing touches the network."""
        return all(engine.offline for engine in self.engines)

    async def close(self) -> None:
        """Close clients and corpora."""
        for client in self.clients:
            await client.close()
        for backend in self.corpora:
            if backend.corpus is not None:
                backend.corpus.close()


def open_backends(entries: Sequence[str], limits: ToolLimits, endpoints: Endpoints, *, replay: bool) -> Backends:
    """Back ends for ``ddgs:ENGINE[,ENGINE]``, ``searxng:URL``, ``serper``, ``tavily``, ``brave``, ``corpus:PATH``.

    In replay ``corpus:DIGEST`` stands for a corpus that is not at hand, and keys are not needed. UserError otherwise.
    """
    made = Backends()
    for entry in entries:
        kind, _, rest = entry.strip().partition(":")
        if kind == "corpus":
            backend = _corpus(rest, replay)
            made.corpora.append(backend)
            made.engines.append(backend)
        elif kind == "ddgs":
            made.engines.extend(_ddgs(rest or "duckduckgo", limits, endpoints))
        else:
            made.engines.append(_api(kind, rest, limits, endpoints, made, replay))
    if not made.engines:
        raise UserError("--search: name at least one back end")
    return made


def _corpus(place: str, replay: bool) -> CorpusBackend:
    if replay and len(place) == 64 and all(c in "0123456789abcdef" for c in place):
        return CorpusBackend(place, None)
    if not place:
        raise UserError("--search corpus: give its path, as in corpus:web.sqlite")
    corpus = Corpus.open(Path(place))
    return CorpusBackend(corpus.digest, corpus)


def _ddgs(engines: str, limits: ToolLimits, endpoints: Endpoints) -> list[Backend]:
    from .ddgs_search import DdgsBackend

    return [DdgsBackend(name.strip(), limits, endpoints) for name in engines.split(",") if name.strip()]


def _api(kind: str, rest: str, limits: ToolLimits, endpoints: Endpoints, made: Backends, replay: bool) -> Backend:
    from .fetch import Fetcher

    makers = {
        "serper": (serper, "SERPER_API_KEY"),
        "tavily": (tavily, "TAVILY_API_KEY"),
        "brave": (brave, "BRAVE_API_KEY"),
    }
    known = "ddgs:ENGINE, searxng:URL, serper, tavily, brave, corpus:PATH"
    if kind not in (*makers, "searxng"):
        raise UserError(f"--search {kind}: no such back end; there are {known}")
    allow = endpoints.allow | {own_pair(rest)} if kind == "searxng" else endpoints.allow
    at_once, spacing = PACE.get(kind, (limits.per_host, limits.spacing_s))
    quick = replace(limits, fetch_s=limits.search_s, per_host=at_once, spacing_s=min(spacing, limits.spacing_s))
    client = Fetcher(quick, replace(endpoints, allow=allow))
    made.clients.append(client)
    if kind == "searxng":
        return searxng(client, rest)
    make, variable = makers[kind]
    return make(client, "" if replay else key_of(variable, kind))
