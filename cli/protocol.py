"""``dream protocol create|show|lint``."""

from __future__ import annotations

from typing import Any

import click

from .evaluate import judging_options


@click.group(short_help="Create, show or check an evaluation protocol.")
def command() -> None:
    """Create, show or check an evaluation protocol: what is asked of reports on one query, and on what evidence."""


CREATE_EXAMPLES = """\b
Examples:
  dream protocol create --query "Which heat pumps suit old houses?" --out p.json
  dream protocol create --task tasks.jsonl#t7 --mode static --out t7.json --judge openai/gpt-5-mini
"""


@command.command(epilog=CREATE_EXAMPLES, short_help="Have an agent make a protocol from live evidence.")
@click.option("--query", metavar="TEXT|@FILE", help="What reports shall answer.")
@click.option("--task", metavar="FILE#ID", help="A task of a JSONL file, instead of --query.")
@click.option("--out", required=True, metavar="FILE", help="Where to write it.")
@judging_options
def create(out: str, **wishes: Any) -> int:
    """Have an agent make a protocol from live evidence, and write it as one JSON file."""
    from .protocols import create_and_show

    return create_and_show(out, **wishes)


@command.command(short_help="Print a protocol: questions, rationale, evidence, plans.")
@click.argument("file")
def show(file: str) -> int:
    """Print a protocol: its questions with rationale and evidence, its plans, and who made it."""
    from .protocols import show_protocol

    return show_protocol(file)


@command.command(short_help="Check a protocol for what makes it unfair or useless.")
@click.argument("file")
def lint(file: str) -> int:
    """Check a protocol for doubled and compound questions, missing provenance, stale evidence, empty plans.

    Exit codes: 0 nothing found, 10 something found, 2 not a protocol.
    """
    from .protocols import lint_protocol

    return lint_protocol(file)
