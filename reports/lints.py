"""What is wrong with a report's form, found without a model."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from .addressed import lookalikes, orders
from .data import Finding, Report, SegmentKind, SourceKind, Span
from .text import unseen

RULES = {
    "number_without_entry": "a mark's number has no entry in any list of sources",
    "author_without_entry": "an author–year citation has no entry in the list of sources",
    "entry_never_cited": "an entry of the list of sources is never cited",
    "placeholder_url": "an address is a placeholder (example.com, your-domain …)",
    "malformed_url": "an address cannot be opened",
    "one_url_for_many": "one address carries a large share of the citations",
    "duplicate_entry": "two entries lead to one address",
    "ambiguous_number": "a number stands in several lists of sources",
    "counted_entries": "marks have numbers and the list of sources has none: its entries were counted",
    "listed_by_order": "marks were resolved by the place of sources listed beside the text",
    "uncited_section": "a section of several sentences has no citation",
    "listed_only": "sources stand only in a list at the end, nothing cites them",
    "no_citations": "the report names no source",
    "bad_characters": "bytes or characters that could not be read",
    "speaks_to_a_model": "words for a judge and not for a reader: an order, a forged turn or a forged verdict",
    "hidden_text": "text that no reader sees",
    "lookalike_letters": "words with letters of another script that look the same",
}
"""Every rule with its meaning."""

MANY = 10
"""Sentences that cite one address, from which (at a quarter of all cited ones) it counts as many."""
SHOWN = 20
"""Places of one kind that are named."""
SECTION = 4
"""Sentences of prose from which a section without citation is named."""


def lint_report(report: Report) -> tuple[Finding, ...]:
    """All findings of a report, in the order of the text; those of the whole report last. Linear."""
    found = [*report.noticed, *_entries(report), *_many(report), *_sections(report), *_characters(report)]
    found += [*_addressed(report), *_hidden(report), *_citations(report)]
    found.sort(key=lambda f: f.span.start if f.span else len(report.text))
    return tuple(found)


def _entries(report: Report) -> Iterator[Finding]:
    cited = {source for mark in report.marks for source in mark.sources}
    first: dict[str, str] = {}
    for source in sorted(report.sources, key=lambda s: s.span.start if s.span else 0):
        if source.kind is not SourceKind.ENTRY:
            continue
        name = f"[{source.label}]" if source.label else (source.title or source.raw)[:80]
        if source.id not in cited and report.marks:
            yield Finding(rule="entry_never_cited", message=f"{name} is never cited", span=source.span)
        if target := source.target:
            if target in first:
                yield Finding(
                    rule="duplicate_entry", message=f"{name} repeats {first[target]}: {target}", span=source.span
                )
            else:
                first[target] = name


def _many(report: Report) -> Iterator[Finding]:
    cited: dict[str, set[int]] = {}
    for mark in report.marks:
        for source in mark.sources:
            cited.setdefault(source, set()).add(mark.sentence)
    total = len({mark.sentence for mark in report.marks})
    by_id = {s.id: s for s in report.sources}
    for id, sentences in cited.items():
        if len(sentences) >= MANY and 4 * len(sentences) >= total:
            where = by_id[id].target or by_id[id].title or id
            yield Finding(
                rule="one_url_for_many", message=f"{where} is cited for {len(sentences)} of {total} cited sentences"
            )


def _sections(report: Report) -> Iterator[Finding]:
    if not report.marks:
        return
    marked = {mark.sentence for mark in report.marks}
    prose: dict[tuple[str, ...], list[int]] = {}
    kinds = (SegmentKind.PARAGRAPH, SegmentKind.LIST_ITEM, SegmentKind.TABLE_ROW)
    numbers_of = [prose.setdefault(s.section, []) if s.kind in kinds else None for s in report.segments]
    for sentence in report.sentences:
        if (numbers := numbers_of[sentence.segment]) is not None:
            numbers.append(sentence.number)
    for section, numbers in prose.items():
        if section and len(numbers) >= SECTION and marked.isdisjoint(numbers):
            start = report.sentences[numbers[0] - 1].span.start
            end = report.sentences[numbers[-1] - 1].span.end
            message = f"{' › '.join(section)}: {len(numbers)} sentences without a citation"
            yield Finding(rule="uncited_section", message=message, span=Span(start=start, end=end))


def _characters(report: Report) -> Iterator[Finding]:
    if count := report.text.count("\ufffd"):
        at = report.text.index("\ufffd")
        message = f"{count} characters could not be read (U+FFFD)"
        yield Finding(rule="bad_characters", message=message, span=Span(start=at, end=at + 1))


def _addressed(report: Report) -> Iterator[Finding]:
    for start, end in list(orders(report.text))[:SHOWN]:
        words = " ".join(report.text[start:end].split())[:120]
        yield Finding(rule="speaks_to_a_model", message=f"speaks to a judge: {words}", span=Span(start=start, end=end))
    mixed = list(lookalikes(report.text))
    if mixed:
        start, end = mixed[0]
        message = f"{len(mixed)} words mix letters of scripts that look alike: {report.text[start:end][:60]}"
        yield Finding(rule="lookalike_letters", message=message, span=Span(start=start, end=end))


def _hidden(report: Report) -> Iterator[Finding]:
    for cut in report.cuts:
        if cut.rule == "hidden_text":
            where = Span(start=cut.at, end=cut.at)
            yield Finding(
                rule="hidden_text", message=f"hidden from readers: {' '.join(cut.text.split())[:120]}", span=where
            )
    if found := unseen(report.text):
        message = f"{len(found)} invisible characters"
        yield Finding(rule="hidden_text", message=message, span=Span(start=found[0], end=found[0] + 1))


def _citations(report: Report) -> Iterator[Finding]:
    if report.marks:
        return
    rule = "listed_only" if report.sources else "no_citations"
    yield Finding(rule=rule, message=RULES[rule])


def host_counts(report: Report) -> dict[str, int]:
    """Marks by the host they lead to, most first (``www.`` cut)."""
    by_id = {s.id: s for s in report.sources}
    counts: dict[str, int] = {}
    for mark in report.marks:
        for id in mark.sources:
            target = by_id[id].target
            host = (urlsplit(target).hostname or "").removeprefix("www.") if target else ""
            if host:
                counts[host] = counts.get(host, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
