"""arXiv as an evaluator needs it: a search up to a day, the version that stood on that day.

The ``arxiv`` package has no time limit, no memory across clients of its three-second rule, and takes any answer that
is not a feed for an empty one. So there is one client a process and address, behind a lock; requests have a time
limit; and what is not a feed is a failure.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import threading
import time
from typing import Any

from ..core import Json, SearchState
from ..ledger import Answer
from .limits import Endpoints, ToolLimits
from .words import STOP

_FIELDED = re.compile(r"\b(ti|au|abs|co|jr|cat|rn|id|all|submittedDate):|\b(AND|OR|ANDNOT)\b")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_VERSION = re.compile(r"v(\d+)$")


class _Unusable(ValueError):
    """The answer is no feed, or a feed that carries an error."""


class _Desk:
    """The process's one client for one address."""

    def __init__(self, url_format: str, limits: ToolLimits) -> None:
        self.lock = threading.Lock()
        self.client = _client(url_format, limits)

    def ask(self, search: Any, seconds: float) -> list[Any]:
        """Ask, waiting for the lock at most ``seconds``. Runs in a thread."""
        start = time.monotonic()
        if not self.lock.acquire(timeout=seconds):
            raise TimeoutError("other requests to arXiv are before this one")
        try:
            if time.monotonic() - start > seconds - 1:
                raise TimeoutError("no time left for arXiv")
            self.client.page_size = max(1, min(100, search.max_results or 100))
            return list(self.client.results(search))
        finally:
            self.lock.release()


_DESKS: dict[str, _Desk] = {}
_DESKS_LOCK = threading.Lock()


def _desk(url_format: str, limits: ToolLimits) -> _Desk:
    with _DESKS_LOCK:
        if url_format not in _DESKS:
            _DESKS[url_format] = _Desk(url_format, limits)
        return _DESKS[url_format]


def _arxiv() -> Any:
    import arxiv  # type: ignore[import-untyped]

    return arxiv


def _client(url_format: str, limits: ToolLimits) -> Any:
    from requests import PreparedRequest, Response
    from requests.adapters import HTTPAdapter

    class Timed(HTTPAdapter):
        def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
            kwargs["timeout"] = (limits.connect_s, limits.arxiv_s / 2)
            return super().send(request, *args, **kwargs)

    class Client(_arxiv().Client):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(page_size=100, delay_seconds=limits.arxiv_delay_s, num_retries=1)
            self.query_url_format = url_format
            self._session.trust_env = False
            for scheme in ("https://", "http://"):
                self._session.mount(scheme, Timed())
            self._session.hooks["response"].append(_must_be_a_feed)

    return Client()


def _must_be_a_feed(response: Any, *_: Any, **__: Any) -> None:
    if response.status_code != 200:
        return
    head = response.content[:100_000]
    if b"<feed" not in head[:4000]:
        raise _Unusable("the answer is not an Atom feed")
    if b"arxiv.org/api/errors" in head:
        found = re.search(rb"<entry>.*?<summary[^>]*>(.{1,300}?)</summary>", head, re.DOTALL)
        raise _Unusable("arXiv says: " + (found.group(1).decode("utf-8", "replace").strip() if found else "error"))


class Arxiv:
    """Asks arXiv; answers are what the ledger keeps: ``{"state", "reason", "papers": […]}``."""

    def __init__(self, limits: ToolLimits, endpoints: Endpoints) -> None:
        self._limits, self._url = limits, endpoints.arxiv

    async def search(self, query: str, *, limit: int, day: dt.date) -> Answer:
        """Papers first submitted on or before ``day``, by arXiv's relevance."""

        window = f"submittedDate:[199101010000 TO {day:%Y%m%d}2359]"
        return await self._ask(_arxiv().Search(query=f"({_query(query)}) AND {window}", max_results=limit))

    async def fetch(self, id: str, *, day: dt.date) -> Answer:
        """One paper: the version asked for, else the last one on or before ``day`` (the first, when all are later)."""

        answer = await self._ask(_arxiv().Search(id_list=[id], max_results=1))
        papers = _papers(answer)
        if _VERSION.search(id) or not papers or str(papers[0]["updated"]) <= day.isoformat():
            return answer
        latest = _VERSION.search(str(papers[0]["id"]))
        if latest is None or int(latest.group(1)) < 2:
            return answer
        earlier = [f"{id}v{n}" for n in range(1, int(latest.group(1)))]
        versions = await self._ask(_arxiv().Search(id_list=earlier, max_results=len(earlier)))
        in_time = sorted(_papers(versions), key=lambda paper: str(paper["updated"]))
        standing = [paper for paper in in_time if str(paper["updated"]) <= day.isoformat()] or in_time[:1]
        return _answer(SearchState.OK, papers=standing[-1:]) if standing else versions

    async def _ask(self, search: Any) -> Answer:
        import requests

        seconds = self._limits.arxiv_s
        desk = _desk(self._url, self._limits)
        try:
            async with asyncio.timeout(seconds):
                found = await asyncio.to_thread(desk.ask, search, seconds)
        except TimeoutError as error:
            return _answer(SearchState.FAILED, str(error) or f"no answer within {seconds:g} s")
        except _arxiv().HTTPError as error:
            blocked = error.status in (403, 429)
            return _answer(SearchState.BLOCKED if blocked else SearchState.FAILED, f"arXiv: status {error.status}")
        except (_arxiv().ArxivError, requests.RequestException, _Unusable, ValueError) as error:
            return _answer(SearchState.FAILED, f"arXiv: {_short(error)}")
        papers = [_paper(result) for result in found]
        return _answer(SearchState.OK if papers else SearchState.EMPTY, papers=papers)


def _query(text: str) -> str:
    """Plain words must all occur; a query in arXiv's own language passes as it is."""
    if _FIELDED.search(text):
        return text
    words = [word for word in _WORD.findall(text) if word.lower() not in STOP][:10]
    return " AND ".join(f"all:{word}" for word in words) or f'all:"{text.strip()}"'


def loosened(query: str) -> str | None:
    """The query with any of its words instead of all; None when it has just one, or arXiv's own language."""
    strict = _query(query)
    return strict.replace(" AND ", " OR ") if not _FIELDED.search(query) and " AND " in strict else None


def _short(error: Exception) -> str:
    """An error's kind and first line, without the address in it (it differs from run to run)."""
    text = re.sub(r"https?://\S+|0x[0-9a-f]+", "…", str(error).split("\n")[0])
    return f"{type(error).__name__}: {text}"[:200] if not isinstance(error, _Unusable) else text[:300]


def _paper(result: Any) -> dict[str, Json]:
    return {
        "id": result.get_short_id(),
        "title": " ".join(result.title.split()),
        "authors": [author.name for author in result.authors],
        "abstract": " ".join(result.summary.split()),
        "published": result.published.date().isoformat(),
        "updated": result.updated.date().isoformat(),
        "url": f"https://arxiv.org/abs/{result.get_short_id()}",
        "pdf_url": result.pdf_url,
    }


def _papers(answer: Answer) -> list[dict[str, Json]]:
    assert isinstance(answer.body, dict)
    papers = answer.body["papers"]
    return [paper for paper in papers if isinstance(paper, dict)] if isinstance(papers, list) else []


def _answer(state: SearchState, reason: str = "", papers: list[dict[str, Json]] | None = None) -> Answer:
    usable = state in (SearchState.OK, SearchState.EMPTY)
    body: Json = {"state": state.value, "reason": reason, "papers": list(papers or [])}
    return Answer(body=body, usable=usable, reason="" if usable else reason)
