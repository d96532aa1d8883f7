"""What ``dream ledger`` prints and calls."""

from __future__ import annotations

import json
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..ledger import CallInfo, Kind, Totals, Usage, export_run, find_call, import_runs, list_calls, list_runs
from ..runs.ask import default_ledger
from ..runs.store import RunFolder
from .evaluating import make_console, totals_line
from .text import one_line, printable

WIDE = 72
"""Columns of a terminal from which all of the table is shown."""
SHOWN = 4000
"""Characters of a request or an answer that are printed."""


def locate(run: str, ledger: str | None) -> tuple[Path, str]:
    """Ledger file and run's name of a run folder, or of a run's name. Raises InputError."""
    config = RunFolder(run).config() if Path(run).is_dir() else None
    path = Path(ledger or (config.ledger if config else default_ledger()))
    return path, config.run if config else run


def show_runs(*, ledger: str | None) -> int:
    """All runs of a ledger."""
    console, path = make_console(), Path(ledger or default_ledger())
    if not path.exists():
        _say(console, f"{path}: no ledger yet; the first evaluation makes it")
        return 0
    table = Table(header_style="bold", pad_edge=False, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    wide = console.width >= WIDE
    for name in ("run", "started (UTC)", "calls", *(("reused", "failed") if wide else ()), "tokens", "cost"):
        table.add_column(
            name,
            justify="left" if name in ("run", "started (UTC)") else "right",
            no_wrap=name != "run",
            overflow="fold",
        )
    for run in list_runs(path):
        table.add_row(Text(one_line(run.name)), f"{run.started:%Y-%m-%d %H:%M}", *_sums(run.totals, wide=wide))
    console.print(table)
    return 0


def show_calls(run: str, *, kind: str | None, ledger: str | None) -> int:
    """The calls of one run, then its totals."""
    console, (path, name) = make_console(), locate(run, ledger)
    for call in list_calls(path, name, kind=Kind(kind) if kind else None):
        _say(console, _call_line(call))
    totals = next((info.totals for info in list_runs(path) if info.name == name), Totals())
    _say(console, totals_line(totals))
    return 0


def show_call(prefix: str, *, ledger: str | None) -> int:
    """One call in full."""
    console = make_console()
    call = find_call(Path(ledger or default_ledger()), prefix)
    _say(console, f"{call.info.key} · recorded {call.versions} times, this is of {call.info.at:%Y-%m-%d %H:%M} UTC")
    _say(console, _call_line(call.info))
    for name, value in (("request", call.request), ("answer", call.answer)):
        text = json.dumps(value, ensure_ascii=False, indent=2)
        console.print(Text(f"{name}: {printable(text[:SHOWN])}{' …' if len(text) > SHOWN else ''}"), soft_wrap=True)
    if call.blob is not None:
        _say(console, f"bytes: {len(call.blob):,}")
    return 0


def export_one(run: str, out: str, *, ledger: str | None) -> int:
    """Export a run."""
    path, name = locate(run, ledger)
    written = export_run(path, name, Path(out))
    _say(
        make_console(),
        f"written: {written} ({written.stat().st_size / 1e6:.1f} MB); replay it with: dream replay RUN --ledger {out}",
    )
    return 0


def import_one(file: str, *, ledger: str | None) -> int:
    """Import a file."""
    path = Path(ledger or default_ledger())
    names = import_runs(Path(file), path)
    _say(make_console(), f"{path}: imported {', '.join(names) or 'nothing'}")
    return 0


def _sums(totals: Totals, *, wide: bool) -> tuple[str, ...]:
    cost = "unknown" if totals.cost_usd is None else f"${totals.cost_usd:.4f}"
    tokens = totals.prompt_tokens + totals.completion_tokens
    others = (str(totals.reused), str(totals.failed)) if wide else ()
    return str(totals.made), *others, f"{tokens:,}", cost


def _call_line(call: CallInfo) -> str:
    state = call.state if not call.code else f"{call.code}: {call.reason}"
    used = "" if call.usage == Usage() else f" · {call.usage.tokens:,} tokens"
    again = " · reused" if call.reused else f" · {call.elapsed_s:.2f} s"
    return f"{call.key[:12]} {call.kind.value} {call.scope or '-'} · {call.subject[:100]} · {state}{used}{again}"


def _say(console: Console, line: str) -> None:
    console.print(Text(one_line(line)), soft_wrap=True)
