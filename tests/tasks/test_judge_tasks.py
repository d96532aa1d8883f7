"""The embedded judge makes tasks for real: two domains × one persona × two candidates.

What it writes is not asserted, nor that its filter filters: that everything is accounted for and told is.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path
from time import perf_counter

import pytest
from dream_eval.core import AsOf
from dream_eval.ledger import Mode
from dream_eval.reports import load_tasks
from dream_eval.tasks import Generated, Order, generate, order_of, output, told
from dream_eval.tasks.data import Fate

pytestmark = [pytest.mark.judge, pytest.mark.timeout(900)]

ORDER = order_of(
    judge="local", as_of=AsOf(day=dt.date(2026, 5, 1)), domains="Health,Transportation", personas=1, candidates=2
)


def make(order: Order, ledger: Path, mode: Mode = Mode.CACHE) -> Generated:
    return asyncio.run(generate(order, ledger=ledger, mode=mode))


def test_a_small_set(tmp_path: Path) -> None:
    ledger, began = tmp_path / "ledger.sqlite", perf_counter()
    made = make(ORDER, ledger)
    seconds, totals, check = perf_counter() - began, made.totals, made.check
    print(
        f"\n{totals.made} calls, {totals.prompt_tokens} prompt tokens, {totals.completion_tokens} new, {seconds:.0f} s",
        f"kept {made.account.kept}, rejected {made.account.rules}, lost {[one.reason for one in made.account.lost]}",
        *told(check),
        *(f"{one.id}: qualified {one.qualified}, needs search {one.needs_search}" for one in check.sentinels),
        *(f"{one.fate.value} ({one.rule}): {one.prompt}" for one in made.candidates),
        sep="\n",
    )
    for cell in made.account.cells:
        assert cell.wanted == 2 == cell.lost + sum(cell.fates.values())
    assert len(check.sentinels) == 6
    assert all(one.kept is not None or one.reason for one in check.sentinels)
    assert check.filters == (check.right("easy")[0] == 3 and check.right("hard")[0] == 3)
    assert bool(made.shortfalls) == any(cell.count(Fate.KEPT) < ORDER.keep for cell in made.account.cells)
    out = tmp_path / "tasks.jsonl"
    if output.write(made, out, tmp_path / "peer.jsonl"):
        assert [task.prompt for task in load_tasks(out)] == [one.prompt for one in made.kept]
    assert make(ORDER, ledger, Mode.REPLAY).candidates == made.candidates
