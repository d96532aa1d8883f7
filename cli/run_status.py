"""``dream run status``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream run status
  dream run status dream-runs/first
  watch -n 5 dream run status dream-runs/first
  dream run status dream-runs/first --json | jq .left
"""


@click.command(name="status", epilog=EXAMPLES, short_help="Say how a run stands.")
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def command(run: str | None, as_json: bool) -> int:
    """Say how RUN (a run folder; default the newest one in dream-runs) stands, what it cost so far and how to go on.

    Reads only: it can be asked while another process works on the run, and after that process died.
    """
    from .standing import show_status

    return show_status(run, as_json=as_json)
