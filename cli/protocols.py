"""What ``dream protocol`` prints and calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..errors import UserError
from ..ledger import Totals
from ..models import is_local
from ..protocols import lint, load_protocol
from ..protocols.schema import KeyQuestion, Protocol, Provenance, ReasoningQuestion
from ..runs import checked
from ..runs.ask import DEFAULT_QUESTIONS, DEFAULT_REASONING
from ..runs.cases import read_query, read_task, task_of
from ..runs.control import Control
from ..runs.making import Wish, make_protocol
from .evaluating import make_console, totals_line
from .expect import download_line
from .live import showing
from .rubric_text import rubric_problems, shown_rubric
from .session import run_stoppable
from .text import one_line


def create_and_show(
    out: str, *, query: str | None, task: str | None, judge: str | None, yes: bool, ledger: str | None, **rest: Any
) -> int:
    """Make a protocol, write and print it."""
    del yes
    console, name = make_console(), checked.judge(judge)
    if Path(out).exists():
        raise UserError(f"{out} exists: protocols are shared by runs, so none is overwritten; give another --out")
    if (query is None) == (task is None):
        raise UserError('give the query that reports shall answer, as --query "…" or --task FILE#ID')
    checked.positive(questions=rest["questions"], reasoning=rest["reasoning"])
    checked.positive(budget_usd=rest["budget_usd"], budget_tokens=rest["budget_tokens"])
    chosen = read_task(task) if task is not None else task_of(read_query(query or ""))
    wish = Wish(
        task=chosen,
        judge=name,
        mode=checked.mode(rest["mode"], embedded=is_local(name)),
        search=checked.search(rest["search"]),
        as_of=checked.date(rest["as_of"]) or checked.date(chosen.as_of),
        exclude_hosts=checked.hosts(rest["exclude_hosts"]),
        questions=rest["questions"] or DEFAULT_QUESTIONS,
        reasoning=rest["reasoning"] or DEFAULT_REASONING,
        ledger=Path(ledger) if ledger else None,
        budget_usd=rest["budget_usd"],
        budget_tokens=rest["budget_tokens"],
    )
    if first := download_line(name):
        console.print(Text(first), soft_wrap=True)
    protocol, totals = _make(wish, out, console)
    print_protocol(console, protocol)
    console.print(Text(one_line(totals_line(totals))), soft_wrap=True)
    console.print(Text(one_line(f"written: {out}")), soft_wrap=True)
    return 0


def _make(wish: Wish, out: str, console: Console) -> tuple[Protocol, Totals]:
    with showing(console) as listener:

        async def work(control: Control) -> tuple[Protocol, Totals]:
            return await make_protocol(wish, out, on_progress=listener, control=control)

        return run_stoppable(work, said=lambda line: console.print(Text(line)))


def show_protocol(file: str) -> int:
    """Print a protocol file, or a file with the rubric of a metric."""
    console = make_console()
    if not shown_rubric(console, file):
        print_protocol(console, load_protocol(file))
    return 0


def lint_protocol(file: str) -> int:
    """Print what is wrong with a protocol or rubric file; 10 when anything is."""
    console, problems = make_console(), rubric_problems(file)
    if problems is None:
        problems = lint(load_protocol(file))
    for problem in problems:
        place = f"{problem.item}: " if problem.item else ""
        console.print(Text(one_line(f"{place}{problem.message} [{problem.rule}]")), soft_wrap=True)
    if not problems:
        console.print("nothing found")
    return 10 if problems else 0


def print_protocol(console: Console, protocol: Protocol) -> None:
    """Everything in it that a person wants to judge."""
    maker = protocol.maker
    _say(console, f"Query: {protocol.task.prompt}", style="bold")
    _say(console, f"as of {protocol.as_of.day} · made by {maker.model} in mode {maker.mode} · {protocol.digest[:12]}")
    if protocol.flags:
        _say(console, f"flags: {', '.join(protocol.flags)}", style="yellow")
    _say(console, f"\nKey questions ({len(protocol.key_questions)})", style="bold")
    for question in protocol.key_questions:
        _key_question(console, question)
    _say(console, f"\nReasoning questions ({len(protocol.reasoning_questions)})", style="bold")
    for open_question in protocol.reasoning_questions:
        _reasoning_question(console, open_question)


def _key_question(console: Console, question: KeyQuestion) -> None:
    _say(console, f"{question.id}. {question.text}{' (time-sensitive)' if question.time_sensitive else ''}")
    _say(console, f"    a yes needs: {question.fact}")
    _why(console, question.rationale, question.provenance)


def _reasoning_question(console: Console, question: ReasoningQuestion) -> None:
    plan = question.plan
    _say(console, f"{question.id}. {question.text}")
    _say(console, f"    take out: {plan.extract}")
    _say(console, f"    look up ({plan.where}): {plan.lookup}")
    _say(console, f"    cross-check: {plan.cross_check}")
    _say(console, f"    against the report: {plan.against}")
    _why(console, question.rationale, question.provenance)


def _why(console: Console, rationale: str, provenance: tuple[Provenance, ...]) -> None:
    if rationale:
        _say(console, f"    why: {rationale}")
    for source in provenance:
        _say(console, f"    “{source.quote}”", style="dim")
        _say(console, f"    {source.url}{f' ({source.published})' if source.published else ''}", style="dim")


def _say(console: Console, line: str, style: str = "") -> None:
    lead = "\n" if line.startswith("\n") else ""
    indent = " " * (len(line) - len(line.lstrip(" ")))
    console.print(Text(f"{lead}{indent}{one_line(line)}", style=style), soft_wrap=True)
