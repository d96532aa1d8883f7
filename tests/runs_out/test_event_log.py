"""What a run does as JSON lines: the documented events, one an end of each thing, in any shell and file."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import UserError
from dream_eval.ledger import Event, Kind, Totals
from dream_eval.runs.eventlog import EventLog
from dream_eval.runs.progress import Watcher, together
from dream_eval.runs.reading import open_run
from dream_eval.runs.summary import Summary

DAY = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
DOCS = Path(__file__).resolve().parents[2] / "docs" / "exports.md"


def events_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_a_run_as_events(runs: Any, tmp_path: Path) -> None:
    path = tmp_path / "logs" / "run.jsonl"
    with EventLog(path) as log:
        result = await runs.run("run", ("t1",), metrics="factuality,da", on_progress=log)
    events = events_of(path)
    kinds = Counter(event["event"] for event in events)
    assert kinds["plan"] == kinds["end"] == 1
    assert (events[0]["event"], events[-1]["event"]) == ("plan", "end")
    assert {(cell["system"], cell["metric"], cell["units"]) for cell in events[0]["plan"]} == {
        (system, metric, 1) for system in ("cited", "uncited") for metric in ("factuality", "da")
    }
    units = [event for event in events if event["event"] == "unit"]
    assert {(unit["system"], unit["metric"]): unit["score"] for unit in units} == {
        ("cited", "factuality"): 75.0,
        ("cited", "da"): pytest.approx(220 / 3),
        ("uncited", "factuality"): 100.0,
        ("uncited", "da"): None,
    }
    assert [unit["done"] for unit in units] == [1, 2, 3, 4]
    assert {unit["status"] for unit in units} == {"scored", "not_applicable"}
    calls = [event for event in events if event["event"] == "call" and event["phase"] == "done"]
    totals, end = result.summary.totals, events[-1]
    assert len(calls) == totals.made == end["calls"]
    assert sum(call["prompt_tokens"] for call in calls) == totals.prompt_tokens == end["prompt_tokens"]
    assert (end["state"], end["scored"], end["not_applicable"], end["failed"]) == ("finished", 3, 1, 0)
    assert kinds["stage"] == kinds["stage_end"] == 6, "four units, two claim lists"
    assert all(dt.datetime.fromisoformat(event["at"]).tzinfo for event in events)
    with EventLog(path) as log:
        await runs.run("run", ("t1",), metrics="factuality,da", on_progress=log)
    again = events_of(path)[len(events) :]
    assert [event["before"] for event in again if event["event"] == "unit"] == [True] * 4
    assert not [event for event in again if event["event"] == "call"]


def test_every_event_and_field_is_documented(tmp_path: Path, finished: Path) -> None:
    """The page is read as a user reads it: a heading a kind of event, its fields below it."""
    text = DOCS.read_text().partition("## Events")[2]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))
    said = {name: set(re.findall(r"`(\w+)`", fields)) for name, fields in rows.items()}
    path, summary = tmp_path / "log", open_run(finished).summary
    assert summary is not None
    for event in all_kinds(path, summary):
        assert set(event) - {"at", "event"} == said[event["event"]], event["event"]
    assert set(said) == {event["event"] for event in events_of(path)}


def all_kinds(path: Path, summary: Summary) -> list[dict[str, Any]]:
    """One of each."""
    with EventLog(path, now=lambda: DAY) as log:
        watcher = Watcher(log)
        watcher.begin(1, Totals(), plan={("a", "wq"): 1})
        with watcher.stage("a/wq"):
            watcher.event(Event("start", Kind.PAGE, "a/wq", "u"))
            watcher.event(Event("done", Kind.PAGE, "a/wq", "u", call=1))
            watcher.event(Event("wait", None, "a/wq", "judge", seconds=2, reason="rate limit"))
        watcher.unit(unit(), reused=False)
        watcher.note("something")
        watcher.end(summary)
    return events_of(path)


def unit(reason: str = "") -> Any:
    from dream_eval.core import Status
    from dream_eval.evaluators.results import MetricResult
    from dream_eval.runs.data import UnitResult

    status = Status.FAILED if reason else Status.SCORED
    result = MetricResult(metric="wq", version=1, status=status, score=None if reason else 5.0, reason=reason)
    return UnitResult(unit="u", task="t", report="a", metric="wq", judge="j", inputs={}, result=result)


def test_lines_are_ascii_and_steer_no_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x9b2J \u202e語 \r\n two"
    with EventLog(tmp_path / "log") as log:
        watcher = Watcher(log)
        watcher.note(evil)
        watcher.unit(unit(evil), reused=False)
    raw = (tmp_path / "log").read_bytes()
    assert all(32 <= byte < 127 or byte == 10 for byte in raw)
    note, ended = events_of(tmp_path / "log")
    assert note["text"] == evil
    assert ended["reason"] == evil


def test_standard_output_and_a_reader_that_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with EventLog("-", now=lambda: DAY) as log:
        Watcher(log).note("hello")
    assert json.loads(capsys.readouterr().out) == {
        "at": "2026-05-01T12:00:00.000+00:00",
        "event": "note",
        "text": "hello",
    }

    class Gone:
        def write(self, text: str) -> None:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Gone())
    heard: list[str] = []
    with EventLog("-") as log:
        watcher = Watcher(together(log, lambda _, notice: heard.append(notice.text if notice else "")))
        watcher.note("one")
        watcher.note("two")
    assert heard == ["one", "two"]


def test_a_place_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--log-json .*cannot be written"):
        EventLog(tmp_path)
