"""``dream study attacks``."""

from __future__ import annotations

from typing import Any

import click

from .studying import Wishes, conduct, given_reports, metrics_for, protocol_options, setup_of, study_options

EXAMPLES = """\b
Examples:
  dream study attacks --plan
  dream study attacks --attacks override --attacks pdf --metrics wq,factuality --max-claims 5
  dream study attacks --max 8 --metrics wq
  dream study attacks --report report.md --query @query.txt --search corpus:pages --judge openai/gpt-5-mini
"""


@click.command(epilog=EXAMPLES, short_help="What attacks on the judge in reports and pages change.")
@click.option("--report", metavar="FILE", help="The report to attack [default: the demo's flawed one]")
@click.option("--query", metavar="TEXT|@FILE", help="What the report answers.")
@click.option("--tasks", metavar="FILE", help="Tasks that the report belongs to, by id or by prompt.")
@click.option("--attacks", "families", multiple=True, metavar="FAMILY", help="Only these families; repeat.")
@click.option("--max", "most", type=click.IntRange(1), metavar="N", help="At most N attacks, spread over families.")
@click.option("--controls", type=click.IntRange(0, 4), default=4, metavar="N", help="Harmless insertions [default: 4]")
@click.option("--metrics", multiple=True, metavar="LIST", help="Metrics [default: wq,kic,factuality,ci]")
@click.option("--reference", metavar="FILE", help="Reference report of RACE [default: the demo's sound one]")
@protocol_options
@study_options
def command(
    report: str | None,
    query: str | None,
    tasks: str | None,
    families: tuple[str, ...],
    most: int | None,
    controls: int,
    metrics: tuple[str, ...],
    reference: str | None,
    protocol: str | None,
    questions: int | None,
    reasoning: int | None,
    **wishes: Any,
) -> int:
    """Put forty seeded attacks into a report and into pages of its evidence, and see which scores move.

    Pages are drawn from those that the clean report's claims rest on, so it is judged first.

    Families: override, verdict (forged), turn (fake system turns), hidden, homoglyphs, citations (stuffing), padding,
    flattery, code, language, title, pdf. Harmless insertions of the same kind give the noise floor. All attacked
    reports and pages are written to disk. Without --report the demo's flawed report is attacked, offline.
    """
    from ..errors import UserError
    from ..studies import attacks as study
    from ..studies.attack_data import FAMILIES, chosen

    wish = Wishes(**wishes)
    for family in families:
        if family not in FAMILIES:
            raise UserError(f"there is no family {family!r}: choose among {study.known_families()}")
    given = given_reports(
        (report,) if report else (), ("flawed.md",), query=query, tasks=tasks, protocol=protocol, most=1
    )
    against = given.reference(reference, "sound.md")
    names, left_out = metrics_for(metrics, ("wq", "kic", "factuality", "ci"), against)
    setup = setup_of(wish, demo=given.demo, as_of=given.as_of, **given.sizes(questions, reasoning))
    out, (task, clean) = wish.folder("attacks"), given.cases[0]
    found = study.data_set(
        task,
        clean,
        chosen(families, most, seed=wish.seed),
        out,
        corpus=study.corpus_of(setup.search),
        controls=controls,
        seed=wish.seed,
    )
    return conduct(
        "attacks",
        wish,
        setup,
        study.plan(setup, found, names, protocols=given.to_make(names)),
        lambda bench: study.run(
            bench,
            found,
            names,
            out,
            protocol=given.protocols.get(task.prompt),
            reference=against,
            seed=wish.seed,
        ),
        written=(
            f"data set: {len(found.attacked) + len(found.pages)} attacks on {clean.id} in {out}/data/attacks.json",
            *study.to_draw(found),
            *found.left_out,
            *left_out,
        ),
    )
