"""Looking into a ledger file: runs, calls of a run, one call in full. Read only, also while a run writes."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import Json
from ..errors import UserError
from .data import Kind, Request, Totals, Usage
from .store import Store, kind_of
from .sums import totals
from .transfer import OTHER


@dataclass(frozen=True)
class RunInfo:
    """A run in a ledger."""

    name: str
    started: dt.datetime
    """UTC."""
    newest: dt.datetime | None
    """When its newest call was recorded, UTC; None without calls of its own."""
    totals: Totals


@dataclass(frozen=True)
class CallInfo:
    """A call that a run made or reused."""

    key: str
    kind: Kind
    endpoint: str
    subject: str
    """The query, address or model."""
    scope: str
    """Which part of the run used it."""
    state: str
    """``usable``, ``unusable`` or ``failed``."""
    code: str
    """Code of a failure; empty otherwise."""
    reason: str
    usage: Usage
    elapsed_s: float
    at: dt.datetime
    """When it was recorded, UTC."""
    reused: bool
    """Made by another run."""


@dataclass(frozen=True)
class CallDetail:
    """One call in full, secrets masked."""

    info: CallInfo
    request: Json
    answer: Json
    """None for a failure."""
    blob: bytes | None
    versions: int
    """How often this request is recorded; this is the newest."""


PAGE = 500
"""Calls that are read at a time."""
_INFO = (
    "c.key, c.kind, c.endpoint, c.request, u.scope, c.state, c.code, c.reason, c.prompt_tokens, c.cached_tokens,"
    " c.completion_tokens, c.cost_usd, c.elapsed_s, c.at, c.run != u.run"
)


def list_runs(ledger: Path) -> list[RunInfo]:
    """The runs of a ledger with their totals, oldest first. UserError for an unusable file."""
    with closing(Store(ledger, read_only=True)) as store:
        rows = store.rows(
            "SELECT id, name, at, (SELECT max(at) FROM calls WHERE run = runs.id) FROM runs ORDER BY at, id"
        )
        return [
            RunInfo(name, _time(at), _time(newest) if newest is not None else None, totals(store, number))
            for number, name, at, newest in rows
            if not name.startswith(OTHER)
        ]


def list_calls(ledger: Path, run: str, *, kind: Kind | None = None) -> list[CallInfo]:
    """The calls that ``run`` used, in order of use; all kinds, or one. UserError for an unknown run."""
    return [info for info in iter_calls(ledger, run) if kind is None or info.kind is kind]


def iter_calls(ledger: Path, run: str) -> Iterator[CallInfo]:
    """The same one after another, a page of them in memory at a time. UserError for an unknown run."""
    with closing(Store(ledger, read_only=True)) as store:
        number = store.run_id(run)
        if number is None:
            raise UserError(f"{ledger}: no run {run!r}")
        sql = f"SELECT u.id, {_INFO} FROM uses u JOIN calls c ON c.id = u.call WHERE u.run = ? AND u.id > ?"
        last = 0
        while rows := store.rows(f"{sql} ORDER BY u.id LIMIT {PAGE}", number, last):
            yield from (_info(row[1:]) for row in rows)
            last = rows[-1][0]


def find_call(ledger: Path, prefix: str) -> CallDetail:
    """The newest record of the one request whose key begins with ``prefix``. UserError for none or several."""
    with closing(Store(ledger, read_only=True)) as store:
        sql = "SELECT DISTINCT key FROM calls WHERE substr(key, 1, length(?)) = ? LIMIT 2"
        keys = [key for (key,) in store.rows(sql, prefix, prefix)] if prefix else []
        if len(keys) != 1:
            raise UserError(f"{ledger}: {'several calls have' if keys else 'no call has'} a key that begins {prefix!r}")
        sql = f"SELECT c.answer, c.blob, {_INFO} FROM calls c JOIN uses u ON u.call = c.id WHERE c.key = ?"
        rows = store.rows(f"{sql} ORDER BY c.at DESC, c.id DESC, u.id DESC LIMIT 1", keys[0])
        count = store.rows("SELECT count(*) FROM calls WHERE key = ?", keys[0])[0][0]
        answer, blob, *rest = rows[0]
        info = _info(tuple(rest))
        return CallDetail(
            info=info,
            request=store.request(rest[3]),
            answer=None if info.state == "failed" else json.loads(answer),
            blob=store.blob(blob) if blob is not None else None,
            versions=count,
        )


def _info(row: tuple[Any, ...]) -> CallInfo:
    key, kind, endpoint, request, scope, state, code, reason = row[:8]
    prompt, cached, completion, cost, elapsed, at, reused = row[8:]
    usage = Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion, cost_usd=cost)
    subject = Request(kind_of(kind), endpoint, json.loads(request)).subject
    return CallInfo(
        *(key, kind_of(kind), endpoint, subject, scope, state, code, reason, usage, elapsed),
        at=_time(at),
        reused=bool(reused),
    )


def _time(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
