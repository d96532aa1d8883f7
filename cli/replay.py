"""``dream replay``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream replay dream-runs/first
  dream replay shared-run --ledger shared-run/ledger.sqlite
\b
Exit codes: 0 the same byte for byte, 10 different, 1 the ledger lacks a call.
"""


@click.command(epilog=EXAMPLES, short_help="Run a finished run again from its ledger and compare.")
@click.argument("run", metavar="RUN")
@click.option("--ledger", metavar="PATH", help="Ledger file, such as an exported one [default: the run's own]")
def command(run: str, ledger: str | None) -> int:
    """Run a finished run again from its ledger, without a network, and compare results.jsonl byte for byte."""
    import asyncio

    from ..runs.replay import replay
    from .text import one_line

    done = asyncio.run(replay(run, ledger=ledger))
    if done.difference is None:
        click.echo(f"equal: {done.units} units, byte for byte, no call made")
        return 0
    click.echo(one_line(f"different: {done.difference}"))
    return 10
