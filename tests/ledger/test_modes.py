from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import (
    AccountRefused,
    BadReply,
    BudgetReached,
    CallFailed,
    CallRefused,
    DeadlineReached,
    HostStop,
    Interrupted,
    ModelFailed,
    Overloaded,
    ReplayMiss,
    ToolFailed,
    UserError,
)
from dream_eval.ledger import Answer, Event, Ledger, Mode, scope


async def test_cache_reuses_across_processes_and_says_so(path: Path, ask: Any, outside: Any, paid: Any) -> None:
    with Ledger.open(path, run="one") as ledger:
        first = await ledger.call(ask(), outside({"n": [1, "ä"]}, blob=b"bytes", usage=paid))
        again = await ledger.call(ask(), outside("never"))
    with Ledger.open(path, run="two") as ledger:
        later = await ledger.call(ask(), outside("never"))
    assert outside.calls == 1
    assert (first.reused, again.reused, later.reused) == (False, True, True)
    for record in (first, again, later):
        assert record.body == {"n": [1, "ä"]}
        assert record.blob == b"bytes"
        assert record.usage == paid
        assert record.usable
        assert record.key == ask().key
        assert record.id == first.id
        assert record.elapsed_s == first.elapsed_s


async def test_what_is_given_is_the_same_live_and_reused(ask: Any, outside: Any) -> None:
    with Ledger.open(None, run="r") as ledger:
        live = await ledger.call(ask(), outside({"tuple": (1, 2), "float": 1e22}))
        reused = await ledger.call(ask(), outside("never"))
    assert live.body == reused.body == {"tuple": [1, 2], "float": 1e22}
    assert type(live.body["tuple"]) is list


async def test_samples_are_calls_of_their_own(ask: Any, outside: Any) -> None:
    with Ledger.open(None, run="r") as ledger:
        for sample in (0, 1, 2, 1):
            await ledger.call(ask(sample=sample), outside(sample))
    assert outside.calls == 3


async def test_refresh_ignores_what_was_there_but_not_what_it_did_itself(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="one") as ledger:
        await ledger.call(ask(), outside("old"))
    with Ledger.open(path, run="two", mode=Mode.REFRESH) as ledger:
        fresh = await ledger.call(ask(), outside("new"))
        again = await ledger.call(ask(), outside("never"))
    with Ledger.open(path, run="three") as ledger:
        newest = await ledger.call(ask(), outside("never"))
    assert (fresh.body, again.body, newest.body) == ("new", "new", "new")
    assert (fresh.reused, again.reused) == (False, True)
    assert outside.calls == 2


async def test_unusable_is_not_asked_again_in_this_process_but_in_the_next(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        first = await ledger.call(ask(), outside("blocked", usable=False, reason="captcha"))
        again = await ledger.call(ask(), outside("never"))
    assert outside.calls == 1
    assert (first.usable, again.usable, again.reason) == (False, False, "captcha")
    with Ledger.open(path, run="r") as ledger:
        assert (await ledger.call(ask(), outside("fine"))).body == "fine"
    assert outside.calls == 2


async def test_spoiled_is_as_unusable(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        record = await ledger.call(ask(), outside("no json"))
        ledger.spoil(record.id, "not json")
        again = await ledger.call(ask(), outside("never"))
        assert (again.usable, again.reason, again.body) == (False, "not json", "no json")
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        replayed = await ledger.call(ask(), outside("never"))
        ledger.spoil(replayed.id, "nothing is written in replay")
        assert (replayed.usable, replayed.reason) == (False, "not json")
    with Ledger.open(path, run="r") as ledger:
        assert (await ledger.call(ask(), outside("json"))).body == "json"
    assert outside.calls == 2


ERRORS = [
    CallFailed("m", subject="s"),
    ModelFailed("m", subject="s"),
    CallRefused("m", subject="s"),
    Overloaded("m", subject="s"),
    ToolFailed("m", subject="s"),
    BadReply("m", subject="s", raw="raw"),
    AccountRefused("m", subject="s"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
async def test_failures_are_recorded_asked_again_and_replayed_as_they_were(
    path: Path, ask: Any, outside: Any, error: CallFailed
) -> None:
    with Ledger.open(path, run="r") as ledger:
        for _ in range(2):  # not kept in mind: the second try is a call again
            with pytest.raises(type(error)):
                await ledger.call(ask(), outside.failing(error))
    assert outside.calls == 2
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger, pytest.raises(type(error)) as caught:
        await ledger.call(ask(), outside("never"))
    assert type(caught.value) is type(error)
    assert str(caught.value) == "m"
    assert caught.value.subject == "s"
    assert getattr(caught.value, "raw", None) == getattr(error, "raw", None)
    assert outside.calls == 2


async def test_a_failure_of_an_unlisted_kind_comes_back_as_its_nearest_ancestor(
    path: Path, ask: Any, outside: Any
) -> None:
    class Odd(ToolFailed):
        code = "os.system"

    with Ledger.open(path, run="r") as ledger, pytest.raises(Odd):
        await ledger.call(ask(), outside.failing(Odd("m")))
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger, pytest.raises(ToolFailed) as caught:
        await ledger.call(ask(), outside("never"))
    assert type(caught.value) is ToolFailed


@pytest.mark.parametrize("error", [Interrupted("x"), BudgetReached("x"), DeadlineReached("x"), KeyError("bug")])
async def test_stops_and_bugs_are_not_recorded(path: Path, ask: Any, outside: Any, error: Exception) -> None:
    with Ledger.open(path, run="r") as ledger:
        with pytest.raises(type(error)):
            await ledger.call(ask(), outside.failing(error))
        assert ledger.totals().failed == 0
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger, pytest.raises(ReplayMiss):
        await ledger.call(ask(), outside("never"))


async def test_replay_never_calls_and_says_what_is_missing(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        await ledger.call(ask(), outside("there"))
    before = path.read_bytes()
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        assert (await ledger.call(ask(), outside("never"))).body == "there"
        with pytest.raises(ReplayMiss, match="something else") as caught:
            await ledger.call(ask("something else"), outside("never"))
    assert caught.value.key == ask("something else").key
    assert caught.value.subject == "something else"
    assert outside.calls == 1
    assert path.read_bytes() == before


def test_replay_of_a_file_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such ledger"):
        Ledger.open(tmp_path / "none.sqlite", run="r", mode=Mode.REPLAY)
    assert list(tmp_path.iterdir()) == []


async def test_replay_prefers_what_the_run_itself_used(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="mine") as ledger:
        await ledger.call(ask(), outside("mine"))
        with pytest.raises(ToolFailed):
            await ledger.call(ask("down"), outside.failing(ToolFailed("down")))
    with Ledger.open(path, run="other", mode=Mode.REFRESH) as ledger:
        await ledger.call(ask(), outside("other"))
        await ledger.call(ask("down"), outside("up again"))
    with Ledger.open(path, run="mine", mode=Mode.REPLAY) as ledger:
        assert (await ledger.call(ask(), outside("never"))).body == "mine"
        with pytest.raises(ToolFailed):  # another run's success must not change this run's results
            await ledger.call(ask("down"), outside("never"))
    with Ledger.open(path, run="unknown", mode=Mode.REPLAY) as ledger:
        assert (await ledger.call(ask(), outside("never"))).body == "other"
        assert (await ledger.call(ask("down"), outside("never"))).body == "up again"


async def test_replay_gives_each_part_of_a_run_what_it_got(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        with scope("a/wq"), pytest.raises(ToolFailed):
            await ledger.call(ask(), outside.failing(ToolFailed("down")))
        with scope("b/wq"):
            await ledger.call(ask(), outside("up"))
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        with scope("a/wq"), pytest.raises(ToolFailed):
            await ledger.call(ask(), outside("never"))
        with scope("b/wq"):
            assert (await ledger.call(ask(), outside("never"))).body == "up"
        with scope("elsewhere"):
            assert (await ledger.call(ask(), outside("never"))).body == "up"


async def test_replay_after_a_resume_gives_the_later_outcome(path: Path, ask: Any, outside: Any) -> None:
    for outcome in (outside.failing(ToolFailed("down")), outside("up")):
        with Ledger.open(path, run="r") as ledger, scope("a/wq"):
            try:
                await ledger.call(ask(), outcome)
            except ToolFailed:
                continue
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger, scope("a/wq"):
        assert (await ledger.call(ask(), outside("never"))).body == "up"


async def test_replay_elsewhere_prefers_the_usable_to_the_newest(path: Path, ask: Any, outside: Any) -> None:
    outcomes = {
        "a": outside("up"),
        "b": outside("blocked", usable=False),
        "c": outside.failing(ToolFailed("down")),
    }
    for name, outcome in outcomes.items():
        with Ledger.open(path, run="r", mode=Mode.REFRESH) as ledger, scope(name), suppress(ToolFailed):
            await ledger.call(ask(), outcome)
    for run in ("r", "unknown"):
        with Ledger.open(path, run=run, mode=Mode.REPLAY) as ledger, scope("elsewhere"):
            assert (await ledger.call(ask(), outside("never"))).body == "up"
        with Ledger.open(path, run=run) as ledger:
            assert (await ledger.call(ask(), outside("never"))).body == "up"


async def test_equal_requests_at_the_same_time_share_one_call(ask: Any) -> None:
    calls = 0

    async def slow() -> Answer:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.02)
        return Answer("one")

    with Ledger.open(None, run="r") as ledger:
        records = await asyncio.gather(*(ledger.call(ask(), slow) for _ in range(20)))
        assert ledger.totals().made == 1
    assert calls == 1
    assert sorted(record.reused for record in records) == [False] + [True] * 19
    assert {record.body for record in records} == {"one"}


async def test_sharers_share_the_failure_too(path: Path, ask: Any) -> None:
    calls = 0

    async def slow() -> Answer:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.02)
        raise Overloaded("busy", subject="m")

    async def one(name: str) -> Any:
        with scope(name):
            return await ledger.call(ask(), slow)

    with Ledger.open(path, run="r") as ledger:
        outcomes = await asyncio.gather(*(one(f"unit{n}") for n in range(5)), return_exceptions=True)
        assert [type(o) for o in outcomes] == [Overloaded] * 5
        assert ledger.totals().failed == 1
    assert calls == 1
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger, scope("unit4"), pytest.raises(Overloaded):
        await ledger.call(ask(), slow)


async def test_when_the_caller_is_cancelled_a_sharer_takes_over(ask: Any) -> None:
    arrived = asyncio.Event()

    async def never() -> Answer:
        arrived.set()
        await asyncio.sleep(600)
        raise AssertionError

    async def quick() -> Answer:
        return Answer(2)

    with Ledger.open(None, run="r") as ledger:
        first = asyncio.create_task(ledger.call(ask(), never))
        await arrived.wait()
        second = asyncio.create_task(ledger.call(ask(), quick))
        await asyncio.sleep(0.01)
        assert not second.done()
        first.cancel()
        assert (await second).body == 2
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_call_cut_short_is_kept_for_the_bill_and_replayed_as_a_deadline(path: Path, ask: Any) -> None:
    limit = asyncio.timeout(None)

    async def forever() -> Answer:
        limit.reschedule(asyncio.get_running_loop().time())
        await asyncio.sleep(60)
        raise AssertionError

    with Ledger.open(path, run="r") as ledger:
        with pytest.raises(TimeoutError):
            async with limit:
                await ledger.call(ask(), forever)
        totals = ledger.totals()
        assert (totals.failed, totals.cut_short, totals.cost_usd) == (1, 1, 0.0)
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger, pytest.raises(DeadlineReached):
        await ledger.call(ask(), forever)


async def test_stop_lets_nothing_out_but_gives_what_is_recorded(ask: Any, outside: Any) -> None:
    cause = Interrupted("Ctrl-C")
    arrived, go = asyncio.Event(), asyncio.Event()

    async def slow() -> Answer:
        arrived.set()
        await go.wait()
        return Answer("finished")

    with Ledger.open(None, run="r") as ledger:
        await ledger.call(ask("known"), outside("known"))
        flying = asyncio.create_task(ledger.call(ask("flying"), slow))
        await arrived.wait()
        pausing = asyncio.create_task(ledger.pause("judge", 60, "rate limit"))
        await asyncio.sleep(0)
        ledger.stop(cause)
        ledger.stop(AccountRefused("later", subject="m"))
        with pytest.raises(Interrupted):
            await ledger.call(ask("new"), outside("never"))
        with pytest.raises(Interrupted):
            await pausing
        assert (await ledger.call(ask("known"), outside("never"))).body == "known"
        go.set()
        assert (await flying).body == "finished"
        assert ledger.stopped is cause
    assert outside.calls == 1


async def test_listeners_hear_everything(ask: Any, outside: Any, paid: Any) -> None:
    heard: list[Event] = []
    with Ledger.open(None, run="r", secrets=["topsecretkey"]) as ledger:
        ledger.listen(heard.append)
        with scope("a/wq"):
            await ledger.call(ask("x topsecretkey"), outside("y", usage=paid))
            await ledger.call(ask("x topsecretkey"), outside("y"))
            with pytest.raises(ToolFailed):
                await ledger.call(ask("z"), outside.failing(ToolFailed("bad topsecretkey")))
            ledger.wait("judge", 2.5, "429 topsecretkey")
    assert [event.phase for event in heard] == ["start", "done", "reused", "start", "failed", "wait"]
    assert heard[1].usage == paid
    assert heard[1].subject == "x [masked]"
    assert (heard[4].reason, heard[5].reason) == ("bad [masked]", "429 [masked]")
    assert (heard[5].seconds, heard[5].subject, heard[5].kind) == (2.5, "judge", None)
    assert {event.scope for event in heard} == {"a/wq"}


async def test_bytes_are_stored_once_by_content(path: Path, ask: Any, outside: Any) -> None:
    page, text = b"<p>same page</p>" * 500, "the same long report. " * 2000
    with Ledger.open(path, run="r") as ledger:
        for n in range(5):
            await ledger.call(ask(f"{text} question {n}"), outside(n, blob=page))
        assert (await ledger.call(ask(f"{text} question 3"), outside("never"))).blob == page
    with closing(sqlite3.connect(path)) as db:
        blobs = [size for (size,) in db.execute("SELECT size FROM blobs")]
        requests = [size for (size,) in db.execute("SELECT length(request) FROM calls")]
    assert blobs.count(len(page)) == 1
    assert len(blobs) <= 1 + len(text) // 4096 + 5  # the shared pieces once, and each question's last piece
    assert max(requests) < 2000


async def test_a_private_ledger_leaves_nothing(ask: Any, outside: Any) -> None:
    ledger = Ledger.open(None, run="r")
    await ledger.call(ask(), outside())
    folder = ledger.path.parent
    assert folder.exists()
    ledger.close()
    assert not folder.exists()


def test_host_stops_are_no_call_failures() -> None:
    assert not issubclass(HostStop, CallFailed)
