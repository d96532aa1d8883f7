"""Factuality and citation checks against the share of false claims (the paper's controlled study of factual errors).

Claims go straight into the evaluators, past extraction: the claim list is built by code. Each claim has a true and a
false form (:mod:`.twins`), and each form cites a page that says it, so that a look at citations alone finds nothing. At
rate ``r`` a share ``r`` of the claims is false. A perfect judge of facts gives ``100 · (1 - r)``; a judge of citations
stays flat.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import Frozen, Interval, Outcome, Task
from ..errors import UserError
from ..evaluators import Case, MetricResult
from ..evaluators.claims import speaks_of_now
from ..ledger import digest
from ..reports import Report, read_report, sources_of
from ..reports.data import Claim, ClaimList
from ..runs.faults import demo_folder
from ..runs.files import write_atomic
from ..stats import bootstrap, mean
from . import known
from .harness import Bench, Cell, Estimate, Measured, Setup, estimate, scores_of
from .sheet import Sheet, Table, interval, save
from .twins import Twin, TwinSet, load_twins, twins_of

VALUES = {Outcome.SUPPORTED: 100.0, Outcome.PARTLY: 50.0, Outcome.CONTRADICTED: 0.0}
"""What a decided claim is worth in Factuality; items of other metrics carry their value themselves."""
QUESTION = "Does the score fall with the share of false claims, although every claim agrees with the page it cites?"


@dataclass(frozen=True)
class Batch:
    """All claims at one rate."""

    rate: float
    false: frozenset[str]
    """Ids of the claims that are false in it."""
    report: Report
    claims: ClaimList
    ids: Mapping[str, str]
    """Claim's text to its id in the data set."""

    @property
    def name(self) -> str:
        """For units and people."""
        return f"r={self.rate:g}"


def demo_twins(*, seed: int) -> TwinSet:
    """The data set over the demo's key facts."""
    folder = demo_folder()
    task = Task.model_validate_json((folder / "task.jsonl").read_text(encoding="utf-8").splitlines()[0])
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))["key_facts"]
    return twins_of(facts, task, seed=seed)


def data_set(path: Path | None, task: Task | None, *, seed: int, limit: int | None) -> TwinSet:
    """The data set asked for, at most ``limit`` claims of it. Raises InputError, UserError."""
    found = demo_twins(seed=seed) if path is None else load_twins(path, task, seed=seed)
    cut = found.model_copy(update={"twins": found.twins[:limit]})
    if len(cut.twins) < 2:
        raise UserError("the data set has fewer than two claims: nothing can be mixed")
    return cut


def read_rates(text: str) -> tuple[float, ...]:
    """``0,0.5,1`` as numbers. Raises UserError."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UserError(f"--rates {text!r}: write shares between 0 and 1, such as 0,0.5,1") from None


def batches(data: TwinSet, rates: Sequence[float]) -> list[Batch]:
    """One batch a rate. A claim that is false at a rate is false at every higher one, so that little is asked twice."""
    order = [twin.id for twin in data.twins]
    random.Random(data.seed).shuffle(order)
    found = []
    for rate in sorted(set(rates)):
        if not 0 <= rate <= 1:
            raise UserError(f"a rate is a share between 0 and 1, not {rate:g}")
        found.append(_batch(data, rate, frozenset(order[: round(rate * len(order))])))
    return found


def _batch(data: TwinSet, rate: float, false: frozenset[str]) -> Batch:
    lines = [(twin.false if twin.id in false else twin.true, page_of(twin, twin.id in false)) for twin in data.twins]
    body = "\n\n".join(f"{claim.rstrip('.')} [{n}]." for n, (claim, _) in enumerate(lines, 1))
    listed = "\n".join(f"[{n}] {url}" for n, (_, url) in enumerate(lines, 1))
    text = f"# Claims\n\n{body}\n\n## References\n\n{listed}\n"
    report = read_report(text, id=f"claims-{rate:g}", clean=False)
    texts = [claim for claim, _ in lines]
    ids = {claim: twin.id for claim, twin in zip(texts, data.twins, strict=True)}
    return Batch(rate, false, report, claim_list(texts, report), ids)


def page_of(twin: Twin, false: bool) -> str:
    """The page that one form of a claim cites."""
    given = twin.false_url if false else twin.true_url
    slug = hashlib.sha256((twin.false if false else twin.true).encode()).hexdigest()[:12]
    return given or f"https://www.dream-corruption-study.net/{'notes' if false else 'facts'}/{slug}"


def claim_list(texts: Sequence[str], report: Report) -> ClaimList:
    """The claims as a frozen list, one a sentence of the report, made by code and not by a judge."""
    places = {sentence.number: sentence.text for sentence in report.sentences}
    claims = []
    for number, text in enumerate(texts, 1):
        sentence = next(place for place, shown in places.items() if shown.startswith(text.rstrip(".")))
        claims.append(
            Claim(
                id=f"c{number}",
                text=text,
                sentences=(sentence,),
                check_worthy=True,
                importance=3,
                time_dependent=speaks_of_now(text),
                sources=sources_of(report, (sentence,)),
                digest=hashlib.sha256(text.encode()).hexdigest(),
            )
        )
    whole = digest([claim.digest for claim in claims])
    return ClaimList(report=report.digest, maker="by code", version=1, claims=tuple(claims), digest=whole)


def write_data(data: TwinSet, out: Path) -> Path:
    """Write the data set: the claims, and a page for each form that cites none (a corpus that only citations lead to).

    Returns the file of pages.
    """
    write_atomic(out / "data" / "claims.json", data.model_dump_json(indent=2) + "\n")
    pages = [
        {
            "url": page_of(twin, false),
            "title": f"Notes on {twin.id}",
            "published": data.task.as_of.replace(day=1).isoformat() if data.task.as_of else None,
            "text": f"{twin.false if false else twin.true}\n\nThis note was written for a test of judges.",
        }
        for twin in data.twins
        for false in (False, True)
        if (twin.false_url if false else twin.true_url) is None
    ]
    path = out / "data" / "cited-pages.jsonl"
    write_atomic(path, "".join(json.dumps(page, ensure_ascii=False) + "\n" for page in pages))
    return path


# --- doing it --------------------------------------------------------------------------------------------------------


def plan(setup: Setup, found: Sequence[Batch], metrics: Sequence[str]) -> Estimate:
    """What it will take: forms that several rates share are asked about once."""
    both = [batch.report for batch in found if batch.rate in (0.0, 1.0)] or [batch.report for batch in found]
    expected = estimate(setup, [(report, metrics) for report in both], claims=len(found[0].claims.claims))
    return Estimate(expected.load, expected.seconds, expected.usd, len(found) * len(metrics))


async def run(bench: Bench, data: TwinSet, found: Sequence[Batch], metrics: Sequence[str], out: Path) -> Sheet:
    """Measure all batches and write the outcome to ``out``."""
    pages = write_data(data, out)
    cited = (f"corpus:{pages}",) if pages.stat().st_size else ()
    cells = [_cell(bench, data.task, batch, metric, cited) for batch in found for metric in metrics]
    measured = await bench.measure(cells)
    sheet = sheet_of(bench, data, found, metrics, measured)
    save(sheet, scores_of(measured), out)
    return sheet


def _cell(bench: Bench, task: Task, batch: Batch, metric: str, cited: tuple[str, ...]) -> Cell:
    """Pages that were written for the study are read where a citation leads to them; a search never finds them."""
    case = Case(task=task, report=batch.report, as_of=bench.as_of, claims=batch.claims)
    search = () if metric == "factuality" else (*bench.setup.search, *cited)
    return Cell(f"{batch.name}/{metric}", metric, case, search)


def values_of(batch: Batch, result: MetricResult) -> dict[str, float]:
    """What each claim is worth in a batch, by its id in the data set; undecided ones are left out."""
    found: dict[str, list[float]] = {}
    for item in result.items:
        id = batch.ids.get(item.text) or next((i for text, i in batch.ids.items() if _same(text, item.text)), None)
        value = item.value if item.value is not None else VALUES.get(item.outcome) if item.outcome else None
        if id is not None and value is not None:
            found.setdefault(id, []).append(value)
    return {id: mean(values) for id, values in found.items()}


def _same(claim: str, said: str) -> bool:
    return said.startswith(claim.rstrip("."))


# --- what it says ----------------------------------------------------------------------------------------------------


class Line(Frozen):
    """The line of one metric through its scores."""

    slope: float | None
    """Points from no false claims to all; a perfect judge of facts: -100."""
    interval: Interval | None
    """Bootstrap over claims, both forms of a claim together."""
    gap: float | None
    """Mean distance from ``100 · (1 - r)``, in points."""

    @property
    def useless(self) -> bool:
        """Nothing shows that the score falls: no slope, or its interval holds zero or more."""
        return self.interval is None or self.interval.high >= 0


def line_of(found: Sequence[Batch], values: Sequence[Mapping[str, float]], *, seed: int) -> Line:
    """Least squares through (share of false claims, mean value), and its interval. Fewer than two rates with a value:
    no slope."""
    ids = sorted({id for batch in found for id in batch.ids.values()})

    def slope(drawn: Sequence[str]) -> float | None:
        times = Counter(drawn)
        points = [
            point for batch, one in zip(found, values, strict=True) if (point := _point(batch, one, times)) is not None
        ]
        return least_squares(points)

    whole = slope(ids)
    gaps = [
        abs(point[1] - 100 * (1 - point[0]))
        for batch, one in zip(found, values, strict=True)
        if (point := _point(batch, one, Counter(ids))) is not None
    ]
    spread = None if whole is None else bootstrap(ids, slope, seed=seed)
    return Line(slope=whole, interval=spread, gap=mean(gaps) if gaps else None)


def _point(batch: Batch, values: Mapping[str, float], times: Counter[str]) -> tuple[float, float] | None:
    """(share of false claims, mean value) of the claims drawn, each as often as it was drawn."""
    decided = sum(times[id] for id in values)
    if not decided:
        return None
    drawn = sum(times.values())
    share = sum(n for id, n in times.items() if id in batch.false) / drawn
    return share, sum(times[id] * value for id, value in values.items()) / decided


def least_squares(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope through the points; None where all have the same first value."""
    if len(points) < 2:
        return None
    x, y = mean([p[0] for p in points]), mean([p[1] for p in points])
    across = sum((p[0] - x) ** 2 for p in points)
    return sum((p[0] - x) * (p[1] - y) for p in points) / across if across > 1e-12 else None


def sheet_of(
    bench: Bench, data: TwinSet, found: Sequence[Batch], metrics: Sequence[str], measured: Mapping[str, Measured]
) -> Sheet:
    """The outcome as tables and sentences."""
    results = {metric: [measured[f"{batch.name}/{metric}"].result for batch in found] for metric in metrics}
    values = {
        metric: [values_of(batch, result) for batch, result in zip(found, results[metric], strict=True)]
        for metric in metrics
    }
    lines = {metric: line_of(found, values[metric], seed=data.seed) for metric in metrics}
    findings = [said(metric, lines[metric]) for metric in metrics]
    kinds = Counter(twin.change for twin in data.twins)
    made = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    findings.append(f"{len(data.twins)} claims, false forms by: {made}; seed {data.seed}.")
    return Sheet(
        study="corruption",
        question=QUESTION,
        data=data.digest,
        setup=bench.setup.described() | {"rates": [batch.rate for batch in found]},
        endpoint=bench.judge.endpoint,
        versions={metric: results[metric][0].version for metric in metrics},
        tables=(_table(found, metrics, values, results),),
        findings=tuple(findings),
        known=tuple(_known(metric, lines[metric]) for metric in metrics if metric in KNOWN),
        differences=DIFFERENCES,
        totals=bench.totals,
        useless=lines["factuality"].useless if "factuality" in lines else None,
    )


def _table(
    found: Sequence[Batch],
    metrics: Sequence[str],
    values: Mapping[str, Sequence[Mapping[str, float]]],
    results: Mapping[str, Sequence[MetricResult]],
) -> Table:
    header = ["false", "ideal"]
    for metric in metrics:
        header += [SHOWN.get(metric, metric), "decided"]
    rows = []
    for number, batch in enumerate(found):
        row: list[str | float | int | None] = [f"{batch.rate:.0%}", 100 * (1 - batch.rate)]
        for metric in metrics:
            one = values[metric][number]
            row += [mean(list(one.values())) if one else None, f"{len(one)}/{len(batch.claims.claims)}"]
            if not one and results[metric][number].reason:
                row[-1] = results[metric][number].reason
        rows.append(tuple(row))
    return Table(title="Score by share of false claims", header=tuple(header), rows=tuple(rows))


SHOWN = {"factuality": "Factuality", "fact": "FACT", "ci": "CF (of CI)"}


def said(metric: str, line: Line) -> str:
    """The line of one metric in a sentence."""
    name = SHOWN.get(metric, metric)
    if line.slope is None:
        return f"{name}: no slope: nothing was decided at two rates or more. This judge is useless here."
    words = f"{name}: slope {line.slope:+.1f} points from no false claims to all, 95 % {interval(line.interval, '+')}"
    words += f"; {line.gap:.1f} points from the ideal line on average"
    if metric != "factuality":
        flat = "does not see them" if line.useless else "sees some of them"
        return f"{words}. Every false claim agrees with its page, so a flat line is expected; it {flat}."
    if line.useless:
        return f"{words}. The interval contains 0: this judge is useless here, it does not tell true from false claims."
    return f"{words}. The ideal slope is -100."


KNOWN = {"factuality": known.CORRUPTION_FALL, "fact": known.CORRUPTION_FLAT}
DIFFERENCES = (
    "false forms are made by code (a number, date, organisation or negation), not outdated or fringe claims",
    "false claims cite pages written for the study, which no search finds",
    "size of a batch, values of r and repeats of the paper are not known",
)


def _known(metric: str, line: Line) -> known.Known:
    ours = "no slope" if line.slope is None else f"slope {line.slope:+.1f} {interval(line.interval, '+')}"
    return known.known(KNOWN[metric], ours)


def described(data: TwinSet, out: Path) -> tuple[str, ...]:
    """The data set in a line or two, for a plan."""
    lines = [f"data set: {len(data.twins)} claims with false twins in {out}/data/claims.json"]
    if data.left_out:
        lines.append(f"left out, since code found nothing to change: {', '.join(data.left_out)}")
    return tuple(lines)
