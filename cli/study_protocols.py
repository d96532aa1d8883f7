"""``dream study protocols``."""

from __future__ import annotations

from typing import Any

import click

from .studying import Wishes, conduct, given_task, setup_of, size_options, sizes_of, study_options

EXAMPLES = """\b
Examples:
  dream study protocols --plan
  dream study protocols --query "Which heat pumps suit old houses?" --judge openai/gpt-5-mini
  dream protocol rate dream-runs/study-protocols/data/*.json --out dream-runs/study-protocols/ratings.jsonl
"""


@click.command(epilog=EXAMPLES, short_help="Protocols made with and without retrieval.")
@click.option("--query", metavar="TEXT|@FILE", help="What the protocols are for [default: the demo's query]")
@click.option("--task", metavar="FILE#ID", help="A task of a JSONL file, instead of --query.")
@click.option("--ways", default="static,alone,retrieval", metavar="LIST", help="How they are made [default: all]")
@click.option("--ratings", multiple=True, metavar="FILE", help="People's ratings [default: DIR/ratings.jsonl]")
@size_options
@study_options
def command(
    query: str | None,
    task: str | None,
    ways: str,
    ratings: tuple[str, ...],
    questions: int | None,
    reasoning: int | None,
    **wishes: Any,
) -> int:
    """Make a protocol in three ways and compare them: a model alone (static), an agent without retrieval (alone), an
    agent with retrieval.

    What code sees (lints, evidence, dates) stands beside people's ratings, made with dream protocol rate on the files
    that this study writes.
    """
    from pathlib import Path

    from ..errors import UserError
    from ..studies import protocol_study as study
    from ..studies.ratings import load_ratings

    wish = Wishes(**wishes)
    chosen, demo = given_task(query, task)
    setup = setup_of(wish, demo=demo, as_of=chosen.as_of, **sizes_of(questions, reasoning, demo=demo))
    names = [way.strip() for way in ways.split(",") if way.strip()]
    for name in names:
        if name not in study.WAYS:
            raise UserError(f"there is no way {name!r}: choose among {', '.join(study.WAYS)}")
    out = wish.folder("protocols")
    book = out / "ratings.jsonl"
    files = [Path(file) for file in ratings] or ([book] if book.exists() else [])
    lines = [line for file in files for line in load_ratings(file)]
    return conduct(
        "protocols",
        wish,
        setup,
        study.plan(setup, names),
        lambda bench: study.run(bench, chosen, names, lines, out),
        written=(f"protocols: {out}/data", *(f"ratings: {file}" for file in files)),
    )
