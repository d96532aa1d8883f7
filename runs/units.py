"""Units and their keys: what a result depends on, so that a resumed run redoes just what changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from ..core import AsOf, Json, Task
from ..protocols.catalogue import METRICS, Ability
from ..protocols.files import items_digest
from ..protocols.schema import Mode, Protocol
from ..reports.data import ClaimList, Report

OUTSIDE = frozenset({Ability.SEARCH, Ability.PAGES, Ability.ARXIV, Ability.GITHUB})


@dataclass(frozen=True)
class Unit:
    """One metric of one report by one judge, once; its key is known only with its inputs."""

    task: Task
    report: Report
    metric: str
    judge: str
    repeat: int = 0
    name: str = ""
    """What the report is called for people, when its id is not enough."""

    @property
    def place(self) -> tuple[str, str, str, str, int]:
        """(task, report, metric, judge, repeat)."""
        return (self.task.id, self.report.id, self.metric, self.judge, self.repeat)

    @property
    def label(self) -> str:
        """For people, and the scope of its calls in the ledger."""
        return f"{self.name or self.report.id}/{self.metric}"


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


def inputs_of(
    unit: Unit, conditions: Conditions, *, protocol: Protocol | None, claims: ClaimList | None
) -> dict[str, Json]:
    """All that the unit's result depends on, by name. An input that could not be made is None."""
    metric = METRICS[unit.metric]
    found: dict[str, Json] = {
        "metric": unit.metric,
        "version": conditions.versions[unit.metric],
        "judge": unit.judge,
        "repeat": unit.repeat,
        "as_of": conditions.as_of.day.isoformat(),
        "task": digest(unit.task.prompt),
        "settings": _settings(unit, conditions),
    }
    for name in metric.inputs:
        found[name] = _digest_of(name, unit.report, protocol, claims)
    return found


def key_of(inputs: Mapping[str, Json]) -> str:
    """Unit key: 64 hex digits."""
    return digest(dict(inputs))


def changed(before: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """Names of the inputs that differ, for people."""
    return [name for name in now if before.get(name) != now[name]]


def digest(value: Json) -> str:
    """SHA-256 over the value as canonical JSON."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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


def _digest_of(name: str, report: Report, protocol: Protocol | None, claims: ClaimList | None) -> Json:
    if name == "report":
        return report.digest
    if name == "claims":
        return None if claims is None else claims.digest
    if name == "citations":
        return digest(_plain((*report.sources, *report.marks)))
    return None if protocol is None else items_digest(protocol, name.removeprefix("protocol."))


def _plain(values: Sequence[BaseModel]) -> Json:
    return [value.model_dump(mode="json") for value in values]
