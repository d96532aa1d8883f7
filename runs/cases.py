"""From what a user names (files, texts, a query) to tasks with their reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..core import Task
from ..errors import InputError, UserError
from ..reports import join, load_reports, load_tasks, scalar
from ..reports.data import Report
from .fetching import fetch_reports, is_address
from .files import short_digest

Given = str | Path | Report
"""A path of a report file or folder, a web address of a report, or a report read already."""
Case = tuple[Task, Report]


def read_task(where: str) -> Task:
    """The task that ``FILE.jsonl#id`` names; ``#id`` may be left out when the file holds one task.

    Raises InputError.
    """
    name, _, wanted = where.partition("#")
    tasks = load_tasks(Path(name))
    chosen = [task for task in tasks if not wanted or task.id == wanted]
    if len(chosen) == 1:
        return chosen[0]
    if not wanted:
        raise InputError(
            f"holds {len(tasks)} tasks: say which one, as {name}#{tasks[0].id if tasks else 'ID'}", path=name
        )
    known = ", ".join(task.id for task in tasks[:5])
    raise InputError(f"no task {wanted!r} (there are: {known}{' …' if len(tasks) > 5 else ''})", path=name)


def read_query(text: str) -> str:
    """The query itself, or the content of the file that ``@FILE`` names. Raises InputError."""
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the query cannot be read ({error})", path=path) from None
    if not text.strip():
        raise UserError('the query is empty: give the question that the reports answer, as --query "…"')
    return scalar(text.strip())


def task_of(prompt: str) -> Task:
    """A task made of a bare query; its id comes from its text."""
    return Task(id=f"q-{short_digest(prompt)}", prompt=prompt)


def gather(
    reports: Sequence[Given],
    *,
    task: Task | None,
    tasks: Path | str | Sequence[Task] | None = None,
    clean: bool = True,
    ledger: Path | str | None = None,
) -> tuple[Case, ...]:
    """Reports with their task: the given one, else one of ``tasks`` (or a file of them), else each report's own prompt.

    Raises InputError for a file that cannot be read, UserError when there is no report, no query, or two reports of
    one name and task.
    """
    found = [(given, report) for given in reports for report in _read(given, clean, ledger)]
    if not found:
        raise UserError("there is no report to evaluate: name at least one file")
    cases = _cases([report for _, report in found], task, tasks)
    doubles = _doubles(cases)
    cases = [
        (case_task, _renamed(report, given) if (case_task.id, report.id) in doubles else report)
        for (given, _), (case_task, report) in zip(found, cases, strict=True)
    ]
    if left := _doubles(cases):
        raise UserError(_told_twice(sorted(left)[0], found, cases))
    return tuple(cases)


def _cases(reports: Sequence[Report], task: Task | None, tasks: Path | str | Sequence[Task] | None) -> list[Case]:
    if tasks is None:
        return [(task or _own_task(report), report) for report in reports]
    return join(reports, load_tasks(Path(tasks)) if isinstance(tasks, (str, Path)) else tasks)


def _read(given: Given, clean: bool, ledger: Path | str | None) -> list[Report]:
    if isinstance(given, Report):
        return [given]
    if isinstance(given, str) and is_address(given):
        return fetch_reports(given, ledger=ledger, clean=clean)
    path = Path(given)
    if not path.exists():
        raise InputError("no such file", path=path)
    return load_reports(path, clean=clean)


def _own_task(report: Report) -> Task:
    if not report.prompt:
        raise UserError(f'{report.id}: nobody says what it answers: give the question, as --query "…"')
    return Task(id=report.task_id or task_of(report.prompt).id, prompt=report.prompt)


def _doubles(cases: Sequence[Case]) -> set[tuple[str, str]]:
    counts = Counter((task.id, report.id) for task, report in cases)
    return {place for place, n in counts.items() if n > 1}


def _told_twice(place: tuple[str, str], found: Sequence[tuple[Given, Report]], cases: Sequence[Case]) -> str:
    """Which of the things given hold two reports of one name and task, in the user's own words."""
    names = [
        given.id if isinstance(given, Report) else str(given)
        for (given, _), (task, report) in zip(found, cases, strict=True)
        if (task.id, report.id) == place
    ]
    if len(set(names)) == 1 and len(names) > 1 and not isinstance(found[0][0], Report):
        return f"{names[0]} is given twice, or holds two reports of one name ({place[1]!r}) on one query: leave one out"
    return f"{' and '.join(dict.fromkeys(names))} have the same name ({place[1]!r}): rename one of them"


def _renamed(report: Report, given: Given) -> Report:
    """The report under a name that holds its folder too (``a/report.md`` and ``b/report.md``)."""
    if isinstance(given, Report):
        return report
    folder = Path(given).resolve().parent.name
    return report.model_copy(update={"id": f"{folder}-{report.id}"})
