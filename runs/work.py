"""What a run has to do, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..core import Task
from ..evaluators import Settings
from ..protocols.catalogue import METRICS
from ..protocols.rubric import Rubric
from ..protocols.schema import Mode, Protocol
from .cases import CaseRef
from .digests import digest
from .labels import unit_label
from .names import Place
from .units import Conditions, Unit

FIRST = {"protocol.reasoning_questions": 0, "protocol.key_questions": 1, "rubric": 1, "claims": 2}
"""Inputs that take time to make, and whose metrics take long: units that need them are begun first."""


@dataclass(frozen=True)
class Work:
    """Reports with their tasks, metrics, judges, and the conditions that all share."""

    cases: tuple[CaseRef, ...]
    """Those of this part, where the run is split."""
    names: Mapping[Place, str]
    """What reports are called for people, by task and report."""
    metrics: tuple[str, ...]
    judges: tuple[str, ...]
    """By the names under which results are stored. The first one is the maker."""
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
    rubric_version: int
    """Version of the prompts that make rubrics."""
    repeats: int = 1
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    """Given ones, by task id."""
    rubrics: Mapping[tuple[str, str], Rubric] = field(default_factory=dict)
    """Given ones, by task id and metric."""
    references: Mapping[str, CaseRef] = field(default_factory=dict)
    """What reports are held against, by task id."""
    beside: tuple[CaseRef, ...] = ()
    """Other reports on the same tasks that are not part of this work: they are no evidence for those that are."""
    afresh: bool = False
    """Nothing that the folder holds is taken over."""

    def units(self) -> Iterator[Unit]:
        """All units in plan order: report by report, metrics as in the catalogue, judges as given, repeats."""
        for case in self.cases:
            for metric in self.metrics:
                yield from self._of(case, metric, self.judges)

    @property
    def size(self) -> int:
        """How many units there are."""
        return len(self.cases) * len(self.metrics) * len(self.judges) * self.repeats

    @property
    def plan(self) -> dict[tuple[str, str], int]:
        """How many units each system has by each metric."""
        each = len(self.judges) * self.repeats
        systems = Counter(case.system for case in self.cases)
        return {(system, metric): n * each for system, n in systems.items() for metric in self.metrics}

    def in_turn(self, judge: str) -> Iterator[Unit]:
        """One judge's units for one call at a time: task by task, what reads one report stands together."""
        for cases in self.by_task():
            for case in cases:
                for metric in self.metrics:
                    yield from self._of(case, metric, (judge,))

    def together(self, judge: str) -> Iterator[Unit]:
        """One judge's units for many calls at once: task by task and metric by metric, so that all systems advance
        together; within a task what takes longest comes first."""
        metrics = sorted(self.metrics, key=lambda name: min((FIRST.get(n, 9) for n in METRICS[name].inputs), default=9))
        for cases in self.by_task():
            for metric in metrics:
                for case in cases:
                    yield from self._of(case, metric, (judge,))

    def by_task(self) -> list[tuple[CaseRef, ...]]:
        """The reports of each task, tasks in the order of their first report."""
        order = {task: number for number, task in enumerate(dict.fromkeys(case.task.id for case in self.cases))}
        ordered = sorted(self.cases, key=lambda case: order[case.task.id])
        return [tuple(group) for _, group in groupby(ordered, key=lambda case: case.task.id)]

    def _of(self, case: CaseRef, metric: str, judges: Sequence[str]) -> Iterator[Unit]:
        for judge in judges:
            for repeat in range(self.repeats):
                yield Unit(case, metric, judge, repeat, self._label(case, metric, judge, repeat))

    def _label(self, case: CaseRef, metric: str, judge: str, repeat: int) -> str:
        return unit_label(self.names[case.place], metric, judge, repeat, maker=self.judges[0])

    def needs(self, metric: str, kind: str) -> bool:
        """Whether a metric looks at an input of this kind (``protocol``, ``claims``, ``rubric``, ``reference``)."""
        return any(name.partition(".")[0] == kind for name in METRICS[metric].inputs)

    def any_needs(self, kind: str) -> bool:
        """Whether any metric of the run does."""
        return any(self.needs(metric, kind) for metric in self.metrics)

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

    def claims_request(self, case: CaseRef) -> str:
        """Digest of what a claim list is made from; the judge is left out, since judges share claims."""
        return digest(
            {
                "task": case.task.prompt,
                "report": case.digest,
                "max_claims": self.max_claims,
                "version": self.claims_version,
            }
        )

    def rubric_request(self, task: Task, metric: str) -> str:
        """Digest of what a rubric is made from; the judge is left out, since judges share rubrics."""
        return digest(
            {"task": task.model_dump(mode="json", exclude={"id"}), "metric": metric, "version": self.rubric_version}
        )
