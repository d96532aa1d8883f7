"""What a run found out, unit by unit, with the items of each unit worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core import Outcome
from ..errors import UserError
from ..evaluators.results import Item
from .data import ReportRef, UnitResult
from .labels import places_of
from .names import names_of
from .reading import RunView
from .results import index_of, line_at

_WORST = (
    Outcome.CONTRADICTED,
    Outcome.NO,
    Outcome.CONFLICTING,
    Outcome.UNDECIDED,
    Outcome.NOT_CHECKED,
    Outcome.PARTLY,
    None,
    Outcome.SUPPORTED,
    Outcome.YES,
)
GOOD = frozenset({Outcome.SUPPORTED, Outcome.YES})


@dataclass(frozen=True)
class Listed:
    """One unit with what stands behind its score."""

    name: str
    """What its report is called for people."""
    line: UnitResult
    items: tuple[Item, ...]
    """Worst first."""


def listing(view: RunView, *, report: str | None = None, metrics: Sequence[str] = ()) -> Iterator[Listed]:
    """The units that have ended, report by report, metrics as in the run.

    ``report``: a system, ``system#task``, or a task's id; None: all. ``metrics``: none means all. Raises UserError for
    names that the run does not have.
    """
    names = names_of((ref.task, ref.id) for ref in view.config.reports)
    chosen = [ref for ref in view.config.mine if _is_meant(ref, names[ref.task, ref.id], report)]
    if not chosen:
        raise UserError(f"no report {report!r} in this run; there are: {_few(list(names.values()))}")
    if unknown := [metric for metric in metrics if metric not in view.config.metrics]:
        raise UserError(f"no metric {unknown[0]!r} in this run; there are: {', '.join(view.config.metrics)}")
    meant = {(ref.task, ref.id) for ref in chosen}
    last = index_of(view.path / "results.jsonl").last
    for place in places_of(view.config):
        task, system, metric, *_ = place
        if (task, system) in meant and place in last and (not metrics or metric in metrics):
            line = line_at(last[place])
            if line is not None:
                yield Listed(names[task, system], line, tuple(sorted(line.result.items, key=badness)))


def badness(item: Item) -> tuple[int, float]:
    """Sorts the worst item first: what is wrong, what is open, what is scored low, what is right."""
    place = 0 if item.detail.get("flaws") else _WORST.index(item.outcome)
    return place, item.value if item.value is not None else 0.0


def is_good(item: Item) -> bool:
    """Nothing is to be said against it."""
    return item.outcome in GOOD and not item.flags


def _is_meant(ref: ReportRef, name: str, report: str | None) -> bool:
    return report is None or report in (name, ref.id, ref.task)


def _few(names: list[str]) -> str:
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
