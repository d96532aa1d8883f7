"""A comparison on the terminal, or in another format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..errors import UserError
from ..runs.data import Exit
from ..runs.measured import agreement_of
from ..studies.compare import SystemComparison, compare_systems
from ..studies.judges import JudgeComparison, compare_judges
from ..studies.output import Table, as_csv, latex, markdown
from ..studies.pool import Pool, pool_runs
from ..studies.tables import COLUMNS, judge_rows, judge_tables, system_rows, system_tables
from .evaluating import make_console
from .text import one_line, printable


def compare_and_show(
    runs: Sequence[str],
    *,
    by: str,
    judge: str | None,
    floor: float | None,
    with_thin: bool,
    slices: Sequence[str],
    vendors: Sequence[str],
    to: str | None,
    plots: str | None,
) -> int:
    """Compare and print; returns the exit code. Raises UserError."""
    pool = pool_runs(runs, floor=floor)
    found: SystemComparison | JudgeComparison
    if by == "judge":
        found = compare_judges(pool, vendors=read_vendors(vendors, pool), with_thin=with_thin)
        tables, rows = judge_tables(found), judge_rows(found)
    else:
        found = compare_systems(pool, judge=judge, with_thin=with_thin)
        tables, rows = system_tables(found, slices=slices or None), system_rows(found)
    title, notes = heading(found), [*found.notices, *_trust(found, pool)]
    if to == "json":
        print(found.model_dump_json(indent=2))
    elif to == "csv":
        print(as_csv(COLUMNS, rows), end="")
    elif to == "markdown":
        print(markdown(title, tables, notes), end="")
    elif to == "latex":
        print(latex(tables, [title, *notes]), end="")
    else:
        show_tables(make_console(), title, tables, notes)
    if plots is not None:
        _draw(found, Path(plots), quiet=to is not None)
    return Exit.DONE


def heading(found: SystemComparison | JudgeComparison) -> str:
    """What is compared, in a line."""
    if isinstance(found, JudgeComparison):
        return f"{', '.join(found.judges)} on {_count(found.systems, 'system')} and {_count(found.tasks, 'task')}"
    others = [name for name in found.judges if name != found.judge]
    also = f" (--judge: {', '.join(others)})" if others else ""
    repeats = f", {found.repeats} repeats a unit averaged" if found.repeats > 1 else ""
    what = f"{_count(found.systems, 'system')} on {_count(found.tasks, 'task')}"
    return f"{what}, judged by {found.judge}{also}{repeats}"


def _count(things: Sequence[str] | int, word: str) -> str:
    number = things if isinstance(things, int) else len(things)
    return f"{number} {word}{'' if number == 1 else 's'}"


def read_vendors(given: Sequence[str], pool: Pool) -> dict[str, str]:
    """``NAME=VENDOR`` pairs. Raises UserError."""
    found = {}
    for pair in given:
        name, _, vendor = pair.rpartition("=")
        if not name or not vendor:
            raise UserError(f"--vendor {pair}: must be NAME=VENDOR, such as my-agent=openai")
        if name not in (*pool.systems, *pool.judges):
            raise UserError(f"--vendor {pair}: no system or judge {name!r} in these runs: {', '.join(pool.systems)}")
        found[name] = vendor.lower()
    return found


def _trust(found: SystemComparison | JudgeComparison, pool: Pool) -> list[str]:
    """How far the judges can be trusted, as far as anybody measured it."""
    judges = found.judges if isinstance(found, JudgeComparison) else (found.judge,)
    endpoints = {name: place for view in pool.views for name, place in view.config.endpoints.items()}
    notes = []
    for judge in judges:
        measured = agreement_of(judge, endpoint=endpoints.get(judge))
        weak = (
            "; the embedded judge is weak: these figures show the way and are no findings"
            if judge.startswith("local")
            else ""
        )
        said = (
            "; ".join(one.line() for one in measured)
            if measured
            else "nobody has measured here how far it agrees with people"
        )
        notes.append(f"{judge}: {said}{weak}")
    return notes


def show_tables(console: Console, title: str, tables: Iterable[Table], notes: Sequence[str] = ()) -> None:
    """Print tables that fit the terminal's width."""
    console.print(Text(one_line(title), style="bold"))
    for note in notes:
        console.print(Text(f"  ! {one_line(note)}", style="yellow"))
    for table in tables:
        console.print()
        console.print(Text(one_line(table.title), style="bold"))
        if table.columns:
            console.print(_drawn(table))
        for note in table.notes:
            style = "dim" if table.columns else ""
            console.print(Text(("" if table.columns else "  • ") + one_line(note, limit=700), style=style))


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    for number, name in enumerate(table.columns):
        left = number in table.left
        drawn.add_column(Text(name), justify="left" if left else "right", no_wrap=not left, overflow="fold")
    for row in table.rows:
        style = "italic" if table.groups and len(row) == 1 else ""
        drawn.add_row(*(Text(printable(cell), style=style) for cell in row))
    return drawn


def _draw(found: SystemComparison | JudgeComparison, folder: Path, *, quiet: bool) -> None:
    from ..studies.plots import draw

    drawn = draw(found, folder)
    for line in [f"drawn: {path}" for path in drawn] or ["nothing to draw: too few scores"]:
        if not quiet:
            print(line)
