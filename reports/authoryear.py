"""Author–year citations, matched to the entries of a reference list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .entries import Entry
from .references import RefList
from .text import fold, has_cjk

_YEAR = r"(?:19|20)\d\d[a-z]?|n\.d\."
_YEARS = rf"(?:{_YEAR})(?:\s?[,&]\s?(?:{_YEAR}|[a-z](?![\w.])))*"
"""``2020``, ``2019, 2021``, ``2020a, b``."""
_ENTRY_YEAR = re.compile(rf"(?<![\d/=-])({_YEAR})(?![\d/])")
_NAME = r"[A-ZÀ-ÖØ-ÞŁŚŻČŠŽ][\w'’.-]*+"
_NAMES = rf"{_NAME}(?:\s(?:(?:and|&|et|und|y|of|the|for|de|van|von|der|al\.?,?|{_NAME}),?)){{0,8}}"
_SHORT_NAME = r"\[[A-Z][\w&.-]{1,14}\]"
_PARENTHETICAL = re.compile(rf"[(（\[]((?:[^()（）\[\]\n]|{_SHORT_NAME}){{3,300}})[)）\]]")
"""With the short name of an organisation that APA puts beside it: ``(World Health Organization [WHO], 2023)``."""
_PART = re.compile(
    rf"(?:see |cf\. |e\.g\.,? |also |z\.B\. |vgl\. )*({_NAMES}|[^\W\d_][^,;，；]{{1,60}}?)[,，]?"
    rf"\s*({_YEARS})(?:[,:]\s?(?:pp?\.\s?)?[\d–-]+)?\s*"
)
_OPENING = (
    "As|In|By|See|And|But|Or|If|So|Yet|While|When|Whereas|Although|Though|However|Since|Because|From|For|After|Before"
    "|Like|Unlike|Following|Both|Per|With|Here|Thus|Also|Then|Later|Recently|Similarly|Finally|Moreover|Cf"
)
"""Words with a capital at the start of a sentence that are no part of a name."""
_NARRATIVE = re.compile(
    rf"\b(?!(?:{_OPENING})\b)({_NAMES})(?:'s|’s)?\s?[(（\[]\s?({_YEARS})(?:[,:]\s?(?:pp?\.\s?)?[\d–-]+)?\s?[)）\]]"
)
_CJK_YEAR = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\s?[(（]\s?((?:19|20)\d\d[a-z]?)\s?[)）]")
_AND_OTHERS = re.compile(r"(?:等人?|及其同事|团队|ら|氏)\Z")
_CJK_NAMES = re.compile(r"[\s,，、;；.。和与&]+|等")
_ANY_YEAR = re.compile(r"(?:19|20)\d\d|n\.d\.")
_POSSESSIVE = re.compile(r"['’]s\Z")


class AuthorYears:
    """Finds ``(Smith & Lee, 2020; Doe et al., 2021)`` and ``Smith (2020)`` where a list has such entries."""

    def __init__(self, lists: Sequence[RefList]) -> None:
        self._by_year: dict[str, list[tuple[str, Entry]]] = {}
        for part in lists:
            for entry in part.entries:
                match = _ENTRY_YEAR.search(entry.text[:400])
                if match and (authors := fold(entry.text[: match.start()]).strip(' (.,[*_"-')):
                    self._by_year.setdefault(match[1], []).append((authors, entry))

    def __bool__(self) -> bool:
        return bool(self._by_year)

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, list[Entry], bool]]:
        """Start, end and entries of each citation in a paragraph, and whether a pair without entry was seen."""
        if _ANY_YEAR.search(text, start, end) is None:
            return
        for match in _PARENTHETICAL.finditer(text, start, end):
            if _ANY_YEAR.search(match[1]):
                entries, unmatched = self._parts(match[1])
                if entries or unmatched:
                    yield match.start(), match.end(), entries, unmatched
        for match in _NARRATIVE.finditer(text, start, end):
            entries = self._of_years(match[1], match[2])
            if entries:
                yield match.start() + 4 * match[1].startswith("The "), match.end(), entries, False
        for match in _CJK_YEAR.finditer(text, start, end):
            found = self._named_before(text[max(start, match.start() - 24) : match.start()], match[1])
            if found is not None:
                yield match.start() - found[0], match.end(), [found[1]], False

    def _named_before(self, before: str, year: str) -> tuple[int, Entry] | None:
        """Length of the names that end ``before``, and their entry: ``李四`` or ``张三等`` before a year."""
        names = _AND_OTHERS.sub("", before)
        for authors, entry in self._by_year.get(year, ()):
            first, *rest = [name for name in _CJK_NAMES.split(authors) if name]
            for written in (first, *(first + sign + other for other in rest[:1] for sign in "和与、")):
                if len(first) > 1 and has_cjk(first) and names.endswith(written):
                    return len(before) - len(names) + len(written), entry
        return None

    def _parts(self, inside: str) -> tuple[list[Entry], bool]:
        entries: list[Entry] = []
        unmatched = False
        for part in re.split(r"[;；]", re.sub(rf"\s?{_SHORT_NAME}", "", inside)):
            match = _PART.fullmatch(part.strip())
            if match is None:
                continue
            found = self._of_years(match[1], match[2])
            unmatched = unmatched or (not found and bool(re.search(r"et al|&|\band\b", match[1])))
            entries += [entry for entry in found if entry not in entries]
        return entries, unmatched

    def _of_years(self, names: str, years: str) -> list[Entry]:
        """The entries of these authors, one a year: ``2020a, b`` are two."""
        wanted = [part.strip() for part in re.split("[,&]", years)]
        wanted = [year if len(year) > 1 else wanted[0][:4] + year for year in wanted]
        found = [self._lookup(_POSSESSIVE.sub("", names.strip()), year) for year in wanted]
        return [entry for entry in found if entry is not None]

    def _lookup(self, names: str, year: str) -> Entry | None:
        wanted = re.split(r"\s+et al|\s*&\s*|\s+and\s+|,|\s+et\s+|\s+und\s+|[、和与，]|等", names.strip())[0]
        first = fold(wanted).strip(" .")
        if len(first) < 2:
            return None
        for authors, entry in self._by_year.get(year, ()):
            if authors.startswith(first) and not authors[len(first) : len(first) + 1].isalpha():
                return entry
        last = first.rsplit(" ", 1)[-1]
        for authors, entry in self._by_year.get(year, ()):
            if len(last) > 2 and re.search(rf"\b{re.escape(last)}\b", authors[:60]):
                return entry
        return None
