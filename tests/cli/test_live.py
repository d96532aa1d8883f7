"""Plain progress lines, and what a run costs in words."""

from __future__ import annotations

import io

from dream_eval.cli import live
from dream_eval.cli.evaluating import totals_line
from dream_eval.cli.live import showing, shown_cost, status_line
from dream_eval.ledger import Event, Totals
from dream_eval.runs.progress import Progress, Watcher
from rich.console import Console


def waits(watcher: Watcher, reasons: list[str]) -> None:
    for number, reason in enumerate(reasons):
        watcher.event(Event(kind=None, phase="wait", scope="", subject="judge", seconds=number, reason=reason))


def test_a_wait_is_printed_once_for_each_reason() -> None:
    file = io.StringIO()
    with showing(Console(file=file, width=200)) as listener:
        watcher = Watcher(listener)
        waits(watcher, ["no answer"] * 30 + ["rate limit"] * 30)
    assert file.getvalue().splitlines() == [
        "waiting 0 s for judge: no answer",
        "waiting 30 s for judge: rate limit",
    ]


def test_the_status_line_says_what_is_worked_on() -> None:
    file = io.StringIO()
    with showing(Console(file=file, width=200)) as listener:
        watcher = Watcher(listener)
        listener._last -= live.PLAIN_EVERY_S  # type: ignore[attr-defined]  # as if the last line were that old
        with watcher.stage("sound/factuality"):
            pass
    assert file.getvalue() == "0/0 units · 0 calls · 0 tokens · no charge; at work: sound/factuality\n"


def test_nothing_spent_is_no_charge() -> None:
    assert (shown_cost(0.0), shown_cost(0.12345)) == ("no charge", "$0.1235")
    assert status_line(Progress()).endswith("no charge")
    assert totals_line(Totals()).endswith("no charge")
    assert totals_line(Totals(known_usd=0.5)).endswith("$0.5000")
    assert status_line(Progress(cost_usd=None)).endswith("cost unknown")
