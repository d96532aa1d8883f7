"""``dream show``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream show dream-runs/first
  dream show dream-runs/first --report sound --metric factuality
  dream show dream-runs/first --metric ci --all | less
"""


@click.command(epilog=EXAMPLES, short_help="Show what a run found, with the evidence.")
@click.argument("run", metavar="RUN")
@click.option("--report", metavar="NAME", help="Only this report: a system, system#task, or a task's id.")
@click.option("--metric", "metrics", multiple=True, metavar="LIST", help="Only these metrics; repeat, or a,b.")
@click.option("--all", "everything", is_flag=True, help="Also what is right, and all evidence.")
def command(run: str, report: str | None, metrics: tuple[str, ...], everything: bool) -> int:
    """Show the claims, questions and citations behind the scores of RUN (a run folder), worst first."""
    from .listed import show_run

    names = [name.strip() for given in metrics for name in given.split(",") if name.strip()]
    return show_run(run, report=report, metrics=names, everything=everything)
