"""Benchmarks in their own layout on this disk: tasks, reports of systems, criteria, reference. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from ...core import Frozen, Task
from ...errors import UserError
from ...reports import Report, join, load_reports, load_tasks, word_count
from .data import Profile

BENCHES = {"drb": "DeepResearch Bench", "dre": "DeepResearchEval"}
"""Short name, which is also that of its group of metrics, to full name."""
_QUERIES = ("query.jsonl", "prompt_data/query.jsonl", "data/prompt_data/query.jsonl")
_RAW = ("raw_data", "test_data/raw_data", "data/test_data/raw_data", "method_results", ".")
_CRITERIA = ("criteria.jsonl", "criteria_data/criteria.jsonl", "data/criteria_data/criteria.jsonl")
_REFERENCE = (
    "reference.jsonl",
    "test_data/cleaned_data/reference.jsonl",
    "data/test_data/cleaned_data/reference.jsonl",
)


@dataclass(frozen=True)
class Bench:
    """A benchmark's files."""

    kind: str
    folder: Path
    tasks: tuple[Task, ...]
    criteria: Path | None
    reference: Path | None

    def reports(self, system: str) -> Path | None:
        """The reports of a system that the benchmark has; None when it has none."""
        places = [self.folder / raw / name for raw in _RAW for name in (f"{system}.jsonl", system)]
        return next((place for place in places if place.exists()), None)

    def systems(self) -> list[str]:
        """The systems that the benchmark has reports of."""
        found = [path.stem for raw in _RAW[:-1] for path in (self.folder / raw).glob("*.jsonl")]
        return sorted(found)


def open_bench(kind: str, folder: Path) -> Bench:
    """Find a benchmark's files. UserError when there are no tasks."""
    queries = _first(folder, _QUERIES)
    if queries is None:
        where = f"{kind.upper()} ({BENCHES[kind]})"
        raise UserError(f"--data {folder}: no {' or '.join(_QUERIES)}; give the folder of {where}, as it publishes it")
    tasks = tuple(load_tasks(queries))
    return Bench(kind, folder, tasks, _first(folder, _CRITERIA), _first(folder, _REFERENCE))


def _first(folder: Path, places: Sequence[str]) -> Path | None:
    return next((folder / place for place in places if (folder / place).is_file()), None)


def select(tasks: Sequence[Task], wanted: str | None) -> list[Task]:
    """Tasks by ids and ranges of ids, such as ``51-60,72``; all when None. UserError for an id that is not there."""
    if wanted is None:
        return list(tasks)
    ids: list[str] = []
    for part in filter(None, (part.strip() for part in wanted.split(","))):
        ends = re.fullmatch(r"(\d+)-(\d+)", part)
        ids += [str(n) for n in range(int(ends[1]), int(ends[2]) + 1)] if ends else [part]
    known = {task.id: task for task in tasks}
    missing = [id for id in ids if id not in known]
    if missing or not ids:
        raise UserError(f"--tasks {wanted}: there is no task {', '.join(missing[:5])} among {len(known)}")
    return [known[id] for id in dict.fromkeys(ids)]


def reports_on(path: Path, all_tasks: Sequence[Task], tasks: Sequence[Task]) -> list[Report]:
    """The reports of a file or folder that answer one of ``tasks``."""
    chosen = {task.id for task in tasks}
    return [report for task, report in join(load_reports(path), all_tasks) if task.id in chosen]


class Footprint(Frozen):
    """What a system's reports are like, and what they took: medians, over those where it is known."""

    system: str
    reports: int
    words: float | None
    marks: float | None
    """Citation marks."""
    seconds: float | None
    """Wall time of a report; those whose calls the ledger answered are left out."""
    tokens: float | None
    cost_usd: float | None
    """US dollars a report."""


def footprint(system: str, reports: Sequence[Report], profiles: dict[str, Profile]) -> Footprint:
    """The medians over a system's reports."""
    mine = [profile for report in reports if (profile := profiles.get(report.task_id or "")) is not None]
    return Footprint(
        system=system,
        reports=len(reports),
        words=_median([sum(word_count(one.text) for one in report.sentences) for report in reports]),
        marks=_median([len(report.marks) for report in reports]),
        seconds=_median([profile.seconds for profile in mine if not profile.reused]),
        tokens=_median([profile.tokens for profile in mine]),
        cost_usd=_median([profile.cost_usd for profile in mine]),
    )


class Expected(Frozen):
    """What a report of a system takes, from those it has written: means over those where it is known."""

    reports: int
    seconds: float | None
    tokens: float | None
    cost_usd: float | None
    """US dollars."""


def expected(profiles: Sequence[Profile]) -> Expected | None:
    """The means; None when no report says anything. Reports whose calls the ledger answered say nothing on time."""
    found = Expected(
        reports=len(profiles),
        seconds=_mean([profile.seconds for profile in profiles if not profile.reused]),
        tokens=_mean([profile.tokens for profile in profiles]),
        cost_usd=_mean([profile.cost_usd for profile in profiles]),
    )
    return None if (found.seconds, found.tokens, found.cost_usd) == (None, None, None) else found


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(mean(known)) if known else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None
