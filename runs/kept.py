"""What a run folder already holds of the work: shared inputs, and which units are settled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..core import Json, Task
from ..errors import InputError
from ..protocols import items_digest, load_protocol
from ..protocols.rubric import Rubric, load_rubric
from ..protocols.schema import Protocol
from ..reports.data import ClaimList, Report
from .cases import CaseRef
from .files import short_digest, slug
from .results import Spot
from .store import RunFolder
from .units import Unit, inputs_of, key_of
from .work import Work

PROTOCOL_PARTS = ("key_questions", "reasoning_questions")


class Kept:
    """Looks up protocols, rubrics, claim lists, reports and results by what they were made from.

    Digests of what was looked up are remembered, the things themselves are not.
    """

    def __init__(self, work: Work, folder: RunFolder) -> None:
        self._work, self._folder = work, folder
        self.index = folder.index(afresh=work.afresh)
        self._digests: dict[str, Mapping[str, Json]] = {}
        self.fresh: set[str] = set()
        """Names of files made since the start: they count even where nothing is taken over."""

    # names in the folder

    def protocol_name(self, task: Task) -> str:
        """Where the protocol that is made for a task is kept."""
        return f"protocols/{slug(task.id)}-{self._work.protocol_request(task)[:12]}.json"

    def rubric_name(self, task: Task, metric: str) -> str:
        """Where the rubric that is made for a task is kept."""
        return f"rubrics/{slug(task.id)}-{metric}-{self._work.rubric_request(task, metric)[:12]}.json"

    def claims_name(self, case: CaseRef) -> str:
        """Where the claims of a report are kept."""
        return f"claims/{slug(case.system)}-{self._work.claims_request(case)[:12]}.json"

    # what is there

    def protocol(self, task: Task) -> Protocol | None:
        """The given protocol, or the one made before. Raises InputError for a broken file."""
        given = self._work.protocols.get(task.id)
        path = self._path(self.protocol_name(task))
        return given or (load_protocol(path) if path else None)

    def rubric(self, task: Task, metric: str) -> Rubric | None:
        """The given rubric, or the one made before. Raises InputError for a broken file."""
        given = self._work.rubrics.get((task.id, metric))
        path = self._path(self.rubric_name(task, metric))
        return given or (load_rubric(path) if path else None)

    def claims(self, case: CaseRef) -> ClaimList | None:
        """The claims made before. Raises InputError for a broken file."""
        name = self.claims_name(case)
        return self._folder.load(name, ClaimList) if self._path(name) else None

    def has_claims(self, case: CaseRef) -> bool:
        """Whether the claims are there, without reading them."""
        return self._path(self.claims_name(case)) is not None

    def report(self, case: CaseRef) -> Report:
        """The folder's copy of a report. Raises InputError when it is missing, broken or was changed."""
        name = report_file(case)
        report = self._folder.load(name, Report)
        if report is None or report.digest != case.digest:
            raise InputError("the run's copy of this report is missing or was changed", path=self._folder.path / name)
        return report

    # whether a unit is done

    def settled(self, unit: Unit) -> Spot | None:
        """Where the unit's result stands, when nothing of it is left to do; else None."""
        made: dict[str, Json] = {}
        for kind in ("protocol", "rubric", "claims", "reference"):
            if self._work.needs(unit.metric, kind):
                found = self.made(kind, unit)
                if found is None:
                    return None
                made.update(found)
        return self.index.settled.get(key_of(inputs_of(unit, self._work.conditions, made)))

    def made(self, kind: str, unit: Unit) -> Mapping[str, Json] | None:
        """Digests of one made input by their names in the catalogue, or None while it is not there."""
        name = self._name(kind, unit)
        if name not in self._digests:
            found = self._look(kind, unit)
            if found is None:
                return None
            self._digests[name] = found
        return self._digests[name]

    def _name(self, kind: str, unit: Unit) -> str:
        if kind == "claims":
            return self.claims_name(unit.case)
        return f"{kind} {unit.task.id} {unit.metric if kind == 'rubric' else ''}"

    def _look(self, kind: str, unit: Unit) -> Mapping[str, Json] | None:
        if kind == "protocol":
            protocol = self.protocol(unit.task)
            return None if protocol is None else protocol_digests(protocol)
        if kind == "rubric":
            rubric = self.rubric(unit.task, unit.metric)
            return None if rubric is None else {"rubric": rubric.digest}
        if kind == "claims":
            claims = self.claims(unit.case)
            return None if claims is None else {"claims": claims.digest}
        reference = self._work.references.get(unit.task.id)
        return {"reference": None if reference is None else reference.digest}

    def _path(self, name: str) -> Path | None:
        path = self._folder.path / name
        return path if (name in self.fresh or not self._work.afresh) and path.exists() else None


def protocol_digests(protocol: Protocol) -> dict[str, Json]:
    """Digests of a protocol's parts, by the names that metrics use."""
    return {f"protocol.{part}": items_digest(protocol, part) for part in PROTOCOL_PARTS}


def report_file(case: CaseRef) -> str:
    """Where the copy of a report stands in a run folder."""
    return f"reports/{slug(case.system)}-{short_digest(case.task.id, case.system)}.json"
