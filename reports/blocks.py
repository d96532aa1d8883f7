"""The block structure of a Markdown-like text, line by line, in one pass.

Headings, paragraphs, list items, tables, code, math, quotations, and lines that begin with a label (``[1] …``), whose
meaning is settled later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from unicodedata import numeric

from .data import SegmentKind
from .labels import RINGS
from .titles import is_reference_title, without_tags

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)?+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r"[ ]{0,3}(?:>[ ]?){0,3}(#{1,6})(?:[ \t]+|(?=[^\s#!\d]))")
_RULER = re.compile(
    r"[ \t]*(?:\*[ \t]*){3,}+\Z|[ \t]*(?:-[ \t]*){3,}+\Z|[ \t]*(?:_[ \t]*){3,}+\Z"
    r"|[ \t]*[=═─━—]{3,}[ \t]*\Z|[ \t]*⸻[ \t]*\Z"
)
_ITEM = re.compile(
    r"""[ \t]*(?:
      (?P<bullet>[-*+•‣·◦▪●○■□➢➤✓✔–])[ \t]+(?:\[[ xX✓]\][ \t]+)?
    | (?P<number>\d{1,4})\\?[.)][ \t]+
    | (?P<cjk>\d{1,3}|[一二三四五六七八九十]{1,3})[、．][ \t]*
    | [(（](?P<paren>\d{1,2}|[a-z]|[一二三四五六七八九十]{1,3})[)）][ \t]*
    | (?P<letter>[a-zA-Z])[)][ \t]+
    )""",
    re.VERBOSE,
)
_LABEL = re.compile(
    rf"""[ \t]*(?:[-*+•][ \t]+)?(?:<(?:a|p|span|div)\b[^<>]{{0,200}}>(?:</a>)?[ ]?){{0,3}}(?:\*\*|__)?
    (?: \\?\[(?P<foot>\^)?(?P<square>[^\s\[\]\\^]{{1,40}}|[A-Za-z][\w.+-]*[ ]\d{{4}}[a-z]?
        |[A-Za-z][^\[\]\\]{{2,60}}(?=\]:[ ]?<?https?://))\^?\\?\]
      | 【(?P<wide>\d{{1,4}})】 | ［(?P<full>\d{{1,4}})］ | \[\[(?P<double>\d{{1,4}})\]\](?!\()
      | (?P<sup>[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{{1,4}}) | <sup>(?P<html>\d{{1,4}})</sup> | (?P<ring>[{RINGS}])
      | ※[ ]?(?P<note>\d{{1,3}})(?!\d)
      | \\bibitem(?:\[[^\[\]]{{0,60}}\])?\{{(?P<item>[^{{}}\s]{{1,60}})\}} )
    (?:\*\*|__)?(?P<colon>:(?!//)|：)?(?!\()[.,、]?[ \t]*""",
    re.VERBOSE,
)
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*\Z")
_QUOTE = re.compile(r"(?:[ \t]{0,3}>)++[ \t]?")
_BOLD_LINE = re.compile(r"[ \t]*(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__)[ \t]*[:：]?[ \t]*\Z")
_CELL = re.compile(r"(?<!\\)\|")
_SETEXT = re.compile(r"[ \t]{0,3}(=+|-+)[ \t]*\Z")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@dataclass(slots=True)
class Block:
    """One block while a report is read. ``body`` is where its content starts, behind the marker."""

    kind: SegmentKind
    start: int
    end: int
    body: int
    level: int = 0
    """Of a heading: 1 to 6; 7 for a bold or bare line that serves as one."""
    label: str | None = None
    """Of a line that begins with a number or label in brackets; of an ordered list item its number."""
    style: str = ""
    """How the label is written: ``bracket``, ``foot``, ``define``, ``ordered``, ``bullet``, ``sup``, or empty."""
    section: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    lines: int = 1
    gap: bool = True
    """Whether a blank line, ruler or heading stands before it."""
    ruled: bool = False
    """Whether a ruler stands before it."""
    title: str = ""
    """Of a heading: its text without markers and emphasis."""
    target: bool | None = None
    """Whether it holds an address, DOI or arXiv id; None: not looked yet."""


@dataclass(slots=True)
class _State:
    text: str
    blocks: list[Block] = field(default_factory=list)
    open: Block | None = None
    """The block that the next line may continue."""
    gap: bool = True
    ruled: bool = False
    in_list: bool = False
    items: int = -1
    """Items so far of an HTML list with numbers; -1: none is open."""
    header: tuple[str, ...] = ()

    def add(self, kind: SegmentKind, start: int, end: int, body: int, **more: object) -> Block:
        block = Block(kind, start, end, body, gap=self.gap, ruled=self.ruled, **more)  # type: ignore[arg-type]
        self.blocks.append(block)
        self.gap = self.ruled = False
        self.open = block
        return block

    def close(self) -> None:
        self.open = None


Line = tuple[int, int]


def lines_of(text: str) -> list[Line]:
    """Start and end of each line, without its line break and trailing blanks."""
    found: list[Line] = []
    if "\r" not in text:
        at = 0
        for line in text.split("\n"):
            found.append((at, at + len(line.rstrip())))
            at += len(line) + 1
        return found if found[-1][0] < len(text) else found[:-1]
    for match in _LINE.finditer(text):
        start, end = match.span()
        if start == end:
            break
        found.append((start, start + len(match.group().rstrip())))
    return found


def parse_blocks(text: str) -> list[Block]:
    """All blocks in order; they do not overlap and leave out only blank lines, rulers and table delimiters. Linear."""
    lines = lines_of(text)
    state = _State(text)
    closers = _Closers(text, lines)
    at = 0
    while at < len(lines):
        at = _step(state, lines, at, closers)
    return state.blocks


def _step(state: _State, lines: list[Line], at: int, closers: _Closers) -> int:
    """Take in the line ``at`` (and those that belong to it); return the next line's index."""
    start, end = lines[at]
    text = state.text
    if start == end or not (line := text[start:end]).strip():
        state.close()
        state.gap = True
        return at + 1
    first = line.lstrip()[0]
    if first in "<\\" and _markup(state, line, start):
        return at + 1
    if first in "`~$\\<" and (done := _fenced(state, lines, at, first, closers)):
        return done
    if first in "-*_=═─━—⸻" and _RULER.match(line):
        return _ruler(state, line, at)
    if first in "#>" and (match := _HEADING.match(line)):
        _heading(state, start, end, start + match.end(), len(match[1]))
        return at + 1
    if first == ">":
        _quote(state, line, start, end)
        return at + 1
    if "|" in line and (done := _table(state, lines, at, first)):
        return done
    if _marked(state, line, start, end, first):
        return at + 1
    _plain(state, line, start, end, first)
    return at + 1


_HTML_ITEM = re.compile(r"<li\b[^<>]{0,200}>\s*", re.IGNORECASE)
_HTML_LIST = re.compile(
    r"\s*(?:<(?P<kind>[ou]l)\b[^<>]{0,200}?(?:start=[\"']?(?P<first>\d{1,4})[\"']?[^<>]{0,40})?>|</[ou]l>)",
    re.IGNORECASE,
)
_BIBLIOGRAPHY = re.compile(r"\s*\\(?:begin|end)\{thebibliography\}(?:\{\w*\})?\s*\Z")


def _markup(state: _State, line: str, start: int) -> bool:
    """A line of an HTML list, one item or several; the lines around a LaTeX bibliography. Linear."""
    if _BIBLIOGRAPHY.match(line):
        state.close()
        state.gap = True
        return True
    if (opened := _HTML_LIST.match(line)) is not None:
        state.items = int(opened["first"] or 1) - 1 if (opened["kind"] or "").lower() == "ol" else -1
    found = list(_HTML_ITEM.finditer(line)) if opened or _HTML_ITEM.match(line.lstrip()) else []
    stops = [m.start() for m in found[1:]] + [len(line)]
    for match, stop in zip(found, stops, strict=False):
        ordered = state.items >= 0
        state.items += ordered
        body, end = start + match.end(), start + len(line[:stop].rstrip())
        if body < end:
            style, label = ("ordered", str(state.items)) if ordered else ("bullet", None)
            state.add(SegmentKind.LIST_ITEM, start + match.start(), end, body, label=label, style=style)
    return bool(found)


def _ruler(state: _State, line: str, at: int) -> int:
    block = state.open
    if (
        block is not None
        and block.kind is SegmentKind.PARAGRAPH
        and block.lines == 1
        and (match := _SETEXT.match(line))
    ):
        title = state.text[block.body : block.end]
        if match[1][0] == "=" or (len(title) <= 100 and title[-1] not in ".。!?！？:：;]"):
            block.kind, block.level = SegmentKind.HEADING, 1 if match[1][0] == "=" else 2
            state.ruled = True
    state.close()
    state.gap = state.ruled = True
    state.in_list = False
    return at + 1


def _heading(state: _State, start: int, end: int, body: int, level: int) -> None:
    state.add(SegmentKind.HEADING, start, end, min(body, end), level=level)
    state.close()
    state.gap = True
    state.in_list = False


def _quote(state: _State, line: str, start: int, end: int) -> None:
    match = _QUOTE.match(line)
    body = start + (match.end() if match else 0)
    if body >= end:
        state.close()
        return
    block = state.open
    if block is not None and block.kind is SegmentKind.QUOTE:
        block.end = end
        block.lines += 1
    else:
        state.add(SegmentKind.QUOTE, start, end, body)


def _table(state: _State, lines: list[Line], at: int, first: str) -> int | None:
    text = state.text
    start, end = lines[at]
    previous = state.blocks[-1] if state.blocks else None
    if state.open is not None and state.open.kind is SegmentKind.TABLE_ROW:
        if _DELIMITER.match(text, start, end):
            return at + 1
        _row(state, start, end, state.header)
        return at + 1
    follows = (
        at + 1 < len(lines) and lines[at + 1][0] < lines[at + 1][1] and "-" in text[lines[at + 1][0] : lines[at + 1][1]]
    )
    if follows and _DELIMITER.match(text, *lines[at + 1]) and "|" in text[lines[at + 1][0] : lines[at + 1][1]]:
        state.header = cells_of(text[start:end])
        _row(state, start, end, ())
        return at + 2
    if first != "|" or (previous is not None and state.open is not None and previous.kind is SegmentKind.PARAGRAPH):
        return None
    if _DELIMITER.match(text, start, end):
        return at + 1
    state.header = ()
    _row(state, start, end, ())
    return at + 1


def _row(state: _State, start: int, end: int, header: tuple[str, ...]) -> None:
    body = start + len(state.text[start:end]) - len(state.text[start:end].lstrip())
    state.add(SegmentKind.TABLE_ROW, body, end, body, header=header)


def cells_of(row: str) -> tuple[str, ...]:
    """The cells of a table row, trimmed."""
    return tuple(cell.strip() for cell in _CELL.split(row.strip().removeprefix("|").removesuffix("|")))


def _marked(state: _State, line: str, start: int, end: int, first: str) -> bool:
    """A list item, or a line that begins with a label."""
    labelled = first in "[【［\\<⁰¹²³⁴⁵⁶⁷⁸⁹*-+•_※" or "\u2460" <= first <= "\u32bf"
    if labelled and (match := _LABEL.match(line)) and _label_starts(state, match, line):
        label, style = _label(match)
        state.add(SegmentKind.LIST_ITEM, start, end, start + match.end(), label=label, style=style)
        return True
    match = _ITEM.match(line)
    if match is None or match.end() >= len(line):
        return False
    if (
        match["bullet"] is None
        and state.open is not None
        and state.open.kind is SegmentKind.PARAGRAPH
        and not _breaks(match)
    ):
        return False
    label = match["number"] or match["cjk"] or match["paren"]
    style = "bullet" if match["bullet"] else "ordered"
    state.add(SegmentKind.LIST_ITEM, start, end, start + match.end(), label=label, style=style)
    state.in_list = True
    return True


def _breaks(match: re.Match[str]) -> bool:
    """Whether a numbered line may interrupt a paragraph: a soft-wrapped ``1986. …`` must not."""
    number = match["number"] or match["cjk"] or match["paren"] or ""
    return not number.isdecimal() or int(number) < 200


def _label(match: re.Match[str]) -> tuple[str, str]:
    if match["sup"]:
        return match["sup"].translate(_SUPERSCRIPTS), "sup"
    if match["ring"]:
        return str(int(numeric(match["ring"]))), "sup"
    if match["note"]:
        return match["note"], "sup"
    label = match["item"] or match["square"] or match["wide"] or match["full"] or match["double"] or match["html"]
    label = label.removeprefix("@")
    if match["foot"]:
        return label, "foot"
    return label, "define" if match["colon"] else "bracket"


def label_block(text: str, block: Block) -> Block | None:
    """A block that begins with a label as the entry it is; None when it does not."""
    match = _LABEL.match(text, block.start, block.end)
    if match is None:
        return None
    label, style = _label(match)
    return replace(block, kind=SegmentKind.LIST_ITEM, body=match.end(), label=label, style=style, target=None)


def _label_starts(state: _State, match: re.Match[str], line: str) -> bool:
    label = match["square"]
    if label is not None and not match["foot"]:
        if label in ("x", "X", "✓") or line.startswith("(", match.end()):
            return False
        named = match["colon"] or (len(label) == 1 and "//" in line)
        if not any(map(str.isdigit, label)) and not named:
            return False
        if match["colon"] and not any(map(str.isdigit, label)) and "//" not in line:
            return False
    if match.end() >= len(line):
        return False
    block = state.open
    if block is None or bool(block.label) or block.kind is SegmentKind.LIST_ITEM or match["colon"] is not None:
        return True
    caption = block.lines == 1 and block.end - block.body <= 60 and "://" in line
    return caption and (label or match["wide"] or match["full"] or "").isdecimal()


def _plain(state: _State, line: str, start: int, end: int, first: str) -> None:
    if first == "<" and not without_tags(line).strip():  # nothing but HTML around other lines
        state.close()
        state.gap = True
        return
    indent = len(line) - len(line.lstrip())
    block = state.open
    if block is not None and block.kind in (SegmentKind.PARAGRAPH, SegmentKind.LIST_ITEM, SegmentKind.QUOTE):
        block.end = end
        block.lines += 1
        return
    if (indent >= 4 or line[0] == "\t") and state.gap and not state.in_list:
        _indented(state, start, end)
        return
    if indent == 0 and block is None:
        state.in_list = False
    if block is not None and block.kind is SegmentKind.CODE:
        state.close()
    bold = first in "*_" and _BOLD_LINE.match(line) and line.rstrip("*_ :：")[-1:] not in ".。!?！？;,，]"
    if bold or (len(line) <= 60 and block is None and is_reference_title(line.strip())):
        state.add(SegmentKind.HEADING, start + indent, end, start + indent, level=7)
        state.close()
        state.gap = True
        return
    state.add(SegmentKind.PARAGRAPH, start + indent, end, start + indent)


def _indented(state: _State, start: int, end: int) -> None:
    last = state.blocks[-1] if state.blocks else None
    if last is not None and last.kind is SegmentKind.CODE and last.style == "indented":
        last.end = end
    else:
        state.add(SegmentKind.CODE, start, end, start, style="indented")
    state.close()
    state.gap = True


class _Closers:
    """Knows whether a fence or math block that opens will ever be closed, without searching again and again."""

    def __init__(self, text: str, lines: list[Line]) -> None:
        self.text, self.lines = text, lines
        self.longest: dict[str, list[int]] = {"`": [], "~": []}
        self.missing: dict[str, int] = {}
        if "```" in text or "~~~" in text:
            for char in "`~":
                self.longest[char] = self._suffix(char)

    def _suffix(self, char: str) -> list[int]:
        best = [0] * (len(self.lines) + 1)
        for i in range(len(self.lines) - 1, -1, -1):
            best[i] = max(best[i + 1], self.bare(i, char))
        return best

    def bare(self, i: int, char: str) -> int:
        """Length of the closing fence that line ``i`` is; 0 when it is none."""
        start, end = self.lines[i]
        if self.text[end - 1 : end] != char:
            return 0
        line = self.text[start:end].strip()
        return len(line) if len(line) >= 3 and line == char * len(line) else 0

    def fence_end(self, at: int, char: str, length: int) -> int | None:
        """Index of the line that closes a fence opened on line ``at``."""
        longest = self.longest[char]
        if not longest or longest[at + 1] < length:
            return None
        return next(i for i in range(at + 1, len(self.lines)) if self.bare(i, char) >= length)

    def line_with(self, at: int, needle: str, offset: int) -> int | None:
        """Index of the first line from ``at`` on that holds ``needle`` behind ``offset``."""
        if self.missing.get(needle, len(self.text) + 1) <= offset:
            return None
        found = self.text.find(needle, offset)
        if found < 0:
            self.missing[needle] = offset
            return None
        i = at
        while self.lines[i][1] <= found:
            i += 1
        return i


_MATH_PAIRS = (("$$", "$$"), ("\\[", "\\]"), ("\\begin{", "\\end{"))


def _fenced(state: _State, lines: list[Line], at: int, first: str, closers: _Closers) -> int | None:
    """Code fences, display math and HTML comments; None when the line opens none of them."""
    text = state.text
    start, end = lines[at]
    if first in "`~":
        match = _FENCE.match(text, start, end)
        return _code(state, lines, at, match, closers) if match and "`" not in match[2] else None
    stripped = text[start:end].lstrip()
    if stripped.startswith("<!--"):
        return _comment(state, lines, at, closers)
    for opener, closer in _MATH_PAIRS:
        if stripped.startswith(opener) and not re.match(r"\\\[\^?\d", stripped):
            return _math(state, lines, at, opener, closer, closers)
    return None


def _code(state: _State, lines: list[Line], at: int, match: re.Match[str], closers: _Closers) -> int:
    last = closers.fence_end(at, match[1][0], len(match[1]))
    if last is None:  # never closed: up to the next blank line, so that the rest of the report stays readable
        last = at
        while last + 1 < len(lines) and lines[last + 1][0] < lines[last + 1][1]:
            last += 1
    start = lines[at][0]
    body = lines[at + 1][0] if at + 1 <= last and at + 1 < len(lines) else lines[at][1]
    state.add(SegmentKind.CODE, start, lines[last][1], body, style="fenced", label=match[2].strip() or None)
    state.close()
    return last + 1


def _math(state: _State, lines: list[Line], at: int, opener: str, closer: str, closers: _Closers) -> int | None:
    start, end = lines[at]
    offset = state.text.index(opener, start) + len(opener)
    last = closers.line_with(at, closer, offset)
    if last is None or last - at > 200:
        return None
    stop = state.text.index(closer, offset) + len(closer)
    if last == at and state.text[stop:end].strip(" .,;。，"):
        return None  # inline: the paragraph goes on
    state.add(SegmentKind.MATH, start, lines[last][1], start)
    state.close()
    return last + 1


def _comment(state: _State, lines: list[Line], at: int, closers: _Closers) -> int | None:
    last = closers.line_with(at, "-->", lines[at][0])
    if last is None or state.text[slice(*lines[last])].rstrip()[-3:] != "-->":
        return None
    state.add(SegmentKind.CODE, lines[at][0], lines[last][1], lines[last][1], style="comment")
    state.close()
    return last + 1


def with_sections(text: str, blocks: list[Block]) -> Iterator[Block]:
    """Fill in ``section`` of each block from the headings above it."""
    stack: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    for block in blocks:
        if block.kind is SegmentKind.HEADING:
            while stack and stack[-1][0] >= block.level:
                stack.pop()
            block.section = tuple(name for _, name in stack)
            stack.append((block.level, heading_title(text, block)))
            path = tuple(name for _, name in stack)
        else:
            block.section = path
        yield block


def heading_title(text: str, block: Block) -> str:
    """The heading without markers and emphasis."""
    if not block.title:
        plain = without_tags(text[block.body : block.end])
        for sign in "*_`#":
            plain = plain.replace(sign, " ") if sign in plain else plain
        block.title = " ".join(plain.split())
    return block.title
