"""Reading a run folder: what comparisons, exports and the viewer look at. Nothing here writes or calls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from ..core import Task
from ..errors import InputError
from ..protocols import items_digest, load_protocol
from ..protocols.schema import Protocol
from ..reports.data import ClaimList, Report
from .data import ReportRef, UnitResult
from .files import slug
from .store import RunFolder
from .summary import Summary


class RunView:
    """One run, read only. What is large (results, reports, claims) is read when it is asked for and not held."""

    def __init__(self, path: Path | str) -> None:
        """Raises InputError when there is no run, or one of another version."""
        self._folder = RunFolder(path)
        config = self._folder.config()
        if config is None:
            raise InputError("no run here (there is no run.json)", path=path)
        self.path, self.config = Path(path), config

    @cached_property
    def summary(self) -> Summary | None:
        """The summary, or None while there is none. Raises InputError."""
        return self._folder.load("summary.json", Summary)

    def results(self) -> Iterator[UnitResult]:
        """Each unit of the plan that has ended, the last line of a place only, in the order of the file."""
        wanted = {(ref.task, ref.id) for ref in self.config.reports}
        last = {line.place: number for number, line in enumerate(self._folder.lines())}
        for number, line in enumerate(self._folder.lines()):
            if last.get(line.place) == number and (line.task, line.report) in wanted and self._planned(line):
                yield line

    def task(self, id: str) -> Task:
        """A task of the run. Raises KeyError."""
        return self._tasks[id]

    def report(self, task: str, system: str) -> Report:
        """The report of a system on a task. Raises KeyError, InputError (its copy is missing or broken)."""
        ref = self._refs[task, system]
        report = self._folder.load(f"reports/{ref.file}", Report)
        if report is None:
            raise InputError("the run's copy of this report is missing", path=self.path / "reports" / ref.file)
        return report

    def protocol(self, line: UnitResult) -> Protocol | None:
        """The protocol that a unit was judged by; None: the metric has none, or the file is gone."""
        wanted = {name.partition(".")[2]: value for name, value in line.inputs.items() if name.startswith("protocol.")}
        for path in sorted((self.path / "protocols").glob("*.json")) if wanted else ():
            protocol = load_protocol(path)
            if all(items_digest(protocol, part) == digest for part, digest in wanted.items()):
                return protocol
        return None

    def claims(self, line: UnitResult) -> ClaimList | None:
        """The claim list that a unit was judged by; None: the metric has none, or the file is gone."""
        digest = line.inputs.get("claims")
        for path in sorted((self.path / "claims").glob(f"{slug(line.report)}-*.json")) if digest else ():
            claims = self._folder.load(f"claims/{path.name}", ClaimList)
            if claims is not None and claims.digest == digest:
                return claims
        return None

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        return {task.id: task for task in self.config.tasks}

    @cached_property
    def _refs(self) -> dict[tuple[str, str], ReportRef]:
        return {(ref.task, ref.id): ref for ref in self.config.reports}

    def _planned(self, line: UnitResult) -> bool:
        config = self.config
        return line.metric in config.metrics and line.judge in config.judges and line.repeat < config.repeats


def open_run(path: Path | str) -> RunView:
    """Look into a run folder. Raises InputError."""
    return RunView(path)
