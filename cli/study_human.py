"""``dream study human``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream study human --labels pairs.csv --judge openai/gpt-5-mini
  dream study human --labels wice_dev.jsonl --max 60 --part test
  dream study human --labels ratings.csv dream-runs/bench
"""


@click.command(epilog=EXAMPLES, short_help="A judge's verdicts against labels given by people.")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option("--labels", required=True, metavar="FILE", help="What people said: CSV, JSONL or a known public set.")
@click.option("--judge", metavar="NAME", help="Judge [default: DREAM_JUDGE, else local]")
@click.option(
    "--max", "most", type=click.IntRange(1), metavar="N", help="So many examples at most, labels mixed evenly."
)
@click.option("--part", type=click.Choice(["all", "dev", "test"]), default="all", help="One half of the set.")
@click.option("--seed", type=int, default=7, metavar="N", help="Of the sample [default: 7]")
@click.option("--as", "kind", type=click.Choice(["passage", "page"]), help="Judge pairs as Factuality or as CI does.")
@click.option("--no-plain", is_flag=True, help="Leave the plain-prompt baseline out.")
@click.option("--out", metavar="DIR", help="Where the calibration record goes [default: the user's data folder]")
@click.option("--to", type=click.Choice(["markdown", "latex", "json"]), help="Print this instead of the tables.")
@click.option("--plots", metavar="DIR", help="Draw the calibration curve there (needs the extra plots).")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
def command(
    runs: tuple[str, ...],
    labels: str,
    judge: str | None,
    most: int | None,
    part: str,
    seed: int,
    kind: str | None,
    no_plain: bool,
    out: str | None,
    to: str | None,
    plots: str | None,
    ledger: str | None,
) -> int:
    """Hold a judge's verdicts against labels given by people.

    Pairs (claim, evidence, label: supports, partly, refutes or neither) go through the product's own verdict code, and
    through one plain prompt to the same judge; preferences (query, first, second, preference) are compared as RACE
    does. Answers come from the ledger where they were asked before. The result is kept as the judge's calibration
    record, and dream evaluate shows it.

    With RUNs: the file holds people's scores of reports (task, system, score), and the metrics of the runs are held
    against them; no judge is asked.
    """
    from .humans import human_and_show, reports_and_show

    if runs:
        return reports_and_show(runs, labels, to=to)
    return human_and_show(
        labels,
        judge=judge,
        most=most,
        part=part,
        seed=seed,
        kind=kind,
        plain=not no_plain,
        out=out,
        to=to,
        plots=plots,
        ledger=ledger,
    )
