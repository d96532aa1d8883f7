"""Reading reports without a model, for ``dream lint``: counts, lints with their places, what the cleaner cut."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import Json, Task
from ..errors import InputError, UserError
from ..reports import (
    Finding,
    Overview,
    Report,
    given_offset,
    join,
    lint_json,
    load_bytes,
    load_reports,
    load_tasks,
    overview,
    uncut,
)
from ..tools import registrable_domain
from . import checked
from .fetching import fetch_reports, is_address

STDIN = "-"


@dataclass(frozen=True)
class Given:
    """A text as it was given: tells the line and column of an offset into it."""

    text: str
    starts: tuple[int, ...]
    """Where lines begin."""

    @classmethod
    def of(cls, text: str) -> Given:
        """Lines end with ``\\\\n``, ``\\\\r\\\\n`` or ``\\\\r``."""
        return cls(text, (0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))))

    def place(self, at: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


@dataclass(frozen=True)
class Linted:
    """One report, read."""

    name: str
    """The file as named, and the report in it when there are several."""
    report: Report
    view: Overview
    given: Given
    task: Task | None = None

    def place(self, finding: Finding) -> tuple[int, int] | None:
        """Line and column of a finding in the text as given; None: it is about the whole report."""
        return None if finding.span is None else self.given.place(given_offset(self.report, finding.span.start))

    @property
    def cuts(self) -> list[tuple[tuple[int, int], str, str]]:
        """What the cleaner cut: place, rule, text."""
        found, moved = [], 0
        for cut in self.report.cuts:
            found.append((self.given.place(cut.at + moved), cut.rule, cut.text))
            moved += len(cut.text)
        return found

    def as_json(self) -> dict[str, Json]:
        """Everything, with offsets into the text as given and line and column of each lint."""
        found = lint_json(self.report, registrable_domain)
        lints = found["lints"]
        for lint in lints if isinstance(lints, list) else ():
            if isinstance(lint, dict) and isinstance(start := lint["start"], int):
                lint["line"], lint["column"] = self.given.place(start)
        cuts: list[Json] = [
            {"line": line, "column": column, "rule": rule, "characters": len(text)}
            for (line, column), rule, text in self.cuts
        ]
        head: dict[str, Json] = {"report": self.name, "task": self.task.id if self.task else self.report.task_id}
        return {**head, "language": self.report.language, **found, "cuts": cuts}


def lint_reports(
    names: Sequence[str],
    *,
    clean: bool = True,
    tasks: Path | str | None = None,
    stdin: bytes = b"",
    ledger: Path | str | None = None,
) -> list[Linted]:
    """Read the reports of all files, folders and web addresses named; ``-`` is ``stdin``.

    ``ledger``: where fetched ones are kept. Raises InputError, UserError.
    """
    if not names:
        raise UserError("there is no report to read: name at least one file, or - for standard input")
    found = [linted for name in names for linted in _linted(name, clean, stdin, ledger)]
    if tasks is None:
        return found
    joined = join([linted.report for linted in found], load_tasks(Path(tasks)))
    return [replace(linted, task=task) for linted, (task, _) in zip(found, joined, strict=True)]


def _linted(name: str, clean: bool, stdin: bytes, ledger: Path | str | None) -> list[Linted]:
    if name == STDIN:
        reports = load_bytes(stdin, STDIN, clean=clean)
    elif is_address(name):
        reports = fetch_reports(name, ledger=ledger, clean=clean)
    elif not Path(name).exists():
        raise InputError("no such file or folder", path=name)
    else:
        reports = load_reports(Path(name), clean=clean)
    return [
        Linted(
            name=name if len(reports) == 1 else "#".join((name, *_own_name(report, name))),
            report=report,
            view=overview(report, registrable_domain),
            given=Given.of(uncut(report)),
        )
        for report in reports
    ]


def _own_name(report: Report, name: str) -> list[str]:
    system = [] if report.id == Path(name).stem else [report.id]
    return [*system, *([report.task_id] if report.task_id else [])]


def measures(view: Overview) -> dict[str, float | None]:
    """What ``--fail-under`` can ask for, in percent; None where there is nothing to measure."""
    return {
        "cited": _percent(view.sentences_cited, view.sentences),
        "resolved": _percent(view.marks_resolved, view.marks),
        "used": _percent(view.references_cited, view.references),
    }


MEASURES = {
    "cited": "sentences with a citation",
    "resolved": "citations that lead to a source",
    "used": "entries of the list of sources that are cited",
}


def read_floors(given: Sequence[str]) -> dict[str, float]:
    """``NAME=PERCENT`` pairs; a bare number is about ``cited``. Raises UserError."""
    return checked.gates(given, MEASURES, example="NAME=PERCENT, such as cited=40", bare="cited")


def below(view: Overview, floors: Mapping[str, float]) -> list[str]:
    """Which floors a report does not reach, in words. A report without anything to measure reaches none."""
    lines = []
    for name, floor in floors.items():
        value = measures(view)[name]
        if value is None or value < floor:
            lines.append(f"{MEASURES[name]}: {'none' if value is None else f'{value:.0f} %'}, wanted {floor:g} %")
    return lines


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None
