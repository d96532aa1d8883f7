"""The run folder: what was asked, what came of it, so that a kill costs the work in flight and nothing else.

::

    run.json             what was asked (RunConfig)
    results.jsonl        a unit a line, appended as it finishes; rewritten once, in plan order, when the run is finished
    superseded.jsonl     results of earlier plans in this folder, still reused when they fit again
    reports/ protocols/ rubrics/ claims/   what the run worked on, named by what was asked for
    summary.json         scores, worst findings, totals
    errors.log           tracebacks of unexpected errors
    lock                 names the owner while a process works on it
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import InputError, UserError
from ..ledger.masking import Masker
from .data import RunConfig, UnitResult
from .files import append_line, write_atomic
from .lock import RunLock, no_place
from .results import Index, Spot, count_lines, dump_line, index_of, line_at, lines_with_spots, raw_lines

M = TypeVar("M", bound=BaseModel)
SUBFOLDERS = ("reports", "protocols", "rubrics", "claims")
_TEMPORARY = re.compile(r"\.[^.].*\.jsonl?\.[a-z0-9_]{8}\.tmp")
"""What :func:`.files.write_atomic` calls a file of ours that it has not finished."""


class RunFolder:
    """Reads and writes one run folder. ``secrets`` are replaced in all text that it writes."""

    def __init__(self, path: Path | str, *, secrets: Iterable[str] = ()) -> None:
        self.path = Path(path)
        self._masker = Masker(secrets)

    @property
    def results_path(self) -> Path:
        """``results.jsonl``."""
        return self.path / "results.jsonl"

    @property
    def _superseded(self) -> Path:
        return self.path / "superseded.jsonl"

    def lock(self) -> RunLock:
        """Exclusive use, as a context manager. Raises UserError naming the present owner."""
        return RunLock(self.path)

    def check(self, *, ledger: Path | None = None) -> None:
        """Refuse what is no place for a run: a file, or a folder with something else in it. Writes nothing.

        A ``ledger`` beside the run's files does not count. Raises UserError that names ``--out``; InputError when the
        run in the folder cannot be read.
        """
        try:
            names = {path.name for path in self.path.iterdir()}
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise no_place(self.path, error) from None
        if "run.json" in names:
            self.config()
            return
        if ledger is not None and ledger.resolve().parent == self.path.resolve():
            names = {name for name in names if not name.startswith(ledger.name)}
        if others := sorted(name for name in names if name != "lock" and not _TEMPORARY.fullmatch(name)):
            raise UserError(
                f"--out {self.path}: holds no run, but other things ({others[0]}): name a new or an empty folder"
            )

    def tidy(self) -> None:
        """Remove temporary files of ours that a killed process left, and nothing else; call it under the lock."""
        for folder in (self.path, *(self.path / name for name in SUBFOLDERS)):
            for path in folder.glob(".*.tmp"):
                if _TEMPORARY.fullmatch(path.name):
                    path.unlink(missing_ok=True)

    def config(self) -> RunConfig | None:
        """What was asked here before, or None for a new folder. Raises InputError when unreadable."""
        return self.load("run.json", RunConfig)

    def load(self, name: str, kind: type[M]) -> M | None:
        """A data file of the folder, or None when it is not there. Raises InputError when it cannot be read."""
        path = self.path / name
        if not path.exists():
            return None
        try:
            return kind.model_validate_json(path.read_bytes())
        except (ValidationError, OSError) as error:
            problem = str(error).splitlines()[0]
            raise InputError(f"not a {kind.__name__} of this version ({problem}); move it away", path=path) from error

    def save(self, name: str, value: BaseModel) -> None:
        """Write a data file as a whole, indented. Raises OSError."""
        write_atomic(self.path / name, self._masker.text(value.model_dump_json(indent=2)) + "\n")

    def append(self, result: UnitResult) -> Spot:
        """Store one unit: on disk when this returns; says where. Raises OSError."""
        return Spot(self.results_path, append_line(self.results_path, self._line(result)))

    def lines(self) -> Iterator[UnitResult]:
        """The readable lines of ``results.jsonl`` in their order, one at a time; others are skipped."""
        return (line for _, line in lines_with_spots(self.results_path))

    def index(self, *, afresh: bool = False) -> Index:
        """Where every settled unit stands, of this plan and of earlier ones, and the newest line of each cell.

        ``afresh``: nothing counts as settled.
        """
        found = index_of(self.results_path, superseded=self._superseded)
        return Index({}, found.last) if afresh else found

    def finish(self, planned: Sequence[Spot]) -> None:
        """Rewrite ``results.jsonl`` in plan order; what the plan does not hold moves to ``superseded.jsonl`` first.

        Nothing is written when it stands so already.
        """
        starts = [spot.offset for spot in planned]
        if starts == sorted(set(starts)) and len(starts) == count_lines(self.results_path):
            return
        keys = {line.unit for spot in planned if (line := line_at(spot)) is not None}
        kept = {line.unit for _, line in lines_with_spots(self._superseded)}
        for line in self.lines():
            if line.unit not in keys | kept and line.settled:
                kept.add(line.unit)
                append_line(self._superseded, self._line(line))
        write_atomic(self.results_path, raw_lines(planned))

    def note_error(self, text: str) -> None:
        """Keep a traceback for whoever mends the bug."""
        append_line(self.path / "errors.log", self._masker.text(text.rstrip()))

    @contextmanager
    def keeping_errors(self) -> Iterator[None]:
        """Have what our own code logs as a warning or worse written to ``errors.log``, not to the terminal."""
        handler, log = _ErrorLog(self), logging.getLogger("dream_eval")
        log.addHandler(handler)
        try:
            yield
        finally:
            log.removeHandler(handler)

    def _line(self, result: UnitResult) -> str:
        return self._masker.text(dump_line(result))


class _ErrorLog(logging.Handler):
    def __init__(self, folder: RunFolder) -> None:
        super().__init__(logging.WARNING)
        self._folder = folder

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            self._folder.note_error(self.format(record))
