"""Progress while a run works: a live block on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ..runs.progress import Listener, Notice, Progress
from .text import one_line

PLAIN_EVERY_S = 15.0
"""A status line at least this often where there is no terminal."""

STAGES = 6
"""Pieces of work that are named in a line."""


@contextmanager
def showing(console: Console) -> Iterator[Listener]:
    """Give a listener that shows what a run does."""
    if console.is_terminal:
        with _Block(console) as block:
            yield block
    else:
        yield _Lines(console)


def status_line(progress: Progress) -> str:
    """Units, calls, tokens and cost in a line."""
    calls = sum(progress.calls.values())
    parts = [f"{progress.done}/{progress.units} units"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    parts.append(f"{calls} calls" + (f" (+{progress.reused_calls} reused)" if progress.reused_calls else ""))
    parts.append(f"{progress.prompt_tokens + progress.completion_tokens:,} tokens")
    parts.append("cost unknown" if progress.cost_usd is None else shown_cost(progress.cost_usd))
    return " · ".join(parts)


def shown_cost(usd: float) -> str:
    """A known cost, US dollars."""
    return f"${usd:.4f}" if usd else "no charge"


def at_work(progress: Progress) -> list[str]:
    """What is worked on: one line, or none."""
    names = list(progress.stages)
    more = f" and {len(names) - STAGES} more" if len(names) > STAGES else ""
    return [one_line(f"at work: {', '.join(names[:STAGES])}{more}", limit=160)] if names else []


def waiting_lines(progress: Progress) -> list[str]:
    """Who waits for how long yet, and why."""
    now = time.monotonic()
    return [one_line(f"waiting {w.until - now:.0f} s for {w.what}: {w.reason}", limit=160) for w in progress.waiting()]


class _Block:
    """Redrawn four times a second below the lines that stay."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._progress: Progress | None = None
        self._live = Live(console=console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def __enter__(self) -> _Block:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, progress: Progress, notice: Notice | None) -> None:
        self._progress = progress
        if notice is not None and notice.kind in ("unit", "note"):
            self._console.print(Text(one_line(notice.text, limit=200)))

    def _render(self) -> Group:
        if self._progress is None:
            return Group(Text("starting …"))
        spent = time.monotonic() - self._began
        lines = [Text(f"{spent // 60:.0f}:{spent % 60:02.0f} · {status_line(self._progress)}", style="bold")]
        lines += [Text(line) for line in at_work(self._progress)]
        lines += [Text(line, style="yellow") for line in waiting_lines(self._progress)[:4]]
        if self._progress.stopping:
            lines.append(Text(one_line(self._progress.stopping), style="yellow"))
        return Group(*lines)


class _Lines:
    """A line for what happens, and one now and then that says it is alive."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = time.monotonic()
        self._waits: dict[str, float] = {}

    def __call__(self, progress: Progress, notice: Notice | None) -> None:
        now = time.monotonic()
        if notice is not None and notice.kind != "stage" and self._is_news(notice, now):
            self._print(one_line(notice.text, limit=300))
        if now - self._last >= PLAIN_EVERY_S:
            self._last = now
            self._print("; ".join([status_line(progress), *at_work(progress), *waiting_lines(progress)[:2]]))

    def _is_news(self, notice: Notice, now: float) -> bool:
        """Whether to print it: of waits for the same thing and reason one now and then is enough."""
        if notice.kind != "wait":
            return True
        if now - self._waits.get(notice.about, -PLAIN_EVERY_S) < PLAIN_EVERY_S:
            return False
        self._waits[notice.about] = now
        return True

    def _print(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)
