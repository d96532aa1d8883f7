"""The stability study on the terminal: its runs, then what they say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..errors import UserError
from ..runs.api import prepare
from ..runs.ask import Ask
from ..runs.data import Exit, RunState
from ..runs.plan import Plan, plan_of
from ..runs.ready import check_ready
from ..studies.output import latex, markdown
from ..studies.stability import study_stability
from ..studies.stability_tables import stability_tables
from .comparing import show_tables
from .evaluating import Manner, closing, go_on, make_console, run
from .expect import expected_line, missing_keys, start_lines
from .text import one_line

OUT = "dream-runs/stability"


def stability_and_show(paths: Sequence[str], *, difference: float, to: str | None, **wishes: Any) -> int:
    """Make the runs where reports are given, study them and print; returns the exit code. Raises UserError."""
    console, folders = make_console(aside=to is not None), [Path(path) for path in paths]
    runs = [path for path in folders if (path / "run.json").is_file()]
    if runs and len(runs) < len(folders):
        raise UserError("give either run folders or reports, not both")
    if not runs:
        asks, yes, plan = makings(paths, **wishes)
        if plan:
            _show_plans(asks, console)
            return Exit.DONE
        code = _make(asks, console, yes=yes)
        if code != Exit.DONE:
            return code
        runs = [ask.folder for ask in asks]
    found = study_stability(runs, difference=difference)
    tables = stability_tables(found)
    title = f"Noise of scores in {len(runs)} run{'s' if len(runs) > 1 else ''}"
    if to == "json":
        print(found.model_dump_json(indent=2))
    elif to == "markdown":
        print(markdown(title, tables, found.notices), end="")
    elif to == "latex":
        print(latex(tables, [title, *found.notices]), end="")
    else:
        show_tables(console, title, tables, found.notices)
    return Exit.DONE


def makings(
    paths: Sequence[str],
    *,
    makings: int,
    protocols: Sequence[str],
    judges: Sequence[str],
    out: str | None,
    yes: bool,
    plan: bool,
    **wishes: Any,
) -> tuple[list[Ask], bool, bool]:
    """One run a making, each with a folder and a ledger of its own. Raises UserError."""
    given: list[str | None] = list(protocols) or [None] * makings
    place = Path(out or OUT)
    asks = [
        prepare(
            list(paths),
            judge=list(judges) or None,
            protocol=protocol,
            out=place / f"making-{number}",
            ledger=place / f"making-{number}.sqlite",
            **wishes,
        )
        for number, protocol in enumerate(given, 1)
    ]
    return asks, yes, plan


def _show_plans(asks: Sequence[Ask], console: Console) -> None:
    """Each making once, those that take the same together, then all of them."""
    plans = [plan_of(ask) for ask in asks]
    blocks: dict[tuple[str, ...], list[int]] = {}
    for number, (ask, plan) in enumerate(zip(asks, plans, strict=True), 1):
        lines = tuple(line.replace(str(ask.folder), f"{ask.folder.parent}/making-N") for line in start_lines(ask, plan))
        blocks.setdefault(lines, []).append(number)
    for lines, numbers in blocks.items():
        each = " and ".join(map(str, numbers)) if len(numbers) < 3 else f"{numbers[0]} to {numbers[-1]}"
        title = f"makings {each} of {len(asks)}, each" if len(numbers) > 1 else f"making {each} of {len(asks)}"
        console.print(Text(title, style="bold"))
        for line in lines:
            console.print(Text(one_line(line)), soft_wrap=True)
    whole = Plan(
        units=sum(plan.units for plan in plans),
        done=sum(plan.done for plan in plans),
        pieces=tuple(piece for plan in plans for piece in plan.pieces),
        seconds=sum(plan.seconds for plan in plans),
    )
    if len(asks) > 1 and whole.left:
        console.print(Text(f"all {len(asks)} makings, {whole.left} units", style="bold"))
        console.print(Text(one_line(expected_line(whole))), soft_wrap=True)
    for line in missing_keys(asks[0].judges):
        console.print(Text(one_line(line)), soft_wrap=True)


def _make(asks: Sequence[Ask], console: Console, *, yes: bool) -> Exit:
    for number, ask in enumerate(asks, 1):
        before = plan_of(ask)
        console.print(Text(f"making {number} of {len(asks)}", style="bold"))
        for line in start_lines(ask, before):
            console.print(Text(one_line(line)), soft_wrap=True)
        check_ready(ask)
        if not (yes or go_on(before)):
            return Exit.INTERRUPTED
        result = run(ask, console, Manner(yes=True))
        if result.state is not RunState.FINISHED:
            for line in closing(result):
                print(one_line(line), file=sys.stderr)
            return Exit.first({*result.codes})
    return Exit.DONE
