"""The SQLite file under the ledger: schema, opening, rows in and out. Knows nothing about modes or budgets."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..core import Json
from ..errors import UserError
from .canon import canonical
from .data import Kind, Usage

APPLICATION_ID = 0x4452_4541
VERSION = 1
"""Schema version. A file of a newer version is refused."""

SCHEMA = """
CREATE TABLE runs(
    id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, at REAL NOT NULL);
CREATE TABLE blobs(digest TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE calls(
    id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, run INTEGER NOT NULL REFERENCES runs(id), at REAL NOT NULL,
    key TEXT NOT NULL, kind TEXT NOT NULL, endpoint TEXT NOT NULL, request TEXT NOT NULL, sample INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('usable', 'unusable', 'failed')),
    answer TEXT, blob TEXT REFERENCES blobs(digest), reason TEXT NOT NULL, code TEXT NOT NULL, subject TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    cost_usd REAL, held_usd REAL, elapsed_s REAL NOT NULL);
CREATE INDEX calls_key ON calls(key, at);
CREATE INDEX calls_run ON calls(run);
CREATE TABLE uses(
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(id), call INTEGER NOT NULL REFERENCES calls(id),
    scope TEXT NOT NULL, UNIQUE(run, scope, call));
"""
LONG = 4096
"""Strings of a request longer than this many characters are stored in pieces of this size, each once by content."""
_PIECES = "$pieces"
_NONE: Mapping[str, bytes] = {}
LARGEST = 256 * 1024 * 1024


@dataclass(frozen=True)
class Row:
    """One recorded call as it is written."""

    key: str
    kind: str
    endpoint: str
    request: str
    sample: int
    state: str
    answer: str | None
    blob: bytes | None
    reason: str
    code: str
    subject: str
    usage: Usage
    held_usd: float | None
    elapsed_s: float


@dataclass(frozen=True)
class Stored:
    """What is read back of a recorded call."""

    id: int
    key: str
    run: int
    state: str
    answer: str | None
    blob: str | None
    reason: str
    code: str
    subject: str
    usage: Usage
    elapsed_s: float


_STORED = (
    "c.id, c.key, c.run, c.state, c.answer, c.blob, c.reason, c.code, c.subject,"
    " c.prompt_tokens, c.cached_tokens, c.completion_tokens, c.cost_usd, c.elapsed_s"
)
_ORDER = " ORDER BY CASE c.state WHEN 'usable' THEN 0 WHEN 'unusable' THEN 1 ELSE 2 END, c.at DESC, c.id DESC LIMIT 1"


class Store:
    """One connection to one ledger file. Every method is one transaction; threads take turns."""

    def __init__(self, path: Path, *, read_only: bool = False, patience_s: float = 10.0) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._trouble():
            self.db = _connect(path, read_only, patience_s)
            try:
                _prepare(self.db, path, read_only)
            except BaseException:
                self.db.close()
                raise

    def close(self) -> None:
        """Close the file; what was written stays."""
        with self._lock, suppress(sqlite3.Error):
            self.db.close()

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.OperationalError as error:
                raise UserError(_operational(self.path, error)) from error
            except sqlite3.DatabaseError as error:
                raise UserError(f"{self.path}: not a ledger, or damaged ({error})") from error
            except OSError as error:
                raise UserError(f"{self.path}: cannot be used as a ledger ({error.strerror or error})") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed at the end, rolled back on any error."""
        with self._trouble():
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self.db.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._trouble():
            return self.db.execute(sql, values).fetchall()

    def run_id(self, name: str) -> int | None:
        """The run's number in this file, or None."""
        found = self.rows("SELECT id FROM runs WHERE name = ?", name)
        return int(found[0][0]) if found else None

    def add_run(self, name: str) -> int:
        """The run's number, made when the name is new."""
        with self.writing() as db:
            uid, now = secrets.token_hex(12), time.time()
            db.execute("INSERT OR IGNORE INTO runs(uid, name, at) VALUES (?, ?, ?)", (uid, name, now))
            return int(db.execute("SELECT id FROM runs WHERE name = ?", (name,)).fetchone()[0])

    def add(self, run: int, scope: str, row: Row, pieces: Mapping[str, bytes] = _NONE) -> int:
        """Record a call and its first use at once; returns its number."""
        with self.writing() as db:
            blob = sha256(row.blob).hexdigest() if row.blob is not None else None
            if row.blob is not None and blob is not None:
                _keep(db, blob, row.blob)
            for name, piece in pieces.items():
                _keep(db, name, piece)
            u = row.usage
            cursor = db.execute(
                "INSERT INTO calls(uid, run, at, key, kind, endpoint, request, sample, state, answer, blob, reason,"
                " code, subject, prompt_tokens, cached_tokens, completion_tokens, cost_usd, held_usd, elapsed_s)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    secrets.token_hex(12),
                    run,
                    time.time(),
                    row.key,
                    row.kind,
                    row.endpoint,
                    row.request,
                    row.sample,
                    row.state,
                    row.answer,
                    blob,
                    row.reason,
                    row.code,
                    row.subject,
                    u.prompt_tokens,
                    u.cached_tokens,
                    u.completion_tokens,
                    u.cost_usd,
                    row.held_usd,
                    row.elapsed_s,
                ),
            )
            call = int(cursor.lastrowid or 0)
            db.execute("INSERT INTO uses(run, call, scope) VALUES (?, ?, ?)", (run, call, scope))
            return call

    def use(self, run: int, call: int, scope: str) -> None:
        """Note that the run used this call; the newest use of a scope comes last."""
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO uses(run, call, scope) VALUES (?, ?, ?)", (run, call, scope))

    def spoil(self, call: int, reason: str) -> None:
        """Mark an answer as unusable."""
        with self.writing() as db:
            db.execute(
                "UPDATE calls SET state = 'unusable', reason = ? WHERE id = ? AND state != 'failed'", (reason, call)
            )

    def get(self, call: int) -> Stored:
        """One call by its number. KeyError when there is none."""
        found = self._one("FROM calls c WHERE c.id = ?", call)
        if found is None:
            raise KeyError(call)
        return found

    def content(self, call: int) -> tuple[Json, Json]:
        """Request and answer of a call; of a failure its raw reply, empty when there is none. KeyError."""
        found = self.rows("SELECT request, answer, state FROM calls WHERE id = ?", call)
        if not found:
            raise KeyError(call)
        request, answer, state = found[0]
        return self.request(request), answer if state == "failed" else json.loads(answer or "null")

    def newest_usable(self, key: str) -> Stored | None:
        """The newest usable answer to a request."""
        return self._one("FROM calls c WHERE c.key = ? AND c.state = 'usable'" + _ORDER, key)

    def used_in(self, run: int, scope: str, key: str) -> Stored | None:
        """What this part of the run used last for a request, failures included."""
        return self._one(
            "FROM calls c JOIN uses u ON u.call = c.id WHERE c.key = ? AND u.run = ? AND u.scope = ?"
            " ORDER BY u.id DESC LIMIT 1",
            *(key, run, scope),
        )

    def best_of_run(self, run: int, key: str) -> Stored | None:
        """The run's newest usable answer, else its newest unusable one, else its newest failure."""
        return self._one(
            "FROM calls c WHERE c.key = ? AND EXISTS(SELECT 1 FROM uses u WHERE u.call = c.id AND u.run = ?)" + _ORDER,
            *(key, run),
        )

    def best(self, key: str) -> Stored | None:
        """The newest usable answer in the file, else the newest unusable one, else the newest failure."""
        return self._one("FROM calls c WHERE c.key = ?" + _ORDER, key)

    def endpoints(self, prefix: str) -> list[str]:
        """The recorded endpoints that begin with ``prefix``."""
        sql = "SELECT DISTINCT endpoint FROM calls WHERE substr(endpoint, 1, length(?)) = ? ORDER BY endpoint"
        return [str(endpoint) for (endpoint,) in self.rows(sql, prefix, prefix)]

    def _one(self, tail: str, *values: Any) -> Stored | None:
        found = self.rows(f"SELECT {_STORED} {tail}", *values)
        return _stored(found[0]) if found else None

    def blob(self, digest: str) -> bytes:
        """Bytes by their SHA-256. UserError when they are missing or damaged."""
        found = self.rows("SELECT data FROM blobs WHERE digest = ?", digest)
        try:
            data = unpack(found[0][0])
        except (IndexError, zlib.error) as error:
            raise UserError(f"{self.path}: damaged: the bytes {digest[:12]}… cannot be read") from error
        return data

    def request(self, text: str) -> Json:
        """A stored request with its long strings put together again."""
        return _unfold(json.loads(text), self)


def _connect(path: Path, read_only: bool, patience_s: float) -> sqlite3.Connection:
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)
    if not path.is_file():
        raise UserError(f"{path}: no such ledger")
    for how in ("mode=ro", "mode=ro&immutable=1"):  # the second: a folder where no -shm file can be made
        uri = f"{path.resolve().as_uri()}?{how}"
        db = sqlite3.connect(uri, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False)
        with suppress(sqlite3.OperationalError):
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            break
        if how == "mode=ro":
            db.close()
    return db


def _prepare(db: sqlite3.Connection, path: Path, read_only: bool) -> None:
    # In this order: another process may make the tables between two of these questions.
    empty = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    owner = int(db.execute("PRAGMA application_id").fetchone()[0])
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if owner != APPLICATION_ID and not (empty and not read_only):
        raise UserError(f"{path}: not a ledger of dream-eval")
    if version > VERSION:
        raise UserError(f"{path}: written by a newer dream-eval (schema {version}, this one reads {VERSION}); upgrade")
    if read_only:
        return
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    if empty:
        create(db)


def create(db: sqlite3.Connection) -> None:
    """Make the tables; of two processes that start together, one does it."""
    db.execute("BEGIN IMMEDIATE")
    if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in SCHEMA.split(";"):
            if statement.strip():
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _operational(path: Path, error: sqlite3.OperationalError) -> str:
    if "locked" in str(error) or "busy" in str(error):
        return f"{path}: locked by another program; wait until it is done, or give another file with --ledger"
    return f"{path}: cannot be used as a ledger ({error})"


def _keep(db: sqlite3.Connection, name: str, data: bytes) -> None:
    if db.execute("SELECT 1 FROM blobs WHERE digest = ?", (name,)).fetchone() is None:
        db.execute("INSERT INTO blobs VALUES (?, ?, ?)", (name, len(data), zlib.compress(data, 1)))


def unpack(packed: bytes) -> bytes:
    """Undo the compression. zlib.error when damaged, or when it would fill more than 256 MB."""
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, LARGEST)
    if not unpacker.eof:
        raise zlib.error("incomplete or too large")
    return data


def _stored(row: tuple[Any, ...]) -> Stored:
    number, key, run, state, answer, blob, reason, code, subject, prompt, cached, completion, cost, elapsed = row
    usage = Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion, cost_usd=cost)
    return Stored(number, key, run, state, answer, blob, reason, code, subject, usage, elapsed)


def fold(body: Json, mask: Callable[[str], str]) -> tuple[str, dict[str, bytes]]:
    """A request as masked canonical JSON without its long strings, and the pieces these were cut into.

    Requests of one report begin with the same long text, so their pieces are the same and are stored once.
    """
    pieces: dict[str, bytes] = {}

    def walk(value: Json) -> Json:
        if isinstance(value, str) and len(value) > LONG:
            text = mask(value)
            cut = [text[i : i + LONG].encode("utf-8", "surrogatepass") for i in range(0, len(text), LONG)]
            names = [sha256(piece).hexdigest() for piece in cut]
            pieces.update(zip(names, cut, strict=True))
            return {_PIECES: list[Json](names)}
        if isinstance(value, dict):
            return {name: walk(item) for name, item in value.items()}
        return [walk(item) for item in value] if isinstance(value, list | tuple) else value

    return mask(canonical(walk(body))), pieces


def pieces_in(request: str) -> set[str]:
    """The digests of the pieces that a stored request was cut into."""
    found: set[str] = set()

    def walk(value: Json) -> None:
        if isinstance(value, dict):
            names = value.get(_PIECES)
            if isinstance(names, list) and len(value) == 1:
                found.update(str(name) for name in names)
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                walk(item)

    if _PIECES in request:
        walk(json.loads(request))
    return found


def _unfold(value: Json, store: Store) -> Json:
    if isinstance(value, list):
        return [_unfold(item, store) for item in value]
    if not isinstance(value, dict):
        return value
    names = value.get(_PIECES)
    if isinstance(names, list) and len(value) == 1:
        return "".join(store.blob(str(name)).decode("utf-8", "surrogatepass") for name in names)
    return {name: _unfold(item, store) for name, item in value.items()}


def kind_of(text: str) -> Kind:
    """The kind of a stored call. UserError for one that this version does not know."""
    try:
        return Kind(text)
    except ValueError as error:
        raise UserError(f"the ledger holds a call of the unknown kind {text!r}") from error
