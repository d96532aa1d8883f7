"""The pages that one job has read, cut into numbered sentences that answers point at."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import AsOf, Dating, PageState
from ..protocols import Provenance
from ..tools import Page, best_passages, index_of

COPY = "copy_of_report"
"""Flag of a page that is the report under test, or nearly so: never evidence for it."""


@dataclass(frozen=True)
class Read:
    """A page with its sentences; sentence numbers count from 1."""

    page: Page
    spans: tuple[tuple[int, int], ...]
    """Offsets of the sentences in the page's text."""

    def sentence(self, number: int) -> str | None:
        """The sentence of this number, None when there is none."""
        if not 1 <= number <= len(self.spans):
            return None
        start, end = self.spans[number - 1]
        return self.page.text[start:end].strip()

    def lines(self, numbers: list[int], room: int) -> str:
        """Numbered lines of these sentences, at most ``room`` characters."""
        lines: list[str] = []
        for number in numbers:
            line = f"[{number}] {' '.join((self.sentence(number) or '').split())}"
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        return "\n".join(lines)

    def overlapping(self, start: int, end: int) -> list[int]:
        """Numbers of the sentences that lie in ``text[start:end]``, even in part."""
        return [number for number, (a, b) in enumerate(self.spans, 1) if a < end and b > start]

    def about(self, query: str, limit: int = 4) -> list[int]:
        """Numbers of the sentences that best match the query, in the order of the text."""
        found: set[int] = set()
        for passage in best_passages(query, [self.page], limit=limit):
            found.update(self.overlapping(passage.start, passage.end))
        return sorted(found)


def read(page: Page) -> Read:
    """Cut a page into sentences; empty ones are left out."""
    spans = index_of(page.text).sentences
    return Read(page=page, spans=tuple(span for span in spans if page.text[span[0] : span[1]].strip()))


class Shelf:
    """All pages of one job, by the address they were asked for and the one they came from.

    ``language``: of the job's searches.
    """

    def __init__(self, as_of: AsOf, language: str | None = None) -> None:
        self.as_of, self.language = as_of, language
        self._reads: dict[str, Read] = {}
        self._late: set[str] = set()
        self.queries: list[str] = []
        self.pages: list[Page] = []
        """Every page asked for, whatever its state, in order."""

    def put(self, page: Page) -> Read | None:
        """Keep a page. None when it cannot be evidence: not readable, the report itself, dated after the as-of date."""
        self.pages.append(page)
        if page.state is not PageState.OK or COPY in page.flags or not page.text.strip():
            return None
        if self.as_of.place(page.published) is Dating.AFTER:
            self._late.add(page.url)
            return None
        found = self._reads.get(page.url) or read(page)
        self._reads[page.url] = self._reads[page.final_url] = found
        return found

    def get(self, url: str) -> Read | None:
        """The page that was read under this address."""
        url = url.strip()
        found = self._reads.get(url)
        if found is None:
            loose = url.rstrip("/")
            found = next((read for known, read in self._reads.items() if known.rstrip("/") == loose), None)
        return found

    def problem(self, url: str, sentence: int) -> str | None:
        """Why a pointer cannot be evidence; None: it can. The words are ours (the address is not repeated)."""
        if url in self._late:
            return f"that page is dated after {self.as_of.day}"
        found = self.get(url)
        if found is None:
            return "that url was not read with read_page in this job"
        if found.sentence(sentence) is None:
            return f"that page has no sentence {sentence}, only 1 to {len(found.spans)}"
        return None

    def provenance(self, url: str, sentence: int) -> Provenance | None:
        """The quote behind a pointer, copied out of the page; None when it cannot be evidence."""
        found = self.get(url)
        quote = found.sentence(sentence) if found else None
        if found is None or not quote or self.problem(url, sentence):
            return None
        return Provenance(url=found.page.url, quote=quote, published=found.page.published, key=found.page.key)
