"""``dream demo``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream demo
  dream demo --judge openai/gpt-5-mini
"""


@click.command(epilog=EXAMPLES, short_help="Judge three example reports with the embedded judge.")
@click.option("--judge", metavar="NAME", default="local", help="Another judge than the embedded one.")
@click.option("--out", metavar="DIR", help="Run folder [default: dream-runs/demo]")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
@click.option("--fresh", is_flag=True, help="Ask again what is recorded already.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before the download of the embedded judge.")
def command(judge: str, out: str | None, ledger: str | None, fresh: bool, yes: bool) -> int:
    """Judge three example reports on one query with the embedded judge: no key, no account, no network.

    One report is sound, one is flawed (false, outdated, circular, cherry-picked), one cites nothing. Search and pages
    come from a small corpus. It shows the way from report to table; the embedded judge is weak, so its scores
    are no findings.
    """
    from .demonstration import demonstrate

    return demonstrate(judge, out=out, ledger=ledger, fresh=fresh, yes=yes)
