"""Progress as lines and as a block: what is told, what is left out, and how high it gets."""

from __future__ import annotations

import io
import re

import pytest
from dream_eval.cli import live
from dream_eval.cli.evaluating import totals_line
from dream_eval.cli.live import block, pace_line, showing, shown_cost, status_line, waiting_lines
from dream_eval.core import Status
from dream_eval.evaluators.results import MetricResult
from dream_eval.ledger import Budget, Event, Kind, Totals, Usage
from dream_eval.ledger.data import FREE
from dream_eval.runs.data import UnitResult
from dream_eval.runs.progress import Progress, Watcher
from rich.console import Console


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def waits(watcher: Watcher, reasons: list[str]) -> None:
    for number, reason in enumerate(reasons):
        watcher.event(Event(kind=None, phase="wait", scope="", subject="judge", seconds=number, reason=reason))


def unit(system: str, metric: str, score: float | None = 50.0, task: str = "t") -> UnitResult:
    status = Status.FAILED if score is None else Status.SCORED
    reason = "no answer" if score is None else ""
    result = MetricResult(metric=metric, version=1, status=status, score=score, reason=reason)
    return UnitResult(unit="u", task=task, report=system, metric=metric, judge="j", inputs={}, result=result)


def answered(usage: Usage = FREE, call: int = 1) -> Event:
    return Event("done", Kind.COMPLETION, "sound/wq", "m", seconds=1, usage=usage, call=call)


def drawn(progress: Progress, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as taken:
        console.print(block(progress, width))
    return taken.get().rstrip("\n").split("\n")


def test_a_wait_is_printed_once_for_each_reason() -> None:
    file = io.StringIO()
    with showing(Console(file=file, width=200)) as listener:
        watcher = Watcher(listener)
        waits(watcher, ["no answer"] * 30 + ["rate limit"] * 30)
    assert file.getvalue().splitlines() == [
        "waiting 0 s for judge: no answer",
        "waiting 30 s for judge: rate limit",
    ]


def test_a_status_line_comes_now_and_then_and_says_what_is_worked_on() -> None:
    file, clock = io.StringIO(), Clock()
    with showing(Console(file=file, width=200)) as listener:
        watcher = Watcher(listener, clock=clock)
        for _ in range(5):
            watcher.event(answered())
        assert file.getvalue() == ""
        clock.now += live.PLAIN_EVERY_S
        with watcher.stage("sound/factuality"):
            pass
    line = "0/0 units · 5 calls · 0 tokens · no charge; 0.3 calls/s; at work: sound/factuality\n"
    assert file.getvalue() == line


@pytest.mark.parametrize(("units", "told"), [(live.MANY, 3), (live.MANY + 1, 1)])
def test_of_many_units_only_what_went_wrong_is_told_one_by_one(units: int, told: int) -> None:
    file = io.StringIO()
    with showing(Console(file=file, width=200)) as listener:
        watcher = Watcher(listener, clock=Clock())
        watcher.begin(units, Totals())
        for line in (unit("a", "wq"), unit("a", "da", None), unit("b", "wq")):
            watcher.unit(line, reused=False)
    lines = file.getvalue().splitlines()
    assert len(lines) == told
    assert "a da: failed: no answer" in lines


def test_answers_of_other_runs_and_failures_are_counted_once_each() -> None:
    """As the totals at the end do: many pieces of work wait for one call, and use its answer."""
    watcher = Watcher()
    watcher.begin(1, Totals())
    for call, foreign in ((7, True), (7, True), (8, True), (9, False), (9, False)):
        watcher.event(Event("reused", Kind.PAGE, "", "u", call=call, foreign=foreign))
    for call in (10, 10, 11):
        watcher.event(Event("failed", Kind.PAGE, "", "u", call=call))
    assert (watcher.progress.reused_calls, watcher.progress.failed_calls) == (2, 2)


def test_nothing_spent_is_no_charge() -> None:
    assert (shown_cost(0.0), shown_cost(0.12345)) == ("no charge", "$0.1235")
    assert status_line(Progress()).endswith("no charge")
    assert totals_line(Totals()).endswith("no charge")
    assert totals_line(Totals(known_usd=0.5)).endswith("$0.5000")
    assert status_line(Progress(cost_usd=None)).endswith("cost unknown")


def test_what_is_left_of_a_budget_is_said() -> None:
    watcher = Watcher()
    watcher.begin(1, Totals(), budget=Budget(usd=1.0, tokens=1000))
    watcher.event(answered(Usage(prompt_tokens=300, completion_tokens=100, cost_usd=0.25)))
    assert status_line(watcher.progress).endswith("400 tokens (600 left) · $0.2500 ($0.7500 left)")
    watcher.event(answered(Usage(prompt_tokens=900, cost_usd=1.0), call=2))
    assert status_line(watcher.progress).endswith("1,300 tokens (0 left) · $1.2500 ($0.0000 left)")


def test_time_left_follows_the_units_that_ended_in_this_start() -> None:
    clock = Clock()
    watcher = Watcher(clock=clock)
    watcher.begin(20, Totals())
    for number in range(10):
        watcher.unit(unit("a", "wq", task=str(number)), reused=True)
    clock.now += 60
    assert watcher.progress.left_s() is None
    for number in range(2):
        watcher.unit(unit("b", "wq", task=str(number)), reused=False)
    assert watcher.progress.left_s() is None, "two units are too few to tell"
    watcher.unit(unit("b", "wq", task="3"), reused=False)
    assert watcher.progress.left_s() == pytest.approx(7 * 60 / 3)
    assert pace_line(watcher.progress) == "about 2 min left"
    for _ in range(15):
        watcher.event(answered())
    assert pace_line(watcher.progress) == "0.5 calls/s · about 2 min left"


def test_a_wait_says_who_until_when_and_why() -> None:
    clock = Clock()
    watcher = Watcher(clock=clock)
    watcher.event(Event("wait", None, "sound/wq", "openai/gpt-5-mini", seconds=40, reason="rate limit"))
    clock.now += 5
    (line,) = waiting_lines(watcher.progress)
    said = r"sound/wq waiting 35 s \(until \d\d:\d\d:\d\d\) for openai/gpt-5-mini: rate limit"
    assert re.fullmatch(said, line)
    clock.now += 36
    assert waiting_lines(watcher.progress) == []


def filled(systems: int, metrics: tuple[str, ...]) -> Watcher:
    watcher = Watcher(clock=Clock())
    plan = {(f"system-{number}", metric): 10 for number in range(systems) for metric in metrics}
    watcher.begin(10 * len(plan), Totals(), plan=plan)
    return watcher


def test_the_block_shows_each_system_and_metric() -> None:
    watcher = filled(2, ("wq", "kic"))
    watcher.unit(unit("system-0", "kic"), reused=False)
    watcher.unit(unit("system-0", "kic", None, task="2"), reused=False)
    lines = drawn(watcher.progress)
    assert lines[0].startswith("0:00 · 2/40 units · 1 failed")
    assert lines[1].split() == ["wq", "kic"]
    assert lines[2].split() == ["system-0", "0/10", "2/10", "1!"]
    assert lines[3].split() == ["system-1", "0/10", "0/10"]


def test_the_block_keeps_its_height_and_width_however_many_systems_and_metrics() -> None:
    small, large = filled(live.SYSTEMS, ("wq", "kic")), filled(200, ("wq", "kic"))
    assert len(drawn(large.progress)) == len(drawn(small.progress)) + 1
    assert drawn(large.progress)[-1].split() == ["and", "192", "more", "0/1920", "0/1920"]
    wide = filled(3, tuple(f"metric-{number}" for number in range(12)))
    lines = drawn(wide.progress)
    assert lines[1].split() == ["units"]
    assert lines[2].split() == ["system-0", "0/120"]
    assert max(map(len, lines[1:])) <= 80


def test_finished_systems_make_room_for_those_that_are_not() -> None:
    watcher = filled(live.SYSTEMS + 1, ("wq",))
    for number in range(10):
        watcher.unit(unit("system-0", "wq", task=str(number)), reused=False)
    lines = drawn(watcher.progress)
    assert lines[2].split() == ["system-1", "0/10"]
    assert lines[-1].split() == ["and", "1", "more", "10/10"]
