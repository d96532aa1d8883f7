"""Reports that exist already, as the reports of a system: files of the benches, exports, saved pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core import Json, Task
from ...errors import InputError
from ...reports import Report, SourceKind, join, load_reports
from .data import Delivery
from .files import ReportsFile


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    made: int
    kept: int
    """Reports that the file had already."""
    missing: tuple[str, ...]
    """Given tasks that have no report now."""


def import_reports(source: Path, system: str, file: ReportsFile, tasks: Sequence[Task] = ()) -> Imported:
    """Take the reports of ``source`` (whatever ``load_reports`` reads) into ``file``, each under its task's id.

    From a folder with reports of several systems those called ``system`` are taken. With ``tasks`` each report is
    joined to one, by id or by prompt; without, reports must carry id and prompt. Raises InputError.
    """
    pairs = _placed(_of_system(load_reports(source, clean=False), system, source), list(tasks), source)
    twice = [id for id, count in Counter(task.id for task, _ in pairs).items() if count > 1]
    if twice:
        raise InputError(f"two reports answer task {twice[0]!r}; say which system with --system", path=source)
    made = 0
    with file.open([task for task, _ in pairs]):
        kept = sum(task.id in file.done for task, _ in pairs)
        for task, report in pairs:
            if task.id not in file.done:
                file.add(task, Delivery(report.text, _listed(report)), None)
                made += 1
    return Imported(made, kept, tuple(task.id for task in tasks if task.id not in file.done))


def _of_system(reports: list[Report], system: str, source: Path) -> list[Report]:
    """Those of the system where a folder holds reports of several, else all."""
    named = [report for report in reports if report.id == system or report.id.rpartition("/")[2] == system]
    if named or len({report.id for report in reports}) == 1:
        return named or reports
    answered = Counter(report.task_id for report in reports if report.task_id is not None)
    if any(count > 1 for count in answered.values()):
        names = ", ".join(sorted({report.id for report in reports})[:12])
        raise InputError(f"holds reports of several systems, none called {system!r}: {names}", path=source)
    return reports


def _placed(reports: list[Report], tasks: list[Task], source: Path) -> list[tuple[Task, Report]]:
    """Each report with its task."""
    if len(reports) == 1 and len(tasks) == 1 and reports[0].task_id is None and reports[0].prompt is None:
        return [(tasks[0], reports[0])]
    if tasks:
        ids, wanted = {task.id for task in tasks}, []
        for report in reports:
            if report.task_id is None or report.task_id in ids:
                wanted.append(report)
        return join(wanted, tasks)
    found = [(Task(id=r.task_id, prompt=r.prompt), r) for r in reports if r.task_id and r.prompt]
    if len(found) < len(reports):
        bare = next(report for report in reports if not (report.task_id and report.prompt))
        raise InputError(f"report {bare.task_id or bare.id!r} does not say what it answers; give --tasks", path=source)
    return found


def _listed(report: Report) -> tuple[Json, ...]:
    """Sources that came beside the text, in their own order; those in it are found again."""
    beside = [source for source in report.sources if source.kind is SourceKind.LISTED and source.raw]
    beside.sort(key=lambda source: int(source.label) if source.label and source.label.isdecimal() else 0)
    return tuple(
        {
            name: value
            for name, value in (("url", source.raw), ("title", source.title), ("number", source.label))
            if value is not None
        }
        for source in beside
    )
