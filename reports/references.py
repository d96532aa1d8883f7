"""Reference lists: where they stand, which lines are entries, and what each entry leads to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .blocks import Block, heading_title, lines_of
from .data import SegmentKind
from .inline import _DEST, _TEXT
from .text import squeeze
from .titles import is_reference_title
from .urls import ARXIV, BARE_URL, DOI, Address, address, encode_blanks, find_arxiv, find_doi, trim_url

_URL = re.compile(BARE_URL, re.IGNORECASE)
_LINK = re.compile(rf"(?<!!)\[({_TEXT})\]\(({_DEST})\)", re.DOTALL)
_HREF = re.compile(r"<a\s[^<>]{0,2000}?href\s*=\s*[\"']?([^\"'<>\s]+)[^<>]{0,2000}>([^<]{0,400})</a>", re.IGNORECASE)
_ANGLE = re.compile(r"<((?:https?://|www\.)[^<>\n]{1,4000})>", re.IGNORECASE)
_FOUND = re.compile(rf"https?://|www\.|{DOI}|{ARXIV}", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d[a-z]?(?!\d)")
_DATED = re.compile(
    r"[(（\[](?:[^()（）\[\]]{0,30}\D)?(?:19|20)\d\d[a-z]?[^()（）]{0,30}[)）\]]|n\.d\.|(?:,|\.)\s(?:19|20)\d\d\b"
)
_WRAPPED = re.compile(r"[ \t]*\r?\n[ \t]*([^\s<>\"\[\]]+)[ \t]*(?=\r?\n|\Z)")
_URL_END = "-/_=&?%+~."
_URL_REST = re.compile(r"[/=%&?]|\w-\w|\.(?:html?|pdf|php|aspx?|xlsx?|docx?)\b", re.IGNORECASE)
_SPACED = re.compile(
    r"(?: [\w()%,.'’–-]+){1,10}\.(?:pdf|html?|docx?|xlsx?|pptx?|aspx?|php)(?=[\s.,;)\]]*\Z)", re.IGNORECASE
)
_URL_LEFT = re.compile(
    r"\b(?:retrieved|accessed|available|abgerufen|consulté|url|link|doi|in|from|at|on"
    r"|via)\b\s*(?:from|at|on|am|le)?\s*[:：]?\s*\Z",
    re.IGNORECASE,
)
_FAKE_TARGET = re.compile(
    r"\((?:url|link|source|https?://\.\.\.)\)|\[(?:insert|add|url|link)[^\]]{0,40}\]"
    r"|htt?ps?[:/]{1,2}\S+|(?<![\w.@/])(?:[\w-]+\.)+(?:com|org|net|gov|edu|io|cn|uk|de|eu|int|info"
    r"|co)(?:/[^\s)\]，。]*)?(?=[\s)\],.;，。]|\Z)",
    re.IGNORECASE,
)
_TRIM = " \t\r\n-–—:：|,，.。;；·•*_<>"


@dataclass(slots=True)
class Entry:
    """One entry of a reference list."""

    label: str | None
    start: int
    end: int
    text: str
    """As written, without the label."""
    title: str | None = None
    raw: str = ""
    """The address as written."""
    address: Address | None = None
    doi: str | None = None
    arxiv: str | None = None


@dataclass(slots=True)
class RefList:
    """A list of references."""

    entries: list[Entry] = field(default_factory=list)
    definitions: bool = False
    """Footnote and link definitions: they hold for the whole report."""
    footnotes: bool = False
    """Footnotes, which ``[^1]`` means before any other list."""

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.entries[0].start


def find_references(text: str, blocks: list[Block]) -> tuple[list[Block], list[RefList]]:
    """Reference lists of a report; the blocks that are entries become ``REFERENCES`` (split by line where needed)."""
    lists: list[RefList] = []
    out: list[Block] = []
    at = 0
    while at < len(blocks):
        block = blocks[at]
        out.append(block)
        at += 1
        if block.kind is SegmentKind.HEADING and is_reference_title(heading_title(text, block)):
            stop = _region_end(blocks, at, block.level)
            parts = list(_lines(text, blocks[at:stop]))
            if _is_list(text, parts):
                parts, entries = _entries(text, parts)
                if entries:
                    lists.append(RefList(entries))
                    out += parts
                    at = stop
    _definitions(text, out, lists)
    _unheaded(text, out, lists)
    lists.sort(key=lambda found: found.start)
    return out, lists


def _region_end(blocks: list[Block], at: int, level: int) -> int:
    """Where what stands under a heading ends; footnotes below a list of another kind are no part of it."""
    footnotes = at < len(blocks) and blocks[at].style == "foot"
    while at < len(blocks):
        block = blocks[at]
        if block.style == "foot" and not footnotes:
            break
        if block.kind is SegmentKind.HEADING and (block.level <= level if level < 7 else block.level < 7):
            break
        at += 1
    return at


def _lines(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks of a region; a paragraph whose lines are entries of their own is split."""
    for block in blocks:
        if block.style == "bracket":
            yield from _run_on(text, block)
            continue
        if block.kind not in (SegmentKind.PARAGRAPH, SegmentKind.QUOTE) or block.lines == 1:
            yield block
            continue
        yield from _split(text, block)


_NEXT = re.compile(r"(?<=[\s;,，；])\[(\d{1,4})\][:：]?\s*")


def _run_on(text: str, block: Block) -> Iterator[Block]:
    """An entry, or several on one line: ``[1] A url [2] B url``, each with an address and the next number. Linear."""
    label, start = block.label or "", block.start
    target = _FOUND.search(text, block.body, block.end)
    for match in _NEXT.finditer(text, block.body, block.end) if label.isdecimal() else ():
        if target is None or target.start() > match.start() or int(match[1]) != int(label) + 1:
            continue
        if (target := _FOUND.search(text, match.end(), block.end)) is None:
            break
        yield replace(block, start=start, end=match.start(), target=None)
        label, start = match[1], match.start()
        block = replace(block, start=start, body=match.end(), label=label, target=None)
    yield block


def _split(text: str, block: Block) -> Iterator[Block]:
    pieces: list[tuple[int, int]] = []
    closed = False
    for start, end in lines_of(text[block.start : block.end]):
        start, end = start + block.start, end + block.start
        if start == end:
            continue
        if pieces and not closed:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
        closed = _has_target(text[pieces[-1][0] : end]) and not _wraps(text, end, block.end)
    for i, (start, end) in enumerate(pieces):
        yield replace(
            block,
            start=start,
            end=end,
            body=block.body if i == 0 else start,
            gap=block.gap and i == 0,
            lines=1,
            target=None,
        )


def _wraps(text: str, end: int, stop: int) -> bool:
    match = _WRAPPED.match(text, end, stop)
    return match is not None and text[end - 1] in _URL_END and bool(_URL_REST.search(match[1]))


def _has_target(piece: str) -> bool:
    return "http" in piece or _FOUND.search(piece) is not None


def _targets(text: str, block: Block) -> bool:
    """Whether a block holds an address, DOI or arXiv id."""
    if block.target is None:
        block.target = _has_target(text[block.body : block.end])
    return block.target


def _like_entry(text: str, block: Block) -> bool:
    piece = text[block.body : block.end]
    if _targets(text, block):
        return len(piece) < 1200
    if block.kind is SegmentKind.LIST_ITEM:
        return len(piece) < 400 and (block.style in ("bracket", "foot", "define", "sup", "ordered") or len(piece) < 200)
    return len(piece) < 600 and bool(_DATED.search(piece)) and block.kind is SegmentKind.PARAGRAPH


def _is_list(text: str, parts: list[Block]) -> bool:
    """Whether what stands under the heading is a list of sources, and not prose about sources."""
    candidates = [b for b in parts if b.kind not in (SegmentKind.HEADING, SegmentKind.CODE, SegmentKind.MATH)]
    if not candidates:
        return False
    cited = sum(1 for b in candidates if _ends_with_mark(text, b))
    likes = sum(1 for b in candidates if _like_entry(text, b))
    targets = sum(1 for b in candidates if _targets(text, b))
    labelled = sum(1 for b in candidates if b.style in ("bracket", "foot", "define", "sup"))
    if targets * 2 > len(candidates):
        return cited * 2 < max(2, len(candidates))
    dated = len(_DATED.findall(text, candidates[0].start, candidates[-1].end))
    strong = targets + labelled or dated >= max(1, len(candidates) // 2) or _all_short_items(text, candidates)
    return bool(strong) and likes * 2 >= len(candidates) and cited * 2 < max(2, len(candidates))


_MARK_END = re.compile(r"[\])]?\[\^?\d{1,3}\][.。]?\s*\Z")


def _ends_with_mark(text: str, block: Block) -> bool:
    return block.label is None and _MARK_END.search(text[max(block.body, block.end - 12) : block.end]) is not None


def _all_short_items(text: str, blocks: list[Block]) -> bool:
    """Items that are names or titles, not sentences."""
    return all(
        b.kind is SegmentKind.LIST_ITEM
        and b.end - b.body < 160
        and not text[b.body : b.end].rstrip().endswith((".", "。"))
        for b in blocks
    )


def _entries(text: str, parts: list[Block]) -> tuple[list[Block], list[Entry]]:
    groups: list[list[Block]] = []
    out: list[Block] = []
    numbered = sum(1 for b in parts if b.label is not None and b.kind is SegmentKind.LIST_ITEM) * 2 >= len(parts)
    ended = False
    for block in parts:
        out.append(block)
        ended = ended or (block.ruled and not _like_entry(text, block) and bool(groups))
        if ended or block.kind in (SegmentKind.HEADING, SegmentKind.CODE, SegmentKind.MATH):
            continue
        if groups and _continues(text, block, groups[-1], numbered):
            groups[-1].append(block)
        elif _is_entry(text, block, numbered):
            groups.append([block])
        else:
            continue
        block.kind = SegmentKind.REFERENCES
    entries = [_entry(text, group) for group in groups]
    _renumber(entries, groups)
    return out, entries


def _is_entry(text: str, block: Block, numbered: bool) -> bool:
    if block.kind is SegmentKind.TABLE_ROW:
        return _targets(text, block)
    if block.kind is SegmentKind.LIST_ITEM:
        return True
    if numbered and block.kind is SegmentKind.PARAGRAPH:
        return _targets(text, block) and block.end - block.body < 1200
    return _like_entry(text, block)


def _continues(text: str, block: Block, group: list[Block], numbered: bool) -> bool:
    """Whether a block goes on with the entry before it."""
    first = group[0]
    if block.kind is SegmentKind.LIST_ITEM and block.style == "bullet":
        return numbered and first.label is not None and _indent(text, block) > _indent(text, first)
    if block.kind is not SegmentKind.PARAGRAPH or block.ruled or first.kind is not SegmentKind.REFERENCES:
        return False
    has = any(_targets(text, b) for b in group)
    piece = text[block.body : block.end]
    if _has_target(piece) and not has:
        return not _DATED.search(piece) and len(squeeze(_FOUND.split(piece, maxsplit=1)[0])) < 20
    return numbered and (not block.gap or _indent(text, block) > 0) and len(piece) < 400


def _indent(text: str, block: Block) -> int:
    """Columns before the block's first character on its line."""
    start = text.rfind("\n", 0, block.start) + 1
    line = text[start : block.end]
    return len(line) - len(line.lstrip())


def _renumber(entries: list[Entry], groups: list[list[Block]]) -> None:
    """Lazy Markdown numbering (``1. 1. 1.``) counts by position."""
    ordered = [e for e, g in zip(entries, groups, strict=True) if g[0].style == "ordered"]
    if len(ordered) > 1 and len({e.label for e in ordered}) == 1:
        for i, entry in enumerate(ordered, int(ordered[0].label or 1) if (ordered[0].label or "1").isdecimal() else 1):
            entry.label = str(i)


def _entry(text: str, group: list[Block]) -> Entry:
    first = group[0]
    label = first.label if first.style != "bullet" else None
    start, body, end = first.start, first.body, group[-1].end
    if label is None and first.header:
        cells = text[body:end].strip().strip("|").split("|")
        label = cells[0].strip(" []*") if cells[0].strip(" []*").isdecimal() else None
    while text[start].isspace():
        start += 1
    return read_entry(text, start, body, end, label)


def read_entry(text: str, start: int, body: int, end: int, label: str | None) -> Entry:
    """Read one entry: its address, title, DOI and arXiv id."""
    piece = text[body:end]
    entry = Entry(label, start, end, piece)
    raw, span, title = _target(piece)
    if raw is not None and span is not None:
        entry.raw, entry.address = raw, address(encode_blanks(raw))
    rest = piece if span is None else f"{piece[: span[0]]} {piece[span[1] :]}" if title is None else title
    entry.title = _title(rest) or None
    entry.doi, entry.arxiv = find_doi(piece), find_arxiv(piece)
    return entry


def _target(piece: str) -> tuple[str | None, tuple[int, int] | None, str | None]:
    """The first address of an entry as written, where it stands, and the link text when it is a link."""
    if match := _LINK.search(piece):
        written = re.sub(r"""\s+["'][^"']*["']\s*\Z""", "", match[2]).strip().strip("<>")
        text = match[1].strip()
        if not written.startswith("#") and written:
            return (
                written,
                match.span(),
                text if not re.fullmatch(r"(?i)\W*(?:link|url|source|\d+|https?://.*)\W*", text) else None,
            )
    for pattern in (_HREF, _ANGLE):
        if match := pattern.search(piece):
            return match[1].strip(), match.span(), match[2] if pattern is _HREF else None
    match = _URL.search(piece)
    if match is None:
        fake = _FAKE_TARGET.search(piece)
        return (trim_url(fake.group()).strip("()"), fake.span(), None) if fake else (None, None, None)
    return _whole(piece, match)


def _whole(piece: str, match: re.Match[str]) -> tuple[str, tuple[int, int], None]:
    """A bare address, with the rest of it when it was wrapped or has blanks in it."""
    start, end = match.span()
    url = match.group()
    while (
        (more := _WRAPPED.match(piece, end))
        and _URL_REST.search(more[1])
        and (url[-1] in _URL_END or re.search(r"[/=%]", more[1]))
        and "://" not in more[1]
    ):
        url += more[1]
        end = more.end()
    trimmed = trim_url(url)
    if piece.startswith(("...", "…"), start + len(trimmed)):
        return trimmed + "...", (start, end), None
    if (
        "/" in trimmed[8:]
        and not re.search(r"\.\w{2,4}\Z", trimmed.rsplit("/", 1)[-1])
        and (more := _SPACED.match(piece, end))
    ):
        return trimmed + more.group(), (start, more.end()), None
    return trimmed, (start, end), None


_TITLE_NOISE = re.compile(r"[*_`]+|\[\s*\]|\(\s*\)|<[^<>]{0,200}>")


def _title(text: str) -> str:
    clean = squeeze(_TITLE_NOISE.sub(" ", text)).strip(_TRIM + "[]")
    clean = _URL_LEFT.sub("", clean).strip(_TRIM + "[]")
    return clean[:400]


def _definitions(text: str, blocks: list[Block], lists: list[RefList]) -> None:
    """Footnote and link definitions, wherever they stand."""
    links, footnotes = RefList(definitions=True), RefList(definitions=True, footnotes=True)
    for block in blocks:
        if block.kind is SegmentKind.LIST_ITEM and _defines(text, block):
            block.kind = SegmentKind.REFERENCES
            (footnotes if block.style == "foot" else links).entries.append(_entry(text, [block]))
    lists += [found for found in (links, footnotes) if found.entries]


def _defines(text: str, block: Block) -> bool:
    if block.style == "foot":
        return ":" in text[block.start : block.body] or _targets(text, block)
    return block.style == "define" and (_targets(text, block) or (block.label or "").isdecimal())


def _unheaded(text: str, blocks: list[Block], lists: list[RefList]) -> None:
    """Runs of labelled lines with addresses, and a tail of numbered or bare links, without any heading."""
    for run in _runs(blocks):
        styles = {b.style for b in run}
        targets = sum(1 for b in run if _targets(text, b))
        at_end = run[-1] is blocks[-1]
        if styles <= {"bracket", "sup", "define", "foot"}:
            if (targets * 2 >= len(run) and targets) or (
                at_end and len(run) > 1 and _ascending(run) and all(_YEAR.search(text[b.body : b.end]) for b in run)
            ):
                _make_list(text, run, lists)
            elif not (len(run) > 1 and _ascending(run)):
                for block in run:  # a sentence that begins with a mark
                    block.kind, block.body, block.label, block.style = (
                        SegmentKind.PARAGRAPH,
                        _first(text, block),
                        None,
                        "",
                    )
        elif (
            at_end
            and len(run) > 1
            and not lists
            and targets == len(run)
            and all(_only_link(text, b, styles) for b in run)
        ):
            _make_list(text, run, lists)


def _first(text: str, block: Block) -> int:
    at = block.start
    while text[at].isspace():
        at += 1
    return at


def _ascending(run: list[Block]) -> bool:
    labels = [int(b.label) if b.label and b.label.isdecimal() else -1 for b in run]
    return all(b == a + 1 for a, b in itertools.pairwise(labels)) and labels[0] in (0, 1)


def _only_link(text: str, block: Block, styles: set[str]) -> bool:
    """Whether an item consists of a title and an address and no sentence."""
    piece = text[block.body : block.end]
    raw, span, title = _target(piece)
    if raw is None or span is None:
        return False
    rest = squeeze(piece[: span[0]] + piece[span[1] :]).strip(_TRIM + "()[]")
    limit = 200 if "ordered" in styles else 8 if title is None else 80
    return len(rest) <= limit and not re.search(r"[.。!?]\s", rest)


def _make_list(text: str, run: list[Block], lists: list[RefList]) -> None:
    for block in run:
        block.kind = SegmentKind.REFERENCES
    lists.append(RefList([_entry(text, [block]) for block in run]))


def _runs(blocks: list[Block]) -> Iterator[list[Block]]:
    """Neighbouring list items of one family: labelled in brackets, ordered, or bulleted."""
    run: list[Block] = []
    family = ""
    for block in blocks:
        mine = ""
        if block.kind is SegmentKind.LIST_ITEM:
            mine = block.style if block.style in ("ordered", "bullet") else "label"
        if run and mine != family:
            yield run
            run = []
        family = mine
        if mine:
            run.append(block)
    if run:
        yield run
