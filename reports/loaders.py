"""Reports from files and folders, whatever their shape; the shape is found out from what is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError
from .cleaner import log_header
from .data import Report, Source, SourceKind
from .decoding import decode, read_bytes
from .parse import read_report
from .records import Loose, Record, iter_jsonl, loose_report, parse_json
from .urls import normalise_url

SUFFIXES = (
    ".md",
    ".markdown",
    ".mdx",
    ".txt",
    ".html",
    ".htm",
    ".xhtml",
    ".pdf",
    ".docx",
    ".json",
    ".jsonl",
    ".ndjson",
)
"""What is taken from a folder."""

_SKIPPED = re.compile(
    r"(?i)(?:readme|licen[cs]e|changelog|contributing|query|queries|tasks|criteria|run|summary"
    r"|results|package(?:-lock)?)\Z"
)
_QID = re.compile(r"(?:qid_)?(?P<id>[\w-]+?)_report\Z")
_HTML_START = re.compile(
    r"(?i)\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.DOTALL
)


def load_reports(path: Path, *, clean: bool = True) -> list[Report]:
    """All reports of a file or folder, in the order of the file, or by name.

    Markdown and text, HTML (saved pages of shared reports too), PDF, DOCX; JSONL and JSON in the shapes of
    :mod:`.records`; folders of them, ``qid_*_report.md`` and files named by a task's id among them. ``Report.id`` names
    the system: the file, or the folder when its files are answers to tasks by id. Raises InputError, naming path, line
    and field.
    """
    return list(iter_reports(path, clean=clean))


def iter_reports(path: Path, *, clean: bool = True) -> Iterator[Report]:
    """As :func:`load_reports`, one at a time: of a thousand reports in a folder or JSONL file one is held.

    Raises InputError where it comes upon a mistake, after what stands before it.
    """
    path = Path(path)
    if not path.exists():
        raise InputError("no such file or folder", path=path)
    if path.is_dir():
        yield from _folder(path, clean)
        return
    for loose in _file(path):
        yield _build(loose, path.stem, clean)


def load_bytes(data: bytes, name: str, *, clean: bool = True) -> list[Report]:
    """The reports in the bytes of a file that is not on this disk (standard input, a fetched page).

    ``name`` stands for the file's: its ending counts, and what stands before it becomes ``Report.id``. Without a known
    ending, JSON is recognised too. Raises InputError.
    """
    path = Path(name)
    if path.suffix.lower() not in SUFFIXES and _is_json(data):
        return [_build(loose, path.stem, clean) for loose in _records(data, path, ".json")]
    return [_build(loose, path.stem, clean) for loose in _records(data, path, path.suffix.lower())]


def _is_json(data: bytes) -> bool:
    if not re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\"|\[\s*\{)", data[:200]):
        return False
    try:
        return isinstance(json.loads(data), dict | list)
    except (ValueError, RecursionError):
        return False


def _folder(folder: Path, clean: bool) -> Iterator[Report]:
    files = [p for p in sorted(folder.rglob("*")) if _wanted(p, folder)]
    if not files:
        raise InputError(f"no reports in this folder (looked for {', '.join(SUFFIXES)})", path=folder)
    seen: set[tuple[str | None, str]] = set()
    for path in files:
        place = path.relative_to(folder)
        system = place.parent.as_posix() if place.parent.name else folder.resolve().name
        for loose in _file(path):
            by_task = path.suffix.lower() == ".json" or _QID.match(path.stem) is not None
            name = system if by_task and loose.task_id else place.with_suffix("").as_posix()
            report = _build(loose, name, clean)
            key = (report.task_id, report.id)
            if key in seen:
                raise InputError(f"two reports are called {report.id!r} for task {report.task_id!r}", path=folder)
            seen.add(key)
            yield report


def _wanted(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
    return path.is_file() and not hidden and path.suffix.lower() in SUFFIXES and not _SKIPPED.match(path.stem)


def _build(loose: Loose, id: str, clean: bool) -> Report:
    return read_report(loose.text, id=id, task_id=loose.task_id, prompt=loose.prompt, listed=loose.listed, clean=clean)


def _file(path: Path) -> Iterator[Loose]:
    return _records(read_bytes(path), path, path.suffix.lower())


def _records(data: bytes, path: Path, suffix: str) -> Iterator[Loose]:
    if data[:5] == b"%PDF-":
        yield _named(_pdf(data, path), path)
        return
    if data[:4] == b"PK\x03\x04":
        yield _named(_docx(data, path), path)
        return
    text = decode(data, path=path)
    del data  # large files: one copy at a time
    if not text.strip("\ufeff \t\r\n\x00"):
        raise InputError("the file is empty", path=path)
    if suffix in (".jsonl", ".ndjson", ".json"):
        yield from _json(text.lstrip("\ufeff"), path, suffix)
    elif suffix in (".html", ".htm", ".xhtml") or _HTML_START.match(text[:2000].lstrip("\ufeff")):
        yield _named(_html(text.lstrip("\ufeff"), path), path)
    else:
        yield _named(Loose(text), path)


def _json(text: str, path: Path, suffix: str) -> Iterator[Loose]:
    records = iter(parse_json(text, path)) if suffix == ".json" else iter_jsonl(text, path)
    seen: set[str] = set()
    nameless: Record | None = None
    for number, record in enumerate(records):
        loose = loose_report(record, path)
        if loose.task_id is None:
            nameless = nameless or record
        if number and nameless is not None:
            raise InputError("this record has no id", path=path, line=nameless.line, field="id")
        if loose.task_id is not None and loose.task_id in seen:
            raise InputError(f"the id {loose.task_id!r} is there twice", path=path, line=record.line, field="id")
        seen.add(loose.task_id or "")
        yield loose


def _named(loose: Loose, path: Path) -> Loose:
    """Task id and prompt that the file's name or the header of an agent's log tell."""
    if not loose.text.strip():
        raise InputError("no text in this file", path=path)
    id, prompt = log_header(loose.text.lstrip("\ufeff"))
    match = _QID.match(path.stem)
    return Loose(loose.text, id or (match["id"] if match else None), prompt, loose.listed)


def _html(text: str, path: Path) -> Loose:
    from .from_html import html_to_markdown

    converted = html_to_markdown(text)
    if not converted.strip():
        raise InputError("no text in this page (it may be built by scripts: save it from the browser)", path=path)
    return Loose(converted)


def _pdf(data: bytes, path: Path) -> Loose:
    from .from_pdf import pdf_to_text

    text, links = pdf_to_text(data, path)
    listed = tuple(
        Source(id=f"s{i}", kind=SourceKind.LISTED, label=f"link {i}", url=normalise_url(url), raw=url)
        for i, url in enumerate(links, 1)
    )
    return Loose(text, listed=listed)


def _docx(data: bytes, path: Path) -> Loose:
    from .from_docx import docx_to_markdown

    return Loose(docx_to_markdown(data, path))
