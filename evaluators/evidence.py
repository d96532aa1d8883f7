"""Looking for evidence on a claim: neutral queries, searches, pages, passages (METRICS 4, steps 1 to 3).

Nothing here asks a model. Pages are found by neutral queries, whatever the claim says; within the pages, passages are
ranked by the claim's own words and numbers, so that what confirms it and what differs from it both come up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core import AsOf, Dating, PageState, SearchState
from ..reports import normalise_url
from ..reports.data import Claim, Report
from ..tools import Toolbox, best_passages, independent
from ..tools.data import Hit, Page, Passage, SearchResult
from ..tools.toolbox import COPY_FLAG
from .base import Settings, together
from .queries import neutral_queries
from .results import Evidence

LOOKED = (SearchState.OK, SearchState.EMPTY)


@dataclass(frozen=True)
class Found:
    """What was found for one claim."""

    queries: tuple[str, ...]
    searches: tuple[SearchResult, ...]
    tried: tuple[Page, ...]
    """All pages that were opened, whatever came of it."""
    pages: tuple[Page, ...]
    """Those that may decide: readable, not later than the as-of date, no copy of the report or of one another."""
    passages: tuple[Passage, ...]
    """The passages to label, best first."""
    own: frozenset[str]
    """``url`` of pages that the report itself cites for the claim, near copies of them included."""
    late: tuple[Evidence, ...]
    """Evidence dated after the as-of date: listed, never labelled."""
    copies: int = 0
    """Pages left out as near copies of another one."""

    @property
    def blind(self) -> str:
        """Why nobody could look; empty where somebody could."""
        if not self.queries:
            return "no neutral query can be made of it"
        if not any(search.state in LOOKED for search in self.searches):
            states = sorted({f"{search.state}: {search.reason}".rstrip(": ") for search in self.searches})
            return f"search {'; '.join(states)}"
        unread = [page for page in self.tried if page.state not in (PageState.OK, PageState.GONE)]
        readable = any(page.state is PageState.OK for page in self.tried)
        if unread and not readable:
            states = sorted({str(page.state) for page in unread})
            return f"no page could be read ({', '.join(states)})"
        return ""


async def look(
    claim: Claim, report: Report, as_of: AsOf, toolbox: Toolbox, settings: Settings, *, language: str | None = None
) -> Found:
    """Search for what the claim speaks about, open the best pages, and choose the passages nearest to it."""
    queries = neutral_queries(claim.text, as_of=as_of if claim.time_dependent else None, limit=settings.queries)
    tag = language or report.language
    searches = await together(toolbox.search(query, limit=settings.hits, language=tag) for query in queries)
    hits = _merged(searches)
    early = [hit for hit in hits if hit.dating is not Dating.AFTER]
    tried = await _open(early, toolbox, settings.pages)
    cited = cited_urls(claim, report)
    pages, own, copies = _distinct(tried, cited)
    return Found(
        queries=queries,
        searches=tuple(searches),
        tried=tuple(tried),
        pages=tuple(pages),
        passages=tuple(
            _spread(best_passages(claim.text, pages, limit=4 * settings.passages, window=settings.window), settings)
        ),
        own=frozenset(own),
        late=(*_late_pages(claim.text, tried), *_late_hits(hits)),
        copies=copies,
    )


def cited_urls(claim: Claim, report: Report) -> frozenset[str]:
    """Normalised addresses of the sources that the report cites for a claim."""
    targets = (source.target for source in report.sources if source.id in claim.sources)
    return frozenset(normalise_url(target) or target for target in targets if target)


def _merged(searches: Sequence[SearchResult]) -> list[Hit]:
    """Hits of all searches by rank, the same address once."""
    seen: dict[str, Hit] = {}
    depth = max((len(search.hits) for search in searches), default=0)
    for rank in range(depth):
        for search in searches:
            if rank < len(search.hits):
                hit = search.hits[rank]
                seen.setdefault(normalise_url(hit.url) or hit.url, hit)
    return list(seen.values())


async def _open(hits: Sequence[Hit], toolbox: Toolbox, wanted: int) -> list[Page]:
    """Open hits in order until enough pages can be read, twice as many as wanted at most."""
    pages: list[Page] = []
    while len(pages) < min(len(hits), 2 * wanted):
        missing = wanted - sum(_usable(page) for page in pages)
        if missing <= 0:
            break
        batch = hits[len(pages) : min(len(pages) + missing, 2 * wanted)]
        pages += await together(toolbox.read(hit.url) for hit in batch)
    return pages


def _usable(page: Page) -> bool:
    return page.state is PageState.OK and page.dating is not Dating.AFTER and COPY_FLAG not in page.flags


def _distinct(tried: Sequence[Page], cited: frozenset[str]) -> tuple[list[Page], set[str], int]:
    """Usable pages, each source once; which of them are the report's own; how many copies were left out.

    A near copy of a page that the report cites is that page under another address.
    """
    groups = independent([page for page in tried if _usable(page)])
    kept: list[Page] = []
    own: set[str] = set()
    for group in groups:
        page = next((one for one in group if _is_cited(one, cited)), group[0])
        kept.append(page)
        if _is_cited(page, cited):
            own.add(page.url)
    return kept, own, sum(map(len, groups)) - len(kept)


def _is_cited(page: Page, cited: frozenset[str]) -> bool:
    return any((normalise_url(url) or url) in cited for url in (page.url, page.final_url))


def _spread(passages: Sequence[Passage], settings: Settings) -> list[Passage]:
    """The best passages, the best one of every page before a second one of any."""
    seen: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    for index, passage in enumerate(passages):
        seen[passage.url] = seen.get(passage.url, -1) + 1
        places.append((seen[passage.url], index))
    return [passages[index] for _, index in sorted(places)[: settings.passages]]


def _late_pages(topic: str, tried: Sequence[Page]) -> list[Evidence]:
    late = [page for page in tried if page.state is PageState.OK and page.dating is Dating.AFTER]
    return [evidence_of(passage) for page in late for passage in best_passages(topic, [page], limit=1, window=2)]


def _late_hits(hits: Sequence[Hit]) -> list[Evidence]:
    return [
        Evidence(url=hit.url, quote=hit.snippet or hit.title, published=hit.published, dating=hit.dating)
        for hit in hits
        if hit.dating is Dating.AFTER
    ]


def evidence_of(passage: Passage, sentences: Sequence[int] = (), *, stance: str | None = None) -> Evidence:
    """A passage as evidence: the sentences (counted from 1) that were pointed at, or all of it, copied."""
    chosen = sorted(sentences) or range(1, len(passage.sentences) + 1)
    return Evidence(
        url=passage.url,
        quote=quote_of(passage.sentences, chosen),
        start=passage.start,
        end=passage.end,
        stance=stance,
        published=passage.published,
        dating=passage.dating,
        key=passage.key,
    )


def text_of(page: Page) -> str:
    """All that a page says of itself: its title, its date and its text."""
    return "\n".join(filter(None, (page.title, str(page.published or ""), page.text)))


def quote_of(sentences: Sequence[str], numbers: Sequence[int]) -> str:
    """The sentences with these numbers (from 1, in order), with a mark where one was left out between them."""
    parts: list[str] = []
    for index, number in enumerate(numbers):
        if index and number != numbers[index - 1] + 1:
            parts.append("[…]")
        parts.append(sentences[number - 1])
    return " ".join(parts)
