"""Which tokens are citations, and where they lead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .authoryear import AuthorYears
from .data import Finding, Source, SourceKind, Span
from .inline import Form, Range, Token, parse_numbers
from .references import Entry, RefList
from .urls import Address, address, encode_blanks, find_arxiv, find_doi


@dataclass(slots=True)
class Found:
    """A source while a report is read."""

    kind: SourceKind
    label: str | None
    url: str | None
    raw: str
    title: str | None
    doi: str | None
    arxiv: str | None
    span: Range | None
    first: int
    """Offset of its first appearance."""
    id: str = ""

    def source(self) -> Source:
        """As plain data."""
        span = Span(start=self.span[0], end=self.span[1]) if self.span else None
        return Source(
            id=self.id,
            kind=self.kind,
            label=self.label,
            url=self.url,
            raw=self.raw,
            title=self.title,
            doi=self.doi,
            arxiv=self.arxiv,
            span=span,
        )


@dataclass(slots=True)
class RawMark:
    """A citation mark before it has a sentence."""

    start: int
    end: int
    sources: list[Found]
    keep: Range | None = None


@dataclass
class SourceBook:
    """All sources of a report, each once; finds the source that a label means at a place."""

    lists: Sequence[RefList]
    listed: Sequence[Source]
    findings: list[Finding] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    by_order: bool = False
    """Marks carry numbers, and the only list has none: entries count by position."""
    used_order: bool = False

    def __post_init__(self) -> None:
        self._by_url: dict[str, Found] = {}
        self._entries: dict[int, Found] = {}
        self._tables: list[tuple[RefList, dict[str, Entry]]] = []
        self.labels: set[str] = set()
        for part in self.lists:
            table: dict[str, Entry] = {}
            for entry in part.entries:
                if entry.label is not None:
                    table.setdefault(entry.label.casefold(), entry)
                self._add_entry(entry)
            self._tables.append((part, table))
            self.labels.update(table)
        self._listed = {str(s.label or i).casefold(): self._add_listed(s) for i, s in enumerate(self.listed, 1)}
        loose = [e for part in self.lists for e in part.entries]
        self._ordered = {str(i): e for i, e in enumerate(loose, 1)} if loose and not self.labels else {}
        only = self._tables[0][1] if len(self._tables) == 1 else {}
        self._sure = {label: self._entries[id(entry)] for label, entry in only.items()}
        self.listed_used = False
        self.ambiguous: set[str] = set()

    def _add_entry(self, entry: Entry) -> None:
        where = entry.address
        self._problem(where, (entry.start, entry.end))
        url = where.url if where else None
        new = Found(
            SourceKind.ENTRY,
            entry.label,
            url,
            entry.raw,
            entry.title,
            entry.doi,
            entry.arxiv,
            (entry.start, entry.end),
            entry.start,
        )
        self.found.append(new)
        self._entries[id(entry)] = new
        for target in (
            url,
            entry.doi and f"https://doi.org/{entry.doi}",
            entry.arxiv and f"https://arxiv.org/abs/{entry.arxiv}",
        ):
            if target:
                self._by_url.setdefault(target, new)

    def _add_listed(self, source: Source) -> Found:
        raw = source.url or source.raw
        where = address(raw) if raw else None
        self._problem(where, None)
        url = where.url if where else None
        new = Found(SourceKind.LISTED, source.label, url, raw, source.title, source.doi, source.arxiv, None, 1 << 60)
        self.found.append(new)
        if url:
            self._by_url.setdefault(url, new)
        return new

    def _problem(self, where: Address | None, span: Range | None) -> None:
        if where is not None and where.problem:
            place = Span(start=span[0], end=span[1]) if span else None
            self.findings.append(Finding(rule=where.problem, message=f"{where.raw[:200]}: {where.why}", span=place))

    @property
    def numbered(self) -> bool:
        """Whether some list of sources has numbers."""
        return (
            any(label.isdecimal() for label in self.labels)
            or bool(self._ordered)
            or (not self.lists and bool(self.listed))
        )

    def knows(self, label: str) -> bool:
        """Whether a list has this label."""
        label = label.casefold()
        return label in self.labels or label in self._ordered or (not self.lists and label in self._listed)

    def at(self, label: str, offset: int, *, foot: bool = False) -> Found | None:
        """The source that a label means here: in the first list behind that has it, else in the last before.

        ``foot``: it is written as a footnote, which means a footnote where there is one of this label; others do not.
        """
        label = label.casefold()
        if (sure := self._sure.get(label)) is not None:
            return self._cite(sure, offset)
        holders = [(part, table[label]) for part, table in self._tables if label in table]
        if holders:
            holders = [held for held in holders if held[0].footnotes is foot] or holders
            if len({entry.text for _, entry in holders}) > 1:
                self.ambiguous.add(label)
            entry = next((e for part, e in holders if part.definitions or part.start > offset), holders[-1][1])
            return self._cite(self._entries[id(entry)], offset)
        if label in self._ordered:
            self.used_order = True
            return self._cite(self._entries[id(self._ordered[label])], offset)
        if not self.labels and label in self._listed:
            self.listed_used = True
            return self._cite(self._listed[label], offset)
        return None

    def _cite(self, source: Found, offset: int) -> Found:
        if offset < source.first:
            source.first = offset
        return source

    def inline(self, token: Token) -> Found:
        """The source of a link or address in running text."""
        raw = token.target or ""
        where = address(encode_blanks(raw))
        known = self._by_url.get(where.url) if where.url else self._by_url.get("?" + raw)
        if known is not None:
            return self._cite(known, token.start)
        self._problem(where, (token.start, token.end))
        label = token.labels[0] if len(token.labels) == 1 else None
        title = token.text.strip() if token.text and not token.labels else None
        url = where.url
        new = Found(
            SourceKind.INLINE,
            label,
            url,
            raw,
            title,
            find_doi(raw),
            find_arxiv(raw),
            (token.start, token.end),
            token.start,
        )
        self._by_url[url or "?" + raw] = new
        self.found.append(new)
        return new

    def author(self, entry: Entry, offset: int) -> Found:
        """The source of an entry that an author and year mean."""
        return self._cite(self._entries[id(entry)], offset)

    def sources(self) -> tuple[Source, ...]:
        """All sources with ids in order of first appearance."""
        self.found.sort(key=lambda s: s.first)
        for i, source in enumerate(self.found, 1):
            source.id = f"s{i}"
        return tuple(source.source() for source in self.found)


_INDEXED = re.compile(
    r"(?:(?:^|[\s(=,*+-])[a-z]|\b(?:arr|array|list|lst|args|argv|data|vec|vector|matrix|df|row|rows"
    r"|col|cols|index|idx|items?|nums?|values?|params?|tensor|input|inputs|output|outputs|result"
    r"|results|self|tuple|str|map|dict)|\w_\w*|[a-z]+\.[a-z_]+|\w\[[a-z]\])\Z"
)
_INDEXED_SURE = re.compile(r"(?:^|[\s(=,*+-])[a-z]\Z|_\w*\Z|\b(?:arr|args|argv|lst|df|vec|idx)\Z|\w\[[a-z]\]\Z")
_MATH_BEFORE = re.compile(r"(?:[=∈∉<≤≥≈~∼±×÷^\\/{∪∩⊂⊆∖]|(?<=[\s\d)])\*|(?<![>\w])>)\s?\Z")
_INTERVAL_WORD = re.compile(
    r"(?:\b(?:interval|intervals|range|ranges|ranging|CI|bounds?|domain|support|within|vector|vectors"
    r"|coordinates|pair|tuple|set|scale|scaled|scores?|clipped|normali[sz]ed|values)\b(?:\s(?:of|from"
    r"|to|in|is|the|between|are))*|区间|范围|取值|置信)[\s:：(]*\Z",
    re.IGNORECASE,
)
_INTERVAL_AFTER = re.compile(r"\s?(?:%|区间|interval|range\b|[×^²³=]|\)?\s?[∪∩])", re.IGNORECASE)
_UNIT_WORD = re.compile(
    r"(?:(?<![^\W\d_])(?:[a-zA-Zμ]|km|cm|mm|nm|μm|dm|ft|in|mi|yd|sec|mol|kg|hm)|[\d)\]=+*/^×]|\d\s)\Z"
)
_CLAUSE_END = re.compile(r"\s?(?:[.,;:。，；：、！？!?)）|]|\Z|[(（]\d)")
_WORD_BEFORE = re.compile(r"[^\W_]|[.。,，;；:：!?！？\"”’)）%]")


class Judge:
    """Decides which tokens of a report are citations (METRICS 7, and what must not be taken for one)."""

    def __init__(self, text: str, book: SourceBook, tokens: Iterable[Token]) -> None:
        self.text, self.book = text, book
        all_tokens = list(tokens)
        self.brackets = any(t.form is Form.NUMBER and self._number(t) for t in all_tokens)
        self.links = any(t.form is Form.LINK and t.labels for t in all_tokens)

    def accepts(self, token: Token, start: int, end: int) -> bool:
        """Whether a token, in the paragraph ``start:end``, is a citation."""
        if token.form in (Form.OPAQUE, Form.BARE):
            return True
        if token.form is Form.LINK:
            return self._link(token)
        if token.form is Form.NUMBER:
            return self._number(token)
        if token.form is Form.SUPERSCRIPT:
            return self._superscript(token)
        if token.form is Form.FLAT:
            return all(map(self.book.knows, token.labels))
        return self._paren(token, start, end)

    def _link(self, token: Token) -> bool:
        target = token.target or ""
        if re.match(r"https?:|www\.|//|10\.\d{4}", target, re.IGNORECASE):
            return True
        relative = re.match(r"[./]|[^\s:]+\Z", target) is not None
        return (
            bool(token.labels)
            or not relative
            or target.lower() in ("url", "link", "source")
            or ("." in target and "/" in target)
        )

    def _number(self, token: Token) -> bool:
        labels, text, book = token.labels, self.text, self.book
        if len(labels) == 1 and labels[0] in book.labels and self._plainly(token):
            return True
        known = [label for label in labels if book.knows(label)]
        if len(known) == len(labels) == 1 and self._plainly(token):
            return True
        if not labels[0].isdigit():
            return len(known) == len(labels) and bool(labels)
        if not token.plain:
            return True
        if not known and any(len(label) > 3 or int(label) == 0 or (label[0] == "0") for label in labels):
            return False
        if any(int(label) == 0 for label in labels) and len(known) < len(labels):
            return False
        before, after = text[max(0, token.start - 40) : token.start], text[token.end : token.end + 12]
        emphasised = before[-1:] in ("*", "^") and before[-1:] == after[:1]
        if (
            (_MATH_BEFORE.search(before) and not emphasised)
            or (_INTERVAL_AFTER.match(after) and len(labels) > 1 and not emphasised)
            or re.match(r"\s?=", after)
        ):
            return False
        pair = len(labels) > 1 and "-" not in text[token.start : token.end]
        if pair and _INTERVAL_WORD.search(before):
            return False
        if pair and not known and book.numbered:
            return False
        if _INDEXED.search(before):
            return bool(known) and not _INDEXED_SURE.search(before)
        return True

    def _plainly(self, token: Token) -> bool:
        """The common case: one known number behind a blank, a full stop, another mark or a CJK character."""
        text, at = self.text, token.start - 1
        before = text[at] if at >= 0 else " "
        if before == "]":
            return text[at - 1 : at].isdigit()
        if before in " ,.;)。，；）】" and text[token.end : token.end + 2].strip()[:1] != "=":
            return text[at - 1 : at].isalnum() or text[at - 1 : at] in ("%", ")", "]", "。", "”", '"', ".", "，")
        return "\u3400" <= before <= "\u9fff"

    def _superscript(self, token: Token) -> bool:
        if not token.labels or not self.book.numbered:
            return False
        before = self.text[max(0, token.start - 6) : token.start]
        before = before if token.plain else before.rstrip(" ")
        if not before or not _WORD_BEFORE.search(before[-1]) or _UNIT_WORD.search(before):
            return False
        if all(map(self.book.knows, token.labels)):
            return True
        digits = tuple("".join(token.labels))
        if all(map(self.book.knows, digits)):
            token.labels = digits
            return True
        return False

    def _paren(self, token: Token, start: int, end: int) -> bool:
        if not token.plain:
            return self.book.numbered and all(map(self.book.knows, token.labels))
        if self.brackets or self.links or not self.book.numbered or not all(map(self.book.knows, token.labels)):
            return False
        if not self.text[start : token.start].strip():
            return False
        after = self.text[token.end : min(end, token.end + 4)]
        return _CLAUSE_END.match(after) is not None


def find_marks(text: str, book: SourceBook, paragraphs: Sequence[tuple[int, int, list[Token]]]) -> list[list[RawMark]]:
    """The citations of each paragraph (start, end, tokens), with the sources they lead to."""
    judge = Judge(text, book, (t for _, _, tokens in paragraphs for t in tokens))
    years = AuthorYears(book.lists)
    out: list[list[RawMark]] = []
    missing: dict[str, Range] = {}
    for start, end, tokens in paragraphs:
        accepted = [token for token in tokens if judge.accepts(token, start, end)]
        _spell_ranges(text, accepted)
        _drop_bracketed(text, accepted)
        marks = [_mark(book, token, missing) for token in accepted]
        if years and not (judge.brackets and book.numbered):
            marks += _author_marks(text, book, years, start, end, marks)
        out.append(marks)
    for label, (a, b) in missing.items():
        message = f"[{label}] has no entry in any list of sources"
        book.findings.append(Finding(rule="number_without_entry", message=message, span=Span(start=a, end=b)))
    return out


def _spell_ranges(text: str, tokens: Sequence[Token]) -> None:
    """``[1]–[3]``: the second mark stands for all numbers behind the first one."""
    for before, token in pairwise(tokens):
        if before.form is token.form is Form.NUMBER and text[before.end : token.start].strip() in ("-", "–", "—"):
            spelt = parse_numbers(f"{before.labels[-1]}-{token.labels[0]}") or ()
            if len(spelt) > 1 and int(spelt[0]) < int(spelt[-1]):
                token.labels = (*spelt[1:], *token.labels[1:])


def _drop_bracketed(text: str, tokens: Sequence[Token]) -> None:
    """``([a study](…), [another](…))``: links alone in brackets are not read, however they are called."""
    row: list[Token] = []
    for token in tokens:
        gap = text[row[-1].end : token.start].strip() if row else ""
        if token.form is not Form.LINK or (row and gap not in _LINK_GAPS) or (row and row[-1].end > token.start):
            row = []
        if token.form is Form.LINK and (row or text[token.start - 1 : token.start] in ("(", "（")):
            row.append(token)
            if text[token.end : token.end + 1] in (")", "）"):
                for link in row:
                    link.keep = None
                row = []


_LINK_GAPS = frozenset((",", ";", "，", "；", "、", "&", "and", ""))


def _mark(book: SourceBook, token: Token, missing: dict[str, Range]) -> RawMark:
    span = (token.start, token.end)
    if token.form in (Form.LINK, Form.BARE):
        return RawMark(*span, [book.inline(token)], token.keep)
    if token.form is Form.OPAQUE:
        missing.setdefault("chat mark", span)
        return RawMark(*span, [])
    sources: list[Found] = []
    for label in token.labels:
        source = book.at(label, token.start, foot=token.foot)
        if source is None:
            missing.setdefault(label, span)
        elif source not in sources:
            sources.append(source)
    return RawMark(*span, sources)


def _author_marks(
    text: str, book: SourceBook, years: AuthorYears, start: int, end: int, marks: list[RawMark]
) -> list[RawMark]:
    taken = [(m.start, m.end) for m in marks]
    found: list[RawMark] = []
    for a, b, entries, unmatched in years.find(text, start, end):
        if any(x < b and a < y for x, y in taken):
            continue
        if entries:
            found.append(RawMark(a, b, [book.author(entry, a) for entry in entries], (a, b)))
        elif unmatched:
            message = f"{text[a:b][:120]} has no entry in the list of sources"
            book.findings.append(Finding(rule="author_without_entry", message=message, span=Span(start=a, end=b)))
    if found:
        marks_sorted = sorted([*marks, *found], key=lambda m: m.start)
        marks.clear()
        marks.extend(marks_sorted)
    return []
