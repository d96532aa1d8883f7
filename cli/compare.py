"""``dream compare``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream compare dream-runs/bench
  dream compare dream-runs/a dream-runs/b --slice topic --plots pictures
  dream compare dream-runs/bench --by judge --vendor my-agent=openai
  dream compare dream-runs/bench --to latex > table.tex
"""


@click.command(epilog=EXAMPLES, short_help="Compare systems or judges over finished runs.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "--by", type=click.Choice(["system", "judge"]), default="system", help="What is compared [default: system]"
)
@click.option(
    "--judge", metavar="NAME", help="With --by system: whose scores [default: the first judge of the first run]"
)
@click.option(
    "--floor", type=click.FloatRange(0, 1), metavar="SHARE", help="Least coverage for a rank [default: the run's]"
)
@click.option("--with-thin", is_flag=True, help="Compare scores that rest on too few decided items too.")
@click.option(
    "--slice",
    "slices",
    multiple=True,
    type=click.Choice(["topic", "language", "vertical"]),
    help="Show means by topic, language or vertical too; repeat for several.",
)
@click.option(
    "--vendor", "vendors", multiple=True, metavar="NAME=VENDOR", help="Whose model a system or judge runs on."
)
@click.option(
    "--to", type=click.Choice(["markdown", "latex", "csv", "json"]), help="Print this instead of the terminal's tables."
)
@click.option("--plots", metavar="DIR", help="Draw pictures there, PNG and SVG (needs the extra plots).")
def command(
    runs: tuple[str, ...],
    by: str,
    judge: str | None,
    floor: float | None,
    with_thin: bool,
    slices: tuple[str, ...],
    vendors: tuple[str, ...],
    to: str | None,
    plots: str | None,
) -> int:
    """Compare systems or judges over finished runs, on the same tasks, with intervals and tests.

    Two systems are compared only on tasks that both have, by one judge and one protocol; two judges only on the same
    reports, protocols and claim lists. Whatever is left out is named. Under six tasks there is no test.
    """
    from .comparing import compare_and_show

    return compare_and_show(
        runs,
        by=by,
        judge=judge,
        floor=floor,
        with_thin=with_thin,
        slices=slices,
        vendors=vendors,
        to=to,
        plots=plots,
    )
