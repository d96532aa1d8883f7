"""What pieces of work are called: for people, as stages, and as the scope of their calls in the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from .data import RunConfig, UnitPlace, UnitResult
from .names import names_of


def unit_label(name: str, metric: str, judge: str, repeat: int, *, maker: str) -> str:
    """A unit: ``report/metric``, and the judge unless it is the first one, and which repeat unless it is the first."""
    parts = [f"{name}/{metric}"]
    parts += [judge] if judge != maker else []
    parts += [f"repeat {repeat + 1}"] if repeat else []
    return " · ".join(parts)


def protocol_label(task: str) -> str:
    """The making of a task's protocol; ``task``: its id."""
    return f"{task}/protocol"


def rubric_label(task: str, metric: str) -> str:
    """The making of a task's rubric."""
    return f"{task}/{metric} rubric"


def claims_label(name: str) -> str:
    """The making of a report's claim list; ``name``: what the report is called for people."""
    return f"{name}/claims"


def metric_of(label: str) -> str:
    """The metric (or ``protocol``, ``claims``, ``… rubric``) in a label."""
    return label.partition(" · ")[0].rpartition("/")[2]


def scope_of(config: RunConfig, line: UnitResult) -> str:
    """The scope of a unit's calls in the ledger."""
    name = names_of((ref.task, ref.id) for ref in config.reports)[line.task, line.report]
    return unit_label(name, line.metric, line.judge, line.repeat, maker=config.maker)


def places_of(config: RunConfig) -> Iterator[UnitPlace]:
    """All units of a run, or of the part of it that a shard holds, in plan order: report by report, metrics as in the
    catalogue, judges as given, repeats."""
    for ref in config.mine:
        for metric in config.metrics:
            for judge in config.judges:
                for repeat in range(config.repeats):
                    yield (ref.task, ref.id, metric, judge, repeat)
