"""Human review: one sheet a rater, and what they say together.

A rater sees neither the others' answers nor the judge's, and each sheet has its own order, so that what tires a rater
hits other tasks each time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import Frozen, Interval, Task
from ..errors import InputError, UserError
from ..reports.decoding import decode, read_bytes
from ..stats import wilson

COLUMNS = ("id", "language", "topic", "person", "prompt", "qualified", "comment")
YES = frozenset(["yes", "y", "1", "true", "ja", "j", "oui", "sí", "si", "sim", "s", "да", "是", "はい", "예"])
NO = frozenset(["no", "n", "0", "false", "nein", "non", "não", "нет", "否", "いいえ", "아니요"])
_FORMULA = re.compile(r"^[\s\x00-\x1f\ufeff\u200b-\u200f\u2060-\u2069]*[=+\-@|%\t\r＝＋－＠]")
_GUARD = "'"
_RATER = re.compile(r"[^\W_][\w .-]{0,39}")


# --- writing ---------------------------------------------------------------------------------------------------------


def write_sheets(
    tasks: Sequence[Task],
    raters: Sequence[str],
    folder: Path,
    provenance: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Path]:
    """Write ``folder/RATER.csv`` for each rater. ``provenance`` tells for whom a task was made, by its id.

    Raises UserError for a name that cannot be a file's, and when a sheet stands there already: it may be filled in.
    """
    _check_raters(raters)
    paths = [folder / f"{rater}.csv" for rater in raters]
    for path in paths:
        if path.exists():
            raise UserError(f"{path} stands there already, and may be filled in: name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for rater, path in zip(raters, paths, strict=True):
        path.write_bytes(sheet(tasks, rater, provenance or {}).encode("utf-8-sig"))  # with a mark, for spreadsheets
    return paths


def sheet(tasks: Sequence[Task], rater: str, provenance: Mapping[str, Mapping[str, Any]]) -> str:
    """A rater's sheet as CSV: the tasks in an order of the rater's own, ``qualified`` and ``comment`` empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for task in sorted(tasks, key=lambda task: hashlib.sha256(f"{rater}\0{task.id}".encode()).digest()):
        person = _person(provenance.get(task.id, {}).get("persona"))
        cells = (task.id, task.language or "", task.topic or "", person, task.prompt)
        writer.writerow([*(guarded(cell) for cell in cells), "", ""])
    return text.getvalue()


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, on one line."""
    line = " ".join(cell.split())
    return f"{_GUARD}{line}" if _FORMULA.match(cell) or line.startswith(_GUARD) else line


def unguarded(cell: str) -> str:
    """The cell as it was."""
    return cell.removeprefix(_GUARD)


def _person(persona: object) -> str:
    if not isinstance(persona, Mapping):
        return ""
    return ". ".join(str(persona.get(name, "")).rstrip(". ") for name in ("role", "background") if persona.get(name))


def _check_raters(raters: Sequence[str]) -> None:
    for rater in raters:
        if not _RATER.fullmatch(rater):
            raise UserError(f"--raters: {rater!r} is no name for a sheet (letters, digits, blanks, dots, hyphens)")
    if len({rater.casefold() for rater in raters}) != len(raters) or not raters:
        raise UserError("--raters needs names, each once")


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """What one rater said."""

    rater: str
    answers: Mapping[str, bool]
    """By task; tasks left empty are not in it."""
    comments: Mapping[str, str]


def read_sheets(paths: Sequence[Path], tasks: Sequence[Task]) -> list[Sheet]:
    """Read filled-in sheets; folders stand for the CSV files in them. The rater is the name of the file.

    Raises InputError (with the line) for an answer that is neither yes nor no, an id that is not in ``tasks`` or there
    twice, and a prompt that is another text than the task's: then something else was rated.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.csv")) if path.is_dir() else [path])]
    if not files:
        raise UserError("there is no sheet to read: name CSV files, or the folder with them")
    names = Counter(file.stem.casefold() for file in files)
    double = next((name for name, count in names.items() if count > 1), None)
    if double is not None:
        raise UserError(f"two sheets are of the rater {double!r}: name each once")
    by_id = {task.id: task for task in tasks}
    return [_read_sheet(file, by_id) for file in files]


def _read_sheet(path: Path, tasks: Mapping[str, Task]) -> Sheet:
    answers: dict[str, bool] = {}
    comments: dict[str, str] = {}
    seen: dict[str, int] = {}
    for line, row in _rows(path):
        id = unguarded(row["id"].strip())
        if id not in tasks:
            raise InputError(f"there is no task {id[:60]!r}", path=path, line=line, field="id")
        if id in seen:
            raise InputError(f"{id!r} is there twice (first on line {seen[id]})", path=path, line=line, field="id")
        seen[id] = line
        if "prompt" in row and _folded(unguarded(row["prompt"])) != _folded(tasks[id].prompt):
            raise InputError("not the text of the task: something else was rated", path=path, line=line, field="prompt")
        answer = _answer(row["qualified"], path, line)
        if answer is not None:
            answers[id] = answer
        if comment := unguarded((row.get("comment") or "").strip()):
            comments[id] = comment
    return Sheet(path.stem, answers, comments)


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Rows by the names of the columns, each with the line it begins on; spreadsheets may have changed the comma."""
    text = decode(read_bytes(path), path=path).lstrip("\ufeff")
    head = text.split("\n", 1)[0]
    comma = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma, strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    names: list[str] = []
    line = 1
    try:
        for cells in reader:
            if not names:
                names = [cell.strip().lower() for cell in cells]
                _check_columns(names, path)
            elif any(cell.strip() for cell in cells):
                rows.append((line, dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=False))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not CSV: {error} (is a quotation mark not closed?)", path=path, line=line) from None
    _check_columns(names, path)
    return rows


def _check_columns(names: Sequence[str], path: Path) -> None:
    for name in ("id", "qualified"):
        if names.count(name) != 1:
            raise InputError(f"needs one column {name!r}: it is not a sheet of dream tasks review", path=path, line=1)


def _answer(cell: str, path: Path, line: int) -> bool | None:
    word = unguarded(cell.strip()).strip().rstrip(".!").casefold()
    if not word:
        return None
    if word in YES or word in NO:
        return word in YES
    raise InputError(f"{cell.strip()[:40]!r} is neither yes nor no", path=path, line=line, field="qualified")


def _folded(text: str) -> str:
    return " ".join(text.split())


# --- agreement -------------------------------------------------------------------------------------------------------


class Reviewed(Frozen):
    """What raters say of one task."""

    id: str
    yes: int
    no: int
    missing: int
    qualified: bool | None
    """By at least m raters; None while that hangs on missing answers."""


class Review(Frozen):
    """What raters say together."""

    raters: tuple[str, ...]
    at_least: int
    """m: raters who must say yes."""
    tasks: tuple[Reviewed, ...]
    share: float | None
    """Of the decided tasks, those that are qualified, in [0, 1]; None when none is decided."""
    interval: Interval | None
    """Wilson, on the 0–100 scale."""
    alpha: float | None
    """Krippendorff's alpha, nominal; None where nothing can be said (one rater, or all answers equal)."""
    shares: dict[str, float | None]
    """Yes of each rater, in [0, 1]."""
    answered: dict[str, int]
    """Tasks that each rater answered."""

    def ids(self, qualified: bool | None) -> list[str]:
        """Tasks that are qualified, that are not, or (None) that are undecided."""
        return [task.id for task in self.tasks if task.qualified is qualified]


def review(tasks: Sequence[Task], sheets: Sequence[Sheet], at_least: int | None = None) -> Review:
    """Count. ``at_least``: by default more than half of the raters (4 of 7, as the paper). Raises UserError."""
    from ..stats.agreement import krippendorff_alpha

    wanted = len(sheets) // 2 + 1 if at_least is None else at_least
    if not 1 <= wanted <= len(sheets):
        raise UserError(f"--at-least {wanted}: there are {len(sheets)} raters")
    told = tuple(_reviewed(task.id, sheets, wanted) for task in tasks)
    good, bad = (sum(one.qualified is kind for one in told) for kind in (True, False))
    units = [[sheet.answers.get(task.id) for sheet in sheets] for task in tasks]
    return Review(
        raters=tuple(sheet.rater for sheet in sheets),
        at_least=wanted,
        tasks=told,
        share=good / (good + bad) if good + bad else None,
        interval=wilson(100 * good / (good + bad), good + bad) if good + bad else None,
        alpha=krippendorff_alpha(units),
        shares={s.rater: sum(s.answers.values()) / len(s.answers) if s.answers else None for s in sheets},
        answered={sheet.rater: len(sheet.answers) for sheet in sheets},
    )


def _reviewed(id: str, sheets: Sequence[Sheet], wanted: int) -> Reviewed:
    answers = [sheet.answers[id] for sheet in sheets if id in sheet.answers]
    yes, missing = sum(answers), len(sheets) - len(answers)
    qualified = True if yes >= wanted else False if yes + missing < wanted else None
    return Reviewed(id=id, yes=yes, no=len(answers) - yes, missing=missing, qualified=qualified)
