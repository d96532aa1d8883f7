"""Totals of a run: sums over its records, never counters in a process."""

from __future__ import annotations

from typing import Any

from .data import Kind, KindTotals, Totals
from .failures import CUT_SHORT
from .purse import Spent
from .store import Store, kind_of

_MADE = """
SELECT kind, sum(state != 'failed'), sum(state = 'failed'), sum(elapsed_s), sum(prompt_tokens), sum(cached_tokens),
       sum(completion_tokens), coalesce(sum(cost_usd), 0.0)
FROM calls WHERE run = ? GROUP BY kind
"""
_REUSED = """
SELECT c.kind, count(DISTINCT c.id) FROM uses u JOIN calls c ON c.id = u.call
WHERE u.run = ? AND c.run != u.run AND c.state != 'failed' GROUP BY c.kind
"""
_UNPRICED = "SELECT DISTINCT endpoint FROM calls WHERE run = ? AND cost_usd IS NULL AND code != ? ORDER BY endpoint"
_CUT = "SELECT count(*), coalesce(sum(held_usd), 0.0) FROM calls WHERE run = ? AND code = ?"
_SPENT = """
SELECT coalesce(sum(coalesce(cost_usd, held_usd, 0.0)), 0.0), coalesce(sum(prompt_tokens + completion_tokens), 0)
FROM calls WHERE run = ?
"""


def totals(store: Store, run: int | None) -> Totals:
    """What the run made, reused and spent; all zero for an unknown run."""
    if run is None:
        return Totals()
    made = {kind_of(row[0]): row for row in store.rows(_MADE, run)}
    reused = {kind_of(kind): int(count) for kind, count in store.rows(_REUSED, run)}
    cut, cut_usd = store.rows(_CUT, run, CUT_SHORT)[0]
    return Totals(
        kinds={kind: _kind(made.get(kind), reused.get(kind, 0)) for kind in Kind if kind in made or kind in reused},
        prompt_tokens=sum(row[4] for row in made.values()),
        cached_tokens=sum(row[5] for row in made.values()),
        completion_tokens=sum(row[6] for row in made.values()),
        known_usd=sum(row[7] for row in made.values()),
        unpriced=tuple(endpoint for (endpoint,) in store.rows(_UNPRICED, run, CUT_SHORT)),
        cut_short=cut,
        cut_short_usd=cut_usd,
    )


def _kind(row: tuple[Any, ...] | None, reused: int) -> KindTotals:
    if row is None:
        return KindTotals(reused=reused)
    return KindTotals(made=row[1], failed=row[2], seconds=row[3], reused=reused)


def spent(store: Store, run: int) -> Spent:
    """What counts against the run's budget; where a cost is unknown, the upper bound that was held for it."""
    usd, tokens = store.rows(_SPENT, run)[0]
    return Spent(float(usd), int(tokens))
