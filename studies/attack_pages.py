"""Attacked pages: a page of a corpus as Markdown, HTML or PDF with an attack in it, read as the tools read pages."""

from __future__ import annotations

import html
import sqlite3
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..tools.content import Source, parse
from ..tools.corpus import Corpus, Document, fill
from .attack_data import Attack

TYPES = {"markdown": "text/markdown", "html": "text/html; charset=utf-8", "pdf": "application/pdf"}
SUFFIXES = {"markdown": "md", "html": "html", "pdf": "pdf"}


@dataclass(frozen=True)
class AttackedPage:
    """One page as it is served, and what the tools make of it."""

    attack: Attack
    body: bytes
    document: Document
    """As a judge may read it."""

    @property
    def name(self) -> str:
        """File name of the page as it is served."""
        return f"{self.attack.id}.{SUFFIXES[self.attack.form]}"


def attacked_page(page: Document, attack: Attack, near: str) -> AttackedPage:
    """The page with the attack behind the paragraph that holds ``near`` (or where the attack says)."""
    paragraphs = [part for part in page.text.split("\n\n") if part.strip()]
    place = next((i for i, part in enumerate(paragraphs) if near and near in part), 0)
    body = _BODIES[attack.form](page, paragraphs, attack, place)
    headers = {"content-type": TYPES[attack.form]}
    read = parse(Source(url=page.url, final_url=page.url, status=200, headers=headers), body)
    if not read.text:
        raise UserError(f"{attack.id}: the attacked page cannot be read: {read.reason}")
    title = page.title if attack.form == "markdown" else read.title or page.title
    update = {"text": read.text, "title": title, "flags": read.flags}
    return AttackedPage(attack, body, page.model_copy(update=update))


def _markdown(page: Document, paragraphs: list[str], attack: Attack, place: int) -> bytes:
    del page
    at = len(paragraphs) if attack.where == "end" else place + 1
    return "\n\n".join([*paragraphs[:at], attack.text, *paragraphs[at:]]).encode()


def _html(page: Document, paragraphs: list[str], attack: Attack, place: int) -> bytes:
    payload = {
        "comment": f"<!-- {attack.text} -->",
        "span": f'<p style="display:none">{html.escape(attack.text)}</p>',
        "title": "",
    }.get(attack.where, f"<p>{html.escape(attack.text)}</p>")
    at = len(paragraphs) if attack.where == "end" else place + 1
    parts = [f"<p>{html.escape(part)}</p>" for part in paragraphs]
    title = attack.text if attack.where == "title" else page.title
    lines = [*parts[:at], payload, *parts[at:]]
    return (
        f'<!doctype html><html lang="{page.language or "en"}"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title></head><body><article>" + "\n".join(lines) + "</article></body></html>"
    ).encode()


def _pdf(page: Document, paragraphs: list[str], attack: Attack, place: int) -> bytes:
    if attack.where == "info":
        return pdf_of(paragraphs, title=attack.text)
    white = {place + 1} if attack.where == "white" else set()
    return pdf_of([*paragraphs[: place + 1], attack.text, *paragraphs[place + 1 :]], title=page.title, white=white)


_BODIES = {"markdown": _markdown, "html": _html, "pdf": _pdf}


def pdf_of(paragraphs: list[str], *, title: str = "", white: Iterable[int] = ()) -> bytes:
    """A small PDF of plain paragraphs; those numbered in ``white`` are written white on white."""
    hidden, lines = set(white), []
    for number, paragraph in enumerate(paragraphs):
        colour = 1 if number in hidden else 0
        wrapped = textwrap.wrap(paragraph, 92, break_on_hyphens=False)
        lines += [f"{colour} g ({_escaped(line)}) Tj T*" for line in wrapped] + ["T*"]
    per_page = 56
    pages = [lines[i : i + per_page] for i in range(0, len(lines), per_page)] or [[]]
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    objects.append(f"<< /Title ({_escaped(title)}) >>")
    kids = []
    for page in pages:
        stream = "BT /F1 10 Tf 13 TL 50 790 Td\n" + "\n".join(page) + "\nET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _assembled(objects)


def _escaped(text: str) -> str:
    latin = text.encode("latin-1", "replace").decode("latin-1")
    return latin.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _assembled(objects: list[str]) -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>"
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode("latin-1")


def corpus_with(source: Path, page: Document, out: Path) -> Path:
    """A corpus file that is ``source`` with one page replaced."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    corpus = Corpus.open(source)
    db = sqlite3.connect(out)
    try:
        fill(db, (page if one.url == page.url else one for one in corpus.documents()))
    finally:
        db.close()
        corpus.close()
    return out
