"""The demo: what it does, its limits, the comparison, the planted faults, and what to do next."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ..runs.api import prepare
from ..runs.data import Exit, RunState
from ..runs.faults import demo_folder, finding_count, load_faults, named_faults
from ..runs.perform import RunResult
from ..runs.plan import plan_of
from ..runs.ready import check_ready
from ..runs.summary import Summary
from .evaluating import Manner, closing, go_on, make_console, run
from .expect import start_lines
from .table import show_summary
from .text import one_line

REPORTS = ("sound.md", "flawed.md", "uncited.md")
MAX_CLAIMS, QUESTIONS, REASONING = 8, 8, 3
NEXT = (
    "",
    "Next, with a report of your own and a judge that can be trusted more:",
    "  export OPENAI_API_KEY=…",
    '  dream evaluate my-report.md --query "the question it answers" --judge openai/gpt-5-mini --budget-usd 1',
    "Without a key the embedded judge does it: the same command without --judge. dream doctor says what is configured.",
)


def demonstrate(judge: str, *, out: str | None, ledger: str | None, fresh: bool, yes: bool) -> int:
    """Run the demo and print it; returns the exit code."""
    console, folder = make_console(), demo_folder()
    ask = prepare(
        [folder / name for name in REPORTS],
        task=f"{folder / 'task.jsonl'}",
        judge=judge,
        search=f"corpus:{folder / 'corpus'}",
        out=out or "dream-runs/demo",
        ledger=ledger,
        max_claims=MAX_CLAIMS,
        questions=QUESTIONS,
        reasoning=REASONING,
    )
    check_ready(ask)
    plan = plan_of(ask)
    _say(console, f"Query: {ask.cases[0].task.prompt}")
    _say(console, "Three reports: sound, flawed (six planted faults), uncited. Evidence: a corpus of thirty pages.")
    _say(
        console,
        f"Limits set for the demo: --max-claims {MAX_CLAIMS} --questions {QUESTIONS}, {REASONING} reasoning questions.",
    )
    for line in start_lines(ask, plan):
        _say(console, line)
    if not (yes or go_on(plan)):
        return Exit.INTERRUPTED
    result = run(ask, console, Manner(ledger_mode="refresh" if fresh else "cache"))
    console.print()
    show_summary(console, result.summary)
    if result.state is RunState.FINISHED:
        show_faults(console, result)
    from .viewing import page_line

    for line in (*closing(result), page_line(result.folder), *NEXT):
        _say(console, line)
    return result.exit_code


def show_faults(console: Console, result: RunResult) -> None:
    """Which of the planted faults the judge named."""
    faults = load_faults()
    named = named_faults(faults, result.results)
    found, alarms = (finding_count(result.results, report) for report in ("flawed", "sound"))
    console.print()
    alike = same_for_all(result.summary)
    if alike:
        _say(console, f"Every report has the same score for {', '.join(alike)}: this judge does not tell them apart.")
    _say(console, f"Planted faults of flawed.md named among its findings: {len(named)} of {len(faults)}", style="bold")
    _say(
        console,
        f"Findings of such kinds (contradicted claims, reasoning flaws) in all: {found} on flawed.md, {alarms} on "
        "sound.md, which has no planted fault. Its missing key facts and failing citations are alarms too.",
    )
    for fault in faults:
        word = "named " if fault.id in named else "missed"
        _say(console, f"  {word} {fault.id} ({fault.kind.replace('_', ' ')}): {fault.text}")


def same_for_all(summary: Summary) -> list[str]:
    """Metrics that gave all reports one and the same score."""
    scores: dict[str, list[float]] = {}
    for report in summary.reports:
        for cell in report.scores:
            if cell.score is not None:
                scores.setdefault(cell.metric, []).append(round(cell.score, 1))
    return [metric for metric, seen in scores.items() if len(seen) > 1 and len(set(seen)) == 1]


def _say(console: Console, line: str, style: str = "") -> None:
    indent = " " * (len(line) - len(line.lstrip(" ")))
    console.print(Text(indent + one_line(line, limit=240), style=style), soft_wrap=True)
