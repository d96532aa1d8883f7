"""A report as numbered lines, for a judge that answers with numbers."""

from __future__ import annotations

from collections.abc import Iterable

from .data import Report, SegmentKind, Sentence


def numbered(report: Report, numbers: Iterable[int] | None = None) -> str:
    """The sentences with these numbers (default: all) as lines ``[12] sentence``.

    Headings keep their ``#`` signs and list items start with ``- ``, so that the structure can be judged. The list of
    sources has no sentences and is not shown. Raises KeyError for a number that the report does not have.
    """
    if numbers is None:
        return "\n".join(line_of(report, s) for s in report.sentences)
    return "\n".join(line_of(report, sentence_of(report, n)) for n in numbers)


def sentence_of(report: Report, number: int) -> Sentence:
    """The sentence with this number (from 1). Raises KeyError."""
    if not 1 <= number <= len(report.sentences):
        raise KeyError(number)
    return report.sentences[number - 1]


def line_of(report: Report, sentence: Sentence) -> str:
    """One sentence as a numbered line, without line breaks in it."""
    segment = report.segments[sentence.segment]
    text = " ".join(sentence.text.split()) if "\n" in sentence.text else sentence.text
    if segment.kind is SegmentKind.HEADING:
        text = f"{'#' * min(6, len(segment.section) + 1)} {text}"
    elif (
        segment.kind is SegmentKind.LIST_ITEM
        and sentence.span.start - segment.span.start < 40
        and _first(report, sentence)
    ):
        text = f"- {text}"
    return f"[{sentence.number}] {text}"


def _first(report: Report, sentence: Sentence) -> bool:
    return sentence.number == 1 or report.sentences[sentence.number - 2].segment != sentence.segment
