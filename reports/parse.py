"""From text to :class:`Report`: clean, cut into segments and sentences, find sources and marks. Linear time."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .blocks import Block, parse_blocks, with_sections
from .book import SourceBook
from .cleaner import clean_text
from .data import Cut, Report, SegmentKind, Source
from .flat import with_cells, with_flat
from .inline import Form, Token, tokens
from .marks import Judge, RawMark, find_marks
from .pause import collector_paused
from .reading import is_bare, read_text
from .references import find_references
from .sentences import pieces, split_range
from .text import language_of, scalar
from .zones import SIGNS, Range, zones

_PROSE = frozenset({SegmentKind.PARAGRAPH, SegmentKind.LIST_ITEM, SegmentKind.QUOTE})
_FLAT = _PROSE | {SegmentKind.TABLE_ROW}
_MARKED = _PROSE | {SegmentKind.HEADING, SegmentKind.TABLE_ROW}


def read_report(
    text: str,
    *,
    id: str,
    task_id: str | None = None,
    prompt: str | None = None,
    listed: Sequence[Source] = (),
    clean: bool = True,
) -> Report:
    """Read a report exactly.

    ``listed`` are sources that came beside the text; marks are resolved by their place in it when the text has no list
    of its own. ``clean`` cuts interface debris (see :mod:`.cleaner`); what was cut is in ``Report.cuts``. Lone
    surrogates, which cannot be stored, are read as U+FFFD, in text, names and sources
    alike. Never raises, whatever the text is.
    """
    text, id = scalar(text), scalar(id)
    task_id, prompt = (None if value is None else scalar(value) for value in (task_id, prompt))
    listed = [_scalar_source(source) for source in listed]
    cuts: tuple[Cut, ...] = ()
    if clean:
        text, cuts = clean_text(text)
    with collector_paused():
        return _Reader(text, listed).report(id, task_id, prompt, cuts)


def _scalar_source(source: Source) -> Source:
    values = source.model_dump()
    clean = {name: scalar(value) if isinstance(value, str) else value for name, value in values.items()}
    return source if clean == values else Source.model_validate(clean)


def report_digest(text: str, listed: Sequence[Source] = ()) -> str:
    """SHA-256 of a report's text and of the sources listed beside it."""
    beside = [[s.label, s.url, s.title, s.doi, s.arxiv] for s in listed]
    digest = hashlib.sha256(text.encode())
    digest.update(f"\x00{json.dumps(beside, ensure_ascii=False)}".encode())
    return digest.hexdigest()


@dataclass
class _Reader:
    text: str
    listed: Sequence[Source]
    sentences: list[tuple[int, int, str, int]] = field(default_factory=list)
    """Start, end, reading, index of the segment."""
    marks: list[tuple[RawMark, int, str]] = field(default_factory=list)
    """Mark, sentence number, scope."""
    waiting: list[RawMark] = field(default_factory=list)
    """Marks that stand before the first sentence."""
    home: int | None = None
    """The segment of the first of them."""

    def report(self, id: str, task_id: str | None, prompt: str | None, cuts: tuple[Cut, ...]) -> Report:
        """Read the text once, front to back; the plain data are validated in one go."""
        text = self.text
        blocks, lists = find_references(text, list(with_sections(text, parse_blocks(text))))
        book = SourceBook(lists, self.listed)
        signs = [sign for sign in SIGNS if sign in text]
        shields = [zones(text, b.body, b.end, signs) if b.kind in _MARKED else [] for b in blocks]
        found = [
            tokens(text, b.body, b.end, inside) if b.kind in _MARKED else []
            for b, inside in zip(blocks, shields, strict=True)
        ]
        if book.numbered and (_only_raised(found) or not Judge(text, book, ()).covers(itertools.chain(*found))):
            places = [(b.body, b.end, z) if b.kind in _FLAT else None for b, z in zip(blocks, shields, strict=True)]
            found = with_flat(text, book, found, places)
        if book.numbered:
            rows = [(b.body, b.end, b.header) if b.kind is SegmentKind.TABLE_ROW else None for b in blocks]
            found = with_cells(text, book, found, rows)
        if len(lists) > 1:
            book.settle(itertools.chain.from_iterable(found))
        marks = find_marks(text, book, [(b.body, b.end, t) for b, t in zip(blocks, found, strict=True)])
        for index, block in enumerate(blocks):
            inside = [*shields[index], *((t.start, t.end) for t in found[index])]
            self._block(index, block, marks[index], sorted(inside) if len(inside) > 1 else inside)
        self._place_waiting()
        values = {
            "id": id,
            "task_id": task_id,
            "prompt": prompt,
            "text": text,
            "digest": report_digest(text, self.listed),
            "segments": [_segment(b) for b in blocks],
            "sentences": [
                {"number": n, "span": {"start": a, "end": b}, "text": t, "segment": i}
                for n, (a, b, t, i) in enumerate(self.sentences, 1)
            ],
            "sources": book.sources(),
            "marks": self._marks(),
            "noticed": book.noticed(),
            "cuts": cuts,
            "language": language_of(text),
        }
        return Report.model_validate(values)

    def _block(self, index: int, block: Block, marks: list[RawMark], shields: list[Range]) -> None:
        if block.kind is SegmentKind.REFERENCES or block.style == "comment":
            return
        if block.kind in _PROSE:
            bounds = split_range(self.text, block.body, block.end, shields, {m.start: m.end for m in marks})
        else:
            bounds = list(pieces(self.text, block.body, block.end))
        kept = self._keep(bounds, marks, block)
        first = len(self.sentences)
        self.sentences += [(start, end, reading, index) for start, end, reading in kept]
        self._attach(index, block, marks, first)

    def _keep(self, bounds: list[Range], marks: list[RawMark], block: Block) -> list[tuple[int, int, str]]:
        """Sentences with their readings; one without a word joins its neighbour: the one before, else the next."""
        kept: list[tuple[int, int, str]] = []
        at = 0
        lead: int | None = None
        row = block.kind is SegmentKind.TABLE_ROW
        verbatim = block.kind in (SegmentKind.CODE, SegmentKind.MATH)
        for start, end in bounds:
            inside: list[RawMark] = []
            while at < len(marks) and marks[at].start < end:
                inside.append(marks[at])
                at += 1
            reading = self.text[start:end].strip() if verbatim else read_text(self.text, start, end, inside, row=row)
            if inside and is_bare(reading):
                if kept:
                    kept[-1] = (kept[-1][0], end, kept[-1][2])
                    continue
                lead = start if lead is None else lead
                continue
            kept.append((start if lead is None else lead, end, reading or self.text[start:end].strip()))
            lead = None
        return kept

    def _attach(self, index: int, block: Block, marks: list[RawMark], first: int) -> None:
        """Give each mark of a block its sentence and scope."""
        if not marks:
            return
        if first == len(self.sentences):  # only marks: they belong to what stands before
            if first:
                self.marks += [(m, first, "paragraph") for m in marks]
            else:
                self.waiting += marks
                self.home = index if self.home is None else self.home
            return
        trailing = self._trailing(block, marks) if block.kind in _PROSE else len(marks)
        number = first
        for i, mark in enumerate(marks):
            while number + 1 < len(self.sentences) and self.sentences[number + 1][0] <= mark.start:
                number += 1
            self.marks.append((mark, number + 1, "paragraph" if i >= trailing else "sentence"))

    def _trailing(self, block: Block, marks: list[RawMark]) -> int:
        """Index of the first mark that stands behind the end of the paragraph's last sentence."""
        behind, i = block.end, len(marks)
        while i and not self.text[marks[i - 1].end : behind].strip(" \t\r\n.。,，;；()（）[]*_"):
            i -= 1
            behind = marks[i].start
        before = self.text[block.body : behind].rstrip(" \t\r\n([（*_\"'”’」』)）")
        return i if before.endswith((".", "。", "!", "?", "！", "？", "…", "؟", "।")) else len(marks)

    def _place_waiting(self) -> None:
        if not self.waiting:
            return
        if not self.sentences:
            start, end = self.waiting[0].start, self.waiting[0].end
            self.sentences.append((start, end, self.text[start:end], self.home or 0))
        self.marks = [(m, 1, "paragraph") for m in self.waiting] + self.marks

    def _marks(self) -> list[dict[str, object]]:
        return [
            {
                "span": {"start": m.start, "end": m.end},
                "raw": self.text[m.start : m.end],
                "sources": [s.id for s in m.sources],
                "sentence": number,
                "scope": scope,
            }
            for m, number, scope in self.marks
        ]


def _only_raised(found: Sequence[Sequence[Token]]) -> bool:
    """Whether superscripts are the only numbered marks: a converter may have left some of them bare."""
    forms = {token.form for tokens in found for token in tokens if token.labels}
    return Form.SUPERSCRIPT in forms and Form.NUMBER not in forms


def _segment(block: Block) -> dict[str, object]:
    span = {"start": block.start, "end": block.end}
    return {"kind": block.kind, "span": span, "section": block.section, "header": block.header}


_WORD = re.compile(r"\w+")


def word_count(text: str) -> int:
    """Words of a text; CJK text counts two characters as a word."""
    found = 0
    for match in _WORD.finditer(text):
        word = match.group()
        found += 1 if word.isascii() else max(1, sum(1 for c in word if c > "\u2e7f") // 2)
    return found
