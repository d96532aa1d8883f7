"""``dream run``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .asking import evaluating_options
from .outputs import output_options

EXAMPLES = """\b
Examples:
  dream run init                    # write a commented eval.toml that runs as it is
  dream run --plan                  # say what it would take, and do nothing
  dream run                         # do what ./eval.toml asks, or what is left of it
  dream run other.toml --judge openai/gpt-5-mini --judge local --repeats 3
  dream run --system ours=a.jsonl --system theirs=b.jsonl --tasks tasks.jsonl
  dream run --shard 2/4             # the second of four parts, for a job on each of four machines
  dream run --engine ray --ray-address auto  # on the machines of a Ray cluster
  dream run status dream-runs/first # how a run stands
\b
Every key of eval.toml is an option too; an option replaces what the file says.
The same command continues a run that was stopped, and does nothing when all is done.
Exit codes: 0 done, 1 error, 2 usage, 3 interrupted, 4 budget reached, 5 account refused,
6 coverage below the floor or a gate without a score, 10 a gate failed, 130 stopped at once.
"""
SUB = {"init": "run_init", "status": "run_status"}
"""Words that are no file, and the modules of their commands."""


class Run(click.Command):
    """The command, and the few that begin with its name; each is imported when it is used."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse; ``init`` and ``status`` are commands of their own."""
        if args and args[0] in SUB:
            command: click.Command = import_module(f".{SUB[args[0]]}", __package__).command
            return command.make_context(f"{info_name} {args[0]}", args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)


@click.command(cls=Run, epilog=EXAMPLES, short_help="Evaluate systems on tasks, as eval.toml asks.")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--name", metavar="NAME", help="Name of the run: its folder is dream-runs/NAME beside the file.")
@click.option("--system", "systems", multiple=True, metavar="NAME=FILE", help="A system's reports; repeat for several.")
@click.option("--shard", metavar="I/N", help="Only part I of N, split by task.")
@click.option(
    "--engine", type=click.Choice(["asyncio", "ray"]), default="asyncio", help="One process, or a Ray cluster."
)
@click.option(
    "--ray-address", metavar="ADDRESS", help="The cluster (auto, HOST:6379); without it, this machine becomes one."
)
@evaluating_options
@output_options
def command(file: str | None, **wishes: Any) -> int:
    """Evaluate systems on tasks, as FILE (./eval.toml) and the options ask.

    All systems advance together, task by task; every result is stored as soon as it exists. At the end one table shows
    each system's mean over tasks with interval and coverage, judge by judge.
    """
    from .running import run_and_show

    return run_and_show(file, **wishes)
