"""``dream collect``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

EXAMPLES = """\b
Examples:
  dream collect --system mine --tasks tasks.jsonl --command 'python my_agent.py'
  dream collect --system odr --tasks tasks.jsonl --endpoint openai/o4-mini-deep-research
  dream collect --system ours --tasks tasks.jsonl --builtin smolagents-open-dr --search corpus:web/
  dream collect --system old --from drb/raw_data/old.jsonl --out reports/old.jsonl
\b
A command gets the task as JSON on standard input (id, prompt, language, as_of) and prints
Markdown, or JSON with article, sources, trace and usage. Where OPENAI_API_KEY or
OPENAI_BASE_URL is set, or --upstream is given, it is pointed at a proxy by OPENAI_BASE_URL that
counts and records its model calls. More in docs/systems.md.
\b
The same command goes on where it stopped: reports that are there stay, all others are made.
Exit codes: 0 every task has a report, 1 error, 2 usage, 3 interrupted, 4 budget reached,
5 account refused, 6 some tasks have no report, 130 stopped at once.
"""


@click.command(epilog=EXAMPLES, short_help="Have a system write its reports, and keep them.")
@click.option("--system", required=True, metavar="NAME", help="Name of the system under test.")
@click.option("--tasks", metavar="FILE", help="What it is asked: JSONL, JSON or CSV with id and prompt.")
@click.option("--out", metavar="FILE", help="File of its reports [default: reports/NAME.jsonl]")
@click.option("--command", "program", metavar="COMMAND", help="The system is a command, run once a task.")
@click.option("--endpoint", metavar="MODEL", help="The system is a hosted model: provider/model or URL#model.")
@click.option("--api", type=click.Choice(["chat", "responses"]), help="Of the endpoint [default: as the provider has]")
@click.option("--request", metavar="JSON", help="More members of the endpoint's request, such as tools.")
@click.option("--builtin", metavar="AGENT", help="The system is a built-in agent: smolagents-open-dr.")
@click.option("--model", metavar="NAME", help="Model of the built-in agent [default: DREAM_JUDGE, else local]")
@click.option("--search", multiple=True, metavar="BACKEND", help="Of the built-in agent; as in dream evaluate.")
@click.option("--as-of", metavar="DATE", help="The built-in agent's day, where a task names none [default: today]")
@click.option("--from", "source", metavar="PATH", help="Take reports that exist: a file, a folder, a saved page.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, metavar="N", help="Tasks at the same time [default: 1]")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For one attempt [default: 1800, endpoints 3600]",
)
@click.option("--memory-mb", type=click.IntRange(1), metavar="MB", help="For one attempt of a command, all processes.")
@click.option("--retries", type=click.IntRange(0, 20), default=0, metavar="N", help="More attempts after a failed one.")
@click.option("--upstream", metavar="NAME|URL", help="Where the proxy passes a command's model calls on.")
@click.option("--no-proxy", is_flag=True, help="Leave a command's model calls alone; nothing is counted.")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
@click.option(
    "--ledger-mode", type=click.Choice(["cache", "refresh", "replay"]), default="cache", help="[default: cache]"
)
@click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on model calls that we see.")
@click.option("--budget-tokens", type=int, metavar="N", help="Most tokens of model calls that we see.")
def command(system: str, out: str | None, source: str | None, **wishes: Any) -> int:
    """Have a system under test write a report on each task, one JSON line a report, as they come.

    Its reports can go straight to dream run. Attempts that leave none end in one clear state and stand, with the end of
    their standard error, in a log beside the reports.
    """
    from .collecting import collect_and_show, import_and_show

    path = Path(out or f"reports/{system}.jsonl")
    if source is not None:
        return import_and_show(system, source, path, tasks=wishes["tasks"])
    return collect_and_show(system, path, **wishes)
