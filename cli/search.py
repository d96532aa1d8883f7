"""``dream search``."""

from __future__ import annotations

from typing import Any

import click

from .read import looking_options

EXAMPLES = """\b
Examples:
  dream search "river sediment 2023"
  dream search "沉积物" --search searxng:http://localhost:8888 --language zh
  dream search "tidal power" --search tavily --as-of 2025-12-31 --exclude-host wikipedia.org
  dream search "tidal power" --search corpus:web.sqlite --limit 3 --json
\b
Exit codes: 0 an engine looked (ok, empty), 1 none could (the state says why), 2 usage.
"""


@click.command(epilog=EXAMPLES, short_help="Search as the tools do.")
@click.argument("query", metavar="QUERY")
@click.option("--limit", type=click.IntRange(1, 40), default=8, metavar="N", help="Most results [default: 8]")
@click.option("--language", metavar="TAG", help="Language and place of the results: en, de-AT, zh.")
@looking_options
def command(query: str, limit: int, language: str | None, as_json: bool, **look: Any) -> int:
    """Search as the tools do: results with engine, rank and date, or the state and the reason why there are none."""
    from .looking import show_search

    return show_search(query, limit=limit, language=language, as_json=as_json, **look)
