"""A report's own HTML to Markdown. Nothing of the report is thrown away, links least of all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .text import word_set

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

_DROPPED = word_set(
    """script style noscript template svg head nav aside form button input select textarea iframe canvas dialog
    footer"""
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_BLOCKS = word_set(
    """p div section article main header ul ol dl table figure figcaption address details summary body html center
    fieldset hgroup"""
)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_BLANKS = re.compile(r"\n{3,}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def html_to_markdown(text: str) -> str:
    """Markdown with headings, lists, tables, code, quotations and all links of a page's main part. Never raises."""
    from lxml import etree, html  # type: ignore[import-untyped]

    parser = html.HTMLParser(huge_tree=True, encoding="utf-8", remove_comments=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""
    out = _Writer()
    for event, node in _walk(_main(root)):
        out.take(event, node)
    return _BLANKS.sub("\n\n", "".join(out.parts)).strip() + "\n" if out.parts else ""


def _main(root: HtmlElement) -> HtmlElement:
    """The largest ``article`` or ``main`` when it holds most of the text, else the whole page."""
    whole = _size(root)
    best = max((n for n in root.iter("article", "main")), key=_size, default=None)
    return best if best is not None and 2 * _size(best) >= whole else root


def _size(node: HtmlElement) -> int:
    return sum(
        len(t)
        for n in node.iter()
        if n.tag not in ("script", "style")
        for t in (n.text or "",)
        if isinstance(n.tag, str)
    )


def _walk(root: HtmlElement) -> Iterator[tuple[str, Any]]:
    """Start and end of each shown element, and the text between, without recursion."""
    stack: list[tuple[str, Any]] = [("start", root)]
    while stack:
        event, node = stack.pop()
        if event != "start":
            yield event, node
            continue
        tag = node.tag if isinstance(node.tag, str) else ""
        shown = (
            tag and tag not in _DROPPED and not _HIDDEN.search(node.get("style") or "") and node.get("hidden") is None
        )
        if not shown:
            continue
        yield "start", node
        stack.append(("end", node))
        for child in reversed(node):
            if child.tail:
                stack.append(("text", child.tail))
            stack.append(("start", child))
        if node.text:
            stack.append(("text", node.text))


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.lists: list[list[Any]] = []
        self.links: list[tuple[int, str]] = []
        self.rows: list[list[str]] = []
        self.cell: int | None = None
        self.pre = 0
        self.quotes = 0

    def take(self, event: str, node: Any) -> None:
        if event == "text":
            self._text(node)
        elif event == "start":
            self._start(node)
        else:
            self._end(node)

    def _text(self, text: str) -> None:
        if self.pre:
            self.parts.append(text)
            return
        text = _SPACE.sub(" ", text)
        if text == " " and (not self.parts or self.parts[-1].endswith((" ", "\n"))):
            return
        if self.parts and self.parts[-1].endswith("\n"):
            text = text.lstrip()
        if text:
            self.parts.append(text)

    def _break(self, blank: bool = True) -> None:
        if self.cell is not None:
            self._text(" ")
        elif self.parts:
            self.parts.append("\n\n" if blank else "\n")
            if self.quotes:
                self.parts.append("> ")

    def _start(self, node: Any) -> None:
        tag = node.tag
        if tag in _HEADINGS:
            self._break()
            self.parts.append("#" * _HEADINGS[tag] + " ")
        elif tag == "li":
            self._item(node)
        elif tag in ("ul", "ol"):
            self._break(blank=not self.lists)
            self.lists.append([tag, _number(node.get("start"))])
        elif tag == "pre":
            self._break()
            self.parts.append("```\n")
            self.pre += 1
        elif tag == "blockquote":
            self.quotes += 1
            self._break()
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = len(self.parts)
        elif tag == "a":
            self.links.append((len(self.parts), node.get("href") or ""))
        elif tag == "br":
            self.parts.append("  \n" if self.cell is None else " ")
        elif tag == "hr":
            self._break()
            self.parts.append("---\n\n")
        elif tag == "sup":
            self.parts.append("<sup>")
        elif tag == "code" and not self.pre:
            self.parts.append("`")
        elif tag in _BLOCKS or tag in ("dt", "dd"):
            self._break()

    def _item(self, node: Any) -> None:
        self._break(blank=False)
        depth = max(0, len(self.lists) - 1)
        marker = "- "
        if self.lists and self.lists[-1][0] == "ol":
            number = _number(node.get("value")) if node.get("value") else self.lists[-1][1]
            self.lists[-1][1] = number + 1
            marker = f"{number}. "
        self.parts.append("   " * depth + marker)

    def _end(self, node: Any) -> None:
        tag = node.tag
        if tag == "a":
            self._link()
        elif tag == "sup":
            self.parts.append("</sup>")
        elif tag == "code" and not self.pre:
            self.parts.append("`")
        elif tag == "pre":
            self.pre -= 1
            self.parts.append("\n```")
            self._break()
        elif tag in ("ul", "ol"):
            if self.lists:
                self.lists.pop()
            if not self.lists:
                self._break()
        elif tag == "blockquote":
            self.quotes -= 1
            self._break()
        elif tag in ("td", "th"):
            self._cell()
        elif tag == "tr":
            self._row()
        elif tag == "table" or tag in _HEADINGS or tag in _BLOCKS or tag in ("dt", "dd"):
            self._break()

    def _link(self) -> None:
        if not self.links:
            return
        at, href = self.links.pop()
        text = "".join(self.parts[at:])
        if href and text.strip() and "\n\n" not in text and not href.lower().startswith("javascript:"):
            href = href.strip().replace(" ", "%20").replace("\n", "")
            if href.count("(") != href.count(")"):
                href = href.replace("(", "%28").replace(")", "%29")
            self.parts[at:] = [f"[{text.strip()}]({href})"]

    def _cell(self) -> None:
        if self.cell is None:
            return
        text = " ".join("".join(self.parts[self.cell :]).split()).replace("|", "\\|")
        del self.parts[self.cell :]
        self.cell = None
        if self.rows:
            self.rows[-1].append(text)
        else:
            self.parts.append(text)

    def _row(self) -> None:
        if not self.rows:
            return
        cells = self.rows.pop()
        if not cells:
            return
        first = not any("\n| " in part or part.startswith("| ") for part in self.parts[-2:])
        if first:
            self._break()
        self.parts.append("| " + " | ".join(cells) + " |\n")
        if first:
            self.parts.append("|" + "---|" * len(cells) + "\n")


def _number(value: str | None) -> int:
    return int(value) if value and value.strip().isdecimal() and len(value) < 7 else 1
