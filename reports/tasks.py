"""Task files, and which report answers which task."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core import Task
from ..errors import InputError
from .data import Report
from .decoding import decode, read_bytes
from .records import PROMPTS, Record, _prompt_of, parse_json, parse_jsonl, record_id
from .text import fold, language_of, squeeze


def load_tasks(path: Path) -> list[Task]:
    """The tasks of a file: JSONL, JSON or CSV with ``id`` and ``prompt`` (or what the benches call them).

    Raises InputError for a file that cannot be used, with line and field; ids must be unique.
    """
    path = Path(path)
    text = decode(read_bytes(path), path=path).lstrip("\ufeff")
    if not text.strip():
        raise InputError("the file is empty", path=path)
    if path.suffix.lower() == ".csv":
        rows = _rows(text, path)
    elif path.suffix.lower() in (".jsonl", ".ndjson") or (text.lstrip()[0] == "{" and "\n{" in text):
        rows = parse_jsonl(text, path)
    else:
        rows = parse_json(text, path)
    tasks: list[Task] = []
    places: dict[str, int | None] = {}
    for number, row in enumerate(rows, 1):
        task = _task(row, number, path)
        if task.id in places:
            first = f" (first on line {places[task.id]})" if places[task.id] else ""
            raise InputError(f"the id {task.id!r} is there twice{first}", path=path, line=row.line, field="id")
        places[task.id] = row.line
        tasks.append(task)
    if not tasks:
        raise InputError("holds no task", path=path)
    return tasks


def _rows(text: str, path: Path) -> list[Record]:
    """The rows of a CSV text below its header, each with the line it begins on. InputError for broken quoting."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    found: list[Record] = []
    line = 1
    try:
        _ = reader.fieldnames
        line = reader.line_num + 1
        for row in reader:
            found.append(Record(row, line))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not CSV: {error} (is a quotation mark not closed?)", path=path, line=line) from None
    return found


def _task(record: Record, number: int, path: Path) -> Task:
    value = record.value
    prompt = next((p for n in PROMPTS for p in [_prompt_of(value.get(n))] if p), None)
    if prompt is None:
        raise InputError("no prompt in this task", path=path, line=record.line, field="prompt")
    id = record_id(value) or record.key
    if id is None:
        raise InputError(f"no id in task {number}", path=path, line=record.line, field="id")
    return Task(
        id=id,
        prompt=prompt,
        language=_text(value, "language"),
        topic=_text(value, "topic") or _text(value, "domain") or _text(value, "category"),
        as_of=_day(value.get("as_of"), path, record.line),
    )


def _text(value: Any, name: str) -> str | None:
    found = value.get(name)
    return found.strip() or None if isinstance(found, str) else None


def _day(value: Any, path: Path, line: int | None) -> dt.date | None:
    if value in (None, ""):
        return None
    try:
        return dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        raise InputError(f"{value!r} is no date (YYYY-MM-DD)", path=path, line=line, field="as_of") from None


def task_language(task: Task) -> str | None:
    """The task's language as a BCP 47 tag: as it says, else that of its prompt; None when unclear."""
    return task.language or language_of(task.prompt)


def search_language(task: Task, text_language: str | None) -> str | None:
    """The tag for searches whose words come from a text: the task's (``de-AT``) when it is the text's language."""
    own = task_language(task)
    if own is None or text_language is None:
        return own or text_language
    return own if own.split("-")[0].lower() == text_language.split("-")[0].lower() else text_language


def join(reports: Iterable[Report], tasks: Sequence[Task]) -> list[tuple[Task, Report]]:
    """Each report with its task: by the task's id that the report carries (or is named by), else by the prompt's text.

    Raises InputError when a report fits no task, or when the id says one task and the prompt another; both are shown.
    """
    return list(iter_join(reports, tasks))


def iter_join(reports: Iterable[Report], tasks: Sequence[Task]) -> Iterator[tuple[Task, Report]]:
    """As :func:`join`, one at a time."""
    by_id = {task.id: task for task in tasks}
    by_prompt: dict[str, list[Task]] = {}
    for task in tasks:
        by_prompt.setdefault(_key(task.prompt), []).append(task)
    for report in reports:
        yield _task_for(report, by_id, by_prompt), report


def _key(prompt: str) -> str:
    return fold(squeeze(prompt)).rstrip(" .。?？!")


def _task_for(report: Report, by_id: dict[str, Task], by_prompt: dict[str, list[Task]]) -> Task:
    names = [report.task_id] if report.task_id else [report.id, report.id.rsplit("/", 1)[-1]]
    task = next((by_id[name] for name in names if name in by_id), None)
    said = by_prompt.get(_key(report.prompt), []) if report.prompt else []
    if task is None and len(said) == 1:
        return said[0]
    where = f"report {report.id!r}"
    if task is None and said:
        raise InputError(f"{where}: its prompt is that of several tasks ({', '.join(t.id for t in said)})")
    if task is None:
        prompt = f", prompt {_short(report.prompt)}" if report.prompt else ""
        raise InputError(
            f"{where} (task id {report.task_id or 'none'}{prompt}) fits none of "
            f"the {len(by_id)} tasks ({', '.join(list(by_id)[:8])} …)"
        )
    if report.prompt and _key(report.prompt) != _key(task.prompt):
        raise InputError(
            f"{where} says that it answers task {task.id!r}, but the prompts differ: "
            f"report {_short(report.prompt)}, task {_short(task.prompt)}"
        )
    return task


def _short(text: str | None) -> str:
    flat = squeeze(text or "")
    return repr(flat if len(flat) <= 160 else flat[:157] + "…")
