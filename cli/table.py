"""The comparison of reports, drawn for a terminal or as plain lines."""

from __future__ import annotations

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..core import Status
from ..protocols.catalogue import METRICS
from ..runs.findings import Worst
from ..runs.summary import ReportSummary, Score, Summary
from .systems import show_systems
from .text import one_line

FEW = 8
"""Reports up to which each has a column and findings of its own."""
SHOWN = 3
"""Findings shown of one report and kind; the rest is in summary.json."""
HEAD = 24
"""Characters of a report's name above its column."""
ANY_WIDTH = 100_000
"""Characters: wider than any table, to measure one."""
FORMS = ((True, False), (True, True), (False, False), (False, True))
"""(Metrics with titles, cells on two lines): the first form that fits is drawn."""
WORDS = {
    "most_important_claims": "only the most important claims were checked",
    "claims_incomplete": "a part of the report could not be searched for claims",
    "no_citations": "no claim cites a source",
    "listed_only": "sources stand in a list only, no claim cites one",
    "dead_citation": "a cited page is gone",
    "outdated": "a claim that was true earlier",
    "windowed": "the report was too long for the judge and was read in parts",
    "incomplete": "some domains could not be judged",
    "unprovenanced": "the protocol's questions rest on no source",
    "few_questions": "the protocol has fewer questions than were asked for",
    "edited": "the protocol was edited by hand",
    "none_decided": "evidence was read, and it decides nothing",
    "no_check_worthy_claim": "no claim that could be checked",
}
"""Flags and rules in words; others are shown as they are."""
QUIET_FLAGS = frozenset({"thin"})
"""Flags that the cell itself tells."""


def show_summary(console: Console, summary: Summary) -> None:
    """Scores, how far they go, and the worst findings of each report; of many reports the systems' means over tasks."""
    single = len(summary.judges) == 1 and summary.repeats == 1
    few = single and len(summary.reports) <= FEW
    if summary.systems and not (few and len({report.task for report in summary.reports}) == 1):
        show_systems(console, summary)
    if few:
        _show_reports(console, summary)
    for line in _agreement(summary):
        console.print(Text(line), style="dim")
    for report in summary.reports if len(summary.reports) <= FEW else ():
        _findings(console, report)


def _show_reports(console: Console, summary: Summary) -> None:
    tables = ((titles, score_table(summary, titles=titles, stacked=stacked)) for titles, stacked in FORMS)
    titled, table = next(((titles, table) for titles, table in tables if _fits(console, table)), (True, None))
    if table is not None:
        console.print(table)
    else:
        _blocks(console, summary)
    if not titled:
        console.print(Text("; ".join(f"{n}: {METRICS[n].title.lower()}" for n in _metrics(summary))), style="dim")
    for line in _notes(summary):
        console.print(Text(line), style="dim")


def _fits(console: Console, table: Table) -> bool:
    needed = Measurement.get(console, console.options.update_width(ANY_WIDTH), table).minimum
    return needed <= console.width


def score_table(summary: Summary, *, titles: bool = True, stacked: bool = False) -> Table:
    """One row a metric grouped by vertical, one column a report; each cell: score, interval, coverage.

    ``titles``: whether metrics have their title beside their name; ``stacked``: coverage below the score. No column may
    get narrower than its widest cell: the measured minimum of the table says whether it fits without a cut figure.
    """
    table, names = Table(title=None, header_style="bold", pad_edge=False), _metrics(summary)
    rows = {name: [_cell(_of(report, name), stacked=stacked) for report in summary.reports] for name in names}
    units = [_units(report) for report in summary.reports]
    labels = {name: _label(name) if titles else f"  {name}" for name in names}
    heads = (*labels.values(), *(METRICS[name].vertical.value for name in names), "units scored")
    table.add_column("metric", no_wrap=True, min_width=max(map(len, heads)))
    for number, report in enumerate(summary.reports):
        cells_below = (units[number], *(cells[number] for cells in rows.values()))
        widest = max(line.cell_len for cell in cells_below for line in cell.split("\n"))
        table.add_column(Text(_head(report.name, widest)), justify="right", min_width=widest)
    vertical = None
    for name, cells in rows.items():
        if METRICS[name].vertical is not vertical:
            vertical = METRICS[name].vertical
            table.add_row(Text(vertical.value, style="italic"), *("" for _ in summary.reports))
        table.add_row(Text(labels[name]), *cells)
    table.add_section()
    table.add_row("units scored", *units)
    return table


def _blocks(console: Console, summary: Summary) -> None:
    """The same, report by report, where the table is too wide: lines may be wrapped, and nothing is cut."""
    for number, report in enumerate(summary.reports):
        if number:
            console.print()
        console.print(Text(one_line(report.name), style="bold"), soft_wrap=True)
        vertical = None
        for name in _metrics(summary):
            if METRICS[name].vertical is not vertical:
                vertical = METRICS[name].vertical
                console.print(Text(vertical.value, style="italic"))
            console.print(Text.assemble(_label(name), ": ", _cell(_of(report, name))), soft_wrap=True)
        console.print(Text.assemble("  units scored: ", _units(report)), soft_wrap=True)


def _head(name: str, width: int) -> str:
    """A column's head, broken to the width of its figures; of a long name the middle is left out, since its end tells
    reports apart."""
    name = one_line(name)
    short = name if len(name) <= HEAD else f"{name[: HEAD // 2 - 1]}…{name[-HEAD // 2 :]}"
    return "\n".join(short[at : at + width] for at in range(0, len(short), max(1, width)))


def _label(name: str) -> str:
    return f"  {METRICS[name].title} ({name})"


def _of(report: ReportSummary, metric: str) -> Score | None:
    return next((score for score in report.scores if score.metric == metric), None)


def _metrics(summary: Summary) -> list[str]:
    seen = {score.metric for report in summary.reports for score in report.scores}
    return [name for name in METRICS if name in seen]


def _cell(score: Score | None, *, stacked: bool = False) -> Text:
    if score is None:
        return Text("not reached", style="dim")
    if score.status is Status.NOT_APPLICABLE:
        return Text("n/a", style="dim")
    if score.score is None:
        return Text("failed", style="red")
    text = Text(f"{score.score:.1f}", style="bold" if score.ranked else "")
    if score.interval is not None:
        text.append(f" [{score.interval.low:.0f}–{score.interval.high:.0f}]", style="not bold")
    if score.coverage is not None:
        gap = "\n" if stacked else " "
        text.append(f"{gap}{score.coverage.decided}/{score.coverage.checked}", style="not bold dim")
    if not score.ranked:
        text.append(" thin", style="yellow")
    return text


def _units(report: ReportSummary) -> Text:
    text = Text(f"{report.scored}/{report.expected - report.not_applicable}")
    if report.not_applicable:
        text.append(f" (+{report.not_applicable} n/a)", style="dim")
    if report.below_floor:
        text.append(" below floor", style="red")
    return text


def _notes(summary: Summary) -> list[str]:
    lines = ["[low–high]: 95 % interval, or the range of the parts; a/b: items decided of items checked."]
    if any(not s.ranked and s.score is not None for r in summary.reports for s in r.scores):
        lines.append("thin: fewer than 5 items decided, or under half of them; do not compare it.")
    places: dict[str, list[str]] = {}
    for report in summary.reports:
        for score in report.scores:
            for said in _said(score):
                places.setdefault(said, []).append(f"{report.name} {score.metric}")
    return lines + [one_line(f"{', '.join(where)}: {said}", limit=300) for said, where in places.items()]


def _said(score: Score) -> list[str]:
    """What must be known of a cell, in words."""
    if score.status is Status.FAILED:
        return [f"failed: {score.reason}"]
    if score.status is Status.NOT_APPLICABLE:
        return [f"not applicable: {WORDS.get(score.reason, score.reason)}"]
    return [WORDS.get(flag, flag) for flag in score.flags if flag not in QUIET_FLAGS]


def _agreement(summary: Summary) -> list[str]:
    lines: list[str] = []
    for name in summary.judges:
        judge, local = one_line(name), name.startswith("local")
        known = [a for a in summary.agreement if a.judge == name or (local and a.judge.startswith("local"))]
        if known:
            lines += [f"Measured agreement of {judge} with people:", *(f"  {a.line()}" for a in known)]
        elif local:
            weak = f"The embedded judge ({judge}) is weak, and nobody has measured here how well it agrees with people:"
            lines += [weak, "do not rely on its scores."]
        else:
            lines.append(f"Nobody has measured here how well {judge} agrees with people.")
    return lines


def _findings(console: Console, report: ReportSummary) -> None:
    if not report.worst:
        return
    console.print()
    console.print(Text(f"{one_line(report.name)}: worst findings", style="bold"))
    for kind in dict.fromkeys(found.kind for found in report.worst):
        found = [worst for worst in report.worst if worst.kind == kind]
        for worst in found[:SHOWN]:
            _finding(console, worst)
        if len(found) > SHOWN:
            console.print(Text(f"    … and {len(found) - SHOWN} more of this kind (dream show has all)", style="dim"))


def _finding(console: Console, worst: Worst) -> None:
    line = Text("  • ")
    line.append(worst.kind, style="red")
    if worst.note:
        line.append(f" ({one_line(worst.note, limit=160)})")
    line.append(f": {one_line(worst.text, limit=220)}")
    console.print(line)
    if worst.quote:
        console.print(Text(f"    “{one_line(worst.quote, limit=220)}”", style="dim"))
    if worst.url:
        console.print(Text(f"    {one_line(worst.url)}", style="dim"), soft_wrap=True)
