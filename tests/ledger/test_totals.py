from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import ToolFailed, UserError
from dream_eval.ledger import Kind, KindTotals, Ledger, Mode, Totals, Usage, find_call, list_calls, list_runs, scope


async def test_totals_are_sums_over_the_records_of_all_parts_of_a_run(
    path: Path, ask: Any, outside: Any, paid: Any
) -> None:
    with Ledger.open(path, run="other") as ledger:
        await ledger.call(ask("theirs"), outside("x", usage=paid))
    for part in range(3):
        with Ledger.open(path, run="r") as ledger:
            await ledger.call(ask("theirs"), outside("never"))
            await ledger.call(ask("first"), outside("x", usage=paid))
            await ledger.call(ask(f"part {part}", kind=Kind.PAGE), outside("y"))
            with pytest.raises(ToolFailed):
                await ledger.call(ask("down"), outside.failing(ToolFailed("down")))
            totals = ledger.totals()
    assert {kind: k.model_copy(update={"seconds": 0.0}) for kind, k in totals.kinds.items()} == {
        Kind.SEARCH: KindTotals(made=1, reused=1, failed=3),
        Kind.PAGE: KindTotals(made=3),
    }
    assert (totals.made, totals.reused, totals.failed) == (4, 1, 3)
    assert (totals.prompt_tokens, totals.cached_tokens, totals.completion_tokens) == (100, 40, 10)
    assert (totals.cost_usd, totals.known_usd, totals.unpriced) == (0.5, 0.5, ())
    assert totals.seconds > 0
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        assert ledger.totals() == totals
        assert ledger.totals("other").known_usd == 0.5
        assert ledger.totals("nobody") == Totals()


async def test_one_unknown_cost_makes_the_sum_unknown_and_names_the_endpoint(ask: Any, outside: Any, paid: Any) -> None:
    with Ledger.open(None, run="r") as ledger:
        await ledger.call(ask("a"), outside("x", usage=paid))
        await ledger.call(ask("b", endpoint="z.example"), outside("x", usage=Usage(prompt_tokens=7, cost_usd=None)))
        await ledger.call(ask("c", endpoint="y.example"), outside("x", usage=Usage(prompt_tokens=7, cost_usd=None)))
        totals = ledger.totals()
    assert totals.cost_usd is None
    assert totals.known_usd == 0.5
    assert totals.unpriced == ("y.example", "z.example")
    assert totals.prompt_tokens == 114


async def test_looking_inside(path: Path, ask: Any, outside: Any, paid: Any) -> None:
    with Ledger.open(path, run="one") as ledger, scope("a/wq"):
        await ledger.call(ask("cats"), outside({"hits": []}, usage=paid, blob=b"raw"))
    with Ledger.open(path, run="two") as ledger, scope("b/kic"):
        await ledger.call(ask("cats"), outside("never"))
        await ledger.call(ask("page", kind=Kind.PAGE), outside("no", usable=False, reason="captcha"))
        with pytest.raises(ToolFailed):
            await ledger.call(ask("dogs"), outside.failing(ToolFailed("HTTP 500")))
    one, two = list_runs(path)
    assert (one.name, one.totals.made, two.name, two.totals.made) == ("one", 1, "two", 1)
    assert two.newest is not None
    assert one.started <= two.started <= two.newest
    calls = list_calls(path, "two")
    assert [(c.subject, c.scope, c.state, c.reused) for c in calls] == [
        ("cats", "b/kic", "usable", True),
        ("page", "b/kic", "unusable", False),
        ("dogs", "b/kic", "failed", False),
    ]
    assert (calls[0].usage, calls[1].reason, calls[2].reason, calls[2].code) == (
        paid,
        "captcha",
        "HTTP 500",
        "tool_failed",
    )
    assert [c.subject for c in list_calls(path, "two", kind=Kind.PAGE)] == ["page"]
    detail = find_call(path, ask("cats").key[:8])
    assert detail.request == {"query": "cats", "as_of": "2026-05-01"}
    assert (detail.answer, detail.blob, detail.versions) == ({"hits": []}, b"raw", 1)
    failed = find_call(path, ask("dogs").key)
    assert (failed.answer, failed.info.state) == (None, "failed")


async def test_looking_for_what_is_not_there(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        for n in range(40):
            await ledger.call(ask(str(n)), outside(n))
    prefixes = [ask(str(n)).key[0] for n in range(40)]
    twice = next(p for p in prefixes if prefixes.count(p) > 1)
    with pytest.raises(UserError, match="several calls"):
        find_call(path, twice)
    for nothing in ("zz", "", "%"):
        with pytest.raises(UserError, match="no call"):
            find_call(path, nothing)
    with pytest.raises(UserError, match="no run"):
        list_calls(path, "s")
