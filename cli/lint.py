"""``dream lint``."""

from __future__ import annotations

from typing import Any

import click

EXAMPLES = """\b
Examples:
  dream lint report.md
  dream lint report.pdf answers.jsonl reports/ --tasks tasks.jsonl
  dream lint report.md --fail-under cited=40 --fail-under resolved=100
  dream lint - --json < report.md
  dream lint chat-export.md --show-cuts
\b
--fail-under takes cited (sentences with a citation), resolved (citations that lead to a source) and
used (entries of the list of sources that are cited), in percent; a bare number is about cited.
Exit codes: 0 read, 10 a report is under a --fail-under, 2 usage or a file that cannot be used.
"""


@click.command(epilog=EXAMPLES, short_help="Read a report without a model: counts, citations, lints.")
@click.argument("reports", nargs=-1, required=True, metavar="REPORT…")
@click.option("--tasks", metavar="FILE", help="Tasks that the reports must belong to, by id or by prompt.")
@click.option("--no-clean", "clean", flag_value=False, default=True, help="Read the text with all that surrounds it.")
@click.option("--show-cuts", is_flag=True, help="Show what the cleaner cut.")
@click.option("--all", "everything", is_flag=True, help="Show every lint, not ten of a kind.")
@click.option("--fail-under", multiple=True, metavar="NAME=PERCENT", help="Exit with 10 when a report has less.")
@click.option("--ledger", metavar="PATH", help="Where fetched reports are kept [default: one a user]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object, a list for several reports.")
def command(reports: tuple[str, ...], **wishes: Any) -> int:
    """Read a report without a model: words, sentences, citations, sources, domains, and what is wrong with its form.

    REPORT is a file (Markdown, HTML, PDF, DOCX, JSON, JSONL), a folder of them, a web address, or - for standard input.
    Places are line:column of the text as given.
    """
    from .linting import show_lints

    return show_lints(reports, **wishes)
