"""``dream export``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream export dream-runs/first --to csv
  dream export dream-runs/first --to parquet --out tables
  dream export dream-runs/first --to inspect --out logs && inspect view --log-dir logs
\b
csv, parquet: results (a unit a row), items (a claim, question or criterion a row), calls.
pandas: the same as Parquet files with pandas' types; in Python: dream_eval.frames(RUN).
inspect: an Inspect AI log a system and judge. All columns: docs/exports.md.
"""


@click.command(epilog=EXAMPLES, short_help="Write a run as CSV, Parquet, for pandas or Inspect AI.")
@click.argument("run", metavar="RUN")
@click.option(
    "--to", "form", type=click.Choice(["csv", "parquet", "pandas", "inspect"]), required=True, help="What to write."
)
@click.option("--out", metavar="DIR", help="Folder to write to [default: export/FORM in the run folder]")
@click.option("--ledger", metavar="PATH", help="Ledger file, such as an exported one [default: the run's own]")
def command(run: str, form: str, out: str | None, ledger: str | None) -> int:
    """Write what RUN (a run folder, finished or not) found in another form."""
    from ..runs.export import FORMS, export
    from .evaluating import make_console
    from .printing import say

    console = make_console()
    for path in export(run, next(one for one in FORMS if one == form), out=out, ledger=ledger):
        say(console, f"written: {path} ({path.stat().st_size / 1000:,.0f} kB)")
    return 0
