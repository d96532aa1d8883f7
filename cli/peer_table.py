"""What ``dream peers`` prints."""

from __future__ import annotations

from pathlib import Path

import click

from ..runs.peer_files import write_peers
from ..runs.pooled import FactFigures, RatioFigures, fact_figures, ratio_figures
from ..runs.reading import open_run
from .text import one_line


def write_and_show(run: str, out: str | None, *, judge: str | None, repeat: int) -> int:
    """Write the files and print the pooled figures. Raises UserError."""
    view = open_run(run)
    folder = Path(out) if out else view.path / "peers"
    written = write_peers(view, folder, judge=judge, repeat=repeat)
    if facts := fact_figures(view, judge=judge, repeat=repeat):
        click.echo("FACT, over all citations of a system")
        for one in facts:
            click.echo(_fact(one))
    if ratios := ratio_figures(view, judge=judge, repeat=repeat):
        click.echo("Active fact-checking, over all statements of a system")
        for ratio in ratios:
            click.echo(_ratio(ratio))
    click.echo(one_line(f"written: {len(written)} files below {folder}"))
    return 0


def _fact(one: FactFigures) -> str:
    counted = f"{one.supported} supported, {one.not_supported} not, {one.unknown} unknown"
    effective = (
        f"effective a report {_number(one.effective_all)} (of those with citations {_number(one.effective_cited)})"
    )
    lines = [
        f"  {one_line(one.system)}: accuracy {_number(one.accuracy)} %; {counted}",
        f"    a report: {_number(one.accuracy_cited)} % with citations, {_number(one.accuracy_all)} % of all",
        f"    {effective}",
        f"    {_reports(one.tasks, one.failed)}",
    ]
    return "\n".join(lines)


def _ratio(one: RatioFigures) -> str:
    counted = f"{one.right} right, {one.wrong} wrong, {one.unknown} unknown, {one.not_checked} not checked"
    return f"  {one_line(one.system)}: ratio {_number(one.ratio)} %; {counted}\n    {_reports(one.tasks, one.failed)}"


def _reports(judged: int, failed: int) -> str:
    return f"{judged} of {judged + failed} reports judged"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
