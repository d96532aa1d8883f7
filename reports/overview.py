"""A report at a glance, without a model: what `dream lint` prints, and its JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..core import Frozen, Json
from .cleaner import given_offset
from .data import Finding, Report, SegmentKind, SourceKind, Span
from .lints import host_counts, lint_report
from .parse import word_count
from .urls import host_of

WORDS_A_MINUTE = 230
"""Reading speed behind ``reading_minutes``."""


class SectionLength(Frozen):
    """One section of the length profile."""

    title: str
    words: int
    sentences: int
    cited: int


class Overview(Frozen):
    """Counts of one report."""

    words: int
    """CJK text: two characters a word."""
    characters: int
    reading_minutes: float
    sentences: int
    """Prose, list items and table rows; headings, code and math not counted."""
    sentences_cited: int
    """Of those: with a mark of their own, or under a mark of paragraph scope."""
    marks: int
    marks_resolved: int
    references: int
    references_cited: int
    distinct_urls: int
    domains: dict[str, int]
    """Marks by domain, most first."""
    sections: tuple[SectionLength, ...]

    @property
    def share_cited(self) -> float | None:
        """Sentences cited, in [0, 1]; None without sentences."""
        return self.sentences_cited / self.sentences if self.sentences else None


_PROSE = (SegmentKind.PARAGRAPH, SegmentKind.LIST_ITEM, SegmentKind.TABLE_ROW, SegmentKind.QUOTE)


def overview(report: Report, domain: Callable[[str], str | None] = host_of) -> Overview:
    """Count a report. ``domain`` maps a URL to the name it is counted under (default: its host)."""
    cited = cited_sentences(report)
    prose = [s for s in report.sentences if report.segments[s.segment].kind in _PROSE]
    words = sum(word_count(s.text) for s in report.sentences)
    entries = [s for s in report.sources if s.kind is not SourceKind.INLINE]
    used = {id for mark in report.marks for id in mark.sources}
    return Overview(
        words=words,
        characters=len(report.text),
        reading_minutes=round(words / WORDS_A_MINUTE, 1),
        sentences=len(prose),
        sentences_cited=sum(1 for s in prose if s.number in cited),
        marks=len(report.marks),
        marks_resolved=sum(1 for m in report.marks if m.sources),
        references=len(entries),
        references_cited=sum(1 for s in entries if s.id in used),
        distinct_urls=len({s.target for s in report.sources if s.target}),
        domains=_domains(report, domain),
        sections=_profile(report, cited),
    )


def cited_sentences(report: Report) -> frozenset[int]:
    """Numbers of the sentences that a mark cites for, paragraph scope included."""
    own = {m.sentence for m in report.marks}
    whole = {report.sentences[m.sentence - 1].segment for m in report.marks if m.scope == "paragraph"}
    return frozenset(own | {s.number for s in report.sentences if s.segment in whole})


def _domains(report: Report, domain: Callable[[str], str | None]) -> dict[str, int]:
    if domain is host_of:
        return host_counts(report)
    targets = {s.id: s.target for s in report.sources}
    names = [domain(t) for m in report.marks for id in m.sources if (t := targets[id])]
    return dict(sorted(Counter(n for n in names if n).items(), key=lambda item: (-item[1], item[0])))


def _profile(report: Report, cited: frozenset[int]) -> tuple[SectionLength, ...]:
    sums: dict[str, list[int]] = {}
    for sentence in report.sentences:
        segment = report.segments[sentence.segment]
        if segment.kind in _PROSE:
            entry = sums.setdefault(" › ".join(segment.section), [0, 0, 0])
            entry[0] += word_count(sentence.text)
            entry[1] += 1
            entry[2] += sentence.number in cited
    return tuple(SectionLength(title=t, words=w, sentences=s, cited=c) for t, (w, s, c) in sums.items())


def lint_json(report: Report, domain: Callable[[str], str | None] = host_of) -> dict[str, Json]:
    """Marks, references, domains and lints as plain JSON; offsets are code points of the text as given, cuts undone."""
    urls = {s.id: s.target for s in report.sources}
    view = overview(report, domain)
    return {
        "marks": [
            {**_place(report, m.span), "text": m.raw, "urls": [u for id in m.sources if (u := urls[id])]}
            for m in report.marks
        ],
        "references": [
            {
                "number": s.label,
                "title": s.title,
                "url": s.target,
                **(_place(report, s.span) if s.span else {"start": None, "end": None}),
            }
            for s in report.sources
            if s.kind is not SourceKind.INLINE
        ],
        "domains": dict(view.domains),
        "lints": [_lint(report, finding) for finding in lint_report(report)],
        "counts": view.model_dump(mode="json", exclude={"domains"}),
    }


def _place(report: Report, span: Span) -> dict[str, Json]:
    return {"start": given_offset(report, span.start), "end": given_offset(report, span.end, end=True)}


def _lint(report: Report, finding: Finding) -> Json:
    place = _place(report, finding.span) if finding.span else {"start": None, "end": None}
    return {"rule": finding.rule, "message": finding.message, **place}
