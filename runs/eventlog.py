"""What a run does as JSON lines, for programs that watch it (``--log-json``). docs/exports.md describes the events."""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TextIO

from ..core import Json
from ..errors import UserError
from ..ledger import Event
from .data import UnitResult
from .progress import Notice, Progress
from .summary import Summary

Fields = dict[str, Json]


class EventLog:
    """A listener that appends one JSON object a line to a file, or to standard output for ``-``.

    Lines are ASCII, so that text of others in them steers no terminal. A context manager; raises UserError when the
    file cannot be opened, OSError when it cannot be written (disk full). A reader of standard output that goes away
    ends the log and not the run.
    """

    def __init__(self, place: Path | str, *, now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)) -> None:
        self._now = now
        self._own = str(place) != "-"
        self._file: TextIO | None = _open(Path(place)) if self._own else sys.stdout

    def __call__(self, progress: Progress, notice: Notice | None) -> None:
        """Write what happened, if it is in the log at all."""
        said = None if notice is None else _fields(progress, notice)
        if said is None or self._file is None:
            return
        line = json.dumps({"at": self._now().isoformat(timespec="milliseconds"), **said}, separators=(",", ":"))
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except BrokenPipeError:
            self._file = None

    def __enter__(self) -> EventLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._own and self._file is not None:
            with suppress(OSError):
                self._file.close()
        self._file = None


def _open(path: Path) -> TextIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", encoding="ascii")
    except (OSError, ValueError) as error:
        raise UserError(f"--log-json {path}: cannot be written ({getattr(error, 'strerror', None) or error})") from None


def _fields(progress: Progress, notice: Notice) -> Fields | None:
    if notice.kind == "plan":
        plan: list[Json] = [
            {"system": system, "metric": metric, "units": cell.planned}
            for (system, metric), cell in progress.cells.items()
        ]
        return {"event": "plan", "units": progress.units, "plan": plan}
    if notice.line is not None:
        return _unit(progress, notice.line, reused=notice.reused)
    if notice.event is not None:
        return _call(notice.event)
    if notice.summary is not None:
        return _end(notice.summary)
    if notice.kind in ("stage", "stage_end"):
        return {"event": notice.kind, "scope": notice.stage}
    return {"event": "note", "text": notice.text}


def _unit(progress: Progress, line: UnitResult, *, reused: bool) -> Fields:
    result = line.result
    where: Fields = {"task": line.task, "system": line.report, "metric": line.metric, "judge": line.judge}
    ended: Fields = {"status": result.status.value, "score": result.score, "reason": result.reason}
    interval: Json = None if result.interval is None else [result.interval.low, result.interval.high]
    stand: Fields = {"done": progress.done, "failed": progress.failed, "units": progress.units}
    return {"event": "unit", **where, "repeat": line.repeat, **ended, "interval": interval, "before": reused, **stand}


def _call(event: Event) -> Fields | None:
    if event.phase == "start":
        return None
    if event.phase == "wait":
        about: Fields = {"for": event.subject, "scope": event.scope, "reason": event.reason}
        return {"event": "wait", **about, "seconds": round(event.seconds, 3)}
    usage = event.usage
    used: Fields = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }
    return {
        "event": "call",
        "phase": event.phase,
        "kind": None if event.kind is None else event.kind.value,
        "endpoint": event.endpoint,
        "subject": event.subject,
        "scope": event.scope,
        "seconds": round(event.seconds, 3),
        **used,
        "reason": event.reason,
    }


def _end(summary: Summary) -> Fields:
    totals = summary.totals
    units: Fields = {
        "units": summary.expected,
        "scored": summary.scored,
        "not_applicable": summary.not_applicable,
        "failed": summary.failed,
    }
    used: Fields = {
        "calls": totals.made,
        "reused": totals.reused,
        "calls_failed": totals.failed,
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "cost_usd": totals.cost_usd,
    }
    return {"event": "end", "state": summary.state.value, "reason": summary.reason, **units, **used}
