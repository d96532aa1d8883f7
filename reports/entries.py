"""One entry of a list of sources: its address, title, DOI and arXiv id."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .inline import LINK_TARGET, LINK_TEXT
from .text import squeeze
from .urls import ARXIV, BARE_URL, DOI, PMID, Address, address, encode_blanks, find_arxiv, find_doi, pubmed, trim_url

_URL = re.compile(BARE_URL, re.IGNORECASE)
_LINK = re.compile(rf"(?<!!)\[({LINK_TEXT})\]\(({LINK_TARGET})\)", re.DOTALL)
_HREF = re.compile(r"<a\s[^<>]{0,2000}?href\s*=\s*[\"']?([^\"'<>\s]+)[^<>]{0,2000}>([^<]{0,400})</a>", re.IGNORECASE)
_ANGLE = re.compile(r"<((?:https?://|www\.)[^<>\n]{1,4000})>", re.IGNORECASE)
TARGET = re.compile(rf"https?://|www\.|{DOI}|{ARXIV}|{PMID}", re.IGNORECASE)
_RECORD = re.compile(PMID)
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
TRIM = " \t\r\n-–—:：|,，.。;；·•*_<>"


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
    define: bool = False
    """Written as a link definition (``[1]: url``)."""


def read_entry(text: str, start: int, body: int, end: int, label: str | None) -> Entry:
    """Read one entry: its address, title, DOI and arXiv id."""
    piece = text[body:end]
    entry = Entry(label, start, end, piece)
    raw, span, title = target_of(piece)
    if raw is not None and span is not None:
        entry.raw, entry.address = raw, address(encode_blanks(raw))
    rest = piece if span is None else f"{piece[: span[0]]} {piece[span[1] :]}" if title is None else title
    entry.title = _title(rest) or None
    entry.doi, entry.arxiv = find_doi(piece), find_arxiv(piece)
    if not (raw or entry.doi or entry.arxiv) and (record := _RECORD.search(piece)) is not None:
        entry.raw, entry.address = record.group(), address(pubmed(record[1]))
    return entry


def target_of(piece: str) -> tuple[str | None, tuple[int, int] | None, str | None]:
    """The first address of an entry as written, where it stands, and the link text when it is a link."""
    for match in _LINK.finditer(piece) if "](" in piece else ():
        written = re.sub(r"""\s+["'][^"']*["']\s*\Z""", "", match[2]).strip().strip("<>")
        text = match[1].strip()
        if not written.startswith("#") and written:
            return (
                written,
                match.span(),
                text if not re.fullmatch(r"(?i)\W*(?:link|url|source|\d+|https?://.*)\W*", text) else None,
            )
    for pattern in (_HREF, _ANGLE) if "<" in piece else ():
        for match in pattern.finditer(piece):
            if not match[1].startswith("#"):
                return match[1].strip(), match.span(), match[2] if pattern is _HREF else None
    bare = _URL.search(piece)
    if bare is None:
        fake = _FAKE_TARGET.search(piece)
        return (trim_url(fake.group()).strip("()"), fake.span(), None) if fake else (None, None, None)
    return _whole(piece, bare)


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


_TITLE_NOISE = re.compile(r"\n[ \t]*>|[*_`]+|\[\s*\]|\(\s*\)|<[^<>]{0,200}>|\\(?:url|href)\b|\{\s*\}")


def _title(text: str) -> str:
    clean = squeeze(_TITLE_NOISE.sub(" ", text)).strip(TRIM + "[]")
    clean = (clean[:-60] + _URL_LEFT.sub("", clean[-60:])).strip(TRIM + "[]")
    return clean[:400]


def wraps(text: str, end: int, stop: int) -> bool:
    """Whether the address that ends at ``end`` goes on in the next line."""
    match = _WRAPPED.match(text, end, stop)
    return match is not None and text[end - 1] in _URL_END and bool(_URL_REST.search(match[1]))


_SIGNS = ("http", "www.", "10.", "arxiv", "pmid")


def has_target(piece: str) -> bool:
    """Whether there is an address, DOI or arXiv id."""
    if "http" in piece:
        return True
    lower = piece.lower()
    return any(sign in lower for sign in _SIGNS) and TARGET.search(piece) is not None
