"""``dream corpus build``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream corpus build pages/ web.sqlite                # Markdown files with front matter (url, title, published …)
  dream corpus build pages.jsonl web.sqlite           # one object a line with url, title, published, text
  dream corpus build crawl.warc.gz web.sqlite
  dream corpus build first.export.sqlite web.sqlite   # all pages that a run read (a ledger or an export of it)
  dream evaluate report.md --query "…" --search corpus:web.sqlite
"""


@click.group(epilog=EXAMPLES, short_help="Freeze a piece of the web into one file.")
def command() -> None:
    """Freeze a piece of the web into one file, which ``--search corpus:FILE`` then searches and reads."""


@command.command(epilog=EXAMPLES, short_help="Make a corpus out of a folder, JSONL, WARC or ledger.")
@click.argument("source", metavar="SOURCE")
@click.argument("out", metavar="OUT")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def build(source: str, out: str, as_json: bool) -> int:
    """Make the corpus file OUT out of SOURCE: a folder, a JSONL file, a WARC file, a ledger or an exported run.

    OUT appears only when it is complete, and is never overwritten. The digest is over the documents alone.
    """
    from ..tools import build_corpus
    from .evaluating import make_console
    from .printing import print_json, say

    built = build_corpus(source, out)
    skipped = dict(sorted(built.skipped.items()))
    if as_json:
        print_json({"path": out, "documents": built.documents, "digest": built.digest, "skipped": skipped})
        return 0
    console = make_console()
    left_out = ", ".join(f"{count} {why}" for why, count in skipped.items())
    say(console, f"written: {out} ({built.documents:,} documents{f'; left out: {left_out}' if left_out else ''})")
    say(console, f"digest: {built.digest}")
    say(console, f"use it: --search corpus:{out}")
    return 0
