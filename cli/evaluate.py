"""``dream evaluate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

EXAMPLES = """\b
Examples:
  dream evaluate report.md --query "Which heat pumps suit old houses?"
  dream evaluate a.md b.md --query @query.txt --judge openai/gpt-5-mini --budget-usd 2
  dream evaluate answers.jsonl --metrics wq,ci --out dream-runs/first
  dream evaluate reports/ --tasks tasks.jsonl --metrics wq,ci
  dream evaluate a.md --task tasks.jsonl#t7 --protocol t7.json --as-of 2026-05-01
\b
The same command continues a run that was stopped, and does nothing when all is done.
Exit codes: 0 done, 1 error, 2 usage, 3 interrupted, 4 budget reached, 5 account refused,
6 coverage below the floor or a gate without a score, 10 a gate failed, 130 stopped at once.
"""

Decorated = Callable[..., Any]


def judging_options(function: Decorated) -> Decorated:
    """Options of all verbs that ask a judge."""
    for option in reversed(
        [
            click.option(
                "--judge", metavar="NAME", help="provider/model, URL#model or local [default: DREAM_JUDGE, else local]"
            ),
            click.option(
                "--search",
                multiple=True,
                metavar="BACKEND",
                help="ddgs:ENGINES (ddgs:duckduckgo,brave,mojeek is the default), searxng:URL, serper, tavily, brave, "
                "corpus:PATH; repeat for several.",
            ),
            click.option(
                "--exclude-host",
                "exclude_hosts",
                multiple=True,
                metavar="HOST",
                help="Never evidence: example.com, github.com/owner; repeat for several.",
            ),
            click.option(
                "--as-of", metavar="DATE", help="Judge as of this day (YYYY-MM-DD) [default: day of the first start]"
            ),
            click.option(
                "--mode",
                type=click.Choice(["agent", "guided", "static"]),
                help="How agents work [default: agent; guided for local]",
            ),
            click.option("--questions", type=int, metavar="N", help="Yes/no questions of a new protocol [default: 10]"),
            click.option(
                "--reasoning", type=int, metavar="N", help="Reasoning questions of a new protocol [default: 3]"
            ),
            click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]"),
            click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on the whole run."),
            click.option("--budget-tokens", type=int, metavar="N", help="Most tokens for the whole run."),
            click.option("-y", "--yes", is_flag=True, help="Do not ask before a download or an expensive run."),
        ]
    ):
        function = option(function)
    return function


@click.command(epilog=EXAMPLES, short_help="Judge one or more reports against their query.")
@click.argument("reports", nargs=-1, required=True, metavar="REPORT…")
@click.option("--query", metavar="TEXT|@FILE", help="What the reports answer.")
@click.option("--task", metavar="FILE#ID", help="A task of a JSONL file, instead of --query.")
@click.option("--tasks", metavar="FILE", help="Tasks that the reports belong to, by id or by prompt.")
@click.option("--no-clean", "clean", flag_value=False, default=True, help="Judge the text with all that surrounds it.")
@click.option("--protocol", multiple=True, metavar="FILE", help="Use this protocol instead of making one.")
@click.option("--metrics", multiple=True, metavar="LIST", help="Some of wq,kic,rq,factuality,ci,da [default: all]")
@click.option("--max-claims", type=int, metavar="N", help="Check only the N most important claims of a report.")
@click.option("--out", metavar="DIR", help="Run folder [default: dream-runs/NAME]")
@click.option(
    "--ledger-mode",
    type=click.Choice(["cache", "refresh", "replay"]),
    default="cache",
    help="Where answers come from [default: cache]",
)
@click.option(
    "--floor", type=click.FloatRange(0, 1), metavar="SHARE", help="Least share of units scored [default: 0.9]"
)
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit with 10 when a report scores less.")
@judging_options
def command(
    reports: tuple[str, ...],
    fail_under: tuple[str, ...],
    yes: bool,
    ledger_mode: str,
    floor: float | None,
    **wishes: Any,
) -> int:
    """Judge one or more reports against their query.

    Makes an evaluation protocol for the query (or takes yours), carries out all metrics on each report, and prints one
    table with scores, intervals and the worst findings. Everything is kept in a run folder.
    """
    from ..runs.api import prepare
    from ..runs.data import DEFAULT_FLOOR
    from .evaluating import evaluate_and_show, read_gates

    gates = read_gates(fail_under)
    ask = prepare(list(reports), floor=DEFAULT_FLOOR if floor is None else floor, **wishes)
    return evaluate_and_show(ask, ledger_mode=ledger_mode, gates=gates, yes=yes)
