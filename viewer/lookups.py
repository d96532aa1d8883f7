"""Looking things up in a run's ledger: pages as they were stored, and what was asked in which order. Read only."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import Json
from ..errors import UserError
from ..ledger.data import Request
from ..ledger.store import Store, kind_of

_CALLS = """
SELECT c.key, c.kind, c.endpoint, c.request, c.state, c.code, c.reason, c.answer, c.prompt_tokens, c.cached_tokens,
       c.completion_tokens, c.cost_usd, c.elapsed_s, c.at, c.run != u.run
FROM uses u JOIN calls c ON c.id = u.call WHERE u.run = ? AND u.scope = ? ORDER BY u.id
"""
_MADE_IN = """
SELECT r.name, u.scope FROM calls c JOIN uses u ON u.call = c.id JOIN runs r ON r.id = u.run
WHERE c.key = ? AND u.scope LIKE '%/protocol' ORDER BY u.id LIMIT 1
"""


@dataclass(frozen=True)
class PageText:
    """A page (or paper, or repository) as it was stored."""

    text: str
    fields: dict[str, Json]
    """Title, site, dates … as far as they are known."""


class Lookups:
    """One run's view of a ledger file; without the file every answer is empty and :attr:`missing` says why."""

    def __init__(self, ledger: Path | None, run: str) -> None:
        self.run, self.missing = run, ""
        self._store: Store | None = None
        self._run: int | None = None
        try:
            if ledger is None:
                raise UserError("no ledger")
            self._store = Store(ledger, read_only=True)
            self._run = self._store.run_id(run)
            if self._run is None:
                self.missing = f"the ledger {ledger.name} does not know this run"
        except UserError as error:
            self.missing = str(error) if ledger is None or ledger.exists() else f"no ledger {ledger.name} was found"

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()

    def page(self, key: str) -> PageText | None:
        """The page that a ledger key leads to; None: it is not there, or a failure."""
        try:
            return self._page(self._store, key) if self._store is not None else None
        except UserError:  # damaged bytes: the quote is kept with the result
            return None

    def _page(self, store: Store, key: str) -> PageText | None:
        found = store.best_of_run(self._run, key) if self._run is not None else None
        found = found or store.best(key)
        if found is None or found.answer is None:
            return None
        body: Json = json.loads(found.answer)
        return _page(body, store.blob(found.blob) if found.blob is not None else None)

    def calls(self, scope: str) -> Iterator[dict[str, Json]]:
        """What a part of the run asked outside, in order; requests and answers in full, secrets masked."""
        if self._store is None or self._run is None:
            return
        seen: set[str] = set()
        for row in self._store.rows(_CALLS, self._run, scope):
            if row[0] not in seen:
                seen.add(row[0])
                yield self._call(row, self._store)

    def made_in(self, key: str) -> tuple[str, str] | None:
        """Run and scope in which a protocol was made that rests on this key; None where the ledger does not tell."""
        rows = self._store.rows(_MADE_IN, key) if self._store is not None else []
        return (str(rows[0][0]), str(rows[0][1])) if rows else None

    def _call(self, row: tuple[Any, ...], store: Store) -> dict[str, Json]:
        key, kind, endpoint, request, state, code, reason, answer = row[:8]
        prompt, cached, completion, cost, elapsed, at, reused = row[8:]
        body = store.request(request)
        subject = Request(kind_of(kind), endpoint, body if isinstance(body, dict) else {}).subject
        return {
            "key": key,
            "kind": kind,
            "endpoint": endpoint,
            "subject": subject,
            "state": state,
            "reason": reason or code,
            "tokens": [prompt, cached, completion],
            "usd": cost,
            "seconds": round(elapsed, 3),
            "at": dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="seconds"),
            "reused": bool(reused),
            "request": body,
            "answer": json.loads(answer) if answer and state != "failed" else None,
        }


def _page(body: Json, blob: bytes | None) -> PageText:
    fields = dict(body) if isinstance(body, dict) else {}
    page = fields.pop("page", None)
    if isinstance(page, dict):  # a page as tools/records.py keeps it; its text is the blob
        fields = {**fields, **page}
        return PageText((blob or b"").decode("utf-8", "replace"), _known(fields))
    if blob is not None:
        return PageText(blob.decode("utf-8", "replace"), _known(fields))
    return PageText(json.dumps(body, ensure_ascii=False, indent=2), _known(fields))


_FIELDS = ("final_url", "title", "site", "author", "published", "modified", "archived", "state", "reason", "flags")


def _known(fields: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name in _FIELDS if (value := fields.get(name))}
