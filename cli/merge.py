"""``dream merge``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream merge shard-1 shard-2 shard-3 --out whole
  dream merge dream-runs/monday dream-runs/tuesday --out both
"""


@click.command(epilog=EXAMPLES, short_help="Join shards, or runs over different tasks, into one run.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--out", required=True, metavar="DIR", help="The new run folder.")
def command(runs: tuple[str, ...], out: str) -> int:
    """Join finished run folders that asked the same thing of different tasks into one.

    The new folder is a run like any other: compare, view, export and replay it. Its ledger stands in it.
    """
    from ..runs.merge import merge
    from ..runs.reading import open_run
    from .evaluating import make_console, totals_line
    from .printing import say

    console, folder = make_console(), merge(runs, out)
    summary = open_run(folder).summary
    if summary is not None:
        say(console, totals_line(summary.totals))
        say(console, f"written: {folder} ({len(runs)} runs, {len(summary.reports)} reports, {summary.expected} units)")
    return 0
