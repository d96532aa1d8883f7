"""What ``dream show`` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..core import Outcome, Status
from ..evaluators.results import Evidence, Item
from ..protocols.catalogue import METRICS
from ..runs.export_tables import deciding
from ..runs.listing import Listed, is_good, listing
from ..runs.reading import RunView, open_run
from .evaluating import make_console
from .printing import prose, say
from .text import one_line

MOST = 5
"""Items of a metric that are shown without ``--all``."""
STYLES = {
    Outcome.CONTRADICTED: "red",
    Outcome.NO: "red",
    Outcome.CONFLICTING: "yellow",
    Outcome.UNDECIDED: "yellow",
    Outcome.NOT_CHECKED: "yellow",
    Outcome.PARTLY: "yellow",
    Outcome.SUPPORTED: "green",
    Outcome.YES: "green",
}


def show_run(run: str, *, report: str | None, metrics: Sequence[str], everything: bool) -> int:
    """Print the items of a run with their evidence, worst first. Raises UserError."""
    console, view = make_console(), open_run(run)
    name = None
    for listed in listing(view, report=report, metrics=metrics):
        if listed.name != name:
            if name is not None:
                console.print()
            name = listed.name
            _report(console, view, listed)
        console.print()
        _unit(console, view, listed, everything=everything)
    if name is None:
        say(console, "nothing has ended yet")
    return 0


def _report(console: Console, view: RunView, listed: Listed) -> None:
    console.print(Text(f"{one_line(listed.name)}", style="bold underline"), soft_wrap=True)
    prose(console, one_line(view.task(listed.line.task).prompt, limit=400))


def _unit(console: Console, view: RunView, listed: Listed, *, everything: bool) -> None:
    console.print(_headline(view, listed), soft_wrap=True)
    if listed.line.result.score is None:
        prose(console, listed.line.result.reason, indent=2)
    shown = [item for item in listed.items if everything or not is_good(item)]
    shown = shown if everything else shown[:MOST]
    for item in shown:
        _item(console, item, everything=everything)
    left = len(listed.items) - len(shown)
    if left:
        say(console, f"  and {left} more, with --all", style="dim")


def _headline(view: RunView, listed: Listed) -> Text:
    line, result = listed.line, listed.line.result
    title = METRICS[line.metric].title if line.metric in METRICS else line.metric
    text = Text(f"{title} ({line.metric}) ", style="bold")
    if result.score is None:
        text.append("not applicable" if result.status is Status.NOT_APPLICABLE else "failed", style="red")
    else:
        text.append(f"{result.score:.1f}")
    if result.interval is not None:
        text.append(f" [{result.interval.low:.0f}–{result.interval.high:.0f}]", style="not bold")
    if result.coverage is not None:
        decided = f" {result.coverage.decided} of {result.coverage.checked} decided"
        text.append(decided, style="not bold dim")
    more = [line.judge] if len(view.config.judges) > 1 else []
    more += [f"repeat {line.repeat + 1}"] if view.config.repeats > 1 else []
    if more:
        text.append(one_line(f" · {' · '.join(more)}"), style="not bold dim")
    return text


def _item(console: Console, item: Item, *, everything: bool) -> None:
    _bullet(console, _word(item), STYLES.get(item.outcome, "") if item.outcome else "", one_line(item.text))
    if item.reason:
        prose(console, one_line(item.reason, limit=None if everything else 300), indent=4)
    flaws = item.detail.get("flaws")
    for flaw in flaws if isinstance(flaws, list) else []:
        if isinstance(flaw, dict):
            parts = [str(flaw.get(name) or "") for name in ("name", "note")]
            prose(console, one_line(f"– {': '.join(part for part in parts if part)}"), indent=4)
            if flaw.get("where"):
                prose(console, f"“{one_line(str(flaw['where']))}”", indent=6)
    for evidence in _shown_evidence(item, everything=everything):
        _evidence(console, evidence, everything=everything)


def _shown_evidence(item: Item, *, everything: bool) -> list[Evidence]:
    """All, or the piece that decides; where nothing was found, what the protocol knows of the fact."""
    if item.evidence and everything:
        return list(item.evidence)
    found, (quote, url) = deciding(item), (item.detail.get(name) for name in ("quote", "url"))
    if found is None and isinstance(quote, str) and isinstance(url, str):
        found = Evidence(quote=quote, url=url)
    return [found] if found else []


def _bullet(console: Console, word: str, style: str, text: str) -> None:
    line = Text.assemble("• ", (f"{word}: " if word else "", style), text)
    if console.is_terminal:
        console.print(Padding(line, (0, 0, 0, 2)))
    else:
        console.print(Text.assemble("  ", line), soft_wrap=True)


def _word(item: Item) -> str:
    """What was found out about an item, with its flags."""
    word = item.outcome.value.replace("_", " ") if item.outcome else ""
    if item.value is not None and not word:
        word = f"{item.value:g}"
    flags = ", ".join(flag.replace("_", " ") for flag in item.flags)
    return f"{word} ({flags})".strip() if flags else word


def _evidence(console: Console, evidence: Evidence, *, everything: bool) -> None:
    prose(console, f"“{one_line(evidence.quote, limit=None if everything else 300)}”", indent=4)
    place = evidence.url or "the report itself"
    about = [str(evidence.published)] if evidence.published else []
    about += [evidence.stance] if evidence.stance and everything else []
    said = f" ({', '.join(about)})" if about else ""
    say(console, f"    {place}{said}", style="dim")
