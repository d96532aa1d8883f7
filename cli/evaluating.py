"""An evaluation from the command line: say what to expect, do it, show what came of it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..ledger import Mode as LedgerMode
from ..ledger import Totals
from ..protocols.catalogue import METRICS
from ..runs import checked
from ..runs.ask import Ask
from ..runs.control import Control
from ..runs.data import Exit, RunState
from ..runs.junit import write_junit
from ..runs.perform import RunResult, perform
from ..runs.plan import Plan, plan_of
from ..runs.ready import check_plan, check_ready
from ..runs.rehearsal import rehearse
from ..runs.shards import Cluster
from ..runs.summary import gate_codes
from . import expect
from .expect import REHEARSED, costly, show_plan, start_lines
from .live import shown_cost, watching
from .session import run_stoppable
from .streams import silence
from .table import show_summary
from .text import one_line

SOME = 5
"""Names in a line."""


@dataclass(frozen=True)
class Manner:
    """How it is done, not what."""

    ledger_mode: str = "cache"
    plan: bool = False
    """Say what it would take, and do nothing."""
    yes: bool = False
    gates: Mapping[str, float] = field(default_factory=dict)
    junit: str | None = None
    log_json: str | None = None
    otel: bool = False
    ray: Cluster | None = None
    """On this cluster."""
    file: str | None = None
    """That says what is asked."""

    @property
    def replay(self) -> bool:
        """Nothing is called."""
        return self.ledger_mode == LedgerMode.REPLAY


def evaluate_and_show(ask: Ask, manner: Manner) -> int:
    """Run what is asked and print it; returns the exit code. Raises UserError and what ``perform`` raises."""
    console = make_console(aside=manner.log_json == "-")
    checked.gates_fit(manner.gates, ask.metrics)
    check_plan(ask)
    if not manner.plan:
        check_ready(ask, replay=manner.replay, ray=manner.ray)
    plan = plan_of(ask)
    if manner.file is not None:
        console.print(Text(one_line(f"as {manner.file} asks:")), soft_wrap=True)
    if manner.plan:
        rehearsal = rehearse(ask) if 0 < plan.left <= REHEARSED else None
        show_plan(console, ask, plan_of(ask, rehearsal), rehearsal)
        return Exit.DONE
    for line in start_lines(ask, plan):
        console.print(Text(one_line(line)), soft_wrap=True)
    if not (manner.yes or go_on(plan)):
        return Exit.INTERRUPTED
    result = run(ask, console, manner)
    console.print()
    show_summary(console, result.summary)
    from .viewing import page_line

    lines = [*closing(result), page_line(result.folder)]
    if manner.junit is not None:
        write_junit(result.folder, manner.junit, manner.gates)
        lines.append(f"written: {manner.junit}")
    for line in lines:
        console.print(Text(one_line(line)), soft_wrap=True)
    return Exit.first(result.codes | gate_codes(result.summary, manner.gates))


def run(ask: Ask, console: Console, manner: Manner) -> RunResult:
    """Run it with live progress, stoppable with Ctrl-C."""
    with watching(console, log_json=manner.log_json, otel=manner.otel) as listener:
        mode = LedgerMode(manner.ledger_mode)

        async def work(control: Control) -> RunResult:
            return await perform(ask, ledger_mode=mode, on_progress=listener, control=control, ray=manner.ray)

        return run_stoppable(work, said=lambda line: console.print(Text(line)))


class Patient(Console):
    """A console that falls silent when its reader has gone: the work that was paid for goes on."""

    def on_broken_pipe(self) -> None:
        """Print nothing from now on."""
        self.quiet = True
        silence()


def make_console(*, aside: bool = False) -> Console:
    """Standard output (``aside``: standard error); colours and live drawing only on a terminal, none with NO_COLOR."""
    return Patient(highlight=False, markup=False, emoji=False, stderr=aside)


def go_on(plan: Plan) -> bool:
    """Ask a person at a terminal before a download or an expensive run; without a terminal nobody is asked."""
    return expect.go_on(ask=costly(plan) or bool(plan.left and plan.download))


def read_gates(given: Sequence[str]) -> dict[str, float]:
    """``METRIC=VALUE`` pairs. Raises UserError."""
    return checked.gates(given, METRICS, example="METRIC=VALUE, such as factuality=80")


def closing(result: RunResult) -> list[str]:
    """Totals, what was written where, and how to go on."""
    folder = result.folder
    lines = ["", totals_line(result.summary.totals)]
    lines.append(f"written: {folder}/results.jsonl, {folder}/summary.json · ledger: {result.config.ledger}")
    if result.state is not RunState.FINISHED:
        lines.append(f"stopped: {result.reason}")
        lines.append(f"to continue{_more(result)}: {resume_command()}")
    elif result.summary.failed:
        lines.append(f"{result.summary.failed} units failed; to try them again: {resume_command()}")
    if below := result.summary.below_floor:
        some = f"{', '.join(below[:SOME])}{f' and {len(below) - SOME} more' if len(below) > SOME else ''}"
        lines.append(f"coverage below {result.summary.floor:.0%}, not to be ranked: {some}")
    if result.state is RunState.FINISHED and len(result.config.systems) > 1 and len(result.config.tasks) > 1:
        lines.append(f"next: dream compare {shlex.quote(str(folder))}")
    return lines


def _more(result: RunResult) -> str:
    """The option that a run which its budget stopped needs changed; the very same command would stop there again."""
    if result.state is not RunState.BUDGET:
        return ""
    config = result.config
    limits = (("usd", config.budget_usd), ("tokens", config.budget_tokens))
    names = " or ".join(f"--budget-{name} (now {limit:g})" for name, limit in limits if limit is not None)
    return f", raise {names} in"


def totals_line(totals: Totals) -> str:
    """What the whole run used, from the ledger's records."""
    cost = f"cost unknown ({', '.join(totals.unpriced)})" if totals.cost_usd is None else shown_cost(totals.cost_usd)
    kinds = ", ".join(f"{part.made} {kind.value}" for kind, part in totals.kinds.items() if part.made)
    return (
        f"run: {totals.made} calls ({kinds or 'none'}), {totals.reused} reused of other runs, {totals.failed} failed; "
        f"{totals.prompt_tokens:,} prompt tokens ({totals.cached_tokens:,} from a prefix cache), "
        f"{totals.completion_tokens:,} new; {cost}"
    )


def resume_command() -> str:
    """The command as it was typed."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
