"""A Word document to Markdown: headings, lists, tables, links, footnotes."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

from ..errors import InputError

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
LARGEST_PART = 100_000_000
"""Bytes of one part, unpacked; more is refused."""

_HEADING = re.compile(r"(?i)(?:heading|überschrift|titre|título|标题)\s?(\d)|(\d)\Z")


def docx_to_markdown(data: bytes, path: Path) -> str:
    """The document's text as Markdown. Raises InputError for a file that is no usable DOCX."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            document = _part(archive, "word/document.xml", path)
            notes = {kind: _part(archive, f"word/{kind}s.xml", path) for kind in ("footnote", "endnote")}
            relations = _relations(_part(archive, "word/_rels/document.xml.rels", path))
            styles = _styles(_part(archive, "word/styles.xml", path))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise InputError(f"not a usable DOCX file ({error})", path=path) from None
    if document is None:
        raise InputError("not a Word document: it has no word/document.xml", path=path)
    writer = _Docx(relations, styles)
    body = document.find(f"{_W}body")
    blocks = [writer.block(node) for node in (body if body is not None else ())]
    blocks += [line for kind, part in notes.items() if part is not None for line in writer.notes(part, kind)]
    return "\n\n".join(block for block in blocks if block).replace("\n\n- ", "\n- ") + "\n"


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    from lxml import etree  # type: ignore[import-untyped]

    try:
        info = archive.getinfo(name)
    except KeyError:
        return None
    if info.file_size > LARGEST_PART:
        raise InputError(f"{name} is too large", path=path)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, recover=True)
    with archive.open(info) as stream:
        raw = stream.read(LARGEST_PART + 1)
    if len(raw) > LARGEST_PART:
        raise InputError(f"{name} is too large", path=path)
    return etree.fromstring(raw, parser=parser)


def _relations(part: Any) -> dict[str, str]:
    return (
        {node.get("Id"): node.get("Target") for node in part if node.get("TargetMode") == "External"}
        if part is not None
        else {}
    )


def _styles(part: Any) -> dict[str, str]:
    """Style id to its name (``heading 1``)."""
    names: dict[str, str] = {}
    for style in part.iter(f"{_W}style") if part is not None else ():
        name = style.find(f"{_W}name")
        if name is not None:
            names[style.get(f"{_W}styleId") or ""] = name.get(f"{_W}val") or ""
    return names


class _Docx:
    def __init__(self, relations: dict[str, str], styles: dict[str, str]) -> None:
        self.relations, self.styles = relations, styles

    def block(self, node: Any) -> str:
        if node.tag == f"{_W}tbl":
            return self.table(node)
        if node.tag == f"{_W}sdt":
            content = node.find(f"{_W}sdtContent")
            return "\n\n".join(filter(None, (self.block(n) for n in (content if content is not None else ()))))
        return self.paragraph(node) if node.tag == f"{_W}p" else ""

    def paragraph(self, node: Any) -> str:
        text = self.runs(node).strip()
        if not text:
            return ""
        style = node.find(f"{_W}pPr/{_W}pStyle")
        id = (style.get(f"{_W}val") or "") if style is not None else ""
        name = self.styles.get(id, id)
        if name.lower() == "title":
            return f"# {text}"
        if (match := _HEADING.match(name)) and "heading" in name.lower() + id.lower():
            return f"{'#' * min(6, int(match[1] or match[2]))} {text}"
        numbering = node.find(f"{_W}pPr/{_W}numPr")
        return f"- {text}" if numbering is not None or "list" in name.lower() else text

    def runs(self, node: Any) -> str:
        out: list[str] = []
        for child in node:
            tag = child.tag
            if tag == f"{_W}hyperlink":
                inner, target = self.runs(child), self.relations.get(child.get(f"{_R}id") or "")
                out.append(f"[{inner}]({target})" if target and inner.strip() else inner)
            elif tag == f"{_W}r":
                out.append(self.run(child))
            elif tag in (f"{_W}ins", f"{_W}smartTag", f"{_W}sdt", f"{_W}sdtContent", f"{_W}fldSimple"):
                out.append(self.runs(child))
        return "".join(out)

    def run(self, node: Any) -> str:
        out: list[str] = []
        for child in node:
            tag = child.tag
            if tag == f"{_W}t":
                out.append(child.text or "")
            elif tag in (f"{_W}tab",):
                out.append("\t")
            elif tag in (f"{_W}br", f"{_W}cr"):
                out.append("  \n")
            elif tag in (f"{_W}footnoteReference", f"{_W}endnoteReference"):
                kind = "e" if tag.endswith("endnoteReference") else ""
                out.append(f"[^{kind}{child.get(f'{_W}id')}]")
        text = "".join(out)
        raised = node.find(f"{_W}rPr/{_W}vertAlign")
        if raised is not None and raised.get(f"{_W}val") == "superscript" and text.strip() and "[^" not in text:
            return f"<sup>{text}</sup>"
        return text

    def table(self, node: Any) -> str:
        rows = [
            [
                " ".join(" ".join(self.runs(p) for p in cell.iter(f"{_W}p")).split()).replace("|", "\\|")
                for cell in row.findall(f"{_W}tc")
            ]
            for row in node.findall(f"{_W}tr")
        ]
        lines = ["| " + " | ".join(cells) + " |" for cells in rows if cells]
        if lines:
            lines.insert(1, "|" + "---|" * len(rows[0]))
        return "\n".join(lines)

    def notes(self, part: Any, kind: str) -> list[str]:
        out: list[str] = []
        for note in part.findall(f"{_W}{kind}"):
            text = " ".join(" ".join(self.runs(p) for p in note.iter(f"{_W}p")).split())
            if text and note.get(f"{_W}type") is None:
                out.append(f"[^{'e' if kind == 'endnote' else ''}{note.get(f'{_W}id')}]: {text}")
        return out
