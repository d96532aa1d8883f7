"""``dream evaluate``."""

from __future__ import annotations

from typing import Any

import click

from .asking import evaluating_options
from .outputs import output_options

EXAMPLES = """\b
Examples:
  dream evaluate report.md --query "Which heat pumps suit old houses?"
  dream evaluate a.md b.md --query @query.txt --judge openai/gpt-5-mini --budget-usd 2
  dream evaluate answers.jsonl --metrics wq,ci --out dream-runs/first
  dream evaluate reports/ --tasks tasks.jsonl --metrics wq,ci --plan
  dream evaluate a.md --task tasks.jsonl#t7 --protocol t7.json --as-of 2026-05-01
\b
The same command continues a run that was stopped, and does nothing when all is done.
For many systems, tasks and judges write it down once: dream run init.
Exit codes: 0 done, 1 error, 2 usage, 3 interrupted, 4 budget reached, 5 account refused,
6 coverage below the floor or a gate without a score, 10 a gate failed, 130 stopped at once.
"""


@click.command(epilog=EXAMPLES, short_help="Judge one or more reports against their query.")
@click.argument("reports", nargs=-1, required=True, metavar="REPORT…")
@evaluating_options
@output_options
def command(reports: tuple[str, ...], **wishes: Any) -> int:
    """Judge one or more reports against their query.

    Makes an evaluation protocol for the query (or takes yours), carries out all metrics on each report, and prints one
    table with scores, intervals and the worst findings. Everything is kept in a run folder.
    """
    from .running import evaluate_reports

    return evaluate_reports(reports, **wishes)
