"""The files of a set: tasks, provenance, summary, and the peer's shape of the same."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..core import AsOf, Json, Task
from ..errors import InputError, UserError
from .data import Candidate, Sure
from .generate import Generated, told
from .languages import tongue
from .order import Order
from .prompts import VERSION
from .rules import period_of

SCHEMA_VERSION = 1


def beside(out: Path, what: str) -> Path:
    """``tasks.provenance.jsonl`` and ``tasks.summary.json`` beside ``tasks.jsonl``."""
    return out.with_name(f"{out.stem}.{what}")


def check_free(out: Path, peer: Path | None = None) -> None:
    """Raises UserError when a file stands in the way that was not made here, or both names are one."""
    ours = _read_summary(beside(out, "summary.json")) is not None
    for path, option in ((out, "--out"), (peer, "--peer")):
        if path is not None and path.exists() and not ours:
            raise UserError(f"{path} stands there and was not made by this command: name another file with {option}")
    if peer is not None and peer.resolve() == out.resolve():
        raise UserError("--out and --peer name the same file")


def since_first_start(out: Path, order: Order) -> Order:
    """The order as of the day of its first start, where nobody gave a day: so the same command repeats no call."""
    before = _read_summary(beside(out, "summary.json"))
    if before is None or before.as_of.given or order.as_of.given:
        return order
    started = order.model_copy(update={"as_of": before.as_of})
    same = before.model_dump(exclude={"keep"}) == started.model_dump(exclude={"keep"})
    return started if same else order


def begin(out: Path, order: Order) -> None:
    """Note what was asked for, so that the same command goes on as of the same day. Raises OSError."""
    summary = beside(out, "summary.json")
    if _read_summary(summary) != order:
        _write(summary, json.dumps({"schema_version": SCHEMA_VERSION, "state": "started", "order": _plain(order)}))


def write(made: Generated, out: Path, peer: Path | None = None) -> bool:
    """Write provenance and summary, and the tasks (and the peer's file) unless a domain is short of its quota.

    Returns whether the tasks were written. Each file appears as a whole or not at all. Raises OSError.
    """
    whole = not made.shortfalls
    if whole:
        tasks = _lines(task_line(one, made.order.as_of) for one in made.kept)
        _write(out, tasks)
        if peer is not None:
            _write(peer, _lines(peer_line(one, made.order.as_of) for one in made.kept))
    _write(beside(out, "provenance.jsonl"), _lines(_plain(one) for one in made.candidates))
    summary = summary_of(made) | {"tasks": hashlib.sha256(tasks.encode()).hexdigest() if whole else None}
    _write(beside(out, "summary.json"), json.dumps(summary, ensure_ascii=False, indent=2) + "\n")
    return whole


def task_line(one: Candidate, as_of: AsOf) -> dict[str, Json]:
    """A line of our task file, which the peer's evaluators read too. ``as_of`` is there when a day was given."""
    line: dict[str, Json] = {"id": one.id, "prompt": one.prompt, "language": one.language, "topic": one.domain}
    return line | ({"as_of": as_of.day.isoformat()} if as_of.given else {})


def peer_line(one: Candidate, as_of: AsOf) -> dict[str, Json]:
    """A record as DeepResearchEval's task construction writes it. ValueError for a task that passed no filter."""
    first, second = one.qualification, one.necessity
    if first is None or second is None:
        raise ValueError(f"{one.id} has not passed both filters")
    period = period_of(one.prompt, tongue(one.language))
    person = one.persona
    return {
        "task_id": one.id,
        "domain": one.domain,
        "expert": {
            **{"name": person.name, "role": person.role, "affiliation": person.affiliation},
            **{"background": person.background, "subdomain": person.subfield},
        },
        "query": {
            "deep_research_query": one.prompt,
            "key_challenges": one.challenges,
            "expected_search_rounds": len(one.angles) or None,
            "time_sensitivity": bool(period),
            "time_constraint": period or None,
        },
        "evaluation_results": {
            "needs_deep_research": first.qualified,
            "confidence_score": first.confidence,
            "search_complexity": _complexity(first.sources, first.depth),
            "information_sources_needed": list(one.sources),
            "quality_assessment": _band(second.quality),
            "quality_score": round(second.quality, 4),
            "requires_search": second.needs_search,
        },
        "baseline_answer": one.answer,
        "retention_reason": second.reason or first.reason or f"rank {one.rank} of its domain",
        "generated_timestamp": as_of.day.isoformat(),
    }


def write_tasks(tasks: Iterable[Task], path: Path) -> None:
    """Write tasks as JSONL, fields that are not set left out. Raises OSError."""
    _write(path, _lines(task.model_dump(mode="json", exclude_none=True) for task in tasks))


def summary_of(made: Generated) -> dict[str, Any]:
    """What the set is and how it came about; nothing of it from the clock."""
    return {
        "schema_version": SCHEMA_VERSION,
        "state": "short" if made.shortfalls else "finished",
        "order": _plain(made.order),
        "judge": made.judge,
        "endpoint": made.endpoint,
        "prompts_version": VERSION,
        "filters": made.check.filters,
        "said": told(made.check),
        "sentinels": [_plain(one) for one in made.check.sentinels],
        "account": _plain(made.account) | {"kept": made.account.kept, "constant": list(made.account.constant)},
        "shortfalls": [_plain(one) for one in made.shortfalls],
        "totals": _plain(made.totals),
    }


def read_provenance(path: Path) -> dict[str, dict[str, Any]]:
    """Lines of a provenance file by id; empty when there is none. Raises InputError."""
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            value = json.loads(line)
            found[str(value["id"])] = value
        except (ValueError, KeyError, TypeError):
            raise InputError("not a line of provenance", path=path, line=number) from None
    return found


def _complexity(sources: Sure, depth: Sure) -> str:
    least = min(sources.value_01, depth.value_01)
    return "High" if least == 1 else "Medium" if least >= Sure.LIKELY.value_01 else "Low"


def _band(quality: float) -> str:
    return "low" if quality < 0.4 else "medium" if quality <= 0.7 else "high"


def _read_summary(path: Path) -> Order | None:
    """The order that a summary is of; None when there is no summary of ours."""
    try:
        return Order.model_validate(json.loads(path.read_text(encoding="utf-8"))["order"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None


def _plain(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value.model_dump(mode="json")
    return found


def _lines(values: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def _write(path: Path, text: str) -> None:
    """The old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
