"""What the tools bring back: plain data, each with the ledger key it can be replayed by."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from ..core import Dating, Frozen, PageState, SearchState


class Hit(Frozen):
    """One search result."""

    url: str
    title: str = ""
    snippet: str = ""
    rank: int = Field(ge=1)
    engine: str
    published: dt.date | None = None
    dating: Dating = Dating.UNKNOWN
    language: str | None = None


class SearchResult(Frozen):
    """What a search brought. ``hits`` is empty unless ``state`` is ok."""

    query: str
    state: SearchState
    hits: tuple[Hit, ...] = ()
    reason: str = ""
    """Why it is not ok, in one line."""
    key: str
    """Ledger key of the back end's call that answered (or failed last)."""


class Page(Frozen):
    """A page as a judge may read it."""

    url: str
    """As asked for."""
    final_url: str
    """After redirects, or the archived copy's."""
    state: PageState
    reason: str = ""
    """Evidence for a state other than ok: status, challenge mark, size …"""
    title: str = ""
    text: str = ""
    """Main text, hidden text removed; empty unless ok."""
    site: str = ""
    author: str = ""
    published: dt.date | None = None
    dating: Dating = Dating.UNKNOWN
    modified: dt.date | None = None
    """Date of the last change, where the page states one."""
    archived: dt.date | None = None
    """Date of the capture when this is an archived copy."""
    language: str | None = None
    page_starts: tuple[int, ...] = ()
    """PDF: where page 1, 2 … begins in ``text``."""
    flags: tuple[str, ...] = ()
    """``hidden_text``, ``hidden_instructions``, ``speaks_to_a_model``, ``truncated``, ``abstract_only``, ``archived``,
    ``captured_after``, ``modified_after``, ``copy_of_report``, ``pdf``. See docs/tools.md."""
    key: str


class Passage(Frozen):
    """Neighbouring sentences of a page, with offsets into its text."""

    url: str
    """The page's ``url``."""
    start: int
    end: int
    sentences: tuple[str, ...]
    score: float
    """BM25, comparable within one query only."""
    published: dt.date | None = None
    dating: Dating = Dating.UNKNOWN
    page: int | None = None
    """PDF: number of the page it begins on."""
    key: str
    """Ledger key of the page."""

    @property
    def text(self) -> str:
        """The passage as one string."""
        return " ".join(self.sentences)


class Paper(Frozen):
    """An arXiv record."""

    id: str
    """With version: ``2602.18940v1``."""
    title: str
    authors: tuple[str, ...]
    abstract: str
    published: dt.date
    updated: dt.date
    url: str
    pdf_url: str | None = None
    dating: Dating
    key: str


class PaperList(Frozen):
    """What an arXiv search brought."""

    query: str
    state: SearchState
    papers: tuple[Paper, ...] = ()
    reason: str = ""
    key: str


class Repository(Frozen):
    """A GitHub repository, as of a day where GitHub can tell."""

    name: str
    """``owner/name``."""
    description: str = ""
    url: str
    stars: int | None = None
    licence: str | None = None
    created: dt.date | None = None
    pushed: dt.date | None = None
    latest_release: str | None = None
    readme: str = ""
    """Filled by reading one repository, empty in search results."""
    readme_commit: str | None = None
    """The last commit on or before the as-of date, at which the README was read."""
    state: SearchState = SearchState.OK
    """``empty``: no such repository. Otherwise as for a search; all but the name is unknown unless it is ok."""
    reason: str = ""
    flags: tuple[str, ...] = ()
    """``stars_now``: the number of stars is today's, not the as-of date's."""
    dating: Dating
    key: str


class RepositoryList(Frozen):
    """What a GitHub search brought."""

    query: str
    state: SearchState
    repositories: tuple[Repository, ...] = ()
    reason: str = ""
    key: str


class CodeFile(Frozen):
    """A file that a code search found."""

    repository: str
    """``owner/name``."""
    path: str
    url: str


class CodeList(Frozen):
    """What a code search brought: GitHub's index as it is now, whatever the as-of date."""

    query: str
    state: SearchState
    files: tuple[CodeFile, ...] = ()
    reason: str = ""
    key: str
