"""The report as data. All offsets are character offsets into ``Report.text`` (half-open)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from ..core import Frozen


class Span(Frozen):
    """``text[start:end]``."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class SegmentKind(StrEnum):
    """What a stretch of a report is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"
    MATH = "math"
    QUOTE = "quote"
    REFERENCES = "references"
    """An entry or line of the list of sources: never a claim."""


class Sentence(Frozen):
    """One sentence (or heading, or table row). ``number`` counts from 1 through the whole report."""

    number: int
    span: Span
    text: str
    """The sentence as read: marks and link targets removed, white space folded."""
    segment: int
    """Index into ``Report.segments``."""


class Segment(Frozen):
    """A heading, paragraph, list item, table row, code block …"""

    kind: SegmentKind
    span: Span
    section: tuple[str, ...] = ()
    """Headings above it, outermost first."""
    header: tuple[str, ...] = ()
    """For a table row: the header cells."""


class SourceKind(StrEnum):
    """Where a report names a source."""

    INLINE = "inline"
    ENTRY = "entry"
    """In a reference list."""
    LISTED = "listed"
    """Delivered beside the text (a sources field, a source panel)."""


class Source(Frozen):
    """One source that a report names."""

    id: str
    """``s1``, ``s2`` … in order of first appearance."""
    kind: SourceKind
    label: str | None = None
    """The number or key the report uses for it (``1``, ``smith2020``)."""
    url: str | None = None
    """Normalised; None when the entry has none, or a malformed or placeholder one."""
    raw: str = ""
    title: str | None = None
    doi: str | None = None
    arxiv: str | None = None
    span: Span | None = None

    @property
    def target(self) -> str | None:
        """The address a reader would open: the URL, else the DOI's or the arXiv id's."""
        if self.url:
            return self.url
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else None


class Mark(Frozen):
    """One citation mark in the text: a bracket group, a link, a superscript. One group is one mark."""

    span: Span
    raw: str
    sources: tuple[str, ...]
    """Ids of the sources it leads to; empty: leads nowhere."""
    sentence: int
    """Number of the sentence it belongs to."""
    scope: str = "sentence"
    """``sentence`` or ``paragraph`` (behind a paragraph's last sentence)."""


class Finding(Frozen):
    """A lint: something wrong with the report's form, found without a model."""

    rule: str
    message: str
    span: Span | None = None


class Cut(Frozen):
    """A stretch that the cleaner took out; ``at`` is its offset in the cleaned text (reversible)."""

    at: int
    text: str
    rule: str


class Report(Frozen):
    """A report, read exactly and without a model."""

    id: str
    """Name of the system or file, unique within a run."""
    task_id: str | None = None
    prompt: str | None = None
    text: str
    digest: str
    """SHA-256 of ``text`` and of the listed sources."""
    segments: tuple[Segment, ...]
    sentences: tuple[Sentence, ...]
    sources: tuple[Source, ...] = ()
    marks: tuple[Mark, ...] = ()
    noticed: tuple[Finding, ...] = ()
    """What is wrong with its form, as far as reading shows it; :func:`.lints.lint_report` has all of it."""
    cuts: tuple[Cut, ...] = ()
    language: str | None = None

    def source(self, id: str) -> Source:
        """The source with this id. Raises KeyError."""
        for source in self.sources:
            if source.id == id:
                return source
        raise KeyError(id)


class Claim(Frozen):
    """A self-contained claim of a report, with the sentences it rests on."""

    id: str
    """``c1``, ``c2`` … in the order of the report."""
    text: str
    sentences: tuple[int, ...]
    check_worthy: bool
    importance: int = Field(ge=1, le=5)
    """5: the answer stands or falls with it."""
    time_dependent: bool = False
    sources: tuple[str, ...] = ()
    """Ids of sources cited for it."""
    section: tuple[str, ...] = ()
    """Headings above its first sentence, outermost first."""
    selected: bool = True
    """False: left out by ``--max-claims`` (citation assurance is never sampled and counts it all the same)."""
    digest: str


class ClaimList(Frozen):
    """The frozen claims of one report, shared by all metrics, judges and repeats."""

    report: str
    """Digest of the report."""
    task: str | None = None
    """Id of the task that the report answers; a name, not part of the digest."""
    maker: str
    """Name of the judge that made it."""
    version: int
    """Version of the extraction prompt."""
    claims: tuple[Claim, ...]
    dropped: int = 0
    """Proposed claims that the report's own sentences do not carry."""
    selected_from: int | None = None
    """With ``--max-claims``: how many check-worthy claims there were."""
    sentences_read: int = 0
    sentences_total: int = 0
    failed_batches: int = 0
    digest: str
