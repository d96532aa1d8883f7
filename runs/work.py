"""What a run has to do, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..core import Task
from ..evaluators import Settings
from ..protocols.schema import Mode, Protocol
from ..reports.data import Report
from .names import Place, names_of
from .units import Conditions, Unit, digest


@dataclass(frozen=True)
class Work:
    """Reports with their tasks, metrics, the judge, and the conditions that all share."""

    cases: tuple[tuple[Task, Report], ...]
    metrics: tuple[str, ...]
    judge: str
    conditions: Conditions
    settings: Settings
    creator: Mode
    """How protocols are made; ``conditions.mode`` says how their plans are carried out."""
    questions: int
    reasoning: int
    max_claims: int | None
    claims_version: int
    """Version of the claim extraction's prompt."""
    protocol_version: int
    """Version of the protocol creator's prompts."""
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    """Given ones, by task id."""
    afresh: bool = False
    """Nothing that the folder holds is taken over."""

    def units(self) -> list[Unit]:
        """All units in plan order: report by report, metrics as in the catalogue."""
        return [
            Unit(task, report, metric, self.judge, name=self.names[task.id, report.id])
            for task, report in self.cases
            for metric in self.metrics
        ]

    @cached_property
    def names(self) -> dict[Place, str]:
        """What reports are called for people, by task and report."""
        return names_of((task.id, report.id) for task, report in self.cases)

    def protocol_request(self, task: Task) -> str:
        """Digest of what a protocol is made from; the judge is left out, since judges share protocols."""
        conditions = self.conditions
        return digest(
            {
                "task": task.model_dump(mode="json", exclude={"id"}),
                "as_of": conditions.as_of.day.isoformat(),
                "mode": self.creator.value,
                **conditions.where,
                "questions": self.questions,
                "reasoning": self.reasoning,
                "version": self.protocol_version,
            }
        )

    def claims_request(self, task: Task, report: Report) -> str:
        """Digest of what a claim list is made from; the judge is left out, since judges share claims."""
        return digest(
            {
                "task": task.prompt,
                "report": report.digest,
                "max_claims": self.max_claims,
                "version": self.claims_version,
            }
        )
