"""Claims without a model: batches of sentences for whoever extracts them, and the frozen list made of what comes back.

METRICS 0: a proposed claim is kept only if every number and date of it and at least half of its content words occur in
its sentences or their section; dropped ones are counted; near-duplicates are merged with all their places.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from ..core import Frozen
from .data import Claim, ClaimList, Mark, Report, SegmentKind
from .numbers import missing_numbers, numbers_in
from .similar import are_twins
from .text import content_words
from .view import line_of, numbered

HALF = 0.5
"""Share of a claim's content words that its sentences or their section must hold."""


class Batch(Frozen):
    """A window of neighbouring sentences, small enough for one call."""

    index: int
    numbers: tuple[int, ...]
    """Sentence numbers, ascending, without gaps."""
    text: str
    """The numbered lines to show."""
    section: tuple[str, ...] = ()
    """Headings that hold where the window starts."""


class Proposal(Frozen):
    """A claim as its maker proposes it."""

    text: str
    sentences: tuple[int, ...]
    check_worthy: bool = True
    importance: int = Field(default=3, ge=1, le=5)
    time_dependent: bool = False


def batches(report: Report, *, max_tokens: int, count: Callable[[str], int]) -> list[Batch]:
    """Cut a report into windows that hold every sentence exactly once, in order.

    A window's lines sum up to at most ``max_tokens`` by ``count`` (one token a line break added); a sentence that alone
    exceeds it makes a window of its own. A new window starts at a heading when the one before is at least half full.
    """
    found: list[Batch] = []
    window: list[int] = []
    used = 0
    for sentence in report.sentences:
        cost = count(line_of(report, sentence)) + 1
        heading = report.segments[sentence.segment].kind is SegmentKind.HEADING
        if window and (used + cost > max_tokens or (heading and 2 * used >= max_tokens)):
            found.append(_batch(report, len(found), window))
            window, used = [], 0
        window.append(sentence.number)
        used += cost
    if window:
        found.append(_batch(report, len(found), window))
    return found


def _batch(report: Report, index: int, numbers: Sequence[int]) -> Batch:
    section = report.segments[report.sentences[numbers[0] - 1].segment].section
    return Batch(index=index, numbers=tuple(numbers), text=numbered(report, numbers), section=section)


def marks_of(report: Report, sentences: Iterable[int]) -> tuple[Mark, ...]:
    """The marks that cite for these sentences: their own, and those with paragraph scope behind their paragraph.

    A mark of paragraph scope holds for the sentences of its segment that have no mark of their own.
    """
    return _MarkIndex(report).marks(sentences)


def sources_of(report: Report, sentences: Iterable[int]) -> tuple[str, ...]:
    """Ids of the sources cited for these sentences, in order, each once."""
    return _sources(marks_of(report, sentences))


def mark_of(report: Report, claim: Claim) -> tuple[Mark, ...]:
    """The marks that cite for a claim."""
    return marks_of(report, claim.sentences)


def _sources(marks: Iterable[Mark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for mark in marks for source in mark.sources))


class _MarkIndex:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.own: dict[int, list[Mark]] = {}
        self.behind: dict[int, list[Mark]] = {}
        for mark in report.marks:
            self.own.setdefault(mark.sentence, []).append(mark)
            if mark.scope == "paragraph":
                segment = report.sentences[mark.sentence - 1].segment
                self.behind.setdefault(segment, []).append(mark)

    def section(self, number: int) -> tuple[str, ...]:
        return self.report.segments[self.report.sentences[number - 1].segment].section

    def marks(self, sentences: Iterable[int]) -> tuple[Mark, ...]:
        found: dict[int, Mark] = {}
        for number in sentences:
            marks = self.own.get(number) or self.behind.get(self.report.sentences[number - 1].segment) or []
            found.update((mark.span.start, mark) for mark in marks)
        return tuple(found[start] for start in sorted(found))


@dataclass
class _Grounds:
    """What a claim may rest on: its sentences and their section."""

    report: Report
    sections: dict[tuple[str, ...], str] = field(default_factory=dict)
    words: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines: dict[tuple[str, ...], list[str]] = {}
        for sentence in self.report.sentences:
            segment = self.report.segments[sentence.segment]
            place = segment.section
            if segment.kind is SegmentKind.HEADING:
                lines.setdefault((*place, sentence.text), []).append(sentence.text)
            lines.setdefault(place, []).append(sentence.text)
        self.sections = {place: "\n".join([*place, *texts]) for place, texts in lines.items()}

    def hold(self, proposal: Proposal, numbers: Sequence[int]) -> bool:
        """Whether the claim is carried by its sentences or their sections."""
        sentences = [self.report.sentences[n - 1] for n in numbers]
        own = "\n".join(s.text for s in sentences)
        places = list(dict.fromkeys(self.report.segments[s.segment].section for s in sentences))
        headers = "\n".join(" ".join(self.report.segments[s.segment].header) for s in sentences)
        if missing_numbers(proposal.text, own, headers) and missing_numbers(
            proposal.text, own, headers, *(self.sections.get(p, "") for p in places)
        ):
            return False
        wanted = content_words(proposal.text)
        if not wanted:
            return bool(numbers_in(proposal.text))
        have = set(content_words(own)) | set(content_words(headers))
        have.update(*(self._words(p) for p in places))
        return sum(1 for w in wanted if w in have) >= HALF * len(wanted)

    def _words(self, place: tuple[str, ...]) -> frozenset[str]:
        if place not in self.words:
            self.words[place] = frozenset(content_words(self.sections.get(place, "")))
        return self.words[place]


def freeze_claims(
    report: Report,
    proposals: Iterable[Proposal],
    *,
    maker: str,
    version: int,
    max_claims: int | None = None,
    sentences_read: int | None = None,
    failed_batches: int = 0,
    task: str | None = None,
) -> ClaimList:
    """Make the frozen claim list of a report out of proposals.

    The order of proposals does not matter. With ``max_claims`` the most important check-worthy claims stay ``selected``
    (ties by digest); the others stay in the list, since citation assurance is never sampled.
    """
    proposals = sorted(proposals, key=lambda p: (p.sentences, p.text))
    grounds = _Grounds(report)
    kept: list[Proposal] = []
    dropped = 0
    for proposal in proposals:
        numbers = tuple(sorted({n for n in proposal.sentences if 1 <= n <= len(report.sentences)}))
        text = " ".join(proposal.text.split())
        if not text or not numbers or not grounds.hold(proposal, numbers):
            dropped += 1
            continue
        kept.append(proposal.model_copy(update={"text": text, "sentences": numbers}))
    merged = _merge(kept)
    index = _MarkIndex(report)
    claims = [_claim(p, i, index) for i, p in enumerate(merged, 1)]
    worthy = [c for c in claims if c.check_worthy]
    if max_claims is not None:
        best = sorted(worthy, key=lambda c: (-c.importance, c.digest))[:max_claims]
        left = {c.id for c in worthy} - {c.id for c in best}
        claims = [c.model_copy(update={"selected": False}) if c.id in left else c for c in claims]
    whole = ClaimList(
        report=report.digest,
        task=task or report.task_id,
        maker=maker,
        version=version,
        claims=tuple(claims),
        dropped=dropped,
        selected_from=len(worthy) if max_claims is not None else None,
        sentences_read=len(report.sentences) if sentences_read is None else sentences_read,
        sentences_total=len(report.sentences),
        failed_batches=failed_batches,
        digest="",
    )
    told = whole.model_dump(mode="json", exclude={"digest": True, "task": True, "claims": {"__all__": {"section"}}})
    return whole.model_copy(update={"digest": _digest(told)})


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _claim(proposal: Proposal, number: int, index: _MarkIndex) -> Claim:
    return Claim(
        id=f"c{number}",
        text=proposal.text,
        sentences=proposal.sentences,
        check_worthy=proposal.check_worthy,
        importance=proposal.importance,
        time_dependent=proposal.time_dependent,
        sources=_sources(index.marks(proposal.sentences)),
        section=index.section(proposal.sentences[0]),
        digest=_digest([proposal.text, list(proposal.sentences)]),
    )


def _merge(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Near-duplicates become one claim with all their places; the wording of the first stays."""
    groups: dict[tuple[str, ...], list[int]] = {}
    merged: list[Proposal] = []
    for proposal in proposals:
        key = tuple(sorted(numbers_in(proposal.text)))
        twin = next((i for i in groups.get(key, ()) if are_twins(merged[i].text, proposal.text)), None)
        if twin is None:
            groups.setdefault(key, []).append(len(merged))
            merged.append(proposal)
            continue
        first = merged[twin]
        update = {
            "sentences": tuple(sorted({*first.sentences, *proposal.sentences})),
            "check_worthy": first.check_worthy or proposal.check_worthy,
            "importance": max(first.importance, proposal.importance),
            "time_dependent": first.time_dependent or proposal.time_dependent,
        }
        merged[twin] = first.model_copy(update=update)
    return merged
