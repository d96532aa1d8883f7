"""From the bytes of an answer to a page's text and state. Pure: no network, no clock but for a cap on dates.

This runs in a parsing process (:mod:`.worker`): the bytes come from strangers.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping

from pydantic import Field

from ..core import Frozen, PageState
from ..reports import orders
from . import states
from .hidden import clean_characters, flags_for
from .htmltext import decode, read_html
from .pdftext import read_pdf

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})
_TEXT_TYPES = frozenset(
    {"text/plain", "text/markdown", "text/x-markdown", "text/x-rst", "text/x-tex", "application/x-tex"}
)
_LOOKS_HTML = re.compile(
    rb"^\s*(<!doctype html|<html|<head|<body|<!--|<\?xml[^>]*\?>\s*(<!doctype html|<html))", re.IGNORECASE
)
_TITLE = re.compile(r"^#\s+(.{1,300})$", re.MULTILINE)
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)


class Source(Frozen):
    """An answer to be read: what was asked, what came, and the caps."""

    url: str
    final_url: str
    status: int
    headers: dict[str, str] = Field(default_factory=dict)
    max_chars: int = 400_000
    max_pages: int = 150


class Parsed(Frozen):
    """A page as read from its bytes; dates in ISO form."""

    state: PageState = PageState.OK
    reason: str = ""
    title: str = ""
    text: str = ""
    site: str = ""
    author: str = ""
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    flags: tuple[str, ...] = ()
    page_starts: tuple[int, ...] = ()


def parse(source: Source, body: bytes) -> Parsed:
    """Read one answer. The state is judged by status, then by content; text is empty unless it is ok."""
    page = _parse(source, body)
    if next(orders(f"{page.title}\n{page.text}"), None) is None:
        return page
    return page.model_copy(update={"flags": tuple(sorted({*page.flags, "speaks_to_a_model"}))})


def _parse(source: Source, body: bytes) -> Parsed:
    media, charset = media_type(source.headers)
    head = decode(body[:200_000], charset) if kind_of(media, body, source.final_url) in ("html", "text") else ""
    if judged := states.by_status(source.status, source.headers, head):
        return Parsed(state=judged[0], reason=judged[1])
    if not body:
        return Parsed(state=PageState.UNREACHABLE, reason=f"status {source.status}, empty body")
    kind = kind_of(media, body, source.final_url)
    if kind == "pdf":
        return _pdf(source, body)
    if kind == "html":
        return _html(source, decode(body, charset))
    if kind in ("json", "csv", "text"):
        return _plain(source, kind, decode(body, charset))
    return Parsed(state=PageState.NOT_TEXT, reason=f"content type {media or 'unknown'}")


def media_type(headers: Mapping[str, str]) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type header; both in lower case."""
    media, _, rest = headers.get("content-type", "").partition(";")
    found = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", rest, re.IGNORECASE)
    return media.strip().lower(), found.group(1).lower() if found else None


def kind_of(media: str, body: bytes, url: str) -> str:
    """``pdf``, ``html``, ``json``, ``csv``, ``text`` or ``other``. The bytes go before the header."""
    if body[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf"
    if media in _HTML_TYPES or _LOOKS_HTML.match(body[:1024]):
        return "html"
    if media == "application/pdf":
        return "other"
    if media.endswith(("/json", "+json")) or media == "application/x-ndjson":
        return "json"
    if media in ("text/csv", "text/tab-separated-values") or (media in _TEXT_TYPES and url.lower().endswith(".csv")):
        return "csv"
    if media in _TEXT_TYPES or (media.startswith("text/") and media not in ("text/css", "text/javascript")):
        return "text"
    if media in ("", "application/octet-stream", "binary/octet-stream"):
        return "text" if _looks_like_text(body) else "other"
    return "other"


def _looks_like_text(body: bytes) -> bool:
    sample = body[:4096]
    if not sample or b"\x00" in sample:
        return False
    odd = sum(1 for byte in sample if byte < 9 or 13 < byte < 32)
    return odd * 50 < len(sample)


def _html(source: Source, text: str) -> Parsed:
    page = read_html(text, source.final_url)
    judged = states.by_content(source.url, source.final_url, page.title, page.text, text[:300_000], source.headers)
    common = Parsed(
        title=page.title,
        site=page.site,
        author=page.author,
        published=page.published,
        modified=page.modified,
        language=page.language,
        flags=tuple(sorted(page.flags)),
    )
    if judged:
        return common.model_copy(update={"state": judged[0], "reason": judged[1]})
    if source.status == 202:
        return common.model_copy(update={"state": PageState.BLOCKED, "reason": "status 202 instead of the page"})
    return _cut(common.model_copy(update={"text": page.text}), source.max_chars)


def _pdf(source: Source, body: bytes) -> Parsed:
    pdf = read_pdf(body, max_pages=source.max_pages, max_chars=source.max_chars)
    if pdf.problem:
        return Parsed(state=PageState.NOT_TEXT, reason=pdf.problem, title=pdf.title)
    flags = ["pdf", *(["truncated"] if pdf.cut else [])]
    starts = pdf.starts
    text, seen = clean_characters(pdf.text)
    if len(text) != len(pdf.text):
        starts = tuple(len(clean_characters(pdf.text[:start])[0]) for start in starts)
    return Parsed(
        title=pdf.title,
        text=text,
        author=pdf.author,
        published=pdf.published,
        flags=tuple(sorted([*flags, *(["hidden_text"] if seen else [])])),
        page_starts=starts,
    )


def _plain(source: Source, kind: str, text: str) -> Parsed:
    if kind == "json":
        text = _pretty(text)
    elif kind == "csv":
        text = _table(text)
    return read_markdown(text, source.max_chars)


def read_markdown(text: str, max_chars: int = 400_000) -> Parsed:
    """Plain text or Markdown as it is, without HTML comments and invisible characters."""
    comments = [c for c in _COMMENT.findall(text) if flags_for([c])]
    text, seen = clean_characters(_COMMENT.sub("", text))
    flags = set(flags_for(comments)) | ({"hidden_text"} if seen else set())
    if len(text.strip()) < 1:
        return Parsed(state=PageState.NOT_TEXT, reason="no text in the page")
    title = _TITLE.search(text[:5000])
    return _cut(
        Parsed(text=text.strip(), title=title.group(1).strip() if title else "", flags=tuple(sorted(flags))), max_chars
    )


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def _table(text: str) -> str:
    """CSV to Markdown table rows, so that a row reads as a line."""
    try:
        dialect = csv.Sniffer().sniff(text[:4096], ",;\t|")
        rows = list(csv.reader(io.StringIO(text), dialect))
    except (csv.Error, ValueError):
        return text
    return "\n".join("| " + " | ".join(cell.strip() for cell in row) + " |" for row in rows if row)


def _cut(page: Parsed, max_chars: int) -> Parsed:
    if len(page.text) <= max_chars:
        return page
    flags = tuple(sorted({*page.flags, "truncated"}))
    return page.model_copy(update={"text": page.text[:max_chars], "flags": flags})
