"""The comparison of systems over tasks, drawn for a terminal or as plain lines: one table a judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..protocols.catalogue import METRICS
from ..runs.summary import Summary, SystemScore
from .text import one_line

NAME = 18
"""Characters of a system's name."""
ANY_WIDTH = 100_000
"""Characters: wider than any table, to measure one."""


def show_systems(console: Console, summary: Summary) -> None:
    """Each judge's table: a row a system, a column a metric; wide ones are split by metrics."""
    for judge in summary.judges:
        cells = [cell for cell in summary.systems if cell.judge == judge]
        if len(summary.judges) > 1:
            maker = " (made protocols, rubrics and claim lists)" if judge == summary.judges[0] else ""
            console.print(Text(one_line(f"{judge}{maker}"), style="bold"), soft_wrap=True)
        for metrics in _fitting(console, cells):
            console.print(_table(cells, metrics))
    for line in _notes(summary):
        console.print(Text(one_line(line, limit=300)), style="dim")


def _fitting(console: Console, cells: Sequence[SystemScore]) -> Iterator[list[str]]:
    """The metrics, as many at a time as the terminal has room for."""
    metrics = [name for name in METRICS if any(cell.metric == name for cell in cells)]
    while metrics:
        count = len(metrics)
        while count > 1 and not _fits(console, _table(cells, metrics[:count])):
            count -= 1
        yield metrics[:count]
        metrics = metrics[count:]


def _fits(console: Console, table: Table) -> bool:
    return Measurement.get(console, console.options.update_width(ANY_WIDTH), table).maximum <= console.width


def _table(cells: Sequence[SystemScore], metrics: Sequence[str]) -> Table:
    table = Table(title=None, header_style="bold", pad_edge=False, padding=0, box=SIMPLE_HEAD, show_edge=False)
    table.add_column("system", no_wrap=True)
    for name in metrics:
        table.add_column(name, justify="right", no_wrap=True)
    by_place = {(cell.system, cell.metric): cell for cell in cells}
    for system in dict.fromkeys(cell.system for cell in cells):
        table.add_row(_name(system), *(_cell(by_place[system, name]) for name in metrics))
    return table


def _name(system: str) -> Text:
    name = one_line(system)
    return Text(name if len(name) <= NAME else f"{name[: NAME // 2 - 1]}…{name[-NAME // 2 :]}")


def _cell(cell: SystemScore) -> Text:
    """Score, interval and coverage, below one another."""
    if cell.score is None:
        return _without(cell)
    text = Text(f"{cell.score:.1f}", style="bold")
    if cell.interval is not None:
        text.append(f"\n[{cell.interval.low:.0f}–{cell.interval.high:.0f}]", style="not bold")
    text.append(f"\n{cell.scored}/{cell.expected}", style="not bold dim")
    return text


def _without(cell: SystemScore) -> Text:
    if not cell.expected:
        return Text("n/a", style="dim")
    if cell.thin_score is not None:
        return Text.assemble(f"{cell.thin_score:.1f}", (f"\nthin 0/{cell.expected}", "yellow"))
    return Text.assemble(("none", "red"), (f"\n0/{cell.expected}", "dim"))


def _notes(summary: Summary) -> Iterator[str]:
    yield "Mean over tasks; [low–high]: 95 % interval by bootstrap over tasks, from 6 on; a/b: tasks scored of tasks."
    if summary.repeats > 1:
        yield f"Each judge judged everything {summary.repeats} times; a task's score is the mean of the times."
    thin = [f"{cell.system} {cell.metric} ({cell.thin})" for cell in summary.systems if cell.thin]
    if thin:
        yield f"Left out, since fewer than 5 items or under half of them were decided: {_some(thin)}."
    if summary.failed:
        yield f"{summary.failed} units failed: {_some(_failed(summary))}."


def _failed(summary: Summary) -> list[str]:
    return [
        f"{report.name} {score.metric}: {score.reason}"
        for report in summary.reports
        for score in report.scores
        if score.status == "failed"
    ]


def _some(names: Sequence[str], shown: int = 3) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return "; ".join(names[:shown]) + more
