"""The two files of a collection: reports, one line a task, and the log of attempts beside it.

``NAME.jsonl`` holds reports alone, in the shape that every report loader reads (``id, prompt, article, sources``),
with ``system``, ``profile`` and ``trace`` beside them. ``NAME.log`` holds one JSON line an attempt that left no report,
with the end of its standard error. A line is written at once and forced to disk, so that a kill loses nothing that was
finished; a broken last line (a kill in the middle of writing) is cut off at the next start and its task done again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from ...core import Json, Task
from ...errors import InputError, UserError
from ...ledger.masking import Masker
from ...reports import scalar_json
from .data import Attempt, Delivery, Profile


class ReportsFile:
    """Reports of one system as they come. Use it inside :meth:`open`, which keeps other processes away."""

    def __init__(self, path: Path, system: str, secrets: Iterable[str] = ()) -> None:
        self.path, self.system = path, system
        self._masker = Masker(secrets)
        self.done: dict[str, Profile | None] = {}
        """Tasks that have their report, with what it took (None: not known)."""
        self.tried: Counter[str] = Counter()
        """Attempts on record that left no report, by task."""

    @property
    def log(self) -> Path:
        """The log of attempts. Its name is none that a folder of reports is searched for."""
        return self.path.with_suffix(".log")

    def hide(self, secret: str) -> None:
        """Mask this value too from now on."""
        self._masker.hide([secret])

    @contextmanager
    def open(self, tasks: Sequence[Task]) -> Iterator[ReportsFile]:
        """Lock the file and read what is done. InputError when what it holds does not belong to this collection;
        UserError when another process writes it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise UserError(f"{self.path}: another collection is writing it; wait until it is done") from None
        try:
            self._read({task.id: task for task in tasks})
            yield self
        finally:
            lock.release()

    def _read(self, tasks: dict[str, Task]) -> None:
        for line, value in enumerate(_lines(self.path), 1):
            self._known(value, line, tasks)
        for value in _lines(self.log):
            self.tried[str(value.get("task"))] += 1

    def _known(self, value: dict[str, Any], line: int, tasks: dict[str, Task]) -> None:
        id, system = str(value.get("id", "")), value.get("system")
        if system not in (None, self.system):
            raise InputError(f"holds reports of {system!r}, not {self.system!r}", path=self.path, line=line)
        if id in self.done:
            raise InputError(f"the id {id!r} is there twice", path=self.path, line=line, field="id")
        if id in tasks and value.get("prompt") not in (None, tasks[id].prompt):
            raise InputError(f"task {id!r} has another prompt here; give another --out", path=self.path, line=line)
        self.done[id] = profile_of(value)

    def add(self, task: Task, delivery: Delivery, profile: Profile | None) -> None:
        """Write a report; ``profile`` None: nobody knows what it took. On disk when this returns."""
        line: dict[str, Json] = {
            "id": task.id,
            "prompt": task.prompt,
            "system": self.system,
            "article": delivery.article,
            "sources": list(delivery.sources),
        }
        if profile is not None:
            line["profile"] = profile.model_dump(mode="json")
        if delivery.trace is not None:
            line["trace"] = delivery.trace
        self._append(self.path, line)
        self.done[task.id] = profile

    def note(self, attempt: Attempt) -> None:
        """Write an attempt that left no report. On disk when this returns."""
        self._append(self.log, asdict(attempt))
        self.tried[attempt.task] += 1

    def _append(self, path: Path, value: dict[str, Any]) -> None:
        """One line, without the values of configured keys."""
        line = self._masker.text(json.dumps(scalar_json(value), ensure_ascii=False)).encode() + b"\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            written = os.write(descriptor, line)
            while written < len(line):
                written += os.write(descriptor, line[written:])
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def profile_of(record: dict[str, Any]) -> Profile | None:
    """What a report took, from its line; None when the line does not say."""
    try:
        return Profile.model_validate(record.get("profile"))
    except ValidationError:
        return None


def read_profiles(path: Path) -> dict[str, Profile]:
    """What each report of a file took, by task; reports of elsewhere have none."""
    found = {str(value.get("id", "")): profile_of(value) for value in _lines(path, repair=False)}
    return {id: profile for id, profile in found.items() if profile is not None}


def written(path: Path) -> set[str]:
    """The tasks that a file has a report on."""
    return {str(value.get("id", "")) for value in _lines(path, repair=False)}


def _lines(path: Path, *, repair: bool = True) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; nothing for a missing one. A last line without its end is cut off the file."""
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    if whole < len(data) and _value(data[whole:]) is not None:
        whole = len(data)  # somebody's own file without a last line break
        if repair:
            with path.open("ab") as file:
                file.write(b"\n")
    elif whole < len(data) and repair:
        os.truncate(path, whole)
    for number, line in enumerate(data[:whole].splitlines(), 1):
        if line.strip():
            value = _value(line)
            if value is None:
                raise InputError("no JSON object; repair or move the file", path=path, line=number)
            yield value


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
