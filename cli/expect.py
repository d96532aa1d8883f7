"""What is said before an evaluation starts: what is left, time, calls, tokens, price, downloads."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import UserError
from ..ledger import Kind
from ..models import is_local
from ..models.prices import prices_as_of
from ..models.providers import parse_judge
from ..runs.ask import Ask
from ..runs.plan import DEFAULTS, HIGH, LOW, Piece, Plan, Span
from ..runs.rehearsal import Rehearsal
from .text import one_line

ASK_ABOVE_USD = 2.0
"""Expected price (its upper end) from which a person at a terminal is asked first."""
SHOWN = 5
"""Systems that are named."""
REHEARSED = 400
"""Units left up to which it is looked up what the ledger would answer."""


def costly(plan: Plan) -> bool:
    """Whether a person should be asked first."""
    return plan.usd is not None and plan.usd.high > ASK_ABOVE_USD


def head_lines(ask: Ask, plan: Plan) -> list[str]:
    """What is asked for, and what of it stands already."""
    systems, tasks = ({case.system for case in ask.mine}, {case.task.id for case in ask.mine})
    counts = [_many(len(ask.mine), "report"), _many(len(ask.metrics), "metric")]
    if len(tasks) > 1:
        counts[0] += f" ({_many(len(systems), 'system')} on {_many(len(tasks), 'task')})"
    counts += [_many(len(ask.judges), "judge")] if len(ask.judges) > 1 else []
    counts += [_many(ask.repeats, "repeat")] if ask.repeats > 1 else []
    shard = f"part {ask.shard[0]} of {ask.shard[1]}: " if ask.shard else ""
    lines = [
        f"{shard}{' × '.join(counts)} = {_many(plan.units, 'unit')}",
        f"{'system' if len(systems) == 1 else 'systems'} {_some(systems)} · into {ask.folder}",
        f"{', '.join(ask.metrics)} · judge {', '.join(ask.judges)} · mode {ask.mode} · "
        f"search {', '.join(ask.search)} · as of {ask.as_of or 'today'}",
    ]
    if not plan.left:
        lines.append(f"all {plan.units} units stand in {ask.folder}; only what changed is done again")
    elif plan.done:
        lines.append(f"{plan.done} of {plan.units} units stand already in {ask.folder}; the rest is done now")
    return lines


def _some(names: Collection[str]) -> str:
    shown = ", ".join(sorted(names)[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


def expected_line(plan: Plan) -> str:
    """What the rest would take, in a line."""
    calls = plan.calls
    lookups = sum(n for kind, n in calls.items() if kind is not Kind.COMPLETION)
    return (
        f"expected ({_basis(plan)}): {_duration(plan.seconds)}, {calls[Kind.COMPLETION]} judge calls, "
        f"{_tokens(plan.tokens)} tokens, {lookups} searches and pages, {_price(plan.usd)}"
    )


def start_lines(ask: Ask, plan: Plan) -> list[str]:
    """What is said when a run starts."""
    lines = head_lines(ask, plan)
    if plan.left:
        lines.append(expected_line(plan))
    if plan.left and plan.download:
        lines.append(first_line(plan.download))
    return lines


def first_line(download: str) -> str:
    """What is fetched before anything else, and how to do without."""
    return f"first: {download}, once; to do without it, name another judge (--judge PROVIDER/MODEL or DREAM_JUDGE)"


def download_line(judge: str) -> str | None:
    """The same for a judge; None when nothing is fetched."""
    if not is_local(judge):
        return None
    from ..models.local import embedded_status

    status = embedded_status()
    if status.path is not None or not status.bytes_to_fetch:
        return None
    return first_line(f"the embedded judge is fetched ({status.bytes_to_fetch / 1e9:.2f} GB)")


def missing_keys(judges: Iterable[str]) -> list[str]:
    """A line for each judge whose key is not set: a plan needs none, what it plans does."""
    lines = []
    for name in judges:
        try:
            if not is_local(name):
                parse_judge(name).key()
        except UserError as error:
            lines.append(f"not ready: {error}")
    return lines


def go_on(*, ask: bool) -> bool:
    """``ask`` a person at a terminal whether to go on; without a terminal nobody is asked."""
    if not ask or not all(end is not None and end.isatty() for end in (sys.stdin, sys.stdout)):
        return True
    return click.confirm("Go on?", default=True)


def show_plan(console: Console, ask: Ask, plan: Plan, rehearsal: Rehearsal | None) -> None:
    """What ``--plan`` prints: the same in full, and nothing is done."""
    for line in head_lines(ask, plan):
        _say(console, line)
    if not plan.left:
        return
    if rehearsal is not None and rehearsal.answered:
        least = "" if rehearsal.whole else "at least "
        rest = ": what the others take" if len(rehearsal.answered) < plan.left else ""
        _say(console, f"the ledger answers {least}{len(rehearsal.answered)} of the {plan.left} units left{rest}")
    for judge in ask.judges if plan.pieces else ():
        _show_judge(console, ask, plan, judge)
    _say(console, expected_line(plan))
    if any(piece.basis == DEFAULTS for piece in plan.pieces):
        _say(console, f"{DEFAULTS}: {LOW:g} to {HIGH:g} times what is stated in docs/runs.md.", dim=True)
    if any(piece.basis != DEFAULTS for piece in plan.pieces):
        _say(console, "n by this judge: the quartiles of so many pieces that the ledger has seen.", dim=True)
    if plan.download:
        _say(console, first_line(plan.download))
    for line in missing_keys(ask.judges):
        _say(console, line)


def _show_judge(console: Console, ask: Ask, plan: Plan, judge: str) -> None:
    pieces = [piece for piece in plan.pieces if piece.judge == judge]
    if len(ask.judges) > 1:
        shared = " (makes what all judges share)" if judge == ask.maker else ""
        console.print(Text(one_line(f"{judge}{shared}"), style="bold"), soft_wrap=True)
    table = Table(title=None, header_style="bold", pad_edge=False)
    table.add_column("piece", no_wrap=True)
    for name in ("left", "calls", "lookups", "tokens", "US$"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("from", no_wrap=True)
    for piece in pieces:
        table.add_row(*_row(piece))
    console.print(table)


def _row(piece: Piece) -> list[str]:
    calls = round(piece.calls.get(Kind.COMPLETION, 0))
    lookups = round(sum(n for kind, n in piece.calls.items() if kind is not Kind.COMPLETION))
    usd = "?" if piece.usd is None else _range(piece.usd, "{:.2f}")
    return [piece.what, f"{piece.left}", f"{calls}", f"{lookups}", _tokens(piece.prompt + piece.new), usd, piece.basis]


def _basis(plan: Plan) -> str:
    kinds = {DEFAULTS if piece.basis == DEFAULTS else "like work in the ledger" for piece in plan.pieces}
    return f"from {' and '.join(sorted(kinds, reverse=True))}, roughly" if kinds else "all of it is in the ledger"


def _tokens(span: Span) -> str:
    return _range(span, "{:,.0f}", short=True)


def _range(span: Span, form: str, *, short: bool = False) -> str:
    def shown(value: float) -> str:
        if short and value >= 1e6:
            return f"{value / 1e6:.1f}M"
        return f"{value / 1e3:.0f}k" if short and value >= 1e4 else form.format(value)

    low, high = shown(span.low), shown(span.high)
    return low if low == high else f"{low}–{high}"


def _price(usd: Span | None) -> str:
    if usd is None:
        return "price unknown (count on tokens; --budget-tokens sets a limit)"
    if usd.high == 0.0:
        return "no charge for the judge"
    return f"${_range(usd, '{:.2f}')} at list prices of {prices_as_of()}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _many(n: int, name: str) -> str:
    return f"{n} {name}{'' if n == 1 else 's'}"


def _say(console: Console, line: str, *, dim: bool = False) -> None:
    console.print(Text(one_line(line), style="dim" if dim else ""), soft_wrap=True)
