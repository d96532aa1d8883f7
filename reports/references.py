"""Reference lists: where they stand, which lines are entries, and what each entry leads to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .blocks import Block, heading_title, label_block, lines_of
from .data import SegmentKind
from .entries import TARGET, TRIM, Entry, has_target, read_entry, target_of, wraps
from .inline import LINK_TARGET
from .labels import ROW_KEY, plain_label
from .quotations import quoted_items, unquoted
from .text import squeeze
from .titles import is_reference_title

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d[a-z]?(?!\d)")
_DATED = re.compile(
    r"[(（\[](?:[^()（）\[\]]{0,30}\D)?(?:19|20)\d\d[a-z]?[^()（）]{0,30}[)）\]]|n\.d\.|(?:,|\.)\s(?:19|20)\d\d\b"
)


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
    blocks = list(_run_in(text, blocks))
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
    _bibliographies(text, out, lists)
    _definitions(text, out, lists)
    _unheaded(text, out, lists)
    if not lists:
        _linked_tail(text, out, lists)
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
    for block in unquoted(blocks):
        if block.style == "bracket":
            yield from _run_on(text, block)
            continue
        if items := quoted_items(text, block):
            yield from items
            continue
        if block.kind not in (SegmentKind.PARAGRAPH, SegmentKind.QUOTE) or block.lines == 1:
            yield block
            continue
        yield from _split(text, block)


_LEAD = re.compile(r"[:：][*_ \t]*(?=(?:\\?\[\^?\d{1,4}\\?\]|【\d{1,4}】)[:：]?(?!\())")
_LEAD_START = re.compile(r"(?:\A|[\n.。!?！？;；)）\]】])\s*(?P<lead>[*_]*[^\n.。!?！？;；:：)）\]】]{1,40})\Z")


def _run_in(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Lists that stand in a paragraph behind their heading: ``Sources: [1] url, [2] url``."""
    for block in blocks:
        lead = _lead(text, block) if block.kind in (SegmentKind.PARAGRAPH, SegmentKind.QUOTE) else None
        if lead is None:
            yield block
            continue
        start, body = lead
        if text[block.body : start].strip():
            yield replace(block, end=block.start + len(text[block.start : start].rstrip()))
        heading = replace(block, kind=SegmentKind.HEADING, start=start, end=body, body=start, level=7)
        entries = label_block(text, replace(block, start=body, gap=False))
        yield from (heading, entries) if entries else (replace(block, start=start, body=start),)


def _lead(text: str, block: Block) -> tuple[int, int] | None:
    """Where the heading of a list within a paragraph begins and ends."""
    if text.find("://", block.body, block.end) < 0:
        return None
    for match in _LEAD.finditer(text, block.body, block.end):
        before = _LEAD_START.search(text[max(block.body, match.start() - 60) : match.start()])
        if before and is_reference_title(before["lead"].strip(" *_")):
            start = match.start() - len(before["lead"])
            return (start, match.end()) if has_target(text[match.end() : block.end]) else None
    return None


_NEXT = re.compile(r"(?<=[\s;,，；])\[(\d{1,4})\][:：]?\s*")


def _run_on(text: str, block: Block) -> Iterator[Block]:
    """An entry, or several on one line: ``[1] A url [2] B url``, each with an address and the next number. Linear."""
    label, start = block.label or "", block.start
    if not label.isdecimal() or not _NEXT.search(text, block.body, block.end):
        yield block
        return
    target = TARGET.search(text, block.body, block.end)
    for match in _NEXT.finditer(text, block.body, block.end):
        if target is None or target.start() > match.start() or int(match[1]) != int(label) + 1:
            continue
        if (target := TARGET.search(text, match.end(), block.end)) is None:
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
        closed = has_target(text[pieces[-1][0] : end]) and not wraps(text, end, block.end)
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


def _targets(text: str, block: Block) -> bool:
    """Whether a block holds an address, DOI or arXiv id."""
    if block.target is None:
        block.target = has_target(text[block.body : block.end])
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
    return out, _keyed(text, [one for entry in entries for one in _shared(entry)])


_NUMBERS = re.compile(r"(?:\[?\d{1,4}\\?\]\s*)+")
_MORE = re.compile(r"\s*(?:\\?\[\d{1,4}\\?\][ \t]*)+")


def _shared(entry: Entry) -> list[Entry]:
    """An entry under several numbers, ``[1] [2] Title``: one for each."""
    more = _MORE.match(entry.text) if entry.label is not None and entry.label.isdecimal() else None
    if more is None or more.end() == len(entry.text):
        return [entry]
    title = _NUMBERS.sub("", entry.title or "", count=1) or None
    labels = [entry.label, *re.findall(r"\d+", more.group())]
    return [replace(entry, label=label, title=title) for label in labels]


_KEY = re.compile(
    r"[*_`\[({]{0,3}@?(?:(?:source|ref(?:erence)?|来源|來源|参考|文献|出处|출처|quelle|fuente)\s?\.?\s?(?P<number>\d{1,3})"
    r"|(?P<key>[A-Za-z][\w-]{1,30}(?:19|20)\d\d\w{0,20}|[A-Z]{1,3}-?\d{1,3}))[*_`\])}]{0,3}(?::(?!//)|[：.]|\s[-–—])[*_`]{0,3}\s*",
    re.IGNORECASE,
)
"""The key of an entry without brackets: ``smith2020: …``, ``S1: …``, ``Source 1: …``."""


def _keyed(text: str, entries: list[Entry]) -> list[Entry]:
    """Entries without labels, with the keys that nearly all of them begin with."""
    keys = [_KEY.match(entry.text) if entry.label is None else None for entry in entries]
    if sum(key is not None for key in keys) * 3 < len(entries) * 2:
        return entries
    for entry, key in zip(entries, keys, strict=True):
        if key is not None:
            entry.label, entry.text = key["number"] or key["key"], entry.text[key.end() :]
            entry.title = read_entry(text, entry.start, entry.end - len(entry.text), entry.end, None).title
    return entries


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
    if has_target(piece) and not has:
        return not _DATED.search(piece) and len(squeeze(TARGET.split(piece, maxsplit=1)[0])) < 20
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
    label = plain_label(label) if label is not None and first.style != "foot" else label
    start, body, end = first.start, first.body, group[-1].end
    if label is None and first.header:
        cells = text[body:end].strip().strip("|").split("|")
        label = cells[0].strip(" []*`")
        label = label if label.isdecimal() or ROW_KEY.fullmatch(label) else None
    while text[start].isspace():
        start += 1
    entry = read_entry(text, start, body, end, label)
    entry.define = first.style == "define"
    return entry


_RECORD_TITLE = re.compile(r"\btitle\s*=\s*[{\"]+([^{}\"]{1,400})", re.IGNORECASE)
_RECORD = re.compile(r"@[A-Za-z]{3,20}\s*\{\s*([^\s,{}]{1,60})\s*,")


def _bibliographies(text: str, blocks: list[Block], lists: list[RefList]) -> None:
    """BibTeX in a code block: ``@article{key, … url = {…}}``."""
    for block in blocks:
        if block.kind is SegmentKind.CODE and block.style == "fenced" and _RECORD.match(text, block.body):
            block.kind = SegmentKind.REFERENCES
            found = list(_RECORD.finditer(text, block.body, block.end))
            ends = [m.start() for m in found[1:]] + [block.end]
            entries = [read_entry(text, m.start(), m.end(), end, m[1]) for m, end in zip(found, ends, strict=True)]
            for entry in entries:
                named = _RECORD_TITLE.search(entry.text)
                entry.title = squeeze(named[1]).strip("{}") if named else entry.title
            lists.append(RefList(entries))


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
        at_end = run[-1] is blocks[-1]
        if styles <= {"bracket", "sup", "define", "foot"}:
            targets = sum(1 for b in run if _targets(text, b))
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
            and all(_targets(text, b) for b in run)
            and all(_only_link(text, b, styles) for b in run)
        ):
            _make_list(text, run, lists)


_LINKED = re.compile(rf"\s*\[\s?\\?\[?(\d{{1,4}})\\?\]?\s?\]\(({LINK_TARGET})\)")
_ADDRESS_LINE = re.compile(r"\s*<?https?://\S+>?\s*")


def _linked_tail(text: str, blocks: list[Block], lists: list[RefList]) -> None:
    """A tail of the marks once more, each or several with a title, and their address on a line of its own:
    ``[[1]](url) [[2]](url) Title``."""
    at = len(blocks)
    rows: list[list[tuple[re.Match[str], str]]] = []
    while at and blocks[at - 1].kind is SegmentKind.PARAGRAPH:
        body, end = blocks[at - 1].body, blocks[at - 1].end
        links, rest = _links_before(text, body, end)
        if not (links and len(rest) < 200) and not _ADDRESS_LINE.fullmatch(text, body, end):
            break
        at -= 1
        rows.append(links)
    found = list(itertools.chain.from_iterable(reversed(rows)))
    numbers = [int(match[1]) for match, _ in found]
    if len(found) < 2 or numbers != list(range(1, len(found) + 1)):
        return
    entries = []
    for match, title in found:
        entries.append(read_entry(text, match.start(1), match.start(), match.end(), match[1]))
        entries[-1].title = title or None
    for block in blocks[at:]:
        block.kind = SegmentKind.REFERENCES
    lists.append(RefList(entries))


def _links_before(text: str, at: int, end: int) -> tuple[list[tuple[re.Match[str], str]], str]:
    """The linked numbers that a paragraph begins with, each with the title behind them, and the title."""
    links = []
    while (match := _LINKED.match(text, at, end)) is not None:
        links.append(match)
        at = match.end()
    title = squeeze(text[at:end])
    return [(match, title) for match in links], title


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
    raw, span, title = target_of(piece)
    if raw is None or span is None:
        return False
    rest = squeeze(piece[: span[0]] + piece[span[1] :]).strip(TRIM + "()[]")
    limit = 200 if "ordered" in styles else 8 if title is None else 80
    return len(rest) <= limit and not re.search(r"[.。!?]\s", rest)


def _make_list(text: str, run: list[Block], lists: list[RefList]) -> None:
    for block in run:
        block.kind = SegmentKind.REFERENCES
    lists.append(RefList([one for block in run for one in _shared(_entry(text, [block]))]))


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
