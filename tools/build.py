"""Making one corpus file out of a folder, a JSONL file, a WARC file, or what a run saw (a ledger or its export)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..core import PageState
from ..errors import InputError, UserError
from ..ledger import Kind, find_call, list_calls, list_runs
from .content import Parsed, Source, parse
from .corpus import Corpus, Document, documents_of, fill
from .records import Read, day
from .warc import captures


@dataclass
class Built:
    """What came of building a corpus."""

    path: Path
    digest: str = ""
    documents: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    """Pages left out, by why."""

    def skip(self, why: str) -> None:
        """Count a page that was left out."""
        self.skipped[why] = self.skipped.get(why, 0) + 1


def build_corpus(source: Path | str, out: Path | str) -> Built:
    """Make the corpus file ``out``; it appears only when it is complete. UserError or InputError for a bad source."""
    source, out = Path(source), Path(out)
    if not source.exists():
        raise UserError(f"{source}: no such file or folder")
    if out.exists():
        raise UserError(f"{out}: exists already; choose another name")
    built = Built(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        db = sqlite3.connect(part)
        try:
            fill(db, _documents(source, built))
            built.digest, built.documents = Corpus(db).digest, len(Corpus(db))
        finally:
            db.close()
        if not built.documents:
            raise UserError(f"{source}: no page in it that can be read" + _why(built))
        part.replace(out)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return built


def _why(built: Built) -> str:
    counts = ", ".join(f"{count} {why}" for why, count in sorted(built.skipped.items()))
    return f" ({counts})" if counts else ""


def _documents(source: Path, built: Built) -> Iterator[Document]:
    if source.is_dir() or source.suffix in (".jsonl", ".ndjson"):
        return documents_of(source)
    head = source.open("rb").read(16)
    if head.startswith(b"SQLite format 3"):
        return _from_ledger(source, built)
    if head.startswith((b"WARC/", b"\x1f\x8b")):
        return _from_warc(source, built)
    raise InputError("not a folder, a JSONL or WARC file, or a ledger", path=source)


def _from_warc(source: Path, built: Built) -> Iterator[Document]:
    for capture in captures(source):
        if capture.status != 200:
            built.skip(f"status {capture.status}")
            continue
        page = parse(
            Source(url=capture.url, final_url=capture.url, status=capture.status, headers=capture.headers), capture.body
        )
        yield from _kept(capture.url, page, built)


def _from_ledger(source: Path, built: Built) -> Iterator[Document]:
    seen: set[str] = set()
    for run in list_runs(source):
        for call in list_calls(source, run.name, kind=Kind.PAGE):
            if call.key in seen or call.state != "usable":
                continue
            seen.add(call.key)
            detail = find_call(source, call.key)
            if isinstance(detail.answer, dict) and "page" in detail.answer:
                read = Read.model_validate(detail.answer)
                text = (detail.blob or b"").decode("utf-8", "replace")
                page = read.page.model_copy(update={"text": text})
                yield from _kept(call.subject.removeprefix("doi:"), page, built, read.final_url)


def _kept(url: str, page: Parsed, built: Built, final_url: str | None = None) -> Iterator[Document]:
    """The page under its address, and under the one it led to."""
    if page.state is not PageState.OK or not page.text.strip():
        built.skip(page.state.value)
        return
    for address in dict.fromkeys((url, final_url or url)):
        if address.startswith(("http://", "https://")):
            yield Document(
                url=address,
                title=page.title,
                text=page.text,
                published=day(page.published),
                site=page.site,
                author=page.author,
                language=page.language,
                flags=page.flags,
            )
