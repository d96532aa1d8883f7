"""Options of the verbs that ask judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

Decorated = Callable[..., Any]

_SEARCH = (
    "ddgs:ENGINES (ddgs:duckduckgo,brave,mojeek is the default), searxng:URL, serper, tavily, brave, corpus:PATH; "
    "repeat for several."
)
SEARCH_OPTION = click.option("--search", multiple=True, metavar="BACKEND", help=_SEARCH)
EXCLUDE_OPTION = click.option(
    "--exclude-host",
    "exclude_hosts",
    multiple=True,
    metavar="HOST",
    help="Never evidence: example.com, github.com/owner; repeat for several.",
)
_SHARED = (
    SEARCH_OPTION,
    EXCLUDE_OPTION,
    click.option("--as-of", metavar="DATE", help="Judge as of this day (YYYY-MM-DD) [default: day of the first start]"),
    click.option(
        "--mode",
        type=click.Choice(["agent", "guided", "static"]),
        help="How agents work [default: agent; guided for local]",
    ),
    click.option("--questions", type=int, metavar="N", help="Yes/no questions of a new protocol [default: 10]"),
    click.option("--reasoning", type=int, metavar="N", help="Reasoning questions of a new protocol [default: 3]"),
    click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]"),
    click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on the whole run."),
    click.option("--budget-tokens", type=int, metavar="N", help="Most tokens for the whole run."),
    click.option(
        "-y",
        "--yes",
        is_flag=True,
        help="Do not ask before a download or an expensive run; off a terminal nobody is asked.",
    ),
)
_ONE = click.option(
    "--judge", metavar="NAME", help="provider/model, URL#model or local [default: DREAM_JUDGE, else local]"
)
_SEVERAL = (
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="NAME",
        help="provider/model, URL#model or local; repeat for several: the first makes what all share "
        "[default: DREAM_JUDGE, else local]",
    ),
    click.option("--repeats", type=int, metavar="N", help="How often each judge judges everything [default: 1]"),
    click.option("--concurrency", type=int, metavar="N", help="Calls at once to one endpoint, at most [default: 16]"),
)
_REPORTS = (
    click.option("--query", metavar="TEXT|@FILE", help="What the reports answer."),
    click.option("--task", metavar="FILE#ID", help="A task of a JSONL file, instead of --query."),
    click.option("--tasks", metavar="FILE", help="Tasks that the reports belong to, by id or by prompt."),
    click.option(
        "--no-clean", "clean", flag_value=False, default=None, help="Judge the text with all that surrounds it."
    ),
)
_METRICS = (
    click.option(
        "--metrics",
        multiple=True,
        metavar="LIST",
        help="Some of wq,kic,rq,factuality,ci,da, or groups: dream (all six), dre, drb [default: dream]",
    ),
    click.option(
        "--protocol", "protocols", multiple=True, metavar="FILE", help="Use this protocol instead of making one."
    ),
    click.option(
        "--rubric", "rubrics", multiple=True, metavar="FILE", help="Use these criteria for dre_quality or race."
    ),
    click.option("--reference", metavar="SYSTEM|FILE", help="For race: whose reports the others are held against."),
    click.option("--max-claims", type=int, metavar="N", help="Check only the N most important claims of a report."),
)
_RUNNING = (
    click.option("--out", metavar="DIR", help="Run folder [default: dream-runs/NAME]"),
    click.option("--plan", is_flag=True, help="Say what it would take, and do nothing; no key is needed."),
    click.option(
        "--ledger-mode",
        type=click.Choice(["cache", "refresh", "replay"]),
        default="cache",
        help="Where answers come from [default: cache]",
    ),
    click.option(
        "--floor", type=click.FloatRange(0, 1), metavar="SHARE", help="Least share of units scored [default: 0.9]"
    ),
    click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit with 10 when a system scores less."),
)


def judging_options(function: Decorated) -> Decorated:
    """Options of all verbs that ask one judge."""
    return _with(function, (_ONE, *_SHARED))


def evaluating_options(function: Decorated) -> Decorated:
    """Options of the verbs that evaluate reports, with one judge or several."""
    return _with(function, (*_REPORTS, *_METRICS, *_SEVERAL, *_SHARED, *_RUNNING))


def _with(function: Decorated, options: Iterable[Callable[[Decorated], Decorated]]) -> Decorated:
    for option in reversed(list(options)):
        function = option(function)
    return function
