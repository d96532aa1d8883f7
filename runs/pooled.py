"""Figures of a system over all its reports, as the peers count them: FACT's, and the ratio of active fact-checking.

The peers pool items over reports where we take a mean over tasks (``Summary.systems``); both are wanted to compare with
published numbers. Units that failed are counted and in no figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core import Frozen, Interval, Status
from ..evaluators.results import MetricResult
from ..stats import bootstrap, mean
from .data import UnitResult
from .reading import RunView


class FactFigures(Frozen):
    """FACT over the tasks of one system. Shares are 0–100; None: nothing to divide by."""

    system: str
    tasks: int
    """Reports judged: with citations or without."""
    failed: int
    """Reports that could not be judged; in no figure."""
    cited: int
    """Reports with citations."""
    pairs: int
    supported: int
    not_supported: int
    unknown: int
    accuracy: float | None
    """Pooled over all pairs: ``supported / (supported + not)``, as the bench's code counts."""
    interval: Interval | None
    """Of the pooled accuracy; bootstrap over tasks."""
    accuracy_cited: float | None
    """Mean over the reports with citations."""
    accuracy_all: float | None
    """Mean over all reports, one without citations counting 0, as the bench's paper defines it."""
    effective_cited: float | None
    """Supported pairs a report with citations, as the bench's code counts."""
    effective_all: float | None
    """Supported pairs a report, as the bench's paper defines it."""


class RatioFigures(Frozen):
    """Active fact-checking over the tasks of one system."""

    system: str
    tasks: int
    failed: int
    statements: int
    """With a verdict."""
    right: int
    wrong: int
    unknown: int
    not_checked: int
    """Without one; in no figure."""
    ratio: float | None
    """Pooled over all statements: ``100 · right / (right + wrong + unknown)`` [paper]."""
    interval: Interval | None
    """Of the pooled ratio; bootstrap over tasks."""


def units_of(view: RunView, metric: str, *, judge: str | None = None, repeat: int = 0) -> list[UnitResult]:
    """The units of one metric by one judge (None: the first one), in the order of the results."""
    wanted = judge or view.config.maker
    return [line for line in view.results() if (line.metric, line.judge, line.repeat) == (metric, wanted, repeat)]


def fact_figures(view: RunView, *, judge: str | None = None, repeat: int = 0) -> tuple[FactFigures, ...]:
    """FACT's figures for each system with a unit, in the run's order."""
    lines = units_of(view, "fact", judge=judge, repeat=repeat)
    return tuple(_fact(system, results) for system, results in _by_system(view, lines))


def ratio_figures(view: RunView, *, judge: str | None = None, repeat: int = 0) -> tuple[RatioFigures, ...]:
    """The figures of active fact-checking for each system with a unit, in the run's order."""
    lines = units_of(view, "dre_facts", judge=judge, repeat=repeat)
    return tuple(_ratio(system, results) for system, results in _by_system(view, lines))


def _by_system(view: RunView, lines: Sequence[UnitResult]) -> Iterable[tuple[str, list[MetricResult]]]:
    for system in view.config.systems:
        results = [line.result for line in lines if line.report == system]
        if results:
            yield system, results


def _fact(system: str, results: Sequence[MetricResult]) -> FactFigures:
    known = [result for result in results if result.status is not Status.FAILED]
    cited = [result for result in known if result.status is Status.SCORED]
    counts = {name: sum(r.counts.get(name, 0) for r in cited) for name in ("pairs", "effective", "not_supported")}
    alone = [result.score for result in cited if result.score is not None]
    pooled = [(r.counts.get("effective", 0), r.counts.get("not_supported", 0)) for r in cited]
    return FactFigures(
        system=system,
        tasks=len(known),
        failed=len(results) - len(known),
        cited=len(cited),
        pairs=counts["pairs"],
        supported=counts["effective"],
        not_supported=counts["not_supported"],
        unknown=counts["pairs"] - counts["effective"] - counts["not_supported"],
        accuracy=_share(pooled),
        interval=bootstrap(pooled, _share) if len(pooled) > 1 else None,
        accuracy_cited=mean(alone) if alone else None,
        accuracy_all=sum(alone) / len(known) if known else None,
        effective_cited=counts["effective"] / len(cited) if cited else None,
        effective_all=counts["effective"] / len(known) if known else None,
    )


def _ratio(system: str, results: Sequence[MetricResult]) -> RatioFigures:
    known = [result for result in results if result.status is not Status.FAILED]
    words = ("right", "wrong", "unknown", "not_checked")
    counts = {word: sum(result.counts.get(word, 0) for result in known) for word in words}
    pooled = [(r.counts.get("right", 0), r.counts.get("wrong", 0) + r.counts.get("unknown", 0)) for r in known]
    return RatioFigures(
        system=system,
        tasks=len(known),
        failed=len(results) - len(known),
        statements=counts["right"] + counts["wrong"] + counts["unknown"],
        ratio=_share(pooled),
        interval=bootstrap(pooled, _share) if len(pooled) > 1 else None,
        **counts,
    )


def _share(groups: Sequence[tuple[int, int]]) -> float | None:
    """Good of all, 0–100, over groups of (good, not good)."""
    good, bad = (sum(group[side] for group in groups) for side in (0, 1))
    return 100 * good / (good + bad) if good + bad else None
