"""A collection from the command line: what is going to happen, each attempt as it ends, a table of what is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..agents.research import EXPLAINED, Collected, State, Stopper, files, perform
from ..agents.research.process import Limits
from ..agents.research.upstream import Upstream, is_asked_for, parse_upstream
from ..core import Task
from ..errors import AccountRefused, BudgetReached, DreamError, HostStop, Interrupted, UserError
from ..ledger import Budget, Mode, Totals
from ..models import default_judge
from ..models.describing import is_local
from ..reports import load_tasks
from ..runs import checked
from ..runs.ask import default_ledger
from ..runs.control import Control
from ..runs.data import Exit
from .evaluating import make_console, resume_command, totals_line
from .printing import say
from .session import run_stoppable
from .text import one_line

TIMEOUT_S, ENDPOINT_TIMEOUT_S = 1_800.0, 3_600.0
SHOWN = 40
"""Rows of the table at the end."""
_NAME = re.compile(r"[\w][\w.+@-]{0,99}\Z")


def collect_and_show(system: str, out: Path, **wishes: Any) -> int:
    """Collect what the options ask for and print it; returns the exit code. Raises UserError."""
    return carry_out(wish_of(system, out, **wishes), Mode(wishes["ledger_mode"]))


def carry_out(wish: perform.Wish, mode: Mode = Mode.CACHE) -> int:
    """Collect and print; returns the exit code. Raises UserError."""
    console = make_console()
    perform.check(wish)
    for line in heading(wish):
        say(console, line)

    async def work(control: Control) -> tuple[Collected, Totals]:
        stopper = Stopper()
        control.on_stop(stopper.stop)
        return await perform.perform(
            wish,
            mode=mode,
            stopper=stopper,
            told=lambda task, state, reason, seconds: _ended(console, task, state, reason, seconds),
            notify=lambda words: say(console, words, "dim"),
        )

    done, totals = run_stoppable(work, said=lambda words: say(console, words))
    show(console, wish, done, totals)
    return exit_code(done)


def wish_of(system: str, out: Path, *, tasks: str | None, program: str | None, **wishes: Any) -> perform.Wish:
    """The collection as asked for. Raises UserError."""
    if not _NAME.match(system):
        raise UserError(f"--system {system!r}: use letters, digits and . _ + @ - alone; files are named by it")
    if tasks is None:
        raise UserError("give the tasks with --tasks FILE (lines of JSON with id and prompt)")
    checked.positive(budget_usd=wishes["budget_usd"], budget_tokens=wishes["budget_tokens"])
    proxied = program is not None and not wishes["no_proxy"]
    return perform.Wish(
        system=system,
        tasks=tuple(load_tasks(Path(tasks))),
        out=out,
        ledger=Path(wishes["ledger"] or default_ledger()),
        command=program,
        endpoint=wishes["endpoint"],
        builtin=wishes["builtin"],
        jobs=wishes["jobs"],
        retries=wishes["retries"],
        limits=Limits(wishes["timeout"] or usual_seconds(wishes["endpoint"]), wishes["memory_mb"]),
        upstream=upstream_of(wishes["upstream"]) if proxied else None,
        api=wishes["api"],
        extra=_extra(wishes["request"]),
        model=wishes["model"] or default_judge(),
        search=checked.search(wishes["search"]),
        as_of=checked.date(wishes["as_of"]),
        budget=Budget(wishes["budget_usd"], wishes["budget_tokens"]),
    )


def usual_seconds(endpoint: str | None) -> float:
    """How long one attempt may take when nobody says."""
    return ENDPOINT_TIMEOUT_S if endpoint else TIMEOUT_S


def upstream_of(name: str | None) -> Upstream | None:
    """Where a command's model calls are passed on to; None where nothing says that it makes any. Raises UserError."""
    return parse_upstream(name) if is_asked_for(name) else None


def _extra(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise UserError(f"--request is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError("--request is to be a JSON object, such as '{\"max_tokens\": 8000}'")
    return value


def heading(wish: perform.Wish) -> list[str]:
    """What is asked of whom, and who counts."""
    guided = ", guided" if is_local(wish.model) else ""
    what = wish.command or wish.endpoint or f"{wish.builtin} with {wish.model}{guided}"
    lines = [f"{wish.system}: {what} · {len(wish.tasks)} tasks · {wish.jobs} at a time → {wish.out}"]
    if wish.upstream is not None:
        lines.append(f"model calls are recorded on their way to {wish.upstream.endpoint}")
    elif wish.command is not None:
        lines.append(
            "model calls are not seen: tokens and cost are known where the system reports them (see --upstream)"
        )
    return lines


def _ended(console: Console, task: Task, state: State, reason: str, seconds: float) -> None:
    words = f"{task.id}: {state.value} ({seconds:.1f} s)" + (f": {reason}" if reason else "")
    say(console, one_line(words, limit=300), "" if state is State.DONE else "yellow")


def show(console: Console, wish: perform.Wish, done: Collected, totals: Totals) -> None:
    """The table of what is missing, the sums, and how to go on."""
    if done.missing:
        console.print()
        console.print(_table(done))
    have = len(wish.tasks) - len(done.missing)
    say(console, "")
    say(
        console,
        f"{have} of {len(wish.tasks)} tasks have a report ({done.made} made now, {done.kept} were there): {wish.out}",
    )
    if totals.kinds:
        say(console, totals_line(totals))
    if done.stopped is not None:
        say(console, one_line(f"stopped: {done.stopped}"))
    if done.missing:
        log = wish.out.with_suffix(".log")
        say(console, f"standard error of failed attempts: {log}" if log.exists() else "no attempt has failed")
        say(console, one_line(f"to make what is missing: {resume_command()}"))


def _table(done: Collected) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("task", "state", "what happened, and what to do"):
        table.add_column(name, overflow="fold")
    for id in done.missing[:SHOWN]:
        attempt = done.states.get(id)
        state, words = ("not asked", "") if attempt is None else (attempt.state.value, attempt.reason)
        advice = EXPLAINED.get(attempt.state, "") if attempt is not None else ""
        told = "; ".join(part for part in (one_line(words, limit=160), advice) if part)
        table.add_row(Text(one_line(id, limit=40)), Text(state), Text(told))
    if len(done.missing) > SHOWN:
        table.add_row(Text(f"and {len(done.missing) - SHOWN} more"), Text(""), Text(""))
    return table


def exit_code(done: Collected) -> int:
    """0, or why some tasks have no report. Raises what stopped it and has no code of its own."""
    codes: tuple[tuple[type[DreamError], Exit], ...] = (
        (AccountRefused, Exit.REFUSED),
        (BudgetReached, Exit.BUDGET),
        (Interrupted, Exit.INTERRUPTED),
    )
    if done.stopped is not None and not isinstance(done.stopped, HostStop):
        raise done.stopped
    found = {code for kind, code in codes if isinstance(done.stopped, kind)}
    return Exit.first(found | ({Exit.COVERAGE} if done.missing else set()))


def import_and_show(system: str, source: str, out: Path, *, tasks: str | None) -> int:
    """Take reports that exist; returns the exit code. Raises UserError."""
    from ..agents.research.importing import import_reports

    console = make_console()
    given = load_tasks(Path(tasks)) if tasks else []
    taken = import_reports(Path(source), system, files.ReportsFile(out, system), given)
    say(console, f"{taken.made} reports taken from {source}, {taken.kept} were there: {out}")
    if taken.missing:
        say(console, one_line(f"tasks without a report: {', '.join(taken.missing)}", limit=400))
    return Exit.COVERAGE if taken.missing else Exit.DONE
