"""What the page shows first of a run: what was asked, every score, what failed. Small enough to be read at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from ..core import Json, Task
from ..errors import InputError
from ..protocols.catalogue import METRICS
from ..runs.data import RunConfig
from ..runs.reading import RunView
from ..runs.summary import Summary, SystemScore
from ..stats.paired import mean_interval
from .columns import Columns, rounded, visible


def head_of(view: RunView, columns: Columns, *, lookups_missing: str = "") -> dict[str, Json]:
    """Everything about a run but its reports' texts and items."""
    config, summary = view.config, _summary(view)
    return {
        "name": view.path.resolve().name,
        "id": config.run,
        "version": config.version,
        "created": config.created_at.isoformat(),
        "as_of": config.as_of.day.isoformat(),
        "as_of_given": config.as_of.given,
        "judges": list(config.judges),
        "repeats": config.repeats,
        "shard": list(config.shard) if config.shard else None,
        "metrics": list(config.metrics),
        "systems": [visible(system) for system in config.systems],
        "settings": _settings(config),
        "floor": config.floor,
        "state": summary.state.value if summary else "unknown",
        "reason": summary.reason if summary else "",
        "totals": _totals(summary),
        "agreement": [one.model_dump(mode="json") for one in (summary.agreement if summary else ())],
        "no_ledger": lookups_missing,
        "tasks": [_task(task) for task in config.tasks],
        "reports": [[visible(ref.task), visible(ref.id)] for ref in config.reports],
        "cells": columns.cells(config),
        "means": means_of(config, columns, summary),
    }


def metrics_of(names: Iterable[str]) -> dict[str, Json]:
    """What the catalogue says of each metric."""
    known = {metric: METRICS[metric] for metric in names if metric in METRICS}
    return {
        metric: {"title": one.title, "vertical": one.vertical.value, "adaptive": one.adaptive, "kind": one.kind}
        for metric, one in known.items()
    }


def means_of(config: RunConfig, columns: Columns, summary: Summary | None) -> Json:
    """A row a system, metric and judge: [system, metric, judge, mean, low, high, kind of interval, tasks that count].

    No task counts where every score rests on few items: their mean is shown then, and not ranked.

    As the run's summary has them; while there is none they are computed here: repeats averaged first, scores on few
    items left out.
    """
    if summary is not None and summary.systems:
        return [_mean(one) for one in summary.systems if one.shown is not None]
    rows: list[Json] = []
    for system in config.systems:
        for metric in config.metrics:
            for judge in config.judges:
                values = list(columns.by_task(system, metric, judge).values())
                if values:
                    mean = mean_interval(values)
                    ends: list[Json] = [rounded(mean.value), rounded(mean.low), rounded(mean.high)]
                    rows.append([visible(system), metric, judge, *ends, "b", mean.n])
    return rows


def _mean(one: SystemScore) -> Json:
    ends = one.interval
    low, high, kind = (rounded(ends.low), rounded(ends.high), ends.kind[0]) if ends else (None, None, "b")
    return [visible(one.system), one.metric, one.judge, rounded(one.shown), low, high, kind, one.scored]


def _summary(view: RunView) -> Summary | None:
    """The summary; one that another version wrote is as good as none, since the results say the same."""
    try:
        return view.summary
    except InputError:
        return None


def _task(task: Task) -> Json:
    return {**task.model_dump(mode="json", exclude_defaults=True), "id": visible(task.id)}


def _settings(config: RunConfig) -> dict[str, Json]:
    """How was judged. Folders of the machine it ran on are left out."""
    return {
        "mode": config.mode.value,
        "search": [_searched(entry) for entry in config.search],
        "exclude_hosts": list(config.exclude_hosts),
        "questions": config.questions,
        "reasoning": config.reasoning,
        "max_claims": config.max_claims,
        "budget_usd": config.budget_usd,
        "budget_tokens": config.budget_tokens,
        "versions": dict(config.versions),
        "maker": config.maker,
    }


def _searched(entry: str) -> str:
    kind, found, place = entry.partition(":")
    return f"{kind}:{PurePath(place).name}" if found and kind == "corpus" else entry


def _totals(summary: Summary | None) -> Json:
    if summary is None:
        return None
    totals = summary.totals
    return {
        **totals.model_dump(mode="json"),
        "cost_usd": totals.cost_usd,
        "made": totals.made,
        "reused": totals.reused,
        "failed": totals.failed,
        "seconds": totals.seconds,
    }
