"""What is shown of a protocol: its questions, what is wrong with their form, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core import Json
from ..protocols import lint
from ..protocols.rubric import Rubric, lint_rubric
from ..protocols.schema import Protocol, Provenance
from ..runs.labels import protocol_label, rubric_label
from .lookups import Lookups
from .parts import Detail, Quoted, calls_part, pages_part


@dataclass
class Asked:
    """What was asked of all reports on one task: the protocol, and the rubrics by metric."""

    protocol: Protocol | None = None
    rubrics: dict[str, Rubric] = field(default_factory=dict)

    def add(self, metric: str, protocol: Protocol | None, rubric: Rubric | None) -> None:
        """What one unit was judged by; the first of each counts."""
        self.protocol = self.protocol or protocol
        if rubric is not None:
            self.rubrics.setdefault(metric, rubric)


def asked_part(asked: Asked, look: Lookups, detail: Detail) -> dict[str, Json]:
    """Protocol and rubrics with their lint, the pages that questions rest on, and the makers' calls in order."""
    protocol = asked.protocol
    task = protocol.task if protocol else next(iter(asked.rubrics.values())).task
    quotes = [Quoted(one.key, one.url, one.quote) for one in _sources(protocol)] if protocol else []
    scopes = [(metric, rubric_label(task.id, metric)) for metric in asked.rubrics]
    return {
        "protocol": protocol.model_dump(mode="json") if protocol else None,
        "lint": [problem.model_dump(mode="json") for problem in lint(protocol)] if protocol else [],
        "rubrics": {
            metric: {
                **rubric.model_dump(mode="json"),
                "lint": [one.model_dump(mode="json") for one in lint_rubric(rubric)],
            }
            for metric, rubric in asked.rubrics.items()
        },
        "task": task.model_dump(mode="json"),
        "pages": pages_part(quotes, look, detail),
        "calls": calls_part([("protocol", protocol_label(task.id)), *scopes], look, detail),
    }


def run_of(protocol: Protocol, look: Lookups) -> str | None:
    """The run in the ledger in which the protocol was made, found by the pages that it rests on."""
    for source in _sources(protocol):
        if found := look.made_in(source.key):
            return found[0]
    return None


def _sources(protocol: Protocol) -> list[Provenance]:
    """Everything that the questions rest on, in their order."""
    lists = (
        *(question.provenance for question in protocol.key_questions),
        *(question.provenance for question in protocol.reasoning_questions),
    )
    return [source for sources in lists for source in sources]
