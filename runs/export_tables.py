"""The three tables that come out of a run, row by row: results, items, calls. Their columns never depend on the run.

docs/exports.md says what each column means.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..core import Json, Outcome
from ..errors import InputError
from ..evaluators.results import Evidence, Item
from ..ledger import CallInfo, iter_calls
from .data import UnitResult
from .reading import RunView

ColumnKind = Literal["text", "number", "integer", "flag", "day", "time"]
Value = str | float | int | bool | dt.date | dt.datetime | None
"""None: there is none (not scored, unknown price). Never 0 in its place."""
Row = dict[str, Value]


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    kind: ColumnKind = "text"


@dataclass(frozen=True)
class Table:
    """One table: its columns, and where its rows come from."""

    name: str
    columns: tuple[Column, ...]
    rows: Callable[[RunView], Iterator[Row]]


def _columns(*parts: str) -> tuple[Column, ...]:
    """``text: a b c`` for each kind, in the order of the table."""
    kinds: dict[str, ColumnKind] = {
        "text": "text",
        "number": "number",
        "integer": "integer",
        "flag": "flag",
        "day": "day",
        "time": "time",
    }
    return tuple(
        Column(name, kinds[kind])
        for part in parts
        for kind, _, names in [part.partition(":")]
        for name in names.split()
    )


def _result_rows(view: RunView) -> Iterator[Row]:
    for line in view.results():
        result = line.result
        yield {
            **_place(view, line),
            "as_of": view.config.as_of.day,
            "version": result.version,
            "status": result.status.value,
            "score": result.score,
            "interval_low": result.interval.low if result.interval else None,
            "interval_high": result.interval.high if result.interval else None,
            "interval_kind": result.interval.kind if result.interval else None,
            "decided": result.coverage.decided if result.coverage else None,
            "checked": result.coverage.checked if result.coverage else None,
            "items": len(result.items),
            "reason": result.reason,
            "flags": " ".join(result.flags),
            "parts": _json(dict(result.parts)),
            "counts": _json(dict(result.counts)),
            "unit": line.unit,
        }


def _item_rows(view: RunView) -> Iterator[Row]:
    for line in view.results():
        for number, item in enumerate(line.result.items, 1):
            yield {**_place(view, line), "number": number, **_item(item), "unit": line.unit}


def _item(item: Item) -> Row:
    found = deciding(item)
    return {
        "item": item.id,
        "text": item.text,
        "outcome": item.outcome.value if item.outcome else None,
        "value": item.value,
        "reason": item.reason,
        "flags": " ".join(item.flags),
        "evidence_count": len(item.evidence),
        "evidence_url": found.url if found else None,
        "evidence_quote": found.quote if found else None,
        "evidence_stance": found.stance if found else None,
        "evidence_published": found.published if found else None,
        "evidence_dating": found.dating.value if found else None,
        "evidence_key": found.key if found else None,
        "evidence": _json([one.model_dump(mode="json") for one in item.evidence]),
        "calls": " ".join(item.calls),
        "detail": _json(dict(item.detail)),
    }


def deciding(item: Item) -> Evidence | None:
    """The piece of evidence to show first: the first one that speaks as the outcome does, else the first one."""
    stance = (
        {Outcome.SUPPORTED: "supports", Outcome.CONTRADICTED: "refutes"}.get(item.outcome) if item.outcome else None
    )
    agreeing = (one for one in item.evidence if stance is not None and one.stance == stance)
    return next(agreeing, next(iter(item.evidence), None))


def _call_rows(view: RunView) -> Iterator[Row]:
    """A row a use. Each call of this run has just one row that is not ``reused``, so that sums come out right."""
    config = view.config
    path = Path(config.ledger)
    if not path.is_file():
        raise InputError("the run's ledger is not there: name another one with --ledger", path=path)
    counted: set[tuple[str, dt.datetime]] = set()
    for call in iter_calls(path, config.run):
        mark = (call.key, call.at)
        reused = call.reused or mark in counted
        counted.add(mark)
        yield _call(config.run, call, reused=reused)


def _call(run: str, call: CallInfo, *, reused: bool) -> Row:
    return {
        "run": run,
        "key": call.key,
        "kind": call.kind.value,
        "endpoint": call.endpoint,
        "subject": call.subject,
        "scope": call.scope,
        "state": call.state,
        "code": call.code or None,
        "reason": call.reason,
        "prompt_tokens": call.usage.prompt_tokens,
        "cached_tokens": call.usage.cached_tokens,
        "completion_tokens": call.usage.completion_tokens,
        "cost_usd": call.usage.cost_usd,
        "seconds": call.elapsed_s,
        "at": call.at,
        "reused": reused,
    }


def _place(view: RunView, line: UnitResult) -> Row:
    return {
        "run": view.config.run,
        "task": line.task,
        "system": line.report,
        "metric": line.metric,
        "judge": line.judge,
        "repeat": line.repeat,
    }


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


_PLACE = ("text: run task system metric judge", "integer: repeat")
TABLES = (
    Table(
        "results",
        _columns(
            *_PLACE,
            "day: as_of",
            "integer: version",
            "text: status",
            "number: score interval_low interval_high",
            "text: interval_kind",
            "integer: decided checked items",
            "text: reason flags parts counts unit",
        ),
        _result_rows,
    ),
    Table(
        "items",
        _columns(
            *_PLACE,
            "integer: number",
            "text: item text outcome",
            "number: value",
            "text: reason flags",
            "integer: evidence_count",
            "text: evidence_url evidence_quote evidence_stance",
            "day: evidence_published",
            "text: evidence_dating evidence_key evidence calls detail unit",
        ),
        _item_rows,
    ),
    Table(
        "calls",
        _columns(
            "text: run key kind endpoint subject scope state code reason",
            "integer: prompt_tokens cached_tokens completion_tokens",
            "number: cost_usd seconds",
            "time: at",
            "flag: reused",
        ),
        _call_rows,
    ),
)
"""In the order in which they are written."""
