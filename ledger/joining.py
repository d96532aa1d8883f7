"""One run made of several: what its parts saw, in one new file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import UserError
from .store import Store, create
from .transfer import _CALL, _MARKS, OTHER, _add_blob, _blobs, _number

PAGE = 200
"""Calls that are in memory at a time."""
Part = tuple[Path, str]
"""A ledger file, and the name of a run in it."""
Scopes = Callable[[int, str], str]
"""Number of a part and the scope of a call in it, to the scope in the joined run."""


def join_runs(parts: Sequence[Part], out: Path, name: str, *, scopes: Scopes = lambda _, scope: scope) -> Path:
    """Write all that the runs ``parts`` saw into the one new ledger ``out``, as the one run ``name``; returns it.

    What any of the parts paid for, the joined run paid for; what several of them used counts once. UserError for an
    unknown run, an unusable ledger, or an ``out`` that is there already.
    """
    if os.path.lexists(out):
        raise UserError(f"{out}: exists already and is not overwritten")
    out.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(Store(path, read_only=True))) for path, _ in parts]
        numbers = [_number(store, run) for store, (_, run) in zip(stores, parts, strict=True)]
        db = stack.enter_context(closing(sqlite3.connect(out, isolation_level=None)))
        create(db)
        db.execute("BEGIN")
        _joined_run(db, stores, numbers, name)
        for part, (store, number) in enumerate(zip(stores, numbers, strict=True)):
            calls = _take_calls(db, store, number)
            _take_uses(db, store, number, calls, partial(scopes, part))
        db.execute("COMMIT")
    return out


def _joined_run(db: sqlite3.Connection, stores: Sequence[Store], numbers: Sequence[int], name: str) -> None:
    """Make the run. Its id is 1, and the parts' own ids lead to it when their calls are taken over."""
    db.execute("CREATE TEMP TABLE parts(uid TEXT PRIMARY KEY)")
    began = []
    for store, number in zip(stores, numbers, strict=True):
        uid, at = store.rows("SELECT uid, at FROM runs WHERE id = ?", number)[0]
        db.execute("INSERT OR IGNORE INTO parts VALUES (?)", (uid,))
        began.append(at)
    uids = sorted(uid for (uid,) in db.execute("SELECT uid FROM parts"))
    uid = sha256("\n".join(uids).encode()).hexdigest()[:24]
    db.execute("INSERT INTO runs(id, uid, name, at) VALUES (1, ?, ?, ?)", (uid, name, min(began)))


def _take_calls(db: sqlite3.Connection, store: Store, number: int) -> dict[int, int]:
    """Copy the calls that a part used; returns their numbers there and here."""
    found: dict[int, int] = {}
    for calls in _pages(store, number):
        for digest in _blobs(calls):
            _add_blob(db, store, digest)
        for call in calls:
            known = db.execute("SELECT id FROM calls WHERE uid = ?", (call[2],)).fetchone()
            if known is None:
                values = (_payer(db, store, call[1]), *call[2:])
                known = (db.execute(f"INSERT INTO calls(run, {_CALL}) VALUES ({_MARKS})", values).lastrowid,)
            found[call[0]] = int(known[0])
    return found


def _pages(store: Store, number: int) -> Iterator[list[tuple[Any, ...]]]:
    sql = f"SELECT id, run, {_CALL} FROM calls WHERE id IN (SELECT call FROM uses WHERE run = ?) AND id > ?"
    last = 0
    while calls := store.rows(f"{sql} ORDER BY id LIMIT {PAGE}", number, last):
        yield calls
        last = calls[-1][0]


def _payer(db: sqlite3.Connection, store: Store, run: int) -> int:
    """Who called: the joined run for any of its parts, else a run that is only known as the payer."""
    uid, at = store.rows("SELECT uid, at FROM runs WHERE id = ?", run)[0]
    if db.execute("SELECT 1 FROM parts WHERE uid = ?", (uid,)).fetchone():
        return 1
    db.execute("INSERT OR IGNORE INTO runs(uid, name, at) VALUES (?, ?, ?)", (uid, OTHER + uid, at))
    return int(db.execute("SELECT id FROM runs WHERE uid = ?", (uid,)).fetchone()[0])


def _take_uses(
    db: sqlite3.Connection, store: Store, number: int, calls: dict[int, int], scope_of: Callable[[str], str]
) -> None:
    for call, scope in store.rows("SELECT call, scope FROM uses WHERE run = ? ORDER BY id", number):
        values = (calls[call], scope_of(scope))
        db.execute("INSERT OR REPLACE INTO uses(run, call, scope) VALUES (1, ?, ?)", values)
