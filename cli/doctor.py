"""``dream doctor``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream doctor
  dream doctor --judge openai/gpt-5-mini --search tavily
\b
Exit codes: 0 an evaluation would work, 10 something is missing.
"""


@click.command(epilog=EXAMPLES, short_help="Say what is configured, reachable and missing.")
@click.option("--judge", metavar="NAME", help="Ask about this judge [default: the one that would be used]")
@click.option("--search", multiple=True, metavar="BACKEND", help="Ask about this search back end; repeat for several.")
@click.option("--ledger", metavar="PATH", type=click.Path(), help="Ask about this ledger file.")
def command(judge: str | None, search: tuple[str, ...], ledger: str | None) -> int:
    """Say what is configured, reachable and missing. Names of keys are shown, never their values."""
    import asyncio
    from pathlib import Path

    from rich.text import Text

    from ..runs.doctor import examine
    from .evaluating import make_console
    from .text import one_line

    console = make_console()
    checks = asyncio.run(examine(judge, search, Path(ledger) if ledger else None))
    for check in checks:
        style = {"ok": "green", "note": "", "bad": "red"}[check.state]
        line = Text(f"{check.state:4} ", style=style)
        line.append(one_line(f"{check.name}: {check.found}"), style="not bold")
        console.print(line, soft_wrap=True)
    return 10 if any(check.state == "bad" for check in checks) else 0
