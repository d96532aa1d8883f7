"""``dream study corruption``."""

from __future__ import annotations

from typing import Any

import click

from .studying import Wishes, conduct, setup_of, study_options

EXAMPLES = """\b
Examples:
  dream study corruption --plan
  dream study corruption --max-claims 8 --rates 0,0.5,1
  dream study corruption --data claims.jsonl --query "Which heat pumps suit old houses?" --judge openai/gpt-5-mini
"""


@click.command(epilog=EXAMPLES, short_help="Factuality and citations against the share of false claims.")
@click.option("--data", metavar="FILE", help="claims.json of an earlier study, or JSONL of true, false, true_url …")
@click.option("--query", metavar="TEXT", help="What the claims of a JSONL file are about.")
@click.option("--rates", default="0,0.25,0.5,0.75,1", metavar="LIST", help="Shares of false claims, from 0 to 1.")
@click.option("--metrics", multiple=True, metavar="LIST", help="Some of factuality,fact,ci [default: the first two]")
@study_options
def command(data: str | None, query: str | None, rates: str, metrics: tuple[str, ...], **wishes: Any) -> int:
    """Mix true claims with false twins at several rates and feed them straight into the evaluators.

    The twins are made by code: a number, a date, an organisation or a negation is changed. A judge that can be trusted
    has a Factuality that falls by 100 points from no false claims to all. Without --data the demo's facts are used,
    offline.
    """
    from pathlib import Path

    from ..core import Task
    from ..studies import corruption
    from ..studies.harness import chosen_metrics

    wish = Wishes(**wishes)
    task = Task(id="claims", prompt=query) if query else None
    found = corruption.data_set(Path(data) if data else None, task, seed=wish.seed, limit=wish.max_claims)
    setup = setup_of(wish, demo=data is None, as_of=found.task.as_of)
    batches = corruption.batches(found, corruption.read_rates(rates))
    names, missing = chosen_metrics(metrics, ("factuality", "fact"))
    names = names if "fact" not in missing else (*names, "ci")
    out = wish.folder("corruption")
    corruption.write_data(found, out)
    return conduct(
        "corruption",
        wish,
        setup,
        corruption.plan(setup, batches, names),
        lambda bench: corruption.run(bench, found, batches, names, out),
        written=corruption.described(found, out),
    )
