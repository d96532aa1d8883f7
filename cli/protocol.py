"""``dream protocol create|show|lint|diff|rate``."""

from __future__ import annotations

from typing import Any

import click

from .asking import judging_options

EXAMPLES = """\b
Examples:
  dream protocol create --query "Which heat pumps suit old houses?" --out p.json
  dream protocol show p.json
  dream protocol lint p.json
"""


@click.group(epilog=EXAMPLES, short_help="Create, show, check, compare or rate evaluation protocols.")
def command() -> None:
    """Create, show, check, compare or rate evaluation protocols: what is asked of reports, and on what evidence."""


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


SHOW_EXAMPLES = """\b
Examples:
  dream protocol show p.json
  dream protocol show p.json | less
  dream protocol show dream-runs/first/protocols/TASK.json   # one that a run made
"""


@command.command(epilog=SHOW_EXAMPLES, short_help="Print a protocol: questions, rationale, evidence, plans.")
@click.argument("file")
def show(file: str) -> int:
    """Print a protocol: its questions with rationale and evidence, its plans, and who made it."""
    from .protocols import show_protocol

    return show_protocol(file)


LINT_EXAMPLES = """\b
Examples:
  dream protocol lint p.json
  dream protocol lint p.json && dream evaluate report.md --query @query.txt --protocol p.json
"""


@command.command(epilog=LINT_EXAMPLES, short_help="Check a protocol for what makes it unfair or useless.")
@click.argument("file")
def lint(file: str) -> int:
    """Check a protocol for doubled and compound questions, missing provenance, stale evidence, empty plans.

    Exit codes: 0 nothing found, 10 something found, 2 not a protocol.
    """
    from .protocols import lint_protocol

    return lint_protocol(file)


DIFF_EXAMPLES = """\b
Examples:
  dream protocol diff may.json june.json
  dream protocol diff may.json june.json --json
"""


@command.command(epilog=DIFF_EXAMPLES, short_help="What changed between two protocols.")
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")
def diff(old: str, new: str, as_json: bool) -> int:
    """Compare two protocols: questions added, gone and changed word by word, evidence and dates.

    Exit codes: 0 they ask the same, 10 they differ (query, day or questions), 2 not a protocol.
    """
    from .protocol_diff import diff_protocols

    return diff_protocols(old, new, as_json=as_json)


RATE_EXAMPLES = """\b
Examples:
  dream protocol rate p.json --rater Ada
  dream protocol rate static.json agent.json --rater Ada --terminal
  dream protocol rate p.json --read ratings-from-bo.json
  dream protocol rate p.json --show
"""


@command.command(epilog=RATE_EXAMPLES, short_help="Have people rate a protocol's questions.")
@click.argument("files", nargs=-1, required=True, metavar="PROTOCOL…")
@click.option("--rater", metavar="NAME", help="Who rates; kept beside the ratings.")
@click.option("--out", "book", default="ratings.jsonl", metavar="FILE", help="Where they go [default: ratings.jsonl]")
@click.option("--read", multiple=True, metavar="FILE", help="Take in ratings from a file (the viewer's, or a book).")
@click.option("--show", is_flag=True, help="Print what is rated and how far raters agree, and stop.")
@click.option("--terminal", is_flag=True, help="Ask here and not on a page.")
@click.option("--browser/--no-browser", default=True, help="Open the page by itself.")
def rate(
    files: tuple[str, ...],
    rater: str | None,
    book: str,
    read: tuple[str, ...],
    show: bool,
    terminal: bool,
    browser: bool,
) -> int:
    """Rate the questions of protocols for relevance, verifiability and clarity (1 to 5), and see how far raters agree.

    Opens a page that only this machine can reach. Several protocols are mixed, and nobody is told which
    question is of which one. Ratings are kept as they are made, and a rater goes on where they stopped.
    """
    from .protocol_rate import rate as rate_protocols

    return rate_protocols(files, rater=rater, book=book, read=read, terminal=terminal, browser=browser, show=show)
