"""A corpus: a frozen piece of the web, searched and read under its original addresses.

Three forms: a folder of Markdown files with front matter (``url``, ``title``, ``published``, ``site``, ``author``,
``language``), a JSONL file with the same fields and ``text``, or one built SQLite file (``dream corpus build``). The
first two are indexed in memory when they are opened. The digest is over the documents alone, so all forms of one
corpus are the same to the ledger.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from ..core import Frozen
from ..errors import InputError, UserError
from ..reports import scalar_json, split_sentences
from .content import read_markdown
from .hosts import page_key
from .words import query_terms, terms

_FORMAT = 1
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, url TEXT NOT NULL, title TEXT NOT NULL, published TEXT,
    site TEXT NOT NULL, author TEXT NOT NULL, language TEXT, flags TEXT NOT NULL, text TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(title, body, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '.'");
"""
_NAMES = ("url", "title", "published", "site", "author", "language", "flags", "text")
_FIELDS = ", ".join(_NAMES)
_STAGE = f"CREATE TEMP TABLE stage (key TEXT PRIMARY KEY, {_FIELDS});"
_SNIPPET = 300
_TITLE_WEIGHT = 3.0


class Document(Frozen):
    """A page of a corpus. ``text`` is what a judge may read: hidden parts are out, and flagged."""

    url: str = Field(min_length=4, pattern=r"^https?://")
    title: str = ""
    text: str = Field(min_length=1)
    published: dt.date | None = None
    site: str = ""
    author: str = ""
    language: str | None = None
    flags: tuple[str, ...] = ()


class CorpusHit(Frozen):
    """A document found, with its best sentence."""

    url: str
    title: str
    snippet: str
    published: dt.date | None = None
    language: str | None = None


class Corpus:
    """A corpus, opened. Close it after use."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.digest: str = db.execute("SELECT value FROM meta WHERE name = 'digest'").fetchone()[0]
        """SHA-256 of its documents, 64 hex digits."""

    @classmethod
    def open(cls, path: Path | str) -> Corpus:
        """Open any of the three forms. UserError or InputError when it is none of them."""
        path = Path(path)
        if not path.exists():
            raise UserError(f"{path}: no such corpus; give a folder, a .jsonl file or one made by `dream corpus build`")
        if path.is_file() and path.open("rb").read(16).startswith(b"SQLite format 3"):
            return cls(_open_built(path))
        db = sqlite3.connect(":memory:", check_same_thread=False)
        fill(db, documents_of(path))
        return cls(db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __len__(self) -> int:
        """How many documents there are."""
        count: int = self._db.execute("SELECT count(*) FROM documents").fetchone()[0]
        return count

    def get(self, url: str) -> Document | None:
        """The document under this address (scheme, ``www.``, tracking and a final slash do not matter)."""
        row = self._db.execute(f"SELECT {_FIELDS} FROM documents WHERE key = ?", (page_key(url),)).fetchone()
        return _document(row) if row else None

    def search(self, query: str, *, limit: int = 8) -> list[CorpusHit]:
        """Documents that hold a term of the query, best BM25 first (the title counts threefold)."""
        wanted = query_terms(query)
        if not wanted:
            return []
        match = " OR ".join(f'"{term}"' for term in wanted[:40])
        best = "SELECT rowid, bm25(words, ?, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score, rowid LIMIT ?"
        fields = ", ".join(f"d.{name}" for name in _NAMES)
        rows = self._db.execute(
            f"SELECT {fields} FROM ({best}) b JOIN documents d ON d.id = b.rowid ORDER BY b.score, d.id",
            (_TITLE_WEIGHT, match, limit),
        )
        return [_hit(_document(row), wanted) for row in rows]

    def documents(self) -> Iterator[Document]:
        """All documents, by address."""
        for row in self._db.execute(f"SELECT {_FIELDS} FROM documents ORDER BY key"):
            yield _document(row)


def corpus_digest(path: Path | str) -> str:
    """Digest of the corpus at ``path``, 64 hex digits: what names it in a run's record. Raises as Corpus.open."""
    corpus = Corpus.open(path)
    try:
        return corpus.digest
    finally:
        corpus.close()


def fill(db: sqlite3.Connection, documents: Iterable[Document]) -> int:
    """Write a corpus into an empty database; the number of documents. Of two under one address the first one stays.

    Documents are numbered in the order of their addresses, so that equal corpora are equal down to ties in a ranking.
    """
    db.executescript(_SCHEMA + _STAGE)
    marks = ", ".join("?" * (1 + len(_NAMES)))
    for document in documents:
        row = (page_key(document.url), *_row(document))
        db.execute(f"INSERT OR IGNORE INTO stage(key, {_FIELDS}) VALUES ({marks})", row)
    db.execute(f"INSERT INTO documents(key, {_FIELDS}) SELECT key, {_FIELDS} FROM stage ORDER BY key")
    db.execute("DROP TABLE stage")
    count = 0
    for number, title, text in db.execute("SELECT id, title, text FROM documents ORDER BY id"):
        db.execute("INSERT INTO words(rowid, title, body) VALUES (?, ?, ?)", (number, _indexed(title), _indexed(text)))
        count += 1
    meta = {"format": str(_FORMAT), "digest": _digest(db), "count": str(count)}
    db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    db.commit()
    return count


def _indexed(text: str) -> str:
    return " ".join(terms(text))


def _row(document: Document) -> tuple[str | None, ...]:
    published = document.published.isoformat() if document.published else None
    flags = " ".join(document.flags)
    return (
        *(document.url, document.title, published, document.site, document.author),
        *(document.language, flags, document.text),
    )


def _document(row: tuple[str, ...]) -> Document:
    url, title, published, site, author, language, flags, text = row
    return Document(
        url=url,
        title=title,
        text=text,
        published=dt.date.fromisoformat(published) if published else None,
        site=site,
        author=author,
        language=language,
        flags=tuple(flags.split()),
    )


def _digest(db: sqlite3.Connection) -> str:
    whole = hashlib.sha256()
    for row in db.execute(f"SELECT key, {_FIELDS} FROM documents ORDER BY key"):
        whole.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
    return whole.hexdigest()


def _open_built(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    try:
        found = db.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    except sqlite3.DatabaseError:
        found = None
    if found is None or found[0] != str(_FORMAT):
        db.close()
        raise UserError(f"{path}: not a corpus; make one with `dream corpus build`")
    return db


def _hit(document: Document, wanted: list[str]) -> CorpusHit:
    snippet = best_sentence(document.text, wanted)
    return CorpusHit(
        url=document.url,
        title=document.title,
        snippet=snippet[:_SNIPPET],
        published=document.published,
        language=document.language,
    )


def best_sentence(text: str, wanted: list[str]) -> str:
    """The first sentence with most of the wanted terms, looked for in the first 12,000 characters."""
    head = text[:12_000]
    folded = head.lower()
    spans = split_sentences(head)
    if not spans:
        return ""
    best = max(spans, key=lambda span: (sum(term in folded[span.start : span.end] for term in wanted), -span.start))
    return " ".join(head[best.start : best.end].split())


def documents_of(path: Path) -> Iterator[Document]:
    """Documents of a folder (all ``.md`` files below it, by name) or a JSONL file. InputError for a bad one."""
    if path.is_dir():
        files = sorted(path.rglob("*.md"))
        documents = (read_document(file) for file in files)
        found = [document for document in documents if document is not None]
        if not found:
            raise UserError(f"{path}: no Markdown file with a `url:` in its front matter")
        yield from found
    else:
        yield from _json_lines(path)


def read_document(file: Path) -> Document | None:
    """A Markdown file with front matter; None for a file without a ``url`` in it (a README)."""
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    head = re.match(r"---\s*\n(.*?)\n---\s*(?:\n|$)", text, re.DOTALL)
    fields = _front_matter(head.group(1)) if head else {}
    if not head or "url" not in fields:
        return None
    return make_document(fields, text[head.end() :], file)


def _front_matter(head: str) -> dict[str, str]:
    """Lines of ``name: value``; quotation marks around a value are dropped."""
    pairs = (line.partition(":") for line in head.splitlines() if ":" in line and not line.startswith(("#", " ", "\t")))
    return {name.strip().lower(): value.strip().strip("\"'") for name, _, value in pairs}


def _json_lines(path: Path) -> Iterator[Document]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                fields = scalar_json(json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8")))
            except UnicodeDecodeError:
                raise InputError("not UTF-8 text; a corpus file holds JSON lines", path=path, line=number) from None
            except (ValueError, RecursionError):
                raise InputError("not JSON", path=path, line=number) from None
            if not isinstance(fields, dict):
                raise InputError("not an object", path=path, line=number)
            yield make_document(fields, str(fields.get("text") or ""), path, number)


def make_document(fields: dict[str, str], text: str, path: Path, line: int | None = None) -> Document:
    """A document from fields and Markdown text. InputError names the field that is wrong."""
    page = read_markdown(text)
    try:
        return Document(
            url=fields.get("url") or "",
            title=fields.get("title") or page.title,
            text=page.text,
            published=dt.date.fromisoformat(str(value)[:10])
            if (value := fields.get("published") or fields.get("date"))
            else None,
            site=fields.get("site") or "",
            author=fields.get("author") or "",
            language=fields.get("language") or None,
            flags=page.flags,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(str(first["msg"]).lower(), path=path, line=line, field=str(first["loc"][0])) from None
    except ValueError:
        raise InputError("not a date (YYYY-MM-DD)", path=path, line=line, field="published") from None
