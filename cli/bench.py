"""``dream bench``."""

from __future__ import annotations

from typing import Any

import click

EXAMPLES = """\b
Examples:
  dream bench drb --data deep_research_bench --systems openai,grok --tasks 51-60 --judge openai/gpt-5-mini
  dream bench drb --data drb --systems mine,grok --command mine='python my_agent.py' --metrics drb,factuality
  dream bench dre --data DeepResearchEval --systems mine --endpoint mine=openrouter/some/model --tasks 1-5
\b
DIR is the benchmark's own folder as it publishes it; nothing is fetched. A system's reports are
the ones that the benchmark has under its name, unless --command or --endpoint says how it
writes them: then they are collected first (see dream collect). Reports and runs stand in
dream-bench/NAME; the same command goes on where it stopped.
Exit codes: as in dream run and dream collect.
"""


@click.command(epilog=EXAMPLES, short_help="Collect, judge, compare and show, on a benchmark's tasks.")
@click.argument("name", type=click.Choice(["drb", "dre"]))
@click.option("--data", required=True, metavar="DIR", help="The benchmark's folder on this disk.")
@click.option("--systems", required=True, metavar="A,B", help="Systems, by the names of their reports.")
@click.option("--tasks", "selection", metavar="IDS", help="Some of its tasks: 51-60,72 [default: all]")
@click.option("--command", "commands", multiple=True, metavar="A=COMMAND", help="System A is a command; repeat.")
@click.option("--endpoint", "endpoints", multiple=True, metavar="A=MODEL", help="System A is a hosted model; repeat.")
@click.option("--upstream", metavar="NAME|URL", help="Where the model calls of commands go; as in dream collect.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, metavar="N", help="Tasks at the same time [default: 1]")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For one report.")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="As in dream run; repeat for several.")
@click.option("--metrics", multiple=True, metavar="LIST", help="Metrics, or groups of them [default: the benchmark's]")
@click.option("--reference", metavar="SYSTEM|FILE", help="What race compares with [default: the benchmark's own]")
@click.option("--search", multiple=True, metavar="BACKEND", help="As in dream run; repeat for several.")
@click.option("--as-of", metavar="DATE", help="Judge as of this day [default: day of the first start]")
@click.option("--max-claims", type=int, metavar="N", help="Check only the N most important claims of a report.")
@click.option("--out", metavar="DIR", help="Folder of reports and runs [default: dream-bench/NAME]")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
@click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on each collection, and on the run.")
@click.option("--budget-tokens", type=int, metavar="N", help="Most tokens for each collection, and for the run.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before something that may cost.")
def command(name: str, **wishes: Any) -> int:
    """Evaluate systems on a benchmark's tasks in one line: collect their reports, judge, compare, and write the page.

    Each system's length, time and cost stand beside its scores.
    """
    from .benching import bench_and_show

    return bench_and_show(name, **wishes)
