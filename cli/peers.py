"""``dream peers``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream peers dream-runs/first
  dream peers dream-runs/first --out ../deep_research_bench --judge openai/gpt-5-mini
"""


@click.command(epilog=EXAMPLES, short_help="Write a run's results in the peers' own files.")
@click.argument("run", metavar="RUN")
@click.option("--out", metavar="DIR", help="Where to write them [default: RUN/peers]")
@click.option("--judge", metavar="NAME", help="Whose results, where there are several [default: the first judge]")
@click.option("--repeat", type=int, default=0, metavar="N", help="Which repeat, where there are several [default: 0]")
def command(run: str, out: str | None, judge: str | None, repeat: int) -> int:
    """Write the results of RUN for point-wise quality, fact-checking, RACE and FACT as their own tools do.

    The files have the layouts of DeepResearchEval and DeepResearch Bench, so that their summaries read them; the
    figures that those leave out (failed reports, unknown citations, intervals) are printed and in figures.json.
    """
    from .peer_table import write_and_show

    return write_and_show(run, out, judge=judge, repeat=repeat)
