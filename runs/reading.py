"""Reading a run folder: what comparisons, exports and the viewer look at. Nothing here writes or calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from ..core import Task
from ..errors import InputError
from ..protocols import load_protocol, load_rubric
from ..protocols.rubric import Rubric
from ..protocols.schema import Protocol
from ..reports.data import ClaimList, Report
from .data import ReportRef, RunState, UnitPlace, UnitResult
from .kept import protocol_digests
from .labels import places_of, unit_label
from .names import Place, names_of
from .results import count_lines, lines_with_spots
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
        self._by_digest: dict[str, dict[str, Path]] = {}
        self._seen: tuple[tuple[int, int], dict[UnitPlace, int]] = ((0, 0), {})

    @cached_property
    def summary(self) -> Summary | None:
        """The summary, or None while there is none. Raises InputError."""
        return self._folder.load("summary.json", Summary)

    def results(self) -> Iterator[UnitResult]:
        """Each unit of the plan that has ended, the last line of a place only, in the order of the file."""
        places = set(places_of(self.config))
        last = self._last()
        for spot, line in lines_with_spots(self._folder.results_path):
            if line.place in places and last.get(line.place) == spot.offset:
                yield line

    def _last(self) -> dict[UnitPlace, int]:
        """Where the last line of each place begins; looked for once while the file stays as it is."""
        path = self._folder.results_path
        now = (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else (0, 0)
        if now != self._seen[0]:
            lines = [(line.place, spot.offset) for spot, line in lines_with_spots(path)]
            self._check_whole(path, len(lines))
            self._seen = (now, dict(lines))
        return self._seen[1]

    def _check_whole(self, path: Path, readable: int) -> None:
        """A finished run's lines are all there and readable; of others the one that a kill cut off is not."""
        try:
            finished = self.summary is not None and self.summary.state is RunState.FINISHED
        except InputError:  # of another version: it says nothing of the results
            finished = False
        if not finished:
            return
        lines = count_lines(path)
        if readable < lines:
            what = f"{lines - readable} of its {lines} lines cannot be read"
            raise InputError(f"{what}: the run's own command puts that right", path=path)

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
        wanted = {(name, str(value)) for name, value in line.inputs.items() if name.startswith("protocol.")}
        if not wanted:
            return None
        return next((p for p, parts in self._protocols if wanted <= parts), None)

    def rubric(self, line: UnitResult) -> Rubric | None:
        """The rubric that a unit was judged by; None: the metric has none, or the file is gone."""
        path = self._made("rubrics").get(str(line.inputs.get("rubric")))
        return None if path is None else load_rubric(path)

    def claims(self, line: UnitResult) -> ClaimList | None:
        """The claim list that a unit was judged by; None: the metric has none, or the file is gone."""
        path = self._made("claims").get(str(line.inputs.get("claims")))
        return None if path is None else self._folder.load(f"claims/{path.name}", ClaimList)

    def scope(self, line: UnitResult) -> str:
        """The scope of the unit's calls in the ledger."""
        name = self._names[line.task, line.report]
        return unit_label(name, line.metric, line.judge, line.repeat, maker=self.config.maker)

    @cached_property
    def _names(self) -> dict[Place, str]:
        return names_of((ref.task, ref.id) for ref in self.config.reports)

    @cached_property
    def _protocols(self) -> list[tuple[Protocol, set[tuple[str, str]]]]:
        """Each protocol of the folder with the digests of its parts, by the names that inputs of units have."""
        found = [load_protocol(path) for path in sorted((self.path / "protocols").glob("*.json"))]
        return [(p, {(name, str(value)) for name, value in protocol_digests(p).items()}) for p in found]

    def _made(self, kind: str) -> dict[str, Path]:
        """Files of a subfolder by the digest that stands in them."""
        if kind not in self._by_digest:
            paths = sorted((self.path / kind).glob("*.json"))
            self._by_digest[kind] = {digest: path for path in paths if (digest := _digest_in(path))}
        return self._by_digest[kind]

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        return {task.id: task for task in self.config.tasks}

    @cached_property
    def _refs(self) -> dict[tuple[str, str], ReportRef]:
        return {(ref.task, ref.id): ref for ref in self.config.reports}


def _digest_in(path: Path) -> str:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return ""
    return str(value.get("digest") or "") if isinstance(value, dict) else ""


def open_run(path: Path | str) -> RunView:
    """Look into a run folder. Raises InputError."""
    return RunView(path)
