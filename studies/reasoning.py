"""Reasoning quality of sound reports and of flawed twins made of them (the paper's controlled study of reasoning).

Code breaks a report's reasoning and leaves its facts, its length and its form nearly as they are:

``unsupported``  citations go, and conclusions that nothing carries are added in their place;
``circular``     a conclusion is given as the reason of its own reason;
``selective``    what limits or contradicts a conclusion is cut, and the rest is called unanimous.

Both twins are files that a person can compare. Nothing is asked of a model to make them.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import Task
from ..errors import UserError
from ..ledger import digest
from ..protocols.schema import Protocol
from ..reports import Report, SegmentKind, read_report
from ..runs.files import slug, write_atomic
from ..stats import mean, score_range
from ..stats.paired import paired_difference
from . import known
from .harness import Bench, Cell, Estimate, Measured, Setup, estimate, needs, scores_of
from .sheet import Sheet, Table, interval, save

QUESTION = "Does the score fall when a report's reasoning is broken and its facts are left alone?"
PLACES = 3
"""Places that are broken in a report, at most."""

_REASON = re.compile(r"^(?P<conclusion>[^,]+(?:, [^,]+)*?),? because (?P<reason>.+)\.$", re.DOTALL)
_LIMIT = re.compile(
    r"\b(?:however|although|though|nevertheless|nonetheless|still|yet|uncertain|unknown|may|might|limit\w*|except"
    r"|despite|drafts?|estimates?)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(r"(?:it|they|this|these|that|he|she)\b", re.IGNORECASE)
_CITATION = re.compile(r"\s*(?:\[\^?\d+(?:\s*[,-]\s*\d+)*\](?!\()|\[([^\]]+)\]\([^)]+\))")
_BOLD = (
    "It follows that no other course can be justified.",
    "This alone settles the question for every case.",
    "There can be no doubt that this will hold everywhere.",
    "Nothing more needs to be known to decide it.",
)
_UNANIMOUS = (
    "All evidence points in this one direction.",
    "No source says anything to the contrary.",
    "The findings are unanimous on this point.",
)


@dataclass(frozen=True)
class Pair:
    """A sound report and its flawed twin."""

    name: str
    """Of the sound report, unique in the study."""
    flaw: str
    task: Task
    sound: Report
    flawed: Report
    changes: tuple[str, ...]
    """What was done, place by place."""

    @property
    def id(self) -> str:
        """Name of the flawed report, unique in the study."""
        return f"{self.name}-{self.flaw}"

    @property
    def twins(self) -> tuple[tuple[str, Report], tuple[str, Report]]:
        """Both reports with their names."""
        return (self.name, self.sound), (self.id, self.flawed)


def unsupported(report: Report, rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """The text without citations in some sentences, each followed by a conclusion that nothing carries."""
    prose = _prose(report)
    places = _pick([s for s in prose if _CITATION.search(_raw(report, s))] or prose, rng)
    words = rng.sample(_BOLD, len(_BOLD))
    edits = {}
    for number, place in enumerate(places):
        bare = _CITATION.sub(lambda found: f" {found[1]}" if found[1] else "", _raw(report, place)).strip()
        edits[place] = f"{bare} {words[number % len(words)]}"
    return _edited(report, edits)


def circular(report: Report, rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """The text with sentences behind some others that give the conclusion as the reason of its own reason."""
    found = {s: match for s in _prose(report) if (match := _REASON.match(_bare(report, s)))}
    arguments = [s for s, match in found.items() if not _POINTING.match(match["reason"])]
    edits = {}
    for place in _pick(arguments, rng):
        conclusion, reason = found[place]["conclusion"], found[place]["reason"]
        there, back = (
            f"{_upper(conclusion)}, because {_lower(reason)}.",
            f"{_upper(reason)}, because {_lower(conclusion)}.",
        )
        edits[place] = f"{there} {back}"
    if not edits:
        edits = {place: _argued(report, place) for place in _pick(_prose(report), rng)}
    return _edited(report, edits)


def selective(report: Report, rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """The text without all sentences that limit or contradict, some of the others called unanimous."""
    limiting = [s for s in _prose(report) if _LIMIT.search(_bare(report, s))]
    if not limiting:
        return report.text, ()
    edits = dict.fromkeys(limiting, "")
    words = rng.sample(_UNANIMOUS, len(_UNANIMOUS))
    kept = _pick([s for s in _prose(report) if s not in edits], rng)
    edits |= {place: f"{_raw(report, place)} {words[n % len(words)]}" for n, place in enumerate(kept)}
    return _edited(report, edits)


FLAWS: dict[str, Callable[[Report, random.Random], tuple[str, tuple[str, ...]]]] = {
    "unsupported": unsupported,
    "circular": circular,
    "selective": selective,
}
"""Flaw to what makes it."""


def pairs_of(cases: Sequence[tuple[Task, Report]], flaws: Sequence[str], *, seed: int) -> list[Pair]:
    """A pair for each report and flaw; a flaw that finds no place in a report gives none. Raises UserError."""
    unknown = [flaw for flaw in flaws if flaw not in FLAWS]
    if unknown:
        raise UserError(f"there is no flaw {unknown[0]!r}: choose among {', '.join(FLAWS)}")
    found = []
    times = Counter(slug(report.id) for _, report in cases)
    for task, report in cases:
        name = slug(report.id) if times[slug(report.id)] == 1 else f"{slug(report.id)}-{slug(task.id)}"
        for flaw in flaws:
            text, changes = FLAWS[flaw](report, random.Random(f"{seed}/{report.digest}/{flaw}"))
            if not changes:
                continue
            flawed = read_report(text, id=f"{name}-{flaw}", task_id=report.task_id, prompt=report.prompt, clean=False)
            found.append(Pair(name, flaw, task, report, flawed, changes))
    if not found:
        raise UserError("no report has a place for any of these flaws: give others")
    return found


def _prose(report: Report) -> list[int]:
    """Numbers of the sentences of paragraphs."""
    return [s.number for s in report.sentences if report.segments[s.segment].kind is SegmentKind.PARAGRAPH]


def _raw(report: Report, number: int) -> str:
    span = report.sentences[number - 1].span
    return report.text[span.start : span.end]


def _bare(report: Report, number: int) -> str:
    return report.sentences[number - 1].text.strip()


def _pick(places: Sequence[int], rng: random.Random) -> list[int]:
    return sorted(rng.sample(list(places), min(PLACES, len(places))))


def _argued(report: Report, place: int) -> str:
    """A sentence as its own reason, for a report that gives no reasons."""
    bare = _bare(report, place).rstrip(".")
    return f"{bare}, because nothing else is possible. Nothing else is possible, because {_lower(bare)}."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    """A clause inside of a sentence; names keep their capitals."""
    word = text.split(" ", 1)[0]
    return text if sum(map(str.isupper, word)) > 1 or any(map(str.isdigit, word)) else text[:1].lower() + text[1:]


def _edited(report: Report, edits: Mapping[int, str]) -> tuple[str, tuple[str, ...]]:
    """The report's text with sentences replaced, and what was done."""
    text, done = report.text, []
    for number in sorted(edits, reverse=True):
        span = report.sentences[number - 1].span
        text = text[: span.start] + edits[number] + text[span.end :]
        done.append(f"sentence {number}: {edits[number] or 'cut'}")
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"(?<=\S)  +(?=\S)", " ", text)), tuple(reversed(done))


# --- doing it --------------------------------------------------------------------------------------------------------


def write_data(pairs: Sequence[Pair], out: Path) -> str:
    """Write both twins of every pair and what was done to them; the digest of the data set."""
    rows = []
    for pair in pairs:
        for name, report in pair.twins:
            write_atomic(out / "data" / f"{name}.md", report.text)
        rows.append(
            {
                "id": pair.id,
                "flaw": pair.flaw,
                "task": pair.task.prompt,
                "sound": pair.sound.digest,
                "flawed": pair.flawed.digest,
                "changes": list(pair.changes),
            }
        )
    write_atomic(out / "data" / "pairs.json", json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
    return digest(json.loads(json.dumps(rows)))


def plan(setup: Setup, pairs: Sequence[Pair], metrics: Sequence[str], *, protocols: int) -> Estimate:
    """What it will take."""
    reports = {report.digest: report for pair in pairs for report in (pair.sound, pair.flawed)}
    return estimate(setup, [(report, metrics) for report in reports.values()], protocols=protocols)


async def run(
    bench: Bench,
    pairs: Sequence[Pair],
    metrics: Sequence[str],
    out: Path,
    *,
    protocols: Mapping[str, Protocol],
    reference: Report | None = None,
    seed: int = 0,
) -> Sheet:
    """Measure both twins of all pairs and write the outcome to ``out``. ``protocols``: by prompt; others are made."""
    stamp = write_data(pairs, out)
    made = dict(protocols)
    if needs(metrics, "protocol."):
        for task in {pair.task.prompt: pair.task for pair in pairs}.values():
            if task.prompt not in made:
                made[task.prompt] = await bench.protocol(task)

    async def cell(name: str, pair: Pair, report: Report, metric: str) -> Cell:
        protocol = made.get(pair.task.prompt)
        case = await bench.case(metric, pair.task, report, protocol=protocol, reference=reference)
        return Cell(f"{name}/{metric}", metric, case)

    reports = {name: (pair, report) for pair in pairs for name, report in pair.twins}
    wanted = [(name, pair, report, metric) for name, (pair, report) in reports.items() for metric in metrics]
    measured = await bench.measure(await bench.each(cell(*one) for one in wanted))
    sheet = sheet_of(bench, pairs, metrics, measured, stamp, seed=seed)
    save(sheet, scores_of(measured), out)
    return sheet


def sheet_of(
    bench: Bench,
    pairs: Sequence[Pair],
    metrics: Sequence[str],
    measured: Mapping[str, Measured],
    stamp: str,
    *,
    seed: int,
) -> Sheet:
    """The outcome as tables and sentences."""
    rows: list[tuple[str | float | int | None, ...]] = []
    findings, figures, useless = [], [], None
    for metric in metrics:
        both = [(pair, _scores(pair, metric, measured)) for pair in pairs]
        rows += [(metric, pair.name, pair.flaw, a, b, _gap(a, b)) for pair, (a, b) in both]
        scored = [(a, b) for _, (a, b) in both if a is not None and b is not None]
        failed = [one.result.reason for one in measured.values() if one.cell.metric == metric and one.score is None]
        sentence, blind = compared(metric, scored, of=len(pairs), seed=seed, reasons=failed)
        findings.append(sentence)
        useless = blind if metric == "rq" else useless
        if metric in KNOWN:
            figures.append(known.known(KNOWN[metric], _change(scored)))
    return Sheet(
        study="reasoning",
        question=QUESTION,
        data=stamp,
        setup=bench.setup.described(),
        endpoint=bench.judge.endpoint,
        versions={one.cell.metric: one.result.version for one in measured.values()},
        tables=(
            Table(title="Pairs", header=("metric", "report", "flaw", "sound", "flawed", "change"), rows=tuple(rows)),
        ),
        findings=tuple(findings),
        known=tuple(figures),
        differences=DIFFERENCES,
        totals=bench.totals,
        useless=useless,
    )


def _scores(pair: Pair, metric: str, measured: Mapping[str, Measured]) -> tuple[float | None, float | None]:
    return measured[f"{pair.name}/{metric}"].score, measured[f"{pair.id}/{metric}"].score


def _gap(sound: float | None, flawed: float | None) -> float | None:
    return None if sound is None or flawed is None else flawed - sound


def compared(
    metric: str, scored: Sequence[tuple[float, float]], *, of: int, seed: int, reasons: Sequence[str] = ()
) -> tuple[str, bool | None]:
    """The pairs in a sentence, and whether the metric is blind to the flaws (None: too few pairs to say).

    ``reasons``: of the units without a score.
    """
    name = metric.upper()
    if not scored:
        why = f" ({Counter(reasons).most_common(1)[0][0]})" if reasons else ""
        return f"{name}: no pair has two scores{why}: nothing can be said.", None
    gaps = [flawed - sound for sound, flawed in scored]
    lower = sum(gap < 0 for gap in gaps)
    head = f"{name}: {_change(scored)}; lower in {lower} of {len(gaps)} pairs"
    head += f" ({of - len(gaps)} without two scores)" if len(gaps) < of else ""
    test = paired_difference([a for a, _ in scored], [b for _, b in scored], seed=seed)
    if test is None:
        spread = score_range(gaps)
        flat = max(map(abs, gaps)) < 1e-9
        tail = " This judge gives both twins the same score: useless here." if flat else ""
        return f"{head}; {interval(spread, '+')}; too few pairs for a test.{tail}", True if flat else None
    blind = test.high >= 0
    tail = "The interval contains 0: this judge does not see the flaws." if blind else "It falls by more than noise."
    words = f"mean change {test.mean:+.1f} [{test.low:+.1f}, {test.high:+.1f}], p = {test.p:.3f} ({test.test})"
    return f"{head}; {words}. {tail}", blind


def _change(scored: Sequence[tuple[float, float]]) -> str:
    if not scored:
        return "no scores"
    sound, flawed = mean([a for a, _ in scored]), mean([b for _, b in scored])
    share = f" ({100 * (flawed - sound) / sound:+.0f} %)" if sound else ""
    return f"{sound:.1f} to {flawed:.1f}{share}"


KNOWN = {"rq": known.REASONING_RQ, "race": known.REASONING_RACE}
DIFFERENCES = (
    "flaws are put in by code, the paper's reports were flawed on purpose in a way that is not described",
    "several flaws of one report are pairs here; the paper has ten reports on ten queries",
    "RACE is against another report on the query; the paper's reference is not known",
)
