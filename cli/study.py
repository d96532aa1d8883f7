"""``dream study …``: one file a study, ``study_NAME.py``, imported only when it is used."""

from __future__ import annotations

from importlib import import_module

import click

STUDIES: dict[str, str] = {
    "human": "A judge's verdicts against labels given by people.",
    "stability": "Where a score's noise comes from: protocol, claims, judge, task.",
    "corruption": "Factuality and citations against the share of false claims.",
    "reasoning": "Reasoning quality of sound reports and their flawed twins.",
    "time": "Scores of a report as its facts age.",
    "protocols": "Protocols made with and without retrieval: lints, evidence, people's ratings.",
    "attacks": "What attacks on the judge in reports and pages change.",
}
"""Study to its line in the help; its module is ``study_NAME`` and its command is called ``command``."""


class Studies(click.Group):
    """A group whose studies are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The studies in their order."""
        return list(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the study's module."""
        if cmd_name not in STUDIES:
            return None
        command: click.Command = import_module(f".study_{cmd_name}", __package__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(STUDIES.items()))


EXAMPLES = """\b
Examples:
  dream study human --labels pairs.csv --judge openai/gpt-5-mini
  dream study stability dream-runs/first dream-runs/second
  dream study corruption --plan
"""


@click.group(cls=Studies, epilog=EXAMPLES, short_help="Experiments on judges, metrics and protocols.")
def command() -> None:
    """Experiments that say how far a judge, a metric or a protocol can be trusted."""
