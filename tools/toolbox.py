"""The toolbox: everything an evaluation sees of the world, through the ledger and as of one day.

No method raises for what the world does: failures are states. Only what stops a run (HostStop), a missing record in
replay (ReplayMiss) and a user's mistake (UserError) come out as exceptions.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..core import AsOf, Dating, Json, PageState, SearchState
from ..errors import CallFailed
from ..ledger import Answer, Kind, Ledger, Mode, Request
from ..reports import scalar
from .copies import holds_report, shingles
from .data import CodeFile, CodeList, Hit, Page, Paper, PaperList, Repository, RepositoryList, SearchResult
from .hosts import MIRRORS, host_entry, on_host, unwrap
from .keys import KEY_VARIABLES, known_keys, secret_values
from .limits import Endpoints, ToolLimits
from .records import day, words_of

if TYPE_CHECKING:
    from .backends import Backends
    from .ladder import PageLadder
    from .papers import Arxiv
    from .repositories import GitHub
    from .search import Backend, Found

DEFAULT_SEARCH = ("ddgs:duckduckgo,brave,mojeek",)
COPY_FLAG = "copy_of_report"
_WORST = (SearchState.BLOCKED, SearchState.OUT_OF_CREDIT, SearchState.FAILED)


class Toolbox:
    """Search, pages, arXiv and GitHub as of one day. Made by :func:`open_toolbox`."""

    def __init__(
        self,
        ledger: Ledger,
        as_of: AsOf,
        backends: Backends,
        ladder: PageLadder,
        arxiv: Arxiv | None,
        github: GitHub | None,
        *,
        excluded: frozenset[str],
        report_texts: Sequence[str],
    ) -> None:
        self.as_of = as_of
        self._ledger, self._backends, self._ladder = ledger, backends, ladder
        self._arxiv, self._github = arxiv, github
        self._excluded = excluded
        self._reports = [shingles(text) for text in report_texts]

    def under_test(self, texts: Iterable[str]) -> Toolbox:
        """The same tools for other reports under test: pages that carry one of these are no evidence."""
        other = copy.copy(self)
        other._reports = [shingles(text) for text in texts]
        return other

    @property
    def abilities(self) -> frozenset[str]:
        """``search`` and ``pages``; with any back end on the network ``arxiv`` and ``github`` too."""
        return frozenset({"search", "pages"} | (set() if self.offline else {"arxiv", "github"}))

    @property
    def offline(self) -> bool:
        """True when corpora are all there is: nothing touches the network then."""
        return self._backends.offline

    @property
    def engines(self) -> tuple[str, ...]:
        """The search back ends, in the order in which they are asked."""
        return tuple(engine.name for engine in self._backends.engines)

    async def search(self, query: str, *, limit: int = 8, language: str | None = None) -> SearchResult:
        """Search with the first back end that answers; the others are asked when it finds nothing or fails.

        Hits on excluded hosts, and where reports written by models are shown, are left out. ``language``: BCP 47 tag.
        ``empty`` is only said when at least one engine looked and found nothing.
        """
        query = scalar(query)
        tried: list[tuple[str, Found, str]] = []
        for engine in self._backends.engines:
            found, key = await self._ask(engine, query, limit, language)
            hits = self._hits(engine.name, found, limit)
            if hits:
                return SearchResult(query=query, state=SearchState.OK, hits=hits, key=key)
            tried.append((engine.name, found, key))
        return _nothing(query, tried)

    async def _ask(self, engine: Backend, query: str, limit: int, language: str | None) -> tuple[Found, str]:
        from .search import Ask, Found

        spare = 4 if self._excluded else 0
        ask = Ask(query=query.strip(), limit=min(50, limit + spare), language=language, as_of=self.as_of)
        body: dict[str, Json] = {"query": ask.query, "limit": ask.limit, "language": language, **engine.extra}

        async def do() -> Answer:
            found = await engine.search(ask)
            usable = found.state in (SearchState.OK, SearchState.EMPTY)
            return Answer(body=found.model_dump(mode="json"), usable=usable, reason="" if usable else found.reason)

        answer, key = await self._call(Kind.SEARCH, engine.name, body, do)
        if isinstance(answer, str):
            return Found(state=SearchState.FAILED, reason=answer), key
        return Found.model_validate(answer), key

    def _hits(self, engine: str, found: Found, limit: int) -> tuple[Hit, ...]:
        seen: set[str] = set()
        hits: list[Hit] = []
        for raw in found.hits:
            url = unwrap(raw.url)
            if url in seen or on_host(url, self._excluded) or on_host(url, MIRRORS):
                continue
            seen.add(url)
            hits.append(
                Hit(
                    url=url,
                    title=raw.title,
                    snippet=raw.snippet,
                    rank=len(hits) + 1,
                    engine=engine,
                    published=raw.published,
                    dating=self.as_of.place(raw.published),
                    language=raw.language,
                )
            )
        return tuple(hits[:limit])

    async def read(self, url: str) -> Page:
        """Read a page: the corpus first, then by the way that suits the address (see docs/tools.md).

        The report under test and near copies of it come with the flag ``copy_of_report``: no evidence.
        """
        url = scalar(url)
        page = await self._ladder.read(url, excluded=on_host(unwrap(url), self._excluded))
        return self._marked(page)

    def _marked(self, page: Page) -> Page:
        if not self._reports or page.state is not PageState.OK:
            return page
        own = shingles(page.text)
        if not any(holds_report(own, report) for report in self._reports):
            return page
        return page.model_copy(update={"flags": tuple(sorted({*page.flags, COPY_FLAG}))})

    async def arxiv_search(self, query: str, *, limit: int = 5) -> PaperList:
        """Papers submitted on or before the as-of date; any of the words when no paper has all of them."""
        if self._arxiv is None:
            return PaperList(query=query, state=SearchState.FAILED, reason=OFFLINE, key="")
        from .papers import loosened

        query = scalar(query)
        found = await self._papers(query, query, limit)
        other = loosened(query)
        if found.state is SearchState.EMPTY and other:
            return await self._papers(query, other, limit)
        return found

    async def _papers(self, asked: str, query: str, limit: int) -> PaperList:
        arxiv = self._arxiv
        assert arxiv is not None
        body: dict[str, Json] = {"query": query, "limit": limit}

        async def do() -> Answer:
            return await arxiv.search(query, limit=limit, day=self.as_of.day)

        answer, key = await self._call(Kind.ARXIV, "search", body, do)
        state, reason = _state(answer)
        papers = tuple(self._paper(row, key) for row in _rows(answer, "papers"))
        return PaperList(query=asked, state=state, reason=reason, papers=papers, key=key)

    def _paper(self, row: Mapping[str, Json], key: str) -> Paper:
        return Paper.model_validate(
            {**row, "dating": self.as_of.place(day(words_of(dict(row), "published"))), "key": key}
        )

    async def arxiv_read(self, id: str) -> Page:
        """A paper by its id or address: the full text of the day's version, else the abstract (``abstract_only``)."""
        return self._marked(await self._ladder.paper(scalar(id).strip()))

    async def github_search(self, query: str, *, limit: int = 5) -> RepositoryList:
        """Repositories made on or before the as-of date."""
        query = scalar(query)
        github = self._github
        if github is None:
            return RepositoryList(query=query, state=SearchState.FAILED, reason=OFFLINE, key="")
        body: dict[str, Json] = {"query": query, "limit": limit}

        async def do() -> Answer:
            return await github.search(query, limit=limit, day=self.as_of.day)

        answer, key = await self._call(Kind.GITHUB, "search", body, do)
        state, reason = _state(answer)
        found = tuple(
            self._ladder.repository_of(row, "", key, SearchState.OK, "") for row in _rows(answer, "repositories")
        )
        return RepositoryList(query=query, state=state, reason=reason, repositories=found, key=key)

    async def github_read(self, name: str) -> Repository:
        """A repository ``owner/name`` with its README and latest release as of the day."""
        return await self._ladder.repository(scalar(name).strip().strip("/"))

    async def github_code(self, query: str, *, limit: int = 5) -> CodeList:
        """Files that hold ``query``, as GitHub's index has them now; state failed without GITHUB_TOKEN."""
        query = scalar(query)
        github = self._github
        if github is None:
            return CodeList(query=query, state=SearchState.FAILED, reason=OFFLINE, key="")
        body: dict[str, Json] = {"query": query, "limit": limit}

        async def do() -> Answer:
            return await github.code(query, limit=limit)

        answer, key = await self._call(Kind.GITHUB, "code", body, do)
        state, reason = _state(answer)
        files = tuple(CodeFile.model_validate(row) for row in _rows(answer, "files"))
        return CodeList(query=query, state=state, reason=reason, files=files, key=key)

    async def _call(
        self, kind: Kind, endpoint: str, body: Mapping[str, Json], do: Callable[[], Awaitable[Answer]]
    ) -> tuple[Json, str]:
        """The answer's body and its ledger key; a recorded failure comes as its message."""
        request = Request(kind, endpoint, {**body, "as_of": self.as_of.day.isoformat()})
        try:
            record = await self._ledger.call(request, do)
        except CallFailed as error:
            return str(error), request.key
        return record.body, record.key


OFFLINE = "offline: the only back ends are corpora"


def _nothing(query: str, tried: list[tuple[str, Found, str]]) -> SearchResult:
    """No engine had a hit: *empty* when one looked and found nothing, else the worst of what went wrong."""
    reason = "; ".join(f"{name}: {found.reason or found.state.value}" for name, found, _ in tried)
    for state in (SearchState.OK, SearchState.EMPTY, *_WORST):
        for _, found, key in tried:
            if found.state is state:
                said = SearchState.EMPTY if state is SearchState.OK else state
                return SearchResult(query=query, state=said, reason=reason[:500], key=key)
    raise AssertionError("there is at least one back end")


def _state(answer: Json) -> tuple[SearchState, str]:
    if isinstance(answer, str):
        return SearchState.FAILED, answer
    return SearchState(words_of(answer, "state")), words_of(answer, "reason")


def _rows(answer: Json, name: str) -> list[Mapping[str, Json]]:
    rows = answer.get(name) if isinstance(answer, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


@asynccontextmanager
async def open_toolbox(
    ledger: Ledger,
    *,
    as_of: AsOf,
    search: Sequence[str] = DEFAULT_SEARCH,
    exclude_hosts: Iterable[str] = (),
    report_texts: Sequence[str] = (),
    limits: ToolLimits | None = None,
    endpoints: Endpoints | None = None,
) -> AsyncIterator[Toolbox]:
    """Open the tools of one run.

    ``search``: back ends in order, each the stand-in of the one before (``ddgs:duckduckgo,brave``, ``searxng:URL``,
    ``serper``, ``tavily``, ``brave``, ``corpus:PATH``). With corpora alone no network is touched, and a page that is in
    none of them is ``unreachable``. ``exclude_hosts``: hosts whose pages are never evidence (``example.com``,
    ``github.com/owner``).
    ``report_texts``: the reports under test. UserError for a back end that does not exist or lacks its key.
    """
    from .backends import open_backends
    from .fetch import Fetcher
    from .ladder import PageLadder
    from .papers import Arxiv
    from .parsing import Parsers
    from .reader import Reader
    from .repositories import GitHub

    limits, endpoints = limits or ToolLimits(), endpoints or Endpoints()
    ledger.hide(*secret_values())
    backends = open_backends(search, limits, endpoints, replay=ledger.mode is Mode.REPLAY)
    fetcher, parsers = Fetcher(limits, endpoints), Parsers(limits)
    offline = backends.offline
    arxiv = None if offline else Arxiv(limits, endpoints)
    github = None if offline else GitHub(limits, endpoints, _github_token())
    ladder = PageLadder(
        ledger, as_of, backends, None if offline else Reader(fetcher, parsers), arxiv, github, endpoints
    )
    excluded = frozenset(host_entry(host) for host in exclude_hosts)
    try:
        yield Toolbox(
            ledger, as_of, backends, ladder, arxiv, github, excluded=excluded, report_texts=tuple(report_texts)
        )
    finally:
        await parsers.close()
        await fetcher.close()
        await backends.close()
        if github is not None:
            github.close()


def _github_token() -> str | None:
    import os

    return os.environ.get("GITHUB_TOKEN", "").strip() or None


__all__ = ["COPY_FLAG", "DEFAULT_SEARCH", "KEY_VARIABLES", "Dating", "Toolbox", "known_keys", "open_toolbox"]
