"""What ``dream lint`` prints and calls."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..errors import UserError
from ..reports import lint_report
from ..runs.data import Exit
from ..runs.linting import STDIN, Linted, below, lint_reports, read_floors
from .evaluating import make_console
from .printing import fact, print_json, say
from .text import one_line

SHOWN = 10
"""Lints of one kind that are shown, and domains and sections."""
CUT_SHOWN = 160
"""Characters of a cut that are shown, at its start and at its end."""


def show_lints(
    names: Sequence[str],
    *,
    tasks: str | None,
    clean: bool,
    show_cuts: bool,
    everything: bool,
    fail_under: Sequence[str],
    as_json: bool,
    ledger: str | None,
) -> int:
    """Read reports and print what was found; 10 when one is under a floor."""
    floors = read_floors(fail_under)
    stdin = _standard_input() if STDIN in names else b""
    found = lint_reports(names, clean=clean, tasks=tasks, stdin=stdin, ledger=ledger)
    failed = [(linted.name, line) for linted in found for line in below(linted.view, floors)]
    if as_json:
        values = [linted.as_json() for linted in found]
        print_json(values[0] if len(values) == 1 else values)
    else:
        console = make_console()
        for number, linted in enumerate(found):
            if number:
                console.print()
            _show(console, linted, show_cuts=show_cuts, everything=everything)
        for name, line in failed:
            say(console, f"{name}: {line}", style="red")
    return Exit.GATE if failed else Exit.DONE


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise UserError("standard input is closed: name a file, or give the report, as in dream lint - < report.md")
    return sys.stdin.buffer.read()


def _show(console: Console, linted: Linted, *, show_cuts: bool, everything: bool) -> None:
    say(console, linted.name, style="bold")
    _counts(console, linted)
    _sections(console, linted, everything=everything)
    if show_cuts:
        _cuts(console, linted)
    _lints(console, linted, everything=everything)


def _counts(console: Console, linted: Linted) -> None:
    view, report = linted.view, linted.report
    fact(console, "task", linted.task.id if linted.task else report.task_id)
    language = f", language {report.language}" if report.language else ""
    fact(console, "text", f"{view.words:,} words, {view.reading_minutes:g} minutes to read{language}")
    fact(console, "sentences", f"{view.sentences:,}, {_part(view.sentences_cited, view.sentences)} cited")
    fact(console, "citations", f"{view.marks:,}, {_part(view.marks_resolved, view.marks)} lead to a source")
    fact(console, "entries", f"{view.references:,}, {_part(view.references_cited, view.references)} cited")
    fact(console, "sources", f"{len(report.sources):,}, {view.distinct_urls:,} addresses")
    first = [f"{name} {count}" for name, count in list(view.domains.items())[:SHOWN]]
    more = f" … and {len(view.domains) - SHOWN} more" if len(view.domains) > SHOWN else ""
    fact(console, "domains", f"{len(view.domains):,}{': ' if first else ''}{', '.join(first)}{more}")
    cut = sum(len(text) for _, _, text in linted.cuts)
    fact(console, "cut", f"{cut:,} characters around the report (--show-cuts shows them)" if cut else "")


def _part(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.0%})" if whole else "none"


def _sections(console: Console, linted: Linted, *, everything: bool) -> None:
    sections = linted.view.sections if everything else linted.view.sections[:SHOWN]
    if len(linted.view.sections) < 2:
        return
    say(console, "sections (words, sentences, cited)", style="dim")
    for part in sections:
        *above, title = part.title.split(" › ")
        text = Text(f"{part.words:>8,} {part.sentences:>6,} {part.cited:>6,}  {'  ' * min(len(above), 4)}")
        text.append(one_line(title or "(before the first heading)", limit=max(20, console.width - 34)))
        console.print(text, soft_wrap=True)
    if len(sections) < len(linted.view.sections):
        say(console, f"  … and {len(linted.view.sections) - len(sections)} more (--all)", style="dim")


def _cuts(console: Console, linted: Linted) -> None:
    say(console, "cut by the cleaner" if linted.cuts else "the cleaner cut nothing", style="dim")
    for (line, column), rule, text in linted.cuts:
        short = one_line(text if len(text) <= 2 * CUT_SHOWN else f"{text[:CUT_SHOWN]} … {text[-CUT_SHOWN:]}")
        say(console, f"  {line}:{column}  {rule} ({len(text):,} characters): {short}")


def _lints(console: Console, linted: Linted, *, everything: bool) -> None:
    found = lint_report(linted.report)
    counts = Counter(finding.rule for finding in found)
    if not counts:
        say(console, "lints: none", style="green")
        return
    say(console, f"lints: {', '.join(f'{count} {rule}' for rule, count in counts.most_common())}", style="yellow")
    shown: Counter[str] = Counter()
    for finding in found:
        shown[finding.rule] += 1
        if not everything and shown[finding.rule] > SHOWN:
            continue
        place = linted.place(finding)
        text = Text(f"  {f'{place[0]}:{place[1]}' if place else 'whole':<8} ")
        text.append(f"{finding.rule}  ", style="yellow")
        text.append(one_line(finding.message, limit=300))
        console.print(text, soft_wrap=True)
    for rule, count in counts.items():
        if not everything and count > SHOWN:
            say(console, f"  … and {count - SHOWN} more of {rule} (--all)", style="dim")
