"""What pieces of work took before: calls and tokens by scope, for estimates."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .data import Kind
from .store import Store, kind_of

NEWEST = 500_000
"""Uses that are looked at, the newest ones."""
_SQL = """
WITH part AS (
    SELECT u.run, u.scope, c.kind, c.endpoint, count(*), sum(c.prompt_tokens), sum(c.cached_tokens),
           sum(c.completion_tokens), min(c.id) AS first
    FROM uses u JOIN calls c ON c.id = u.call
    WHERE c.state != 'failed' AND u.id > (SELECT coalesce(max(id), 0) FROM uses) - ?
    GROUP BY u.run, u.scope, c.kind, c.endpoint)
SELECT part.*, CASE part.kind WHEN 'completion' THEN json_extract(calls.request, '$.model') END
FROM part JOIN calls ON calls.id = part.first
"""


@dataclass(frozen=True)
class Seen:
    """The calls of one kind that one piece of work of one run used, answers of other runs included."""

    run: int
    """Number of the run in this ledger."""
    scope: str
    kind: Kind
    endpoint: str
    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    model: str = ""
    """Of completions: as the endpoint knows it."""


def seen_work(ledger: Path) -> list[Seen]:
    """All of it; empty for a ledger that is not there. UserError for a file that cannot be used."""
    if not ledger.is_file():
        return []
    with closing(Store(ledger, read_only=True)) as store:
        rows = store.rows(_SQL, NEWEST)
    return [Seen(row[0], row[1], kind_of(row[2]), row[3], row[4], row[5], row[6], row[7], row[9] or "") for row in rows]
