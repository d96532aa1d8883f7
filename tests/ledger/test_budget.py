from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import BudgetReached, Interrupted, ToolFailed, UserError
from dream_eval.ledger import Answer, Budget, Kind, Ledger, Request, Reserve, Usage


def request(number: int) -> Request:
    return Request(Kind.COMPLETION, "https://host/v1", {"n": number})


def spending(tokens: int, usd: float | None = 0.0, seconds: float = 0.0) -> Any:
    async def do() -> Answer:
        await asyncio.sleep(seconds)
        return Answer("x", usage=Usage(prompt_tokens=tokens, cost_usd=usd))

    return do


@pytest.mark.parametrize("seed", range(5))
async def test_fifty_calls_at_once_never_overshoot(seed: int) -> None:
    chance = random.Random(seed)
    plans = [(held, chance.randint(1, held)) for held in (chance.randint(50, 400) for _ in range(50))]
    sizes = dict(enumerate(plans))
    budget = Budget(tokens=4000, usd=0.004)
    running = spent = peak = 0

    async def one(ledger: Ledger, number: int) -> None:
        held, used = sizes[number]

        async def do() -> Answer:
            nonlocal running, spent, peak
            running += held
            peak = max(peak, running + spent)
            await asyncio.sleep(chance.random() / 200)
            running -= held
            spent += used
            return Answer("x", usage=Usage(prompt_tokens=used, cost_usd=used / 1e6))

        await ledger.call(request(number), do, reserve=Reserve(held, held / 1e6))

    with Ledger.open(None, run="r", budget=budget) as ledger:
        outcomes = await asyncio.gather(*(one(ledger, n) for n in sizes), return_exceptions=True)
        totals = ledger.totals()
    stopped = [outcome for outcome in outcomes if outcome is not None]
    assert peak <= 4000
    assert totals.prompt_tokens == spent <= 4000
    assert totals.known_usd <= 0.004
    assert stopped, "the plans need more than the budget"
    assert all(isinstance(outcome, BudgetReached) for outcome in stopped)
    assert spent > 4000 - 400 - 1, "room was left that the smallest waiting call could have used"


async def test_what_does_not_fit_waits_for_settlements() -> None:
    with Ledger.open(None, run="r", budget=Budget(tokens=100)) as ledger:
        first = asyncio.create_task(ledger.call(request(1), spending(10, seconds=0.03), reserve=Reserve(90)))
        await asyncio.sleep(0.005)
        second = await ledger.call(request(2), spending(50), reserve=Reserve(80))
        assert first.done()
        assert not second.reused
        with pytest.raises(BudgetReached, match="60 of 100 tokens"):
            await ledger.call(request(3), spending(1), reserve=Reserve(41))
        await ledger.call(request(4), spending(40), reserve=Reserve(40))


async def test_what_could_never_fit_does_not_wait() -> None:
    with Ledger.open(None, run="r", budget=Budget(tokens=100)) as ledger:
        slow = asyncio.create_task(ledger.call(request(1), spending(1, seconds=600), reserve=Reserve(50)))
        await asyncio.sleep(0)
        with pytest.raises(BudgetReached):
            await asyncio.wait_for(ledger.call(request(2), spending(1), reserve=Reserve(101)), 60)
        slow.cancel()


async def test_a_waiting_call_is_woken_by_a_stop() -> None:
    with Ledger.open(None, run="r", budget=Budget(tokens=100)) as ledger:
        slow = asyncio.create_task(ledger.call(request(1), spending(1, seconds=600), reserve=Reserve(90)))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(ledger.call(request(2), spending(1), reserve=Reserve(90)))
        await asyncio.sleep(0.01)
        ledger.stop(Interrupted("Ctrl-C"))
        with pytest.raises(Interrupted):
            await asyncio.wait_for(waiting, 60)
        slow.cancel()


async def test_a_cancelled_waiter_does_not_hold_anything() -> None:
    with Ledger.open(None, run="r", budget=Budget(tokens=100)) as ledger:
        go = asyncio.Event()

        async def held() -> Answer:
            await go.wait()
            return Answer("x", usage=Usage(prompt_tokens=1, cost_usd=0.0))

        slow = asyncio.create_task(ledger.call(request(1), held, reserve=Reserve(90)))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ledger.call(request(2), spending(1), reserve=Reserve(90)), 0.01)
        go.set()
        await slow
        await ledger.call(request(3), spending(1), reserve=Reserve(99))


async def test_the_budget_holds_over_the_parts_of_a_run(path: Path) -> None:
    for part in range(2):
        with Ledger.open(path, run="r", budget=Budget(usd=1.0)) as ledger:
            await ledger.call(request(part), spending(1, 0.4), reserve=Reserve(1, 0.5))
    with Ledger.open(path, run="r", budget=Budget(usd=1.0)) as ledger:
        await ledger.call(request(0), spending(1, 9.0), reserve=Reserve(1, 9.0))  # recorded: costs nothing again
        with pytest.raises(BudgetReached, match=r"\$0\.8000 of \$1"):
            await ledger.call(request(2), spending(1, 0.3), reserve=Reserve(1, 0.3))
    with Ledger.open(path, run="another", budget=Budget(usd=1.0)) as ledger:
        await ledger.call(request(0), spending(1, 9.0), reserve=Reserve(1, 9.0))  # what others paid is not ours
        await ledger.call(request(2), spending(1, 0.9), reserve=Reserve(1, 0.9))


async def test_an_unknown_price_and_a_dollar_budget_do_not_go_together(outside: Any) -> None:
    with Ledger.open(None, run="r", budget=Budget(usd=1.0)) as ledger:
        with pytest.raises(UserError, match="no price is known for openai/new"):
            ledger.require_price(False, "openai/new")
        ledger.require_price(True, "openai/old")
        with pytest.raises(UserError, match="--budget-tokens"):
            await ledger.call(request(1), outside(), reserve=Reserve(1, None))
    with Ledger.open(None, run="r", budget=Budget(tokens=10)) as ledger:
        ledger.require_price(False, "openai/new")
        await ledger.call(request(1), outside(), reserve=Reserve(1, None))
    assert outside.calls == 1


async def test_where_a_cost_is_unknown_its_upper_bound_counts(path: Path) -> None:
    for _ in range(2):  # also after a resume
        with Ledger.open(path, run="r", budget=Budget(usd=1.0)) as ledger:
            await ledger.call(request(1), spending(1, None), reserve=Reserve(1, 0.6))
            with pytest.raises(BudgetReached, match=r"\$0\.6000"):
                await ledger.call(request(2), spending(1, 0.0), reserve=Reserve(1, 0.5))
            assert ledger.totals().cost_usd is None
            assert ledger.totals().unpriced == ("https://host/v1",)


async def test_failures_give_their_reservation_back_and_cut_short_calls_do_not(outside: Any) -> None:
    with Ledger.open(None, run="r", budget=Budget(usd=1.0)) as ledger:
        for number in range(3):
            with pytest.raises(ToolFailed):
                await ledger.call(request(number), outside.failing(ToolFailed("x")), reserve=Reserve(1, 0.9))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ledger.call(request(9), spending(1, seconds=5), reserve=Reserve(1, 0.9)), 0.01)
        with pytest.raises(BudgetReached):
            await ledger.call(request(10), outside(), reserve=Reserve(1, 0.2))
        totals = ledger.totals()
        assert (totals.known_usd, totals.unpriced, totals.cut_short, totals.cut_short_usd) == (0.0, (), 1, 0.9)


async def test_free_calls_go_on_when_the_budget_is_used_up(outside: Any) -> None:
    with Ledger.open(None, run="r", budget=Budget(tokens=1, usd=0.1)) as ledger:
        await ledger.call(request(1), spending(1, 0.1), reserve=Reserve(1, 0.1))
        assert (await ledger.call(request(2), outside("page"))).body == "page"
