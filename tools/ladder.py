"""Which way a page is read, step by step; each step is a call in the ledger.

corpus → host without text → arXiv → GitHub → DOI → the page itself → the archived copy nearest to the day.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core import AsOf, Dating, Json, PageState, SearchState
from ..errors import CallFailed
from ..ledger import Answer, Kind, Ledger, Request
from .content import Parsed
from .data import Page, Repository
from .hosts import arxiv_id, doi_of, file_of, repository_of, without_text
from .limits import Endpoints
from .records import Read, day, failed, page_of, read_of, words_of

if TYPE_CHECKING:
    from .backends import Backends, CorpusBackend
    from .papers import Arxiv
    from .reader import Reader
    from .repositories import GitHub

_ARCHIVE_HELPS = frozenset({PageState.GONE, PageState.BLOCKED, PageState.UNREACHABLE})
_ENOUGH = 400
"""Characters from which on a landing page says more than an abstract."""
OFFLINE = "offline: the only back ends are corpora"


class PageLadder:
    """Reads pages for a toolbox. ``reader``, ``arxiv`` and ``github`` are None when nothing may touch the network."""

    def __init__(
        self,
        ledger: Ledger,
        as_of: AsOf,
        backends: Backends,
        reader: Reader | None,
        arxiv: Arxiv | None,
        github: GitHub | None,
        endpoints: Endpoints,
    ) -> None:
        self._ledger, self._as_of, self._backends = ledger, as_of, backends
        self._reader, self._arxiv, self._github, self._ends = reader, arxiv, github, endpoints

    async def read(self, url: str, *, excluded: bool = False) -> Page:
        """The page at ``url`` in the way that suits it. ``excluded``: its host must not be evidence."""
        url = url.strip()
        if excluded:
            return await self._said(url, PageState.UNREACHABLE, "excluded host")
        page: Page | None = None
        for corpus in self._backends.corpora:
            page = await self._from_corpus(url, corpus)
            if page.state is PageState.OK:
                return page
        if self._reader is None:
            assert page is not None
            return page
        return await self._from_network(url)

    async def _from_network(self, url: str) -> Page:
        if without_text(url):
            return await self._said(url, PageState.NOT_TEXT, "films, sound or pictures")
        if paper := arxiv_id(url):
            return await self.paper(paper, url)
        if name := repository_of(url):
            return await self._readme(url, name)
        if path := file_of(url):
            return await self._live_or_archived(url, f"{self._ends.github_raw}{path}")
        if doi := doi_of(url):
            return await self._doi(url, doi)
        return await self._live_or_archived(url, url)

    # --- steps -------------------------------------------------------------------------------------------------------

    async def _step(
        self,
        url: str,
        endpoint: str,
        body: Mapping[str, Json],
        do: Callable[[], Awaitable[Read]],
        *,
        lasting: bool = False,
    ) -> tuple[Page, Read]:
        """One ledger call that brings a page. ``lasting``: whatever comes is the answer for good."""

        async def ask() -> Answer:
            answer = (await do()).answer()
            return replace(answer, usable=True, reason="") if lasting else answer

        request = Request(Kind.PAGE, endpoint, {**body, "as_of": self._as_of.day.isoformat()})
        try:
            record = await self._ledger.call(request, ask)
        except CallFailed as error:
            read = failed(url, PageState.UNREACHABLE, str(error))
            return page_of(url, read, request.key, self._as_of), read
        read = read_of(record)
        return page_of(url, read, record.key, self._as_of), read

    async def _said(self, url: str, state: PageState, reason: str) -> Page:
        """A state that needs no look."""

        async def do() -> Read:
            return failed(url, state, reason)

        return (await self._step(url, "rule", {"url": url, "rule": reason}, do, lasting=True))[0]

    async def _from_corpus(self, url: str, backend: CorpusBackend) -> Page:
        async def do() -> Read:
            found = backend.corpus.get(url) if backend.corpus is not None else None
            if found is None:
                return failed(url, PageState.UNREACHABLE, "not in the corpus")
            published = found.published.isoformat() if found.published else None
            page = Parsed(**found.model_dump(exclude={"url", "published"}), published=published)
            return Read(final_url=found.url, page=page)

        return (await self._step(url, "corpus", {"url": url, **backend.extra}, do, lasting=True))[0]

    async def _web(self, url: str, address: str) -> tuple[Page, Read]:
        reader = self._reader
        assert reader is not None

        async def do() -> Read:
            request = Request(Kind.PAGE, "web", {"url": address, "as_of": self._as_of.day.isoformat()})
            record = self._ledger.earlier(request)
            return await reader.web(address, before=None if record is None else read_of(record))

        return await self._step(url, "web", {"url": address}, do)

    async def _live_or_archived(self, url: str, address: str) -> Page:
        """The page as it is; the capture nearest to the day when it cannot be read, or has changed since."""
        address = address.split("#", 1)[0]
        page, _ = await self._web(url, address)
        later = self._as_of.given and (page.dating is Dating.AFTER or "modified_after" in page.flags)
        if page.archived or page.reason.startswith("refused:") or not (page.state in _ARCHIVE_HELPS or later):
            return page
        reader = self._reader
        assert reader is not None
        day = self._as_of.day
        copy, _ = await self._step(url, "archive", {"url": address}, lambda: reader.archived(address, day))
        if copy.state is PageState.OK and (not later or "captured_after" not in copy.flags):
            return copy
        if page.state is PageState.OK:
            return page
        return page.model_copy(update={"reason": f"{page.reason}; {copy.reason or copy.state.value}"[:400]})

    # --- DOIs --------------------------------------------------------------------------------------------------------

    async def _doi(self, url: str, doi: str) -> Page:
        """Full text where it is free; else the landing page; else the abstract that the registry has."""
        reader = self._reader
        assert reader is not None
        record, read = await self._step(url, "doi", {"url": f"doi:{doi}"}, lambda: reader.doi(doi))
        free = read.extra.get("open")
        if isinstance(free, str) and free:
            copy, _ = await self._web(url, free)
            if copy.state is PageState.OK and len(copy.text) > max(_ENOUGH, len(record.text)):
                return _with_record(copy, record, self._as_of)
        landing = await self._live_or_archived(url, url)
        if landing.state is PageState.OK and len(landing.text) > max(_ENOUGH, len(record.text)):
            return _with_record(landing, record, self._as_of)
        if record.state is PageState.OK and record.text:
            return record
        return landing if record.state is not PageState.OK else _with_record(landing, record, self._as_of)

    # --- arXiv -------------------------------------------------------------------------------------------------------

    async def paper(self, id: str, url: str | None = None) -> Page:
        """An arXiv paper: its full text by the PDF, else its abstract."""
        id = arxiv_id(id) or id.removeprefix("arXiv:").removeprefix("arxiv:")
        url = url or f"https://arxiv.org/abs/{id}"
        arxiv = self._arxiv
        if arxiv is None:
            return await self.read(url)
        day_ = self._as_of.day
        request = Request(Kind.ARXIV, "paper", {"id": id, "as_of": day_.isoformat()})
        try:
            record = await self._ledger.call(request, lambda: arxiv.fetch(id, day=day_))
        except CallFailed as error:
            return page_of(url, failed(url, PageState.UNREACHABLE, str(error)), request.key, self._as_of)
        rows = record.body.get("papers") if isinstance(record.body, dict) else None
        row = rows[0] if isinstance(rows, list) and rows else None
        if not isinstance(row, dict):
            return await self._no_paper(url, record.key, record.body)
        return await self._full_text(url, row, record.key)

    async def _no_paper(self, url: str, key: str, body: Json) -> Page:
        """No such paper; or arXiv did not answer, and the address itself may."""
        if words_of(body, "state") == SearchState.EMPTY:
            return page_of(url, failed(url, PageState.GONE, "arXiv has no such paper"), key, self._as_of)
        page = await self._live_or_archived(url, url)
        if page.state is PageState.OK:
            return page.model_copy(update={"flags": tuple(sorted({*page.flags, "abstract_only"}))})
        return page.model_copy(update={"reason": f"{words_of(body, 'reason')}; {page.reason}"[:400]})

    async def _full_text(self, url: str, row: dict[str, Json], key: str) -> Page:
        id, abstract = words_of(row, "id"), words_of(row, "abstract")
        pdf, _ = await self._web(url, f"{self._ends.arxiv_pdf}{id}")
        authors = row.get("authors")
        stated = Parsed(
            title=words_of(row, "title"),
            site="arXiv",
            author=", ".join(map(str, authors[:20])) if isinstance(authors, list) else "",
            published=words_of(row, "updated"),
            text=abstract,
            flags=("abstract_only",),
        )
        record = page_of(url, Read(final_url=f"https://arxiv.org/abs/{id}", page=stated), key, self._as_of)
        return _with_record(pdf, record, self._as_of) if pdf.state is PageState.OK else record

    # --- GitHub ------------------------------------------------------------------------------------------------------

    async def repository(self, name: str) -> Repository:
        """A repository as of the day; its state says when there is none, or GitHub did not answer."""
        github = self._github
        day_ = self._as_of.day
        request = Request(Kind.GITHUB, "repository", {"name": name, "as_of": day_.isoformat()})
        if github is None:
            return self.repository_of({"name": name}, "", request.key, SearchState.FAILED, OFFLINE)
        try:
            record = await self._ledger.call(request, lambda: github.read(name, day=day_))
        except CallFailed as error:
            return self.repository_of({"name": name}, "", request.key, SearchState.FAILED, str(error))
        assert isinstance(record.body, dict)
        rows = record.body.get("repositories")
        row = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {"name": name}
        text = (record.blob or b"").decode("utf-8", "replace")
        state = SearchState(words_of(record.body, "state"))
        return self.repository_of(row, text, record.key, state, words_of(record.body, "reason"))

    def repository_of(
        self, row: Mapping[str, Json], text: str, key: str, state: SearchState, reason: str
    ) -> Repository:
        """A repository from GitHub's fields, placed in time by the day it was made."""
        created = day(words_of(dict(row), "created"))
        fields = {"url": f"https://github.com/{row['name']}", **row}
        flags = ("stars_now",) if fields.get("stars") is not None and self._as_of.given else ()
        more = {"readme": text, "dating": self._as_of.place(created), "key": key, "state": state, "reason": reason}
        return Repository.model_validate({**fields, **more, "flags": flags})

    async def _readme(self, url: str, name: str) -> Page:
        found = await self.repository(name)
        if found.state is not SearchState.OK:
            return await self._live_or_archived(url, url)
        facts = f"{found.description}\n\nStars: {found.stars}. Licence: {found.licence or 'none stated'}."
        facts += f" Latest release: {found.latest_release}." if found.latest_release else ""
        read = Read(
            final_url=found.url,
            page=Parsed(title=name, text=f"{facts}\n\n{found.readme}".strip(), site="GitHub", flags=found.flags),
        )
        page = page_of(url, read, found.key, self._as_of)
        return page.model_copy(update={"dating": found.dating, "published": found.created})


def _with_record(page: Page, record: Page, as_of: AsOf) -> Page:
    """A page with the registry's title, authors and date; its text stays its own."""
    if record.state is not PageState.OK:
        return page
    published = record.published or page.published
    return page.model_copy(
        update={
            "title": record.title or page.title,
            "author": record.author or page.author,
            "site": record.site or page.site,
            "published": published,
            "dating": as_of.place(published),
        }
    )
