"""A judge against people, on the terminal."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from ..core import AsOf
from ..ledger import Ledger
from ..models import default_judge, open_model, secret_values
from ..runs.ask import default_ledger
from ..runs.control import Control
from ..runs.data import Exit
from ..studies.calibration import calibration_of, save_calibration
from ..studies.human import HumanStudy, judge_labels
from ..studies.human_reports import compare_with_people, load_scores
from ..studies.human_tables import human_tables, report_tables
from ..studies.labels import LabelSet, load_labels, sample
from ..studies.output import Table, latex, markdown
from ..studies.pool import pool_runs
from ..tools import open_toolbox
from .comparing import show_tables
from .evaluating import make_console
from .expect import download_line
from .session import run_stoppable

DAY = AsOf(day=dt.date(2000, 1, 1), given=False)


def human_and_show(
    path: str,
    *,
    judge: str | None,
    most: int | None,
    part: str,
    seed: int,
    kind: Any,
    plain: bool,
    out: str | None,
    to: str | None,
    plots: str | None,
    ledger: str | None,
) -> int:
    """Ask, print, and keep the record; returns the exit code. Raises UserError."""
    console = make_console()
    labels = sample(load_labels(path, kind=kind), most=most, part=part, seed=seed)
    name, book = judge or default_judge(), Path(ledger) if ledger else default_ledger()
    if first := download_line(name):
        print(first, file=sys.stderr)

    async def work(control: Control) -> HumanStudy:
        return await _ask(labels, name, book, plain, control, quiet=to is not None)

    study = run_stoppable(work, said=lambda line: print(line, file=sys.stderr))
    tables = human_tables(study)
    _print(console, f"{study.judge} against people: {study.data}", tables, study.model_dump_json(indent=2), to)
    if study.method("ours") is not None:
        record = save_calibration(calibration_of(study, Path(path)), Path(out) if out else None)
        print(f"calibration record: {record}", file=sys.stderr if to else sys.stdout)
    if plots is not None:
        from ..studies.plots import draw_calibration

        for picture in draw_calibration(study, Path(plots)):
            print(f"drawn: {picture}", file=sys.stderr if to else sys.stdout)
    return Exit.DONE


async def _ask(labels: LabelSet, name: str, book: Path, plain: bool, control: Control, *, quiet: bool) -> HumanStudy:
    book.parent.mkdir(parents=True, exist_ok=True)

    def step(done: int, of: int) -> None:
        if control.cause is not None:
            raise control.cause
        if not quiet and sys.stderr.isatty():
            print(f"\r{done}/{of} examples", end="" if done < of else "\n", file=sys.stderr, flush=True)

    with Ledger.open(book, run="study-human", secrets=secret_values()) as opened:
        async with AsyncExitStack() as stack:
            judge = await stack.enter_async_context(open_model(name, opened))
            toolbox = await stack.enter_async_context(open_toolbox(opened, as_of=DAY))
            return await judge_labels(labels, judge, toolbox, plain=plain, step=step)


def reports_and_show(runs: Sequence[str], path: str, *, to: str | None) -> int:
    """Metrics of finished runs against people's scores of reports; returns the exit code. Raises UserError."""
    found = compare_with_people(pool_runs(runs), load_scores(Path(path)))
    title = f"Metrics against people's scores of {found.reports} reports"
    _print(make_console(), title, report_tables(found), found.model_dump_json(indent=2), to)
    return Exit.DONE


def _print(console: Console, title: str, tables: Sequence[Table], json: str, to: str | None) -> None:
    if to == "json":
        print(json)
    elif to == "markdown":
        print(markdown(title, tables), end="")
    elif to == "latex":
        print(latex(tables, [title]), end="")
    else:
        show_tables(console, title, tables)
