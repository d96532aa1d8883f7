"""``dream ledger show|export|import``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream ledger show
  dream ledger export dream-runs/first --out first.sqlite
  dream ledger import first.sqlite
"""


@click.group(epilog=EXAMPLES, short_help="Show, export or import what was asked outside.")
def command() -> None:
    """Show, export or import what was asked outside: completions, searches, pages, arXiv and GitHub calls."""


SHOW_EXAMPLES = """\b
Examples:
  dream ledger show                     # all runs with their totals
  dream ledger show dream-runs/first    # the calls of a run
  dream ledger show --call 3fa9         # one call in full
"""


@command.command(epilog=SHOW_EXAMPLES, short_help="List runs, the calls of a run, or one call in full.")
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--call", metavar="KEY", help="Show the call whose key begins like this.")
@click.option(
    "--kind", type=click.Choice(["completion", "search", "page", "arxiv", "github"]), help="Only these calls."
)
@click.option("--ledger", metavar="PATH", help="Ledger file [default: the run's own, else one a user]")
def show(run: str | None, call: str | None, kind: str | None, ledger: str | None) -> int:
    """List the runs of a ledger, the calls of RUN (a run folder or a run's name), or one call in full."""
    from .ledgers import show_call, show_calls, show_runs

    if call:
        return show_call(call, ledger=ledger)
    return show_calls(run, kind=kind, ledger=ledger) if run else show_runs(ledger=ledger)


EXPORT_EXAMPLES = """\b
Examples:
  dream ledger export dream-runs/first --out first.sqlite
  dream replay dream-runs/first --ledger first.sqlite   # as its receiver does: no key, no network
"""


@command.command(epilog=EXPORT_EXAMPLES, short_help="Write all that a run saw into one file.")
@click.argument("run", metavar="RUN")
@click.option("--out", required=True, metavar="FILE", help="The new file to write; nothing is overwritten.")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: the run's own, else one a user]")
def export(run: str, out: str, ledger: str | None) -> int:
    """Write all that RUN (a run folder or a run's name) saw into one file, which replays it without key or network."""
    from .ledgers import export_one

    return export_one(run, out, ledger=ledger)


IMPORT_EXAMPLES = """\b
Examples:
  dream ledger import first.sqlite
  dream ledger import first.sqlite --ledger other.sqlite   # another ledger, or a new one
"""


@command.command(name="import", epilog=IMPORT_EXAMPLES, short_help="Take the runs of an exported file into a ledger.")
@click.argument("file", metavar="FILE")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
def import_(file: str, ledger: str | None) -> int:
    """Take the runs of an exported FILE into a ledger."""
    from .ledgers import import_one

    return import_one(file, ledger=ledger)
