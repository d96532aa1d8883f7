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
from ..runs.plan import plan_of
from ..runs.ready import check_ready
from ..studies.output import latex, markdown
from ..studies.stability import study_stability
from ..studies.stability_tables import stability_tables
from .comparing import show_tables
from .evaluating import Manner, closing, go_on, make_console, run
from .expect import start_lines
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
        code = _make(asks, console, plan=plan, yes=yes)
        if code != Exit.DONE or plan:
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


def _make(asks: Sequence[Ask], console: Console, *, plan: bool, yes: bool) -> Exit:
    for number, ask in enumerate(asks, 1):
        before = plan_of(ask)
        console.print(Text(f"making {number} of {len(asks)}", style="bold"))
        for line in start_lines(ask, before):
            console.print(Text(one_line(line)), soft_wrap=True)
        if plan:
            continue
        check_ready(ask)
        if not (yes or go_on(before)):
            return Exit.INTERRUPTED
        result = run(ask, console, Manner(yes=True))
        if result.state is not RunState.FINISHED:
            for line in closing(result):
                print(one_line(line), file=sys.stderr)
            return Exit.first({*result.codes})
    return Exit.DONE
