"""Units and their keys: what a result depends on, so that a resumed run redoes just what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core import AsOf, Json, Task
from ..protocols.catalogue import METRICS, Ability
from ..protocols.schema import Mode
from .cases import CaseRef
from .data import UnitPlace
from .digests import digest

OUTSIDE = frozenset({Ability.SEARCH, Ability.PAGES, Ability.ARXIV, Ability.GITHUB})


@dataclass(frozen=True)
class Unit:
    """One metric of one report by one judge, once; its key is known only with its inputs."""

    case: CaseRef
    metric: str
    judge: str
    repeat: int = 0
    label: str = ""
    """For people, and the scope of its calls in the ledger."""

    @property
    def task(self) -> Task:
        """The task that the report answers."""
        return self.case.task

    @property
    def place(self) -> UnitPlace:
        """Which cell of the run it fills."""
        return (self.case.task.id, self.case.system, self.metric, self.judge, self.repeat)


@dataclass(frozen=True)
class Conditions:
    """What all units of a run share."""

    as_of: AsOf
    mode: Mode
    search: tuple[str, ...]
    """Search back ends, a corpus by its content."""
    settings: Mapping[str, Json]
    """Settings of the evaluators; ``max_claims`` apart, which the claim list holds."""
    versions: Mapping[str, int]
    """Version of each metric's prompts and rules."""
    exclude_hosts: tuple[str, ...] = ()
    """Hosts whose pages are never evidence."""

    @property
    def where(self) -> dict[str, Json]:
        """Where is looked, as results depend on it."""
        left_out: dict[str, Json] = {"exclude_hosts": list(self.exclude_hosts)} if self.exclude_hosts else {}
        return {"search": list(self.search), **left_out}


def inputs_of(unit: Unit, conditions: Conditions, made: Mapping[str, Json]) -> dict[str, Json]:
    """All that the unit's result depends on, by name.

    ``made``: digests of the inputs that are made or chosen for it, by their names in the catalogue; one that could not
    be made is None.
    """
    found: dict[str, Json] = {
        "metric": unit.metric,
        "version": conditions.versions[unit.metric],
        "judge": unit.judge,
        "repeat": unit.repeat,
        "as_of": conditions.as_of.day.isoformat(),
        "task": digest(unit.task.prompt),
        "settings": _settings(unit, conditions),
    }
    own: dict[str, Json] = {"report": unit.case.digest, "citations": unit.case.citations}
    for name in METRICS[unit.metric].inputs:
        found[name] = own[name] if name in own else made.get(name)
    return found


def key_of(inputs: Mapping[str, Json]) -> str:
    """Unit key: 64 hex digits."""
    return digest(dict(inputs))


def changed(before: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """Names of the inputs that differ, for people."""
    return [name for name in now if before.get(name) != now[name]]


def _settings(unit: Unit, conditions: Conditions) -> Json:
    metric = METRICS[unit.metric]
    chosen: dict[str, Json] = {}
    if metric.kind == "agent":
        chosen["mode"] = conditions.mode.value
    if Ability.SEARCH in metric.needs and unit.task.language:
        chosen["language"] = unit.task.language
    if metric.needs & OUTSIDE:
        chosen.update(conditions.settings)
        chosen.update(conditions.where)
    return chosen
