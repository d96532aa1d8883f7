"""``dream study stability``."""

from __future__ import annotations

from typing import Any

import click

EXAMPLES = """\b
Examples:
  dream study stability a.md b.md --query @query.txt --makings 3 --repeats 3 --judge openai/gpt-5-mini
  dream study stability reports.jsonl --tasks tasks.jsonl --protocol p1.json --protocol p2.json
  dream study stability dream-runs/first dream-runs/second --difference 3
"""


@click.command(epilog=EXAMPLES, short_help="Where a score's noise comes from: protocol, claims, judge, task.")
@click.argument("paths", nargs=-1, required=True, metavar="RUN…|REPORT…")
@click.option(
    "--difference",
    type=click.FloatRange(0.1, 100),
    default=5.0,
    metavar="POINTS",
    help="Say how many tasks show it [default: 5]",
)
@click.option("--to", type=click.Choice(["markdown", "latex", "json"]), help="Print this instead of the table.")
@click.option("--query", metavar="TEXT|@FILE", help="Reports: what they answer.")
@click.option("--task", metavar="FILE#ID", help="Reports: a task of a JSONL file, instead of --query.")
@click.option("--tasks", metavar="FILE", help="Reports: tasks that they belong to.")
@click.option(
    "--makings",
    type=click.IntRange(1),
    default=2,
    metavar="K",
    help="So many protocols and claim lists each [default: 2]",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    metavar="N",
    help="Each judge judges each of them N times [default: 3]",
)
@click.option("--protocol", "protocols", multiple=True, metavar="FILE", help="Use this protocol; one a making.")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Judge; repeat for several.")
@click.option("--metrics", multiple=True, metavar="LIST", help="As in dream evaluate.")
@click.option("--search", multiple=True, metavar="BACKEND", help="As in dream evaluate.")
@click.option("--as-of", metavar="DATE", help="Judge as of this day.")
@click.option("--max-claims", type=int, metavar="N", help="Check only the N most important claims of a report.")
@click.option("--questions", type=int, metavar="N", help="Yes/no questions of a new protocol.")
@click.option("--reasoning", type=int, metavar="N", help="Reasoning questions of a new protocol.")
@click.option("--out", metavar="DIR", help="Where the runs go [default: dream-runs/stability]")
@click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on each making.")
@click.option("--plan", is_flag=True, help="Say what it takes, and do nothing; no key is needed.")
@click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask before a download or an expensive study; off a terminal nobody is asked.",
)
def command(paths: tuple[str, ...], difference: float, to: str | None, **wishes: Any) -> int:
    """Say how far scores move when only chance, the protocol, the claim list or the judge changes.

    From run folders it reads what is there: repeats within a run, and other protocols or claim lists in another one.
    From reports it makes the runs first: K makings, each with protocol and claim lists made anew (a ledger of its own,
    so that nothing is reused), N repeats of each.
    """
    from .stabilising import stability_and_show

    return stability_and_show(paths, difference=difference, to=to, **wishes)
