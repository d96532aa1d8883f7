"""``dream study reasoning``."""

from __future__ import annotations

from typing import Any

import click

from .studying import Wishes, conduct, given_reports, metrics_for, protocol_options, setup_of, study_options

EXAMPLES = """\b
Examples:
  dream study reasoning --plan
  dream study reasoning --flaws circular --reasoning 2
  dream study reasoning --reports reports/ --tasks tasks.jsonl --judge openai/gpt-5-mini
"""


@click.command(epilog=EXAMPLES, short_help="Reasoning quality of sound reports and their flawed twins.")
@click.option("--reports", multiple=True, metavar="FILE", help="Sound reports [default: two of the demo]")
@click.option("--query", metavar="TEXT|@FILE", help="What the reports answer.")
@click.option("--tasks", metavar="FILE", help="Tasks that the reports belong to, by id or by prompt.")
@click.option("--flaws", default="unsupported,circular,selective", metavar="LIST", help="Which flaws [default: all]")
@click.option("--metrics", multiple=True, metavar="LIST", help="Metrics to compare [default: rq,race]")
@click.option("--reference", metavar="FILE", help="Reference report of RACE [default: the demo's flawed one]")
@protocol_options
@study_options
def command(
    reports: tuple[str, ...],
    query: str | None,
    tasks: str | None,
    flaws: str,
    metrics: tuple[str, ...],
    reference: str | None,
    protocol: str | None,
    questions: int | None,
    reasoning: int | None,
    **wishes: Any,
) -> int:
    """Break the reasoning of sound reports by code, and see whether a judge notices.

    Three flaws: conclusions that nothing carries, circular reasons, evidence against left out. The facts stay, so a
    score that does not fall does not look at reasoning. Both twins are written to disk. Without --reports the demo's
    sound reports are used, offline.
    """
    from ..studies import reasoning as study

    wish = Wishes(**wishes)
    given = given_reports(reports, ("sound.md", "uncited.md"), query=query, tasks=tasks, protocol=protocol)
    against = given.reference(reference, "flawed.md")
    names, left_out = metrics_for(metrics, ("rq", "race"), against)
    setup = setup_of(wish, demo=given.demo, as_of=given.as_of, **given.sizes(questions, reasoning))
    pairs = study.pairs_of(given.cases, [flaw.strip() for flaw in flaws.split(",") if flaw.strip()], seed=wish.seed)
    out = wish.folder("reasoning")
    study.write_data(pairs, out)
    return conduct(
        "reasoning",
        wish,
        setup,
        study.plan(setup, pairs, names, protocols=given.to_make(names)),
        lambda bench: study.run(
            bench,
            pairs,
            names,
            out,
            protocols=given.protocols,
            reference=against,
            seed=wish.seed,
        ),
        written=(f"data set: {len(pairs)} pairs in {out}/data/pairs.json", *left_out),
    )
