"""Handing on what one run saw: export to one file, import from it."""

from __future__ import annotations

import os
import secrets
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import UserError
from .store import Store, create, pieces_in, unpack

OTHER = "~"
"""Before the name of a run that an exported file only knows as the payer of answers that were reused."""
_CALL = (
    "uid, at, key, kind, endpoint, request, sample, state, answer, blob, reason, code, subject, prompt_tokens,"
    " cached_tokens, completion_tokens, cost_usd, held_usd, elapsed_s"
)
_MARKS = ", ".join("?" * 20)


def export_run(ledger: Path, run: str, out: Path) -> Path:
    """Write all that ``run`` saw, and nothing else, into the one new file ``out``; returns it.

    It is a ledger of its own: replay needs neither key, network nor the original. Names of other runs whose answers
    were reused are left out. UserError for an unknown run, an unusable ledger, or an ``out`` that is there already:
    nothing is ever overwritten.
    """
    _refuse_existing(out)
    source = Store(ledger, read_only=True)
    with closing(source):
        number = _number(source, run)
        draft = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
        try:
            _fill(draft, source, number)
            _refuse_existing(out)
            draft.replace(out)
        except (OSError, sqlite3.OperationalError) as error:
            raise UserError(f"{out}: cannot be written ({getattr(error, 'strerror', None) or error})") from error
        finally:
            with suppress(OSError):
                draft.unlink()
    return out


def _refuse_existing(out: Path) -> None:
    """UserError when ``out`` names no file, or something that is there: a file, a folder, a device, a link."""
    if out.name in ("", ".."):
        raise UserError(f"{str(out)!r} names no file: give the new file to write")
    try:
        there = os.path.lexists(out)
    except ValueError as error:
        raise UserError(f"{str(out)!r} names no file ({error})") from None
    if there:
        raise UserError(f"{out}: exists already and is not overwritten: give the name of a new file")


def _number(source: Store, run: str) -> int:
    number = source.run_id(run)
    if number is None:
        names = [name for (name,) in source.rows("SELECT name FROM runs ORDER BY at DESC LIMIT 5")]
        raise UserError(f"{source.path}: no run {run!r}; the newest are: {', '.join(names) or 'none'}")
    return number


def _fill(draft: Path, source: Store, number: int) -> None:
    draft.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(draft, isolation_level=None)) as db:
        create(db)
        db.execute("BEGIN")
        calls = source.rows(
            f"SELECT id, run, {_CALL} FROM calls WHERE id IN (SELECT call FROM uses WHERE run = ?) ORDER BY id", number
        )
        for run in sorted({number} | {call[1] for call in calls}):
            uid, name, at = source.rows("SELECT uid, name, at FROM runs WHERE id = ?", run)[0]
            db.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (run, uid, name if run == number else OTHER + uid, at))
        for digest in _blobs(calls):
            db.executemany("INSERT INTO blobs VALUES (?, ?, ?)", _blob(source, digest))
        db.executemany(f"INSERT INTO calls(id, run, {_CALL}) VALUES (?, {_MARKS})", calls)
        uses = source.rows("SELECT id, run, call, scope FROM uses WHERE run = ? ORDER BY id", number)
        db.executemany("INSERT INTO uses VALUES (?, ?, ?, ?)", uses)
        db.execute("COMMIT")


def _blobs(calls: Iterable[tuple[Any, ...]]) -> list[str]:
    """Digests of all bytes that these calls need: pages, and pieces of requests."""
    found: set[str] = set()
    for call in calls:
        request, blob = call[7], call[11]
        found |= pieces_in(request) | ({blob} if blob is not None else set())
    return sorted(found)


def _blob(source: Store, digest: str) -> list[tuple[Any, ...]]:
    return source.rows("SELECT digest, size, data FROM blobs WHERE digest = ?", digest)


def import_runs(file: Path, ledger: Path) -> list[str]:
    """Take the runs of an exported ``file`` into ``ledger`` (made if missing); returns their names.

    Importing twice changes nothing. UserError when a file is unusable or damaged, or when another run of the same
    name is there already.
    """
    with closing(Store(file, read_only=True)) as source, closing(Store(ledger)) as target:
        with target.writing() as db:
            runs = {
                number: _run(db, target.path, uid, name, at)
                for number, uid, name, at in source.rows("SELECT id, uid, name, at FROM runs ORDER BY id")
            }
            calls = source.rows(f"SELECT id, run, {_CALL} FROM calls ORDER BY id")
            for digest in _blobs(calls):
                _add_blob(db, source, digest)
            numbers = {call[0]: _call(db, runs[call[1]], call) for call in calls}
            for run, call, scope in source.rows("SELECT run, call, scope FROM uses ORDER BY id"):
                values = (runs[run], numbers[call], scope)
                db.execute("INSERT OR IGNORE INTO uses(run, call, scope) VALUES (?, ?, ?)", values)
        names = source.rows("SELECT name FROM runs ORDER BY at, id")
    return [name for (name,) in names if not name.startswith(OTHER)]


def _run(db: sqlite3.Connection, path: Path, uid: str, name: str, at: float) -> int:
    known = db.execute("SELECT id, name FROM runs WHERE uid = ?", (uid,)).fetchone()
    if known is not None:
        if known[1].startswith(OTHER) and not name.startswith(OTHER):
            _free(db, path, name)
            db.execute("UPDATE runs SET name = ? WHERE id = ?", (name, known[0]))
        return int(known[0])
    _free(db, path, name)
    return int(db.execute("INSERT INTO runs(uid, name, at) VALUES (?, ?, ?)", (uid, name, at)).lastrowid or 0)


def _free(db: sqlite3.Connection, path: Path, name: str) -> None:
    if db.execute("SELECT 1 FROM runs WHERE name = ?", (name,)).fetchone():
        raise UserError(f"{path}: has another run named {name!r} already; import into another file with --ledger")


def _call(db: sqlite3.Connection, run: int, call: tuple[Any, ...]) -> int:
    known = db.execute("SELECT id FROM calls WHERE uid = ?", (call[2],)).fetchone()
    if known is not None:
        return int(known[0])
    cursor = db.execute(f"INSERT INTO calls(run, {_CALL}) VALUES ({_MARKS})", (run, *call[2:]))
    return int(cursor.lastrowid or 0)


def _add_blob(db: sqlite3.Connection, source: Store, digest: str) -> None:
    found = _blob(source, digest)
    try:
        genuine = bool(found) and sha256(unpack(found[0][2])).hexdigest() == digest
    except zlib.error:
        genuine = False
    if not genuine:
        raise UserError(f"{source.path}: damaged: the bytes {digest[:12]}… are missing or are not what they should be")
    db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)", found[0])
