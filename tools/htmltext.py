"""HTML to Markdown text with title, date, author and site; what a reader would not see is left out."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

from .hidden import clean_characters, has_invisible, strip_hidden

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_MODIFIED = re.compile(
    r"[\"'](?:dateModified|article:modified_time|og:updated_time)[\"']\s*(?::|content=)\s*[\"'](\d{4}-\d\d-\d\d)",
    re.IGNORECASE,
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_ALIASES = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}


@dataclass(frozen=True)
class HtmlText:
    """What stands in an HTML page. Dates are those that the page states of itself."""

    text: str
    title: str = ""
    site: str = ""
    author: str = ""
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    flags: frozenset[str] = frozenset()


def decode(body: bytes, declared: str | None) -> str:
    """Bytes to text: byte-order mark, then the header's charset, then the page's, then UTF-8, then a guess."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    found = _META_CHARSET.search(body[:4096])
    for name in (declared, found.group(1).decode("ascii", "replace") if found else None, "utf-8"):
        if name and (text := _try(body, name)) is not None:
            return text
    return _guess(body)


def _try(body: bytes, name: str) -> str | None:
    try:
        return body.decode(_ALIASES.get(name.lower(), name))
    except (LookupError, UnicodeDecodeError):
        return None


def _guess(body: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(body[:200_000]).best()
    return body.decode(best.encoding if best else "cp1252", "replace")


def read_html(source: str, url: str) -> HtmlText:
    """Title, date and main text of an HTML page. Never raises for bad markup; the text is empty then."""
    from lxml import etree  # type: ignore[import-untyped]

    tree = _tree(source)
    if tree is None:
        return HtmlText("")
    meta = _metadata(tree, url)
    language = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang")
    try:
        flags = strip_hidden(tree)
        invisible = has_invisible("".join(tree.itertext()))
        text = _main_text(tree, url)
    except (etree.LxmlError, RecursionError, ValueError):
        return HtmlText("", title=meta["title"] or "")
    text, _ = clean_characters(text)
    title, odd_title = clean_characters(meta["title"] or "")
    return HtmlText(
        text=text,
        title=title,
        site=meta["site"] or "",
        author=meta["author"] or "",
        published=meta["published"],
        modified=_modified(source),
        language=(language or "").strip()[:20] or None,
        flags=flags | ({"hidden_text"} if invisible or odd_title else set()),
    )


def _tree(source: str) -> Any:
    from lxml import etree, html

    parser = html.HTMLParser(remove_pis=True, huge_tree=False, encoding="utf-8")
    try:
        tree = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None
    return tree


def _metadata(tree: Any, url: str) -> dict[str, str | None]:
    from trafilatura.metadata import extract_metadata

    latest = dt.date.today() + dt.timedelta(days=2)
    dates = {"extensive_search": False, "original_date": True, "max_date": latest.isoformat()}
    try:
        found = extract_metadata(tree, default_url=url, date_config=dates)
    except Exception:  # a page's odd metadata must not cost us its text
        return {"title": tree.findtext(".//title"), "site": None, "author": None, "published": None}
    return {"title": found.title, "site": found.sitename, "author": found.author, "published": found.date}


def _main_text(tree: Any, url: str) -> str:
    import trafilatura

    whole = _visible(tree)
    main = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        include_comments=False,
        include_tables=True,
        include_links=False,
        favor_recall=True,
    )
    main = (main or "").strip()
    return main if len(main) >= 250 or len(main) > 0.8 * len(whole) else whole


def _visible(tree: Any) -> str:
    """All text of the page, a block a line: for pages too small for the extractor."""
    body = tree.find(".//body")
    root = tree if body is None else body
    blocks = ("p", "div", "li", "tr", "br", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "pre", "dt", "dd")
    parts: list[str] = []
    for element in root.iter():
        if element.tag in blocks:
            parts.append("\n")
        parts.append(element.text or "")
        if element.tag in ("td", "th"):
            parts.append(" ")
        if element is not root:
            parts.append(element.tail or "")
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _modified(source: str) -> str | None:
    found = _MODIFIED.findall(source[:500_000])
    return max(found) if found else None
