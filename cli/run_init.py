"""``dream run init``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream run init
  dream run init eval.toml && dream run --plan
"""


@click.command(epilog=EXAMPLES, short_help="Write a commented eval.toml.")
@click.argument("file", default="eval.toml", metavar="[FILE]")
def command(file: str) -> int:
    """Write a commented FILE (eval.toml) that runs as it is, on the demo's files, and says which lines to change."""
    from pathlib import Path

    from ..runs.starter import write_starter

    path = write_starter(Path(file))
    again = "" if file == "eval.toml" else f" {file}"
    click.echo(
        f"written: {path}; it runs as it is: dream run --plan{again} says what that takes, dream run{again} does it"
    )
    return 0
