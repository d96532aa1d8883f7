"""``dream read``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .asking import EXCLUDE_OPTION, SEARCH_OPTION

EXAMPLES = """\b
Examples:
  dream read https://www.nist.gov/pqcrypto
  dream read doi:10.1038/s41586-023-06735-9 --as-of 2024-06-01
  dream read https://a.example/p --search corpus:web.sqlite --sentences
  dream read https://a.example/p --find "how much power does it give" --json
\b
Exit codes: 0 a text was read, 1 it was not (the state says why), 2 usage.
"""

Decorated = Callable[..., Any]


def looking_options(function: Decorated) -> Decorated:
    """Options of the verbs that look with the tools."""
    for option in reversed(
        [
            SEARCH_OPTION,
            click.option("--as-of", metavar="DATE", help="Look as of this day (YYYY-MM-DD) [default: today]"),
            EXCLUDE_OPTION,
            click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]"),
            click.option(
                "--ledger-mode",
                type=click.Choice(["cache", "refresh", "replay"]),
                default="cache",
                help="Where answers come from [default: cache]",
            ),
            click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        ]
    ):
        function = option(function)
    return function


@click.command(epilog=EXAMPLES, short_help="Show a page as the tools see it.")
@click.argument("url", metavar="URL")
@click.option("--sentences", is_flag=True, help="Number the sentences, as a judge sees them.")
@click.option("--find", metavar="QUERY", help="Show the passages that fit this best, instead of the whole text.")
@looking_options
def command(url: str, sentences: bool, find: str | None, as_json: bool, **look: Any) -> int:
    """Show a page as the tools see it: its state with the evidence for it, dates, flags and text.

    The same way as in an evaluation: corpus, arXiv, GitHub, DOI, the page itself, the archive. What the ledger holds
    is not fetched again.
    """
    from .looking import show_page

    return show_page(url, sentences=sentences, find=find, as_json=as_json, **look)
