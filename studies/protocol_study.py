"""Protocols made in three ways: by a model alone, by an agent without retrieval, by an agent with retrieval.

What code sees of each (lints, evidence, dates) stands beside what people say of them (``dream protocol rate``).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..agents import create_protocol
from ..core import Json, Task
from ..errors import AgentFailed, CallFailed, ProtocolFailed
from ..ledger import digest, scope
from ..protocols import lint, save_protocol
from ..protocols.diff import all_questions
from ..protocols.schema import Mode, Protocol
from ..runs.estimate import Load, protocol_load
from . import known
from .alone import protocol_without_retrieval
from .harness import Bench, Estimate, Setup, priced
from .ratings import MARKS, Line, agreed
from .sheet import Sheet, Table, save

QUESTION = "Does an agent that looks things up make a better protocol than one that does not, or than a model alone?"
WAYS = ("static", "alone", "retrieval")
TITLES = {"static": "model alone", "alone": "agent, no retrieval", "retrieval": "agent, retrieval"}


@dataclass(frozen=True)
class Made:
    """What came of one way: a protocol, or why there is none."""

    way: str
    protocol: Protocol | None
    reason: str = ""


def plan(setup: Setup, ways: Sequence[str]) -> Estimate:
    """What it will take."""
    sizes = {"questions": setup.questions, "reasoning": setup.reasoning}
    loads = {
        "static": protocol_load(Mode.STATIC, **sizes),
        "alone": protocol_load(Mode.STATIC, **sizes).times(3),
        "retrieval": protocol_load(setup.mode, **sizes),
    }
    return priced(setup, sum((loads[way] for way in ways), Load()), len(ways))


async def run(bench: Bench, task: Task, ways: Sequence[str], ratings: Sequence[Line], out: Path) -> Sheet:
    """Make the protocols, write them to ``out``/data, and the outcome to ``out``."""
    made = [await _told(bench, task, way, f"{number} of {len(ways)}") for number, way in enumerate(ways, 1)]
    for one in made:
        if one.protocol is not None:
            save_protocol(one.protocol, out / "data" / f"{one.way}.json")
    sheet = sheet_of(bench, made, ratings, out)
    units: list[Json] = [
        {
            "name": one.way,
            "reason": one.reason,
            "protocol": one.protocol.model_dump(mode="json") if one.protocol else None,
        }
        for one in made
    ]
    save(sheet, units, out)
    return sheet


async def _told(bench: Bench, task: Task, way: str, place: str) -> Made:
    """One way, with a line when it is over: each takes minutes with a weak judge."""
    one = await _make(bench, task, way)
    outcome = f"no protocol ({one.reason})"
    if one.protocol is not None:
        outcome = f"{len(one.protocol.key_questions)} yes/no, {len(one.protocol.reasoning_questions)} open questions"
    bench.say(f"{place}: {TITLES[way]}: {outcome}")
    return one


async def _make(bench: Bench, task: Task, way: str) -> Made:
    sizes = {"questions": bench.setup.questions, "reasoning": bench.setup.reasoning}
    try:
        if way == "retrieval":
            return Made(way, await bench.protocol(task))
        with scope(f"{task.id}/protocol/{way}"):
            if way == "static":
                toolbox = await bench.toolbox()
                made = await create_protocol(task, bench.judge, toolbox, as_of=bench.as_of, mode=Mode.STATIC, **sizes)
            else:
                made = await protocol_without_retrieval(
                    task, bench.judge, as_of=bench.as_of, mode=bench.setup.mode, **sizes
                )
            return Made(way, made)
    except (ProtocolFailed, AgentFailed, CallFailed) as error:
        return Made(way, None, str(error))


# --- what it says ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What code sees of a protocol."""

    keys: int
    reasons: int
    provenance: float
    """Share of all questions that rest on evidence, 0–100."""
    newest: dt.date | None
    """Date of the newest evidence."""
    timely: int
    """Key questions that time can change."""
    lints: Counter[str]
    """Lint rules with how often each applies."""


def seen(protocol: Protocol) -> Seen:
    """Look at a protocol without a model."""
    items = all_questions(protocol)
    dates = [source.published for item in items for source in item.provenance if source.published]
    return Seen(
        keys=len(protocol.key_questions),
        reasons=len(protocol.reasoning_questions),
        provenance=100 * sum(bool(item.provenance) for item in items) / len(items) if items else 0.0,
        newest=max(dates, default=None),
        timely=sum(question.time_sensitive for question in protocol.key_questions),
        lints=_lints(protocol),
    )


def _lints(protocol: Protocol) -> Counter[str]:
    """Static protocols are spared ``no_provenance`` elsewhere; here all ways are held to it."""
    found = Counter(problem.rule for problem in lint(protocol))
    found["no_provenance"] = sum(not question.provenance for question in protocol.key_questions)
    return +found


def sheet_of(bench: Bench, made: Sequence[Made], ratings: Sequence[Line], out: Path) -> Sheet:
    """The outcome as tables and sentences."""
    good = {one.way: one.protocol for one in made if one.protocol is not None}
    findings = [f"{TITLES[one.way]}: no protocol ({one.reason})" for one in made if one.protocol is None]
    findings += [_lint_line(way, seen(protocol)) for way, protocol in good.items()]
    findings.append(_rated(good, ratings, out))
    return Sheet(
        study="protocols",
        question=QUESTION,
        data=digest({one.way: one.protocol.digest if one.protocol else one.reason for one in made}),
        setup=bench.setup.described(),
        endpoint=bench.judge.endpoint,
        tables=(_looks(good), *_marks(good, ratings)),
        findings=tuple(findings),
        known=(known.known(known.PROTOCOLS, _means(good, ratings)),),
        differences=(
            "an agent without retrieval drafts and repairs what code finds wrong; the paper's is not described",
            "number of raters, of protocols and the scale of the paper are not known",
        ),
        totals=bench.totals,
    )


def _looks(good: Mapping[str, Protocol]) -> Table:
    rows = []
    for way, protocol in good.items():
        view = seen(protocol)
        newest = None if view.newest is None else str(view.newest)
        rows.append(
            (TITLES[way], view.keys, view.reasons, view.timely, f"{view.provenance:.0f} %", newest, view.lints.total())
        )
    return Table(
        title="What code sees",
        header=("made by", "yes/no", "open", "timely", "with evidence", "newest", "lints"),
        rows=tuple(rows),
    )


def _lint_line(way: str, view: Seen) -> str:
    rules = ", ".join(f"{rule} {count}" for rule, count in view.lints.most_common()) or "nothing found"
    return f"Lints, {TITLES[way]}: {rules}."


def _marks(good: Mapping[str, Protocol], ratings: Sequence[Line]) -> tuple[Table, ...]:
    rows: list[tuple[str | float | int | None, ...]] = []
    for way, protocol in good.items():
        parts = agreed(ratings, protocol)
        if any(part.items for part in parts.values()):
            raters = max(part.raters for part in parts.values())
            cells: list[str | None] = []
            for mark in MARKS:
                part = parts[mark]
                alpha = "" if part.alpha is None else f" (α {part.alpha:.2f})"
                cells.append(None if part.mean is None else f"{part.mean:.2f}{alpha}")
            rows.append((TITLES[way], raters, *cells))
    return (
        (Table(title="What people say, 1 to 5", header=("made by", "raters", *MARKS), rows=tuple(rows)),)
        if rows
        else ()
    )


def _rated(good: Mapping[str, Protocol], ratings: Sequence[Line], out: Path) -> str:
    digests = {protocol.digest for protocol in good.values()}
    if any(line.protocol in digests for line in ratings):
        return "Alpha is Krippendorff's, ordinal, over raters; none with one rater or equal ratings."
    return f"Nobody has rated them yet: dream protocol rate {out}/data/*.json --out {out}/ratings.jsonl"


def _means(good: Mapping[str, Protocol], ratings: Sequence[Line]) -> str:
    found = []
    for way, protocol in good.items():
        values = [part.mean for part in agreed(ratings, protocol).values() if part.mean is not None]
        if values:
            found.append(f"{TITLES[way]} {sum(values) / len(values):.2f}")
    return ", ".join(found) or "not rated yet"
