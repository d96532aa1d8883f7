"""What a run folder already holds of the work: shared inputs, and whether every unit is settled."""

from __future__ import annotations

from pathlib import Path

from ..core import Task
from ..protocols import load_protocol
from ..protocols.catalogue import METRICS
from ..protocols.schema import Protocol
from ..reports.data import ClaimList, Report
from .data import UnitResult
from .files import slug
from .store import RunFolder
from .units import Unit, inputs_of, key_of
from .work import Work


class Kept:
    """Looks up protocols, claim lists and results by what they were made from."""

    def __init__(self, work: Work, folder: RunFolder) -> None:
        self._work, self._folder = work, folder
        self._known = {} if work.afresh else folder.known()

    def protocol_name(self, task: Task) -> str:
        """Where the protocol that is made for a task is kept."""
        return f"protocols/{slug(task.id)}-{self._work.protocol_request(task)[:12]}.json"

    def claims_name(self, task: Task, report: Report) -> str:
        """Where the claims of a report are kept."""
        return f"claims/{slug(report.id)}-{self._work.claims_request(task, report)[:12]}.json"

    def protocol(self, task: Task) -> Protocol | None:
        """The given protocol, or the one made before. Raises InputError for a broken file."""
        given = self._work.protocols.get(task.id)
        path = self._path(self.protocol_name(task))
        return given or (load_protocol(path) if path else None)

    def claims(self, task: Task, report: Report) -> ClaimList | None:
        """The claims made before. Raises InputError for a broken file."""
        name = self.claims_name(task, report)
        return self._folder.load(name, ClaimList) if self._path(name) else None

    def unit(self, key: str, unit: Unit) -> UnitResult | None:
        """The settled result with this key, under the unit's own names."""
        line = self._known.get(key)
        return line and line.model_copy(update={"task": unit.task.id, "report": unit.report.id})

    def whole(self) -> list[UnitResult] | None:
        """All results in plan order, when nothing is left to do; else None."""
        lines = []
        for unit in self._work.units():
            line = self._settled(unit)
            if line is None:
                return None
            lines.append(line)
        return lines

    def _settled(self, unit: Unit) -> UnitResult | None:
        metric = METRICS[unit.metric]
        protocol = self.protocol(unit.task) if metric.adaptive else None
        claims = self.claims(unit.task, unit.report) if "claims" in metric.inputs else None
        if (metric.adaptive and protocol is None) or ("claims" in metric.inputs and claims is None):
            return None
        return self.unit(key_of(inputs_of(unit, self._work.conditions, protocol=protocol, claims=claims)), unit)

    def _path(self, name: str) -> Path | None:
        path = self._folder.path / name
        return path if path.exists() and not self._work.afresh else None
