"""What ``dream run status`` prints."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..runs.ask import RUNS
from ..runs.progress import Cell
from ..runs.status import Owner, RunStatus, newest_run, status_of
from .evaluating import make_console, totals_line
from .live import cell_table
from .printing import fact, print_json, say

STYLES = {"running": "green", "finished": "green", "died": "red", "refused": "red"}


def show_status(run: str | None, *, as_json: bool) -> int:
    """Print how a run stands. Raises UserError, InputError."""
    status = status_of(Path(run) if run else newest_run(RUNS))
    if as_json:
        print_json(status.model_dump(mode="json"))
    else:
        _print(make_console(), status)
    return 0


def _print(console: Console, status: RunStatus) -> None:
    fact(console, "run", f"{status.folder} ({status.run})")
    reason = f": {status.reason}" if status.reason else ""
    fact(console, "state", f"{status.state}{reason}", style=STYLES.get(status.state, "yellow"))
    fact(console, "owner", _owner(status.owner) if status.owner else None)
    counted = f"{status.done} done, {status.failed} failed, {status.left} left of {status.planned}"
    fact(console, "units", counted)
    console.print(
        cell_table(
            {
                (cell.system, cell.metric): Cell(cell.planned, cell.done + cell.failed, cell.failed)
                for cell in status.cells
            },
            console.width,
            systems=len(status.cells),
        )
    )
    say(console, totals_line(status.totals) if status.totals else "its ledger is not there: what it used is unknown")
    if status.advice:
        console.print(Text(status.advice), soft_wrap=True)


def _owner(owner: Owner) -> str:
    stand = {True: "at work", False: "gone", None: "on another machine, which this one cannot ask"}[owner.alive]
    return f"process {owner.pid} on {owner.host}, {stand}, since {owner.started:%Y-%m-%d %H:%M:%S} UTC"
