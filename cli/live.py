"""Progress while a run works: a live block on a terminal, plain lines elsewhere."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..runs.progress import Cell, Listener, Notice, Progress, together
from .text import one_line

PLAIN_EVERY_S = 15.0
"""A status line at least this often where there is no terminal."""
STAGES = 6
"""Pieces of work that are named in a line."""
SYSTEMS = 8
"""Systems that have a line of their own in the block."""
WAITS = 4
"""Waits that are shown at a time."""
MANY = 60
"""Units of a run whose ends are not told one by one, failures apart: what happened is in the status line."""
NAME = 20
"""Characters of a system's name in the block."""


@contextmanager
def showing(console: Console) -> Iterator[Listener]:
    """Give a listener that shows what a run does."""
    if console.is_terminal:
        with _Block(console) as block:
            yield block
    else:
        yield _Lines(console)


@contextmanager
def watching(console: Console, *, log_json: str | None = None, otel: bool = False) -> Iterator[Listener]:
    """The same, which also keeps a log of events (``-``: on standard output) and sends traces where asked.

    Traces are sent as well when the environment names a collector. Raises UserError (log file, missing extra).
    """
    from ..runs.eventlog import EventLog
    from ..runs.tracing import tracing

    with ExitStack() as stack:
        listeners: list[Listener] = [stack.enter_context(showing(console))]
        if log_json:
            listeners.append(stack.enter_context(EventLog(log_json)))
        tracer = stack.enter_context(tracing(asked=otel, said=lambda line: _say(console, line)))
        if tracer is not None:
            listeners.append(tracer)
        yield listeners[0] if len(listeners) == 1 else together(*listeners)


def _say(console: Console, line: str) -> None:
    console.print(Text(one_line(line, limit=300)), soft_wrap=True)


def status_line(progress: Progress) -> str:
    """Units, calls, tokens and cost in a line, with what is left of a budget."""
    calls = sum(progress.calls.values())
    parts = [f"{progress.done}/{progress.units} units"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    parts.append(f"{calls} calls" + (f" (+{progress.reused_calls} reused)" if progress.reused_calls else ""))
    parts.append(f"{progress.tokens:,} tokens{_left_of(progress.tokens, progress.budget.tokens, '{:,}')}")
    if progress.cost_usd is None:
        parts.append("cost unknown")
    else:
        parts.append(shown_cost(progress.cost_usd) + _left_of(progress.cost_usd, progress.budget.usd, "${:.4f}"))
    return " · ".join(parts)


def _left_of(used: float, most: float | None, form: str) -> str:
    return "" if most is None else f" ({form.format(max(0, most - used))} left)"


def shown_cost(usd: float) -> str:
    """A known cost, US dollars."""
    return f"${usd:.4f}" if usd else "no charge"


def at_work(progress: Progress) -> list[str]:
    """What is worked on: one line, or none."""
    names = list(progress.stages)
    more = f" and {len(names) - STAGES} more" if len(names) > STAGES else ""
    return [one_line(f"at work: {', '.join(names[:STAGES])}{more}", limit=160)] if names else []


def waiting_lines(progress: Progress) -> list[str]:
    """Who waits for what, for how long yet and until when, and why; the longest first."""
    now, time = progress.clock(), dt.datetime.now()
    lines = []
    for wait in sorted(progress.waiting(), key=lambda wait: -wait.until):
        left = wait.until - now
        until = f"{time + dt.timedelta(seconds=left):%H:%M:%S}"
        who = f"{wait.who} " if wait.who else ""
        lines.append(one_line(f"{who}waiting {left:.0f} s (until {until}) for {wait.what}: {wait.reason}", limit=160))
    return lines


def pace_line(progress: Progress) -> str:
    """Calls a second and the time that is left; empty while neither can be told."""
    left, rate = progress.left_s(), progress.rate()
    parts = [f"{rate:.1f} calls/s"] if rate else []
    if left is not None and progress.done < progress.units:
        parts.append(f"about {duration(left)} left")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Roughly, in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# --- the block -------------------------------------------------------------------------------------------------------


class _Block:
    """Redrawn four times a second below the lines that stay."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._live = Live(console=console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def __enter__(self) -> _Block:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, progress: Progress, notice: Notice | None) -> None:
        self._progress = progress
        if notice is not None and _is_told(progress, notice):
            self._console.print(Text(one_line(notice.text, limit=200)))

    def _render(self) -> RenderableType:
        return block(self._progress, self._console.width) if self._progress is not None else Text("starting …")


def _is_told(progress: Progress, notice: Notice) -> bool:
    """Whether a notice gets a line that stays."""
    if notice.kind == "unit":
        failed = notice.line is not None and notice.line.result.score is None
        return progress.units <= MANY or (failed and not notice.reused)
    return notice.kind == "note"


def block(progress: Progress, width: int) -> Group:
    """All there is to see at this moment, in a height that does not grow with the run."""
    spent = progress.clock() - progress.began
    parts: list[RenderableType] = [
        Text(f"{spent // 60:.0f}:{spent % 60:02.0f} · {status_line(progress)}", style="bold"),
    ]
    if progress.cells:
        parts.append(cell_table(progress.cells, width))
    lines = [pace_line(progress), *at_work(progress)]
    parts += [Text(one_line(line, limit=width)) for line in lines if line]
    warnings = [*waiting_lines(progress)[:WAITS], progress.stopping]
    parts += [Text(one_line(line, limit=width), style="yellow") for line in warnings if line]
    return Group(*parts)


def cell_table(cells: Mapping[tuple[str, str], Cell], width: int, *, systems: int = SYSTEMS) -> Table:
    """A line a system, a column a metric: units ended of units planned, and how many failed before a ``!``.

    ``cells``: by system and metric; ``width``: characters, below which metrics are added up; ``systems``: most lines.
    """
    names = list(dict.fromkeys(system for system, _ in cells))
    metrics = list(dict.fromkeys(metric for _, metric in cells))
    rows = {system: [cells.get((system, metric), Cell()) for metric in metrics] for system in names}
    if _width(metrics, rows) > width:
        metrics, rows = ["units"], {system: [_sum(row)] for system, row in rows.items()}
    shown = names if len(names) <= systems else _open_rows(rows)[:systems]
    rest = [system for system in names if system not in shown]
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("", max_width=NAME, no_wrap=True)
    for metric in metrics:
        table.add_column(metric, no_wrap=True)
    for system in shown:
        table.add_row(Text(one_line(system)), *map(_cell, rows[system]))
    if rest:
        sums = [_sum(rows[system][column] for system in rest) for column in range(len(metrics))]
        table.add_row(Text(f"and {len(rest)} more", style="dim"), *map(_cell, sums))
    return table


def _width(metrics: Sequence[str], rows: Mapping[str, Sequence[Cell]]) -> int:
    """Characters that the table needs with a column a metric."""
    columns = zip(*rows.values(), strict=True)
    widest = (max(cell.cell_len for cell in map(_cell, column)) for column in columns)
    names = min(NAME, max(map(len, rows), default=0))
    return names + sum(2 + max(len(metric), cells) for metric, cells in zip(metrics, widest, strict=True))


def _open_rows(rows: Mapping[str, Sequence[Cell]]) -> list[str]:
    """Systems with units left; all of them when there are none."""
    left = [system for system, cells in rows.items() if any(cell.done < cell.planned for cell in cells)]
    return left or list(rows)


def _sum(cells: Iterable[Cell]) -> Cell:
    cells = list(cells)
    return Cell(*(sum(getattr(cell, name) for cell in cells) for name in ("planned", "done", "failed")))


def _cell(cell: Cell) -> Text:
    if not cell.planned and not cell.done:
        return Text("–", style="dim")
    text = Text(f"{cell.done}/{max(cell.planned, cell.done)}", style="green" if cell.done >= cell.planned else "")
    return text.append(f" {cell.failed}!", style="red") if cell.failed else text


# --- plain lines -----------------------------------------------------------------------------------------------------


class _Lines:
    """A line for what happens, and one now and then that says it is alive."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: float | None = None
        self._waits: dict[str, float] = {}

    def __call__(self, progress: Progress, notice: Notice | None) -> None:
        now = progress.clock()
        if notice is not None and self._is_news(progress, notice, now):
            _say(self._console, notice.text)
        if self._last is None:
            self._last = progress.began
        if now - self._last >= PLAIN_EVERY_S:
            self._last = now
            said = [status_line(progress), pace_line(progress), *at_work(progress), *waiting_lines(progress)[:2]]
            _say(self._console, "; ".join(part for part in said if part))

    def _is_news(self, progress: Progress, notice: Notice, now: float) -> bool:
        """Whether to print it: of waits for the same thing and reason one now and then is enough."""
        if notice.kind != "wait":
            return _is_told(progress, notice)
        if now - self._waits.get(notice.about, now - PLAIN_EVERY_S) < PLAIN_EVERY_S:
            return False
        self._waits[notice.about] = now
        return True
