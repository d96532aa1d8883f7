"""``dream view``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream view dream-runs/first
  dream view dream-runs/before dream-runs/after
  dream view protocol.json --out protocol.html --no-open
  dream view dream-runs/large --serve
"""


@click.command(epilog=EXAMPLES, short_help="Show a run, two runs or a protocol as one page.")
@click.argument("paths", nargs=-1, required=True, metavar="RUN | PROTOCOL | A B")
@click.option("--out", metavar="FILE", help="Write the page here [default: report.html in the run folder]")
@click.option("--no-open", is_flag=True, help="Write it, and do not open a browser.")
@click.option("--serve", is_flag=True, help="Serve it to this machine until Ctrl-C, with all pages and calls.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port for --serve [default: any free one]")
@click.option("--ledger", metavar="PATH", help="Ledger with the stored pages and calls [default: the run's]")
def command(paths: tuple[str, ...], out: str | None, no_open: bool, serve: bool, port: int, ledger: str | None) -> int:
    """Show a run, two runs side by side, or a protocol: from a score to its evidence in three clicks.

    Writes one HTML file that holds everything: no server, no account, no network. It opens from disk and from
    wherever CI keeps it.
    """
    from .viewing import serve_page, write_and_open

    if serve:
        return serve_page(paths, ledger=ledger, port=port, browser=not no_open)
    return write_and_open(paths, out=out, ledger=ledger, browser=not no_open)
