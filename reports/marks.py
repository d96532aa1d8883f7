"""Which tokens are citations, and where they lead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .authoryear import AuthorYears
from .book import Found, SourceBook
from .data import Finding, Span
from .inline import Form, Token
from .labels import RINGS, parse_numbers
from .zones import Range


@dataclass(slots=True)
class RawMark:
    """A citation mark before it has a sentence."""

    start: int
    end: int
    sources: list[Found]
    keep: Range | None = None


_INDEXED = re.compile(
    r"(?:(?:^|[\s(=,*+-])[a-z]|\b(?:arr|array|list|lst|args|argv|data|vec|vector|matrix|df|row|rows"
    r"|col|cols|index|idx|items?|nums?|values?|params?|tensor|input|inputs|output|outputs|result"
    r"|results|self|tuple|str|map|dict)|\w_\w*|[a-z]+\.[a-z_]+|\w\[[a-z]\])\Z"
)
_INDEXED_SURE = re.compile(r"(?:^|[\s(=,*+-])[a-z]\Z|_\w*\Z|\b(?:arr|args|argv|lst|df|vec|idx)\Z|\w\[[a-z]\]\Z")
_MATH_BEFORE = re.compile(r"(?:[=∈∉<≤≥≈~∼±×÷^\\/{∪∩⊂⊆∖]|(?<=[\s\d)])\*|(?<![>\w])>)\s?\Z")
_INTERVAL_WORD = re.compile(
    r"(?:\b(?:interval|intervals|range|ranges|ranging|CI|bounds?|intervalle|intervalo|intervallo|intervall|bereich|domain|support|within|vector|vectors"
    r"|coordinates|pair|tuple|set|scale|scaled|scores?|clipped|normali[sz]ed|values)\b(?:\s(?:of|from"
    r"|to|in|is|the|between|are))*|区间|范围|取值|置信)[\s:：(]*\Z",
    re.IGNORECASE,
)
_NUMBERED_WORD = re.compile(
    r"\b(?:articles?|sections?|clauses?|figures?|tables?|steps?|phases?|equations?|eqs?\.|chapters?|paragraphs?|items?)\s\Z|第\Z",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"\s?=")
_WEB = re.compile(r"https?:|www\.|//|10\.\d{4}", re.IGNORECASE)
_EQUATED = re.compile(r"(?:为|是|\b(?:is|are|was|were|to|from|of|size|at))\s?\Z")
"""Before two numbers of which one has no entry: an interval."""
_INTERVAL_AFTER = re.compile(r"\s?(?:%|区间|interval|range\b|[×^²³=]|\)?\s?[∪∩])", re.IGNORECASE)
_UNIT_WORD = re.compile(
    r"(?:(?<![^\W\d_])(?:[a-zA-Zμ]|km|cm|mm|nm|μm|dm|ft|in|mi|yd|sec|mol|kg|hm)|[\d)\]=+*/^×]|\d\s)\Z"
)
_MATRIX = re.compile(r"(?:(?<![^\W\d_])[A-Za-z]|_\w+)(?:\[\d{1,3}\])+\Z")
_RING_BEFORE = re.compile(
    rf"(?:[^\W\d_]|\d[年月日%％]?|[%％)(（）”’」』】》.。,，;；!?！？{RINGS}])(?<![第图圖表步])\Z"
)
_STOP = r".,;:。，；：、！？!?)）”」|"
_RING_AFTER = re.compile(rf"\s?(?:[{_STOP}]|\Z|[{RINGS}](?=[{_STOP}{RINGS}]|\s*\Z))")
_YEAR_END = re.compile(r"(?<![\d.,])(?:19|20)\d\d\Z")
_SUPERSCRIPT_END = re.compile("(?<=[¹²³⁰⁴-⁹])[ ,]{1,2}\\Z")
_SUP_BEFORE = re.compile(r"(?:<sup>[^<>]{1,20}</sup>[\s,]?)+\Z")
_FORMULA = re.compile(r"[=≈∝<>]\s?\w{1,4}\Z")
_CLAUSE_END = re.compile(r"\s?(?:[.,;:。，；：、！？!?)）|]|\Z|[(（]\d)")
_WORD_BEFORE = re.compile(r"[^\W_]|[.。,，;；:：!?！？\"”’)）%]")


class Judge:
    """Decides which tokens of a report are citations (METRICS 7, and what must not be taken for one)."""

    def __init__(self, text: str, book: SourceBook, tokens: Iterable[Token]) -> None:
        self.text, self.book = text, book
        all_tokens = list(tokens)
        said = [t for t in all_tokens if t.said and all(map(book.knows, t.labels))]
        self.titled = bool(said) and sum(map(self._fits, said)) * 2 >= len(said)
        """Whether the report writes the title or host of a source beside its number."""
        self.brackets = any(t.form is Form.NUMBER and self._number(t) for t in all_tokens)
        self.links = any(t.form is Form.LINK and t.labels for t in all_tokens)

    def _fits(self, token: Token) -> bool:
        return all(
            self.book.fits(label, token.start, said) for label, said in zip(token.labels, token.said, strict=True)
        )

    def covers(self, tokens: Iterable[Token]) -> bool:
        """Whether numbers in brackets or superscripts name an eighth of the list: that is how the report cites."""
        seen: set[str] = set()
        for token in tokens:
            if token.form in (Form.NUMBER, Form.SUPERSCRIPT) and self.accepts(token, token.start, token.end):
                seen.update(filter(self.book.knows, token.labels))
                if len(seen) * 8 >= self.book.size:
                    return True
        return False

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
        if token.form is Form.RING:
            return self._ring(token, start, end)
        return self._paren(token, start, end)

    def _link(self, token: Token) -> bool:
        target = token.target or ""
        if _WEB.match(target):
            return True
        relative = re.match(r"[./]|[^\s:]+\Z", target) is not None
        return (
            bool(token.labels)
            or not relative
            or target.lower() in ("url", "link", "source")
            or ("." in target and "/" in target and target[0] != ".")
        )

    def _number(self, token: Token) -> bool:
        if token.label_at is not None and not self._refers(token):
            return False
        labels, text, book = token.labels, self.text, self.book
        if token.said:
            return all(map(book.knows, labels)) and (self.titled or self._fits(token))
        if len(labels) == 1 and labels[0] in book.labels and self._plainly(token):
            return True
        known = [label for label in labels if book.knows(label)]
        if len(known) == len(labels) == 1 and self._plainly(token):
            return True
        if not labels[0].isdecimal():
            return token.sure or (len(known) == len(labels) and bool(labels))
        if not token.plain:
            return True
        if not known and any(len(label) > 3 or int(label) == 0 or (label[0] == "0") for label in labels):
            return False
        if any(int(label) == 0 for label in labels) and len(known) < len(labels):
            return False
        before, after = text[max(0, token.start - 40) : token.start], text[token.end : token.end + 12]
        last, near = before.rstrip()[-1:], before[-1:]
        emphasised = before[-1:] in ("*", "^") and before[-1:] == after[:1]
        if (
            (not last.isalnum() and _MATH_BEFORE.search(before) and not emphasised)
            or (_INTERVAL_AFTER.match(after) and len(labels) > 1 and not emphasised)
            or _EQUALS.match(after)
        ):
            return False
        pair = len(labels) > 1 and "-" not in text[token.start : token.end]
        if pair and _INTERVAL_WORD.search(before):
            return False
        if not known and _NUMBERED_WORD.search(before):
            return False
        if pair and book.numbered and (not known or (len(known) < len(labels) and _EQUATED.search(before))):
            return False
        if before[-1:] == "]" and _MATRIX.search(before):
            return False
        if (near.isalnum() or near in ("_", "]")) and _INDEXED.search(before):
            return bool(known) and not _INDEXED_SURE.search(before)
        return True

    def _refers(self, token: Token) -> bool:
        """``[text][1]`` is a link where ``1`` is defined as one; else only ``[1]`` may be a mark."""
        if token.labels[0].casefold() in self.book.defined:
            return True
        token.start, token.keep, token.label_at = token.label_at or token.start, None, None
        return token.labels[0].isdecimal() or self.book.knows(token.labels[0])

    def _ring(self, token: Token, start: int, end: int) -> bool:
        """``grew①。``, ``grew ※1.`` and not ``①cost, ②speed``: behind a word, at the end of a clause."""
        if self.brackets or not self.book.numbered or not all(map(self.book.knows, token.labels)):
            return False
        before, after = self.text[max(start, token.start - 12) : token.start], self.text[token.end : token.end + 3]
        ends = _RING_AFTER.match(after[: end - token.end]) is not None
        return bool(_RING_BEFORE.search(before.rstrip() if ends else before)) and (ends or after[:1].isspace())

    def _plainly(self, token: Token) -> bool:
        """The common case: one known number behind a blank, a full stop, another mark or a CJK character."""
        text, at = self.text, token.start - 1
        before = text[at] if at >= 0 else " "
        if before == "]":
            return text[at - 1 : at].isdigit() and not _MATRIX.search(text[max(0, at - 24) : at + 1])
        if before in " ,.;)。，；）】" and text[token.end : token.end + 2].strip()[:1] != "=":
            return text[at - 1 : at].isalnum() or text[at - 1 : at] in ("%", ")", "]", "。", "”", '"', ".", "，")
        return "\u3400" <= before <= "\u9fff"

    def _superscript(self, token: Token) -> bool:
        if not token.labels or not self.book.numbered:
            return False
        before = _SUP_BEFORE.sub("", self.text[max(0, token.start - 60) : token.start])[-12:]
        apart = before[-1:] == " " and not token.plain
        if before[-1:] in (" ", ","):
            before = _SUPERSCRIPT_END.sub("", before) if token.plain else before.rstrip(" ")
        power = (_UNIT_WORD.search(before) and not _YEAR_END.search(before)) or _FORMULA.search(before)
        if not before or (power and not apart) or not _WORD_BEFORE.search(before[-1]):
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
    linked = {} if book.labels else _linked(t for _, _, tokens in paragraphs for t in tokens)
    years = None if judge.brackets and book.numbered else AuthorYears(book.lists)
    out: list[list[RawMark]] = []
    missing: dict[str, Range] = {}
    for start, end, tokens in paragraphs:
        if not tokens and not years:
            out.append([])
            continue
        accepted = [token for token in tokens if judge.accepts(token, start, end)]
        if len(accepted) > 1:
            _spell_ranges(text, accepted)
        _drop_bracketed(text, accepted)
        marks = [_mark(book, token, missing, linked) for token in accepted]
        if years:
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
        if token.form is not Form.LINK:
            row = []
            continue
        gap = text[row[-1].end : token.start].strip() if row else ""
        if row and (gap not in _LINK_GAPS or row[-1].end > token.start):
            row = []
        if row or text[token.start - 1 : token.start] in ("(", "（"):
            row.append(token)
            if text[token.end : token.end + 1] in (")", "）"):
                for link in row:
                    link.keep = None
                row = []


_LINK_GAPS = frozenset((",", ";", "，", "；", "、", "&", "and", ""))


def _linked(tokens: Iterable[Token]) -> dict[str, Token]:
    """Numbers that stand as links in the text, ``[1](https://…)``, each always to one address."""
    found: dict[str, Token] = {}
    doubtful: set[str] = set()
    for token in tokens:
        if token.form is Form.LINK and len(token.labels) == 1:
            first = found.setdefault(token.labels[0], token)
            doubtful.update(token.labels if first.target != token.target else ())
    return {label: token for label, token in found.items() if label not in doubtful}


def _mark(book: SourceBook, token: Token, missing: dict[str, Range], linked: dict[str, Token]) -> RawMark:
    span = (token.start, token.end)
    if token.form in (Form.LINK, Form.BARE):
        return RawMark(*span, [book.inline(token)], token.keep)
    if token.form is Form.OPAQUE:
        missing.setdefault("chat mark", span)
        return RawMark(*span, [])
    sources: list[Found] = []
    for label in token.labels:
        source = book.at(label, token.start, foot=token.foot)
        if source is None and label in linked:
            source = book.inline(linked[label])
        if source is None:
            missing.setdefault(label, span)
        elif source not in sources:
            sources.append(source)
    return RawMark(*span, sources, token.keep)


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
