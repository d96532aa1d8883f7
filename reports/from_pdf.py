"""The text of a PDF report, and the links it carries."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError

LARGEST_TEXT = 20_000_000
"""Characters; a PDF with more text is refused."""

_HYPHEN = re.compile(r"(?<=[a-zà-ÿ])-\n(?=[a-zà-ÿ])")
_PAGE_NUMBER = re.compile(
    r"\A\s*(?:page\s+)?\d{1,4}(?:\s*(?:/|of)\s*\d{1,4})?\s*\n|\n\s*(?:page\s+)?\d{1,4}(?:\s*(?:/|of)\s*\d{1,4})?\s*\Z",
    re.IGNORECASE,
)


def pdf_to_text(data: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """Text, page after page, and the addresses of link annotations that do not stand in it.

    Words broken at a line's end are joined; a page number on a line of its own is left out. Raises InputError for a
    file that is broken, locked, or holds only pictures.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        with pypdf_quiet():
            reader = PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise InputError("the PDF is locked by a password", path=path)
            pages, links = _pages(reader, path)
    except InputError:
        raise
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        raise InputError(f"the PDF cannot be read ({error})", path=path) from None
    text = _HYPHEN.sub("", "\n".join(pages))
    if not text.strip():
        raise InputError("the PDF holds no text (pictures of pages?)", path=path)
    return text, tuple(link for link in dict.fromkeys(links) if link not in text)


@contextmanager
def pypdf_quiet() -> Iterator[None]:
    """Keep the reader's remarks on broken files off the terminal: what matters of them is said in our error."""
    log = logging.getLogger("pypdf")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _pages(reader: Any, path: Path) -> tuple[list[str], list[str]]:
    pages: list[str] = []
    links: list[str] = []
    total = 0
    for page in reader.pages:
        text = _PAGE_NUMBER.sub("\n", page.extract_text() or "")
        total += len(text)
        if total > LARGEST_TEXT:
            raise InputError(f"more than {LARGEST_TEXT:,} characters of text", path=path)
        pages.append(text)
        links += _links(page)
    return pages, links


def _links(page: Any) -> list[str]:
    found: list[str] = []
    for note in page.get("/Annots") or ():
        action = note.get_object().get("/A")
        uri = action.get_object().get("/URI") if action is not None else None
        if isinstance(uri, str) and uri.startswith(("http://", "https://")):
            found.append(uri)
    return found
