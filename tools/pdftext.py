"""PDF to text, page by page, within caps. Runs in a parsing process that can be killed."""

from __future__ import annotations

import io
import logging
import re
from dataclasses import dataclass

_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?")


@dataclass(frozen=True)
class PdfText:
    """What stands in a PDF. ``starts[i]`` is where page i + 1 begins in ``text``."""

    text: str
    starts: tuple[int, ...] = ()
    title: str = ""
    author: str = ""
    published: str | None = None
    """The file's creation date."""
    pages: int = 0
    problem: str = ""
    """Why there is no text: encrypted, broken, scanned."""
    cut: bool = False
    """True when pages or characters beyond the caps were left out."""


def read_pdf(body: bytes, *, max_pages: int, max_chars: int) -> PdfText:
    """Text of the first ``max_pages`` pages. Never raises for a bad file."""
    import pypdf
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            return PdfText("", problem="PDF is encrypted")
        return _read(reader, max_pages, max_chars)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, RecursionError) as error:
        return PdfText("", problem=f"PDF cannot be read ({type(error).__name__})")


def _read(reader: object, max_pages: int, max_chars: int) -> PdfText:
    from pypdf import PdfReader

    assert isinstance(reader, PdfReader)
    total = len(reader.pages)
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for number in range(min(total, max_pages)):
        text = join_lines(_page_text(reader, number))
        starts.append(length)
        parts.append(text)
        length += len(text) + 2
        if length > max_chars:
            break
    text = "\n\n".join(parts)[:max_chars]
    if not text.strip():
        return PdfText("", pages=total, problem="PDF without a text layer")
    title, author, published = _information(reader)
    return PdfText(
        text, tuple(starts), title, author, published, total, "", len(starts) < total or length > max_chars + 2
    )


def _page_text(reader: object, number: int) -> str:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    assert isinstance(reader, PdfReader)
    try:
        return reader.pages[number].extract_text() or ""
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return ""


def join_lines(text: str) -> str:
    """Undo line breaks within paragraphs and hyphenation at line ends."""
    text = re.sub(r"(?<=[a-zà-ÿ])-\n(?=[a-zà-ÿ])", "", text.replace("\r", "\n"))
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"(?<![.!?:。！？])\n(?=[^\n\s•\-–*\d#|])", " ", text)
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _information(reader: object) -> tuple[str, str, str | None]:
    from pypdf import PdfReader

    assert isinstance(reader, PdfReader)
    try:
        info = reader.metadata
        if info is None:
            return "", "", None
        raw = str(info.get("/CreationDate", ""))
        return str(info.title or "")[:300], str(info.author or "")[:300], pdf_date(raw)
    except Exception:  # metadata is a nicety; its faults are many
        return "", "", None


def pdf_date(raw: str) -> str | None:
    """``D:20240305…`` to ``2024-03-05``; None for what is no date. A missing month or day makes it None."""
    import datetime as dt

    found = _DATE.match(raw)
    if not found or not found.group(2) or not found.group(3):
        return None
    try:
        return dt.date(*(int(part) for part in found.groups())).isoformat()
    except ValueError:
        return None
