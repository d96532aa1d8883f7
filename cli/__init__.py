"""The command ``dream``: one file a verb; parses, calls, prints. No logic.

Nothing but click is imported until a verb is chosen, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

__all__ = ["VERBS", "Verbs", "command", "main", "run"]

SECTIONS: dict[str, dict[str, str]] = {
    "Judge": {
        "evaluate": "Judge one or more reports against their query.",
        "run": "Evaluate systems on tasks, as eval.toml asks.",
        "bench": "Collect, judge, compare and show, on a benchmark's tasks.",
        "lint": "Read a report without a model: counts, citations, lints.",
        "demo": "Judge three example reports with the embedded judge.",
    },
    "See and compare": {
        "show": "Show what a run found, with the evidence.",
        "view": "Show a run, two runs or a protocol as one page.",
        "compare": "Compare systems or judges over finished runs.",
        "study": "Experiments on judges, metrics and protocols.",
    },
    "Prepare": {
        "protocol": "Create, show, check, compare or rate evaluation protocols.",
        "tasks": "Make research tasks, and have people review them.",
        "collect": "Have a system write its reports, and keep them.",
        "proxy": "Record a system's model calls on their way.",
    },
    "Keep and pass on": {
        "export": "Write a run as CSV, Parquet, for pandas or Inspect AI.",
        "peers": "Write a run's results in the peers' own files.",
        "merge": "Join shards, or runs over different tasks, into one run.",
        "replay": "Run a finished run again from its ledger and compare.",
        "ledger": "Show, export or import what was asked outside.",
    },
    "Look around": {
        "search": "Search as the tools do.",
        "read": "Show a page as the tools see it.",
        "corpus": "Freeze a piece of the web into one file.",
        "doctor": "Say what is configured, reachable and missing.",
    },
}
"""What the help shows: sections of verbs with their lines. A verb's command is called ``command`` in its module."""

VERBS = {verb: line for verbs in SECTIONS.values() for verb, line in verbs.items()}
MODULES = {"run": "run_verb"}
"""Modules with another name than their verb: this package has a function ``run``."""

EXAMPLES = """\b
Examples:
  dream demo
  dream evaluate report.md --query "What does the EU AI Act ask of providers?"
  dream evaluate a.md b.md --query @query.txt --judge openai/gpt-5-mini
  dream doctor
"""


class Verbs(click.Group):
    """A group whose verbs are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The verbs in their order."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the verb's module."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f".{MODULES.get(cmd_name, cmd_name)}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list without importing any of them."""
        for section, verbs in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(verbs.items()))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from dream_eval import __version__

        click.echo(f"dream-eval {__version__}")
        ctx.exit()


@click.group(cls=Verbs, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def command() -> None:
    """Judge research reports with an agent that can search, read and check."""


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; a user's mistake prints one line and no traceback."""
    from .failing import explain

    try:
        code = command.main(args=None if args is None else list(args), prog_name="dream", standalone_mode=False)
    except BaseException as error:
        return explain(error)
    return code if isinstance(code, int) else 0


def main() -> None:
    """Entry point of the console script."""
    from .streams import allow_any_character, flush

    allow_any_character()
    code = run()
    flush()
    sys.exit(code)
