"""What the studies that ask a judge share: options, the set-up made of them, the plan, the run and its print."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import datetime as dt

    from ..core import Task
    from ..protocols.schema import Protocol
    from ..reports import Report
    from ..studies.harness import Bench, Estimate, Setup
    from ..studies.sheet import Sheet

Decorated = Callable[..., Any]


def study_options(function: Decorated) -> Decorated:
    """Options of all studies that ask a judge."""
    for option in reversed(
        [
            click.option("--judge", metavar="NAME", help="Judge [default: DREAM_JUDGE, else local]"),
            click.option(
                "--search", multiple=True, metavar="BACKEND", help="As in dream evaluate [default: the demo's corpus]"
            ),
            click.option("--as-of", metavar="DATE", help="Judge as of this day [default: the data's, else today]"),
            click.option("--mode", type=click.Choice(["agent", "guided"]), help="How agents work."),
            click.option("--max-claims", type=click.IntRange(1), metavar="N", help="Check at most N claims."),
            click.option("--seed", type=int, default=0, metavar="N", help="Of all that is drawn [default: 0]"),
            click.option("--out", metavar="DIR", help="Where data set and results go [default: dream-runs/study-NAME]"),
            click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]"),
            click.option("--budget-usd", type=float, metavar="USD", help="Most to spend on the study."),
            click.option("--budget-tokens", type=int, metavar="N", help="Most tokens for the study."),
            click.option("--plan", "plan_only", is_flag=True, help="Write the data set, say what it takes, and stop."),
            click.option(
                "-y",
                "--yes",
                is_flag=True,
                help="Do not ask before a download or an expensive study; off a terminal nobody is asked.",
            ),
        ]
    ):
        function = option(function)
    return function


def protocol_options(function: Decorated) -> Decorated:
    """Options of studies whose metrics need a protocol."""
    given = click.option("--protocol", metavar="FILE", help="Use this protocol instead of making one.")
    decorated: Decorated = given(size_options(function))
    return decorated


def size_options(function: Decorated) -> Decorated:
    """How large a new protocol is to be."""
    keys = click.option("--questions", type=click.IntRange(1), metavar="N", help="Yes/no questions of a new protocol.")
    reasons = click.option("--reasoning", type=click.IntRange(1), metavar="N", help="Its reasoning questions.")
    decorated: Decorated = keys(reasons(function))
    return decorated


def sizes_of(questions: int | None, reasoning: int | None, *, demo: bool) -> dict[str, int]:
    """Sizes of a new protocol: as asked for, else the demo's on the demo's query, so that it is made once."""
    from ..runs.ask import DEFAULT_QUESTIONS, DEFAULT_REASONING
    from .demonstration import QUESTIONS, REASONING

    defaults = (QUESTIONS, REASONING) if demo else (DEFAULT_QUESTIONS, DEFAULT_REASONING)
    return {"questions": questions or defaults[0], "reasoning": reasoning or defaults[1]}


def given_task(query: str | None, task: str | None) -> tuple[Task, bool]:
    """The task asked for, and whether it is the demo's. Raises UserError, InputError."""
    from ..errors import UserError
    from ..reports import load_tasks
    from ..runs.cases import read_query, read_task, task_of
    from ..runs.faults import demo_folder

    if query is not None and task is not None:
        raise UserError("give a query or a task, not both")
    if query is not None:
        return task_of(read_query(query)), False
    if task is not None:
        return read_task(task), False
    return load_tasks(demo_folder() / "task.jsonl")[0], True


@dataclass(frozen=True)
class Wishes:
    """The options of :func:`study_options`, as given."""

    judge: str | None
    search: tuple[str, ...]
    as_of: str | None
    mode: str | None
    max_claims: int | None
    seed: int
    out: str | None
    ledger: str | None
    budget_usd: float | None
    budget_tokens: int | None
    plan_only: bool
    yes: bool

    def folder(self, study: str) -> Path:
        """Where the study's files go. Raises UserError for a folder that holds what no study wrote."""
        from ..studies.sheet import check_folder

        out = Path(self.out) if self.out else Path("dream-runs") / f"study-{study}"
        check_folder(out)
        return out


def setup_of(wishes: Wishes, *, demo: bool, as_of: dt.date | None, **more: Any) -> Setup:
    """The set-up asked for; on the demo's data its corpus, its day and as many claims a report as the demo checks.

    Raises UserError.
    """
    from ..models import is_local
    from ..runs import checked
    from ..runs.faults import demo_folder
    from ..studies.harness import Setup
    from .demonstration import MAX_CLAIMS

    judge = checked.judge(wishes.judge)
    search = wishes.search or ((f"corpus:{demo_folder() / 'corpus'}",) if demo else ())
    checked.positive(budget_usd=wishes.budget_usd, budget_tokens=wishes.budget_tokens)
    return Setup(
        judge=judge,
        search=checked.search(search),
        as_of=checked.date(wishes.as_of) or as_of or checked.today(),
        mode=checked.mode(wishes.mode, embedded=is_local(judge)),
        max_claims=wishes.max_claims or (MAX_CLAIMS if demo else None),
        ledger=Path(wishes.ledger) if wishes.ledger else None,
        budget_usd=wishes.budget_usd,
        budget_tokens=wishes.budget_tokens,
        **more,
    )


@dataclass(frozen=True)
class GivenReports:
    """Reports with their tasks, and protocols by prompt."""

    cases: tuple[tuple[Task, Report], ...]
    protocols: dict[str, Protocol]
    demo: bool

    @property
    def as_of(self) -> dt.date | None:
        """The one day that protocols, else tasks, name."""
        days = {p.as_of.day for p in self.protocols.values()}
        days = days or {task.as_of for task, _ in self.cases if task.as_of is not None}
        return days.pop() if len(days) == 1 else None

    def sizes(self, questions: int | None, reasoning: int | None) -> dict[str, int]:
        """Sizes of a new protocol."""
        return sizes_of(questions, reasoning, demo=self.demo)

    def to_make(self, metrics: Sequence[str]) -> int:
        """How many protocols must be made first."""
        from ..studies.harness import needs

        prompts = {task.prompt for task, _ in self.cases}
        return len(prompts - set(self.protocols)) if needs(metrics, "protocol.") else 0

    def reference(self, file: str | None, demo: str) -> Report | None:
        """The reference report of RACE: the file's, else on the demo's reports the demo's ``demo``.

        Raises InputError, UserError.
        """
        from ..errors import UserError
        from ..reports import load_reports
        from ..runs.faults import demo_folder

        if file is None and not self.demo:
            return None
        found = load_reports(Path(file) if file else demo_folder() / demo)
        if len(found) != 1:
            raise UserError(f"{file}: holds {len(found)} reports, wanted is one")
        return found[0]


def metrics_for(
    wanted: Sequence[str], default: Sequence[str], reference: Report | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Metrics to measure, and lines on those of ``default`` that are left out. Raises UserError.

    RACE compares with a reference report: without one it is left out, or refused where it was asked for.
    """
    from ..errors import UserError
    from ..studies.harness import chosen_metrics, needs

    names, missing = chosen_metrics(wanted, default)
    alone = [name for name in names if reference is None and needs((name,), "reference")]
    if alone and wanted:
        raise UserError(f"{', '.join(alone)} needs a reference report: give one with --reference FILE")
    lines = [f"left out: {', '.join(missing)} (no such metric in this version)"] if missing else []
    lines += [f"left out: {', '.join(alone)} (no reference report: --reference FILE)"] if alone else []
    return tuple(name for name in names if name not in alone), tuple(lines)


def given_reports(
    files: Sequence[str],
    demo: Sequence[str],
    *,
    query: str | None,
    tasks: str | None,
    protocol: str | None,
    most: int | None = None,
) -> GivenReports:
    """Reports from files with their tasks, or those of the demo. Raises UserError, InputError."""
    from ..errors import UserError
    from ..protocols import load_protocol
    from ..reports import join, load_reports, load_tasks
    from ..runs.cases import read_query, task_of
    from ..runs.faults import demo_folder

    made = {p.task.prompt: p for p in [load_protocol(protocol)]} if protocol else {}
    if not files:
        task = load_tasks(demo_folder() / "task.jsonl")[0]
        reports = [load_reports(demo_folder() / name)[0] for name in demo]
        return GivenReports(tuple((task, report) for report in reports), made, demo=True)
    reports = [report for file in files for report in load_reports(Path(file))]
    if most is not None and len(reports) != most:
        raise UserError(f"{', '.join(files)}: {len(reports)} reports, wanted is {most}")
    if (query is None) == (tasks is None):
        raise UserError('say what the reports answer, with --query "…" or --tasks FILE')
    if tasks is not None:
        return GivenReports(tuple(join(reports, load_tasks(Path(tasks)))), made, demo=False)
    one = task_of(read_query(query or ""))
    return GivenReports(tuple((one, report) for report in reports), made, demo=False)


def conduct(
    study: str,
    wishes: Wishes,
    setup: Setup,
    expected: Estimate,
    work: Callable[[Bench], Awaitable[Sheet]],
    *,
    written: Sequence[str] = (),
) -> int:
    """Say what it takes, do it, print it. The same command goes on where a stopped one ended."""
    from ..errors import HostStop
    from ..models.providers import parse_judge
    from ..runs.files import short_digest
    from ..studies.harness import open_bench
    from .evaluating import make_console, resume_command, totals_line
    from .expect import download_line, missing_keys
    from .failing import say as warn
    from .printing import say
    from .session import run_stoppable

    console, out = make_console(), wishes.folder(study)
    say(console, f"judge {setup.judge} · search {', '.join(setup.search)} · as of {setup.as_of} · mode {setup.mode}")
    for line in written:
        say(console, line)
    say(console, expected.line())
    setup.described()  # a corpus that is not there is said before anything is paid
    if first := download_line(setup.judge):
        say(console, first)
    if wishes.plan_only:
        for line in missing_keys([setup.judge]):
            say(console, line)
        return 0
    if not setup.embedded:
        parse_judge(setup.judge).key()
    if not (wishes.yes or _go_on(setup, expected)):
        return 3

    async def run(control: Any) -> Sheet:
        name = f"study-{study}-{short_digest(str(out.resolve()))}"
        async with open_bench(setup, name, say=_progress, control=control) as bench:
            return await work(bench)

    try:
        sheet = run_stoppable(run, said=warn)
    except HostStop:
        warn(f"what was asked is kept; to continue: {resume_command()}")
        raise
    say(console, "")
    for line in sheet.lines():
        say(console, line)
    say(console, "")
    if sheet.totals is not None:
        say(console, totals_line(sheet.totals).replace("run:", "study:", 1))
    say(console, f"written: {out}/data, {out}/results.json, {out}/units.jsonl, {out}/study.md")
    return 0


def _progress(line: str) -> None:
    """One line on standard error."""
    from .text import one_line

    print(one_line(line, limit=200), file=sys.stderr, flush=True)


def _go_on(setup: Setup, expected: Estimate) -> bool:
    """Ask a person at a terminal before a download or an expensive study; without a terminal nobody is asked."""
    from .expect import ASK_ABOVE_USD, download_line, go_on

    costly = expected.usd is not None and expected.usd > ASK_ABOVE_USD
    return go_on(ask=costly or download_line(setup.judge) is not None)
