"""``dream tasks generate|review``."""

from __future__ import annotations

from typing import Any

import click

EXAMPLES = """\b
Examples:
  dream tasks generate --plan
  dream tasks review tasks.jsonl --write sheets/ --raters anna,ben,chen
"""


@click.group(epilog=EXAMPLES, short_help="Make research tasks, and have people review them.")
def command() -> None:
    """Make research tasks that need a search, and have people review them."""


GENERATE_EXAMPLES = """\b
Examples:
  dream tasks generate --plan
  dream tasks generate --judge openai/gpt-5-mini --budget-usd 5
  dream tasks generate --domains "Health,Politics" --language en,zh,de --personas 3 --candidates 4 --keep 6
  dream tasks generate --domains @domains.txt --as-of 2026-05-01 --out may.jsonl --peer may-peer.jsonl
\b
Beside tasks.jsonl stand tasks.provenance.jsonl (every candidate: persona, verdicts, what rejected it, ledger keys)
and tasks.summary.json (how the set is distributed, how the sentinels fared).
The same command continues where it stopped and repeats no call; another --keep asks nothing again.
\b
Exit codes: 0 done, 2 usage, 3 interrupted, 4 budget reached, 5 account refused, 6 a domain is short of its quota (no
tasks are written), 10 the filter does not filter: known-easy tasks were kept or known-hard ones rejected.
"""


@command.command(epilog=GENERATE_EXAMPLES, short_help="Make tasks: personas, candidates, filters, ranking.")
@click.option("--out", default="tasks.jsonl", metavar="FILE", help="Where to write the tasks [default: tasks.jsonl]")
@click.option("--domains", metavar="LIST|@FILE", help="Domains, by commas or one a line [default: ten of them]")
@click.option("--language", "languages", metavar="LIST", help="Languages of personas and tasks: en,zh,de [default: en]")
@click.option("--personas", type=int, metavar="N", help="Personas of a domain and language [default: 5]")
@click.option("--candidates", type=int, metavar="N", help="Candidates of a persona [default: 4]")
@click.option("--keep", type=int, metavar="N", help="Tasks of a domain and language [default: half of its candidates]")
@click.option("--as-of", metavar="DATE", help="The day on which the tasks are asked; stands in the tasks then, too.")
@click.option("--peer", metavar="FILE", help="Write the tasks in DeepResearchEval's shape as well.")
@click.option("--judge", metavar="NAME", help="provider/model, URL#model or local [default: DREAM_JUDGE, else local]")
@click.option("--plan", is_flag=True, help="Say what it will take, and ask nothing.")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
@click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on the whole run.")
@click.option("--budget-tokens", type=int, metavar="N", help="Most tokens for the whole run.")
@click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask before a download or an expensive run; off a terminal nobody is asked.",
)
def generate(**wishes: Any) -> int:
    """Make research tasks: invented people of each domain write candidates, and what needs no research goes.

    Code checks length, language, period, product and repetition; a judge says whether a task qualifies, answers it
    without a search, and grades the answer. Known-easy and known-hard tasks go the same way, and show whether the
    filter filters.
    """
    from .tasking import generate_and_show

    return generate_and_show(**wishes)


REVIEW_EXAMPLES = """\b
Examples:
  dream tasks review tasks.jsonl --write sheets/ --raters anna,ben,chen
  dream tasks review tasks.jsonl --read sheets/
  dream tasks review tasks.jsonl --read anna.csv --read ben.csv --at-least 2 --out qualified.jsonl
\b
Each rater gets a sheet of their own (CSV) and answers yes or no in the column "qualified"; empty: not rated.
"""


@command.command(epilog=REVIEW_EXAMPLES, short_help="Sheets for human raters, and how far they agree.")
@click.argument("tasks", metavar="TASKS")
@click.option("--write", metavar="DIR", help="Write a sheet for each of --raters.")
@click.option("--raters", metavar="LIST", help="Names of the raters.")
@click.option("--read", multiple=True, metavar="FILE|DIR", help="Read filled-in sheets; repeat for several.")
@click.option("--at-least", type=int, metavar="M", help="Raters who must say yes [default: more than half]")
@click.option("--out", metavar="FILE", help="Write the tasks that qualify.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def review(tasks: str, **wishes: Any) -> int:
    """Write sheets on which people say which tasks qualify, or read them back.

    Says which share of the tasks at least M raters call qualified, with its interval, and Krippendorff's alpha.
    """
    from .tasking import review_and_show

    return review_and_show(tasks, **wishes)
