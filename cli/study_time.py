"""``dream study time``."""

from __future__ import annotations

from typing import Any

import click

from .studying import Wishes, conduct, given_reports, metrics_for, protocol_options, setup_of, study_options

EXAMPLES = """\b
Examples:
  dream study time --plan
  dream study time --metrics kic,factuality --max-claims 5
  dream study time --report 2026-05-01=new.md --report 2025-05-01=old.md --query @query.txt
  dream study time --age report.md --facts facts.json --query @query.txt
"""


@click.command(epilog=EXAMPLES, short_help="Scores of a report as its facts age.")
@click.option("--report", "dated", multiple=True, metavar="DATE=FILE", help="A report as of a day; give two or more.")
@click.option("--age", metavar="FILE", help="A report to age by code [default: the demo's sound one]")
@click.option("--facts", metavar="FILE", help="Since when its facts hold, and what was true before.")
@click.option("--cut", "cuts", multiple=True, metavar="DATE", help="Age it to this day; repeat [default: the facts']")
@click.option("--query", metavar="TEXT|@FILE", help="What the reports answer.")
@click.option("--tasks", metavar="FILE", help="Tasks that the reports belong to, by id or by prompt.")
@click.option("--metrics", multiple=True, metavar="LIST", help="Metrics to compare [default: kic,factuality,race]")
@click.option("--reference", metavar="FILE", help="Reference report of RACE [default: the demo's uncited one]")
@protocol_options
@study_options
def command(
    dated: tuple[str, ...],
    age: str | None,
    facts: str | None,
    cuts: tuple[str, ...],
    query: str | None,
    tasks: str | None,
    metrics: tuple[str, ...],
    reference: str | None,
    protocol: str | None,
    questions: int | None,
    reasoning: int | None,
    **wishes: Any,
) -> int:
    """Judge a report as of today and as of earlier days, by today's protocol.

    Give reports written at several dates, or one report with a file of facts: since when each holds and what was true
    before. Without either the demo's sound report is aged, offline.
    """
    from ..studies import aging

    wish = Wishes(**wishes)
    days = dict(read_dated(one) for one in dated)
    given = given_reports(
        tuple(days.values()) or ((age,) if age else ()),
        ("sound.md",),
        query=query,
        tasks=tasks,
        protocol=protocol,
        most=len(days) or 1,
    )
    against = given.reference(reference, "uncited.md")
    names, left_out = metrics_for(metrics, ("kic", "factuality", "race"), against)
    setup = setup_of(wish, demo=given.demo, as_of=given.as_of, **given.sizes(questions, reasoning))
    versions = aging.given_versions(
        [report for _, report in given.cases], list(days), facts=facts, cuts=cuts, demo=given.demo
    )
    out, task = wish.folder("time"), given.cases[0][0]
    aging.write_data(versions, out)
    return conduct(
        "time",
        wish,
        setup,
        aging.plan(setup, versions, names, protocols=given.to_make(names)),
        lambda bench: aging.run(
            bench,
            task,
            versions,
            names,
            out,
            protocol=given.protocols.get(task.prompt),
            reference=against,
            seed=wish.seed,
        ),
        written=(f"data set: {len(versions)} versions in {out}/data", *left_out),
    )


def read_dated(text: str) -> tuple[str, str]:
    """``DATE=FILE``. Raises UserError."""
    from ..errors import UserError

    day, mark, file = text.partition("=")
    if not mark or not file:
        raise UserError(f"--report {text!r}: write DATE=FILE, such as 2025-05-01=old.md")
    return day, file
