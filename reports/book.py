"""The sources of a report while it is read: each once, found by the label that a mark carries or by address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .data import Finding, Source, SourceKind, Span
from .entries import Entry
from .inline import Form, Token
from .lints import RULES
from .references import RefList
from .text import content_words, fold
from .urls import Address, address, encode_blanks, find_arxiv, find_doi
from .zones import Range


@dataclass(slots=True, eq=False)
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

    def source(self) -> dict[str, object]:
        """As the plain data of a :class:`.data.Source`."""
        return {
            "id": self.id,
            "kind": self.kind,
            "label": self.label,
            "url": self.url,
            "raw": self.raw,
            "title": self.title,
            "doi": self.doi,
            "arxiv": self.arxiv,
            "span": {"start": self.span[0], "end": self.span[1]} if self.span else None,
        }


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
        self.defined: set[str] = set()
        """Labels that ``[text][label]`` may name."""
        for part in self.lists:
            table: dict[str, Entry] = {}
            for entry in part.entries:
                if entry.label is not None:
                    table.setdefault(entry.label.casefold(), entry)
                if entry.define and entry.label:
                    self.defined.add(entry.label.casefold())
                self._add_entry(entry)
            self._tables.append((part, table))
            self.labels.update(table)
        self._listed = {str(s.label or i).casefold(): self._add_listed(s) for i, s in enumerate(self.listed, 1)}
        loose = [e for part in self.lists for e in part.entries]
        self._ordered = {str(i): e for i, e in enumerate(loose, 1)} if loose and not self.labels else {}
        only = self._tables[0][1] if len(self._tables) == 1 else {}
        self._sure = {label: self._entries[id(entry)] for label, entry in only.items()}
        self.listed_used = False
        self._meant_list: RefList | None = None
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

    def settle(self, tokens: Iterable[Token]) -> None:
        """Where several numbered lists stand behind all marks, the only one that has every number is meant."""
        cited = [t for t in tokens if t.form in (Form.NUMBER, Form.FLAT, Form.SUPERSCRIPT) and t.labels]
        last = max((token.start for token in cited), default=0)
        behind = [(part, table) for part, table in self._tables if part.start > last and len(table) > 1]
        labels = {label.casefold() for token in cited for label in token.labels if self.knows(label)}
        whole = [part for part, table in behind if labels <= table.keys()]
        if len(behind) > 1 and len(whole) == 1:
            self._meant_list = whole[0]

    def noticed(self) -> list[Finding]:
        """What resolving the marks showed to be wrong, once all of them are resolved."""
        several = "stands in several lists of sources: the nearest one behind the mark was taken"
        found = [Finding(rule="ambiguous_number", message=f"[{label}] {several}") for label in sorted(self.ambiguous)]
        found += [Finding(rule="counted_entries", message=RULES["counted_entries"])] if self.used_order else []
        found += [Finding(rule="listed_by_order", message=RULES["listed_by_order"])] if self.listed_used else []
        return [*self.findings, *found]

    @property
    def numbered(self) -> bool:
        """Whether some list of sources has numbers."""
        return (
            any(label.isdecimal() for label in self.labels)
            or bool(self._ordered)
            or (not self.lists and bool(self.listed))
        )

    @property
    def size(self) -> int:
        """How many numbers the lists have."""
        return sum(map(str.isdecimal, self.labels)) or len(self._ordered) or (0 if self.lists else len(self.listed))

    def fits(self, label: str, offset: int, said: str) -> bool:
        """Whether what stands beside a number in its brackets is the host or the title of its entry."""
        source = self._meant(label.casefold(), offset, False)
        if source is None:
            return False
        whole, said = fold(f"{source.title} {source.raw}"), fold(said).strip(" .\"'")
        wanted = content_words(said)
        there = set(content_words(whole))
        return said in whole or (bool(wanted) and sum(w in there for w in wanted) * 3 >= len(wanted) * 2)

    def knows(self, label: str) -> bool:
        """Whether a list has this label."""
        label = label.casefold()
        return label in self.labels or label in self._ordered or (not self.lists and label in self._listed)

    def at(self, label: str, offset: int, *, foot: bool = False) -> Found | None:
        """The source that a label means here: in the first list behind that has it, else in the last before.

        ``foot``: it is written as a footnote, which means a footnote where there is one of this label; others do not.
        """
        found = self._meant(label.casefold(), offset, foot)
        return None if found is None else self._cite(found, offset)

    def _meant(self, label: str, offset: int, foot: bool) -> Found | None:
        if (sure := self._sure.get(label)) is not None:
            return sure
        holders = [(part, table[label]) for part, table in self._tables if label in table]
        if holders:
            holders = [held for held in holders if held[0].footnotes is foot] or holders
            if len({entry.text for _, entry in holders}) > 1:
                self.ambiguous.add(label)
            meant = [e for part, e in holders if part is self._meant_list]
            entry = next((e for part, e in holders if part.definitions or part.start > offset), holders[-1][1])
            entry = meant[0] if meant else entry
            return self._entries[id(entry)]
        if label in self._ordered:
            self.used_order = True
            return self._entries[id(self._ordered[label])]
        if not self.labels and label in self._listed:
            self.listed_used = True
            return self._listed[label]
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

    def sources(self) -> list[dict[str, object]]:
        """All sources with ids in order of first appearance."""
        self.found.sort(key=lambda s: s.first)
        for i, source in enumerate(self.found, 1):
            source.id = f"s{i}"
        return [source.source() for source in self.found]
