"""smolagents tools over :class:`~dream_eval.tools.Toolbox`: what an agent's code can call.

Each takes and returns plain JSON. Texts are not fenced one by one: all that a step prints is fenced by the executor,
which also holds when the code prints slices of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from smolagents.tools import Tool

from ..core import Dating, Json, PageState, SearchState
from ..tools import Page, Repository, Toolbox
from .host import Host
from .plain import Refusal, cut
from .shelf import COPY, Read, Shelf

T = TypeVar("T")
SNIPPET = 300
ABSTRACT = 600
RESULTS = 6


class HostTool(Tool):  # type: ignore[misc]  # smolagents is untyped
    """A tool whose work is done on the event loop. ``last_key``: ledger key of the last call."""

    name = "host_tool"
    description = "Base of the tools."
    inputs: dict[str, Any] = {}  # noqa: RUF012  # smolagents' own convention
    output_type = "object"

    def __init__(self, toolbox: Toolbox, host: Host, shelf: Shelf, page_chars: int) -> None:
        super().__init__()
        self.last_key: str | None = None
        self._toolbox, self._host, self._shelf = toolbox, host, shelf
        self._page_chars = page_chars

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        self.last_key = None
        return self._host.wait(work)

    def _shown(self, page: Page, find: str | None) -> Json:
        """A page as the agent's code gets it, numbered sentences as ``text``."""
        self.last_key = page.key
        read = self._shelf.put(page)
        if read is not None:
            return self._page(page, read, find)
        state, reason = page.state.value, cut(page.reason, 200)
        if COPY in page.flags:
            state = COPY
        elif self._shelf.as_of.place(page.published) is Dating.AFTER:
            state = "after_the_as_of_date"
        elif page.state is PageState.OK:
            state = "empty"
        return {"url": page.url, "state": state, "reason": reason, "text": ""}

    def _page(self, page: Page, read: Read, find: str | None) -> Json:
        numbers = (read.about(find) if find else []) or list(range(1, len(read.spans) + 1))
        return {
            "url": page.url,
            "state": "ok",
            "title": cut(page.title, SNIPPET),
            "published": page.published.isoformat() if page.published else None,
            "sentences": len(read.spans),
            "text": read.lines(numbers, self._page_chars),
        }


class WebSearch(HostTool):
    """``web_search``."""

    name = "web_search"
    description = "Search the web. Gives a list of {url, title, published, snippet}."
    inputs = {"query": {"type": "string", "description": "a few words"}}  # noqa: RUF012
    output_type = "array"

    def forward(self, query: str) -> Json:
        """Hits that are not dated after the as-of date. Raises Refusal when the search could not be done."""
        self._shelf.queries.append(query)
        result = self._wait(self._toolbox.search(_words(query), limit=RESULTS, language=self._shelf.language))
        self.last_key = result.key
        _done(result.state)
        return [
            {
                "url": hit.url,
                "title": cut(hit.title, SNIPPET),
                "published": hit.published.isoformat() if hit.published else None,
                "snippet": cut(hit.snippet, SNIPPET),
            }
            for hit in result.hits
            if hit.dating is not Dating.AFTER
        ]


class ReadPage(HostTool):
    """``read_page``."""

    name = "read_page"
    description = (
        "Read a page or PDF. Gives {url, state, title, published, sentences, text}; text has numbered sentences."
    )
    inputs = {  # noqa: RUF012
        "url": {"type": "string", "description": "address"},
        "find": {"type": "string", "description": "show only sentences about this", "nullable": True},
    }

    def forward(self, url: str, find: str | None = None) -> Json:
        """The page, or its state when it cannot be evidence."""
        known = self._shelf.get(url)
        if known is not None:
            self.last_key = known.page.key
            return self._page(known.page, known, find)
        return self._shown(self._wait(self._toolbox.read(_words(url))), find)


class ArxivSearch(HostTool):
    """``arxiv_search``."""

    name = "arxiv_search"
    description = "Search arXiv. Gives a list of {id, title, published, abstract}."
    inputs = {"query": {"type": "string", "description": "a few words"}}  # noqa: RUF012
    output_type = "array"

    def forward(self, query: str) -> Json:
        """Papers up to the as-of date. Raises Refusal when the search could not be done."""
        self._shelf.queries.append(query)
        result = self._wait(self._toolbox.arxiv_search(_words(query)))
        self.last_key = result.key
        _done(result.state)
        return [
            {
                "id": paper.id,
                "title": cut(paper.title, SNIPPET),
                "published": paper.published.isoformat(),
                "abstract": cut(paper.abstract, ABSTRACT),
            }
            for paper in result.papers
            if paper.dating is not Dating.AFTER
        ]


class ArxivRead(HostTool):
    """``arxiv_read``."""

    name = "arxiv_read"
    description = "Read a paper by its arXiv id. Gives the same as read_page."
    inputs = {  # noqa: RUF012
        "id": {"type": "string", "description": "arXiv id"},
        "find": {"type": "string", "description": "show only sentences about this", "nullable": True},
    }

    def forward(self, id: str, find: str | None = None) -> Json:
        """The paper as a page."""
        return self._shown(self._wait(self._toolbox.arxiv_read(_words(id))), find)


class GithubSearch(HostTool):
    """``github_search``."""

    name = "github_search"
    description = "Search GitHub repositories. Gives a list of {name, description, stars, pushed, url}."
    inputs = {"query": {"type": "string", "description": "a few words"}}  # noqa: RUF012
    output_type = "array"

    def forward(self, query: str) -> Json:
        """Repositories that existed on the as-of date. Raises Refusal when the search could not be done."""
        self._shelf.queries.append(query)
        result = self._wait(self._toolbox.github_search(_words(query)))
        self.last_key = result.key
        _done(result.state)
        return [
            {
                "name": found.name,
                "description": cut(found.description, SNIPPET),
                "stars": found.stars,
                "pushed": found.pushed.isoformat() if found.pushed else None,
                "url": found.url,
            }
            for found in result.repositories
            if found.dating is not Dating.AFTER
        ]


class GithubRead(HostTool):
    """``github_read``."""

    name = "github_read"
    description = "Read a repository by owner/name: its facts and readme. Gives the same as read_page."
    inputs = {  # noqa: RUF012
        "name": {"type": "string", "description": "owner/name"},
        "find": {"type": "string", "description": "show only sentences about this", "nullable": True},
    }

    def forward(self, name: str, find: str | None = None) -> Json:
        """The repository as a page under its address."""
        found = self._wait(self._toolbox.github_read(_words(name)))
        self.last_key = found.key
        if found.state is not SearchState.OK:
            return {"url": found.url, "state": found.state.value, "text": ""}
        if found.dating is Dating.AFTER:
            return {"url": found.url, "state": "after_the_as_of_date", "text": ""}
        return self._shown(_as_page(found), find)


def _as_page(found: Repository) -> Page:
    """A repository as a page: its facts as sentences, then its readme."""
    facts = {
        "number of stars": None if "stars_now" in found.flags else found.stars,
        "licence": found.licence,
        "day of creation": found.created,
        "day of the last push": found.pushed,
        "latest release": found.latest_release,
    }
    head = " ".join(f"The {label} of {found.name}: {value}." for label, value in facts.items() if value is not None)
    text = "\n\n".join(part for part in (head, found.description, found.readme) if part)
    return Page(url=found.url, final_url=found.url, state=PageState.OK, title=found.name, text=text, key=found.key)


_ABILITIES: tuple[tuple[str, type[HostTool]], ...] = (
    ("search", WebSearch),
    ("pages", ReadPage),
    ("arxiv", ArxivSearch),
    ("arxiv", ArxivRead),
    ("github", GithubSearch),
    ("github", GithubRead),
)


def agent_tools(toolbox: Toolbox, shelf: Shelf, page_chars: int) -> Callable[[Host], list[Tool]]:
    """A maker of the tools that the toolbox has abilities for. ``page_chars``: characters of a page shown at once."""
    kinds = [kind for ability, kind in _ABILITIES if ability in toolbox.abilities]
    return lambda host: [kind(toolbox, host, shelf, page_chars) for kind in kinds]


def tool_names(toolbox: Toolbox) -> tuple[str, ...]:
    """Names of the tools that the toolbox has abilities for."""
    return tuple(kind.name for ability, kind in _ABILITIES if ability in toolbox.abilities)


def signatures(toolbox: Toolbox) -> str:
    """The tools as lines of a prompt."""
    kinds = [kind for ability, kind in _ABILITIES if ability in toolbox.abilities]
    return "\n".join(f"{kind.name}({_parameters(kind.inputs)}) — {kind.description}" for kind in kinds)


def _parameters(inputs: dict[str, Any]) -> str:
    return ", ".join(f"{name}=None" if facts.get("nullable") else name for name, facts in inputs.items())


def _words(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Refusal("the argument must be a text that is not empty")
    return cut(" ".join(value.split()), 2_000)


def _done(state: SearchState) -> None:
    """A search that could not be done is no empty result."""
    if state not in (SearchState.OK, SearchState.EMPTY):
        raise Refusal(f"the search could not be done ({state.value}); try later or other words")
