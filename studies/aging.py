"""Scores of a report as its facts age (the paper's controlled study of time).

Either reports that were written, or cut, at different dates are given; or one report is aged by code: a file says for
each fact since when it holds and what could be said before (:class:`Ageing`), and a version for an earlier day holds
the values of that day. A metric that knows what time it is falls with age; one that compares style does not.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from ..core import Frozen, Task
from ..errors import InputError, UserError
from ..ledger import digest
from ..protocols.schema import Protocol
from ..reports import Report, read_report
from ..runs.files import write_atomic
from ..stats.paired import paired_difference
from . import known
from .harness import Bench, Cell, Estimate, Measured, Setup, estimate, needs, scores_of
from .sheet import Sheet, Table, interval, save

QUESTION = "Does the score fall when a report's facts are those of an earlier day?"
DEMO = Path(__file__).parent / "demo_aging.json"
"""The facts of the demo's sound report."""


class Older(Frozen):
    """What could be said in an earlier time: from ``since`` to the day before ``until``."""

    since: dt.date
    until: dt.date
    text: str = Field(min_length=1)


class Dated(Frozen):
    """A stretch of the report and since when it holds."""

    id: str
    now: str = Field(min_length=1)
    """As it stands in the report, to the letter."""
    since: dt.date
    older: tuple[Older, ...] = ()
    """Before all of them there was nothing to say: the stretch is cut."""

    def on(self, day: dt.date) -> str:
        """What could be said on a day."""
        if day >= self.since:
            return self.now
        return next((old.text for old in self.older if old.since <= day < old.until), "")


class Ageing(Frozen):
    """The facts file of a report."""

    schema_version: int = 1
    note: str = ""
    cuts: tuple[dt.date, ...] = ()
    """Days to age the report to, where nobody says others."""
    facts: tuple[Dated, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Version:
    """The report as of a day."""

    day: dt.date
    report: Report
    changed: tuple[str, ...] = ()
    """Ids of the facts that differ from the newest version."""


def load_ageing(path: Path) -> Ageing:
    """A facts file. Raises InputError with the field."""
    try:
        return Ageing.model_validate_json(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", path=path) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(first["msg"], path=path, field=".".join(map(str, first["loc"])) or None) from None


def aged(report: Report, ageing: Ageing, day: dt.date) -> Version:
    """The report as it could have been written on ``day``. UserError when a fact does not stand in it."""
    text, changed = report.text, []
    for fact in ageing.facts:
        if fact.now not in text:
            raise UserError(f"the fact {fact.id} does not stand in the report {report.id} to the letter: {fact.now!r}")
        then = fact.on(day)
        if then != fact.now:
            changed.append(fact.id)
            text = text.replace(fact.now, then, 1)
    text = re.sub(r"(?<=\S)  +(?=\S)", " ", re.sub(r"^ +(?=\S)|[ \t]+$", "", text, flags=re.MULTILINE))
    text = report.text if not changed else text
    made = read_report(text, id=f"as-of-{day}", task_id=report.task_id, prompt=report.prompt, clean=False)
    return Version(day, made, tuple(changed))


def versions_of(report: Report, ageing: Ageing, days: Sequence[dt.date]) -> list[Version]:
    """The report aged to each day, newest first; UserError for fewer than two different versions."""
    return distinct([aged(report, ageing, day) for day in sorted(set(days or ageing.cuts), reverse=True)])


def given_versions(
    reports: Sequence[Report], days: Sequence[str], *, facts: str | None, cuts: Sequence[str], demo: bool
) -> list[Version]:
    """Versions from reports of several days, or from one report and its facts file. Raises UserError, InputError."""
    if days:
        dated = zip(days, reports, strict=True)
        return distinct([Version(_day(day), report.model_copy(update={"id": f"as-of-{day}"})) for day, report in dated])
    if not facts and not demo:
        raise UserError("give a facts file with --facts, or reports of several days with --report DATE=FILE")
    ageing = load_ageing(Path(facts) if facts else DEMO)
    return versions_of(reports[0], ageing, [_day(cut) for cut in cuts])


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text!r} is no date: write YYYY-MM-DD") from None


def distinct(versions: Sequence[Version]) -> list[Version]:
    """Versions, newest first. UserError for fewer than two, or two that are the same."""
    ordered = sorted(versions, key=lambda version: version.day, reverse=True)
    if len({version.report.digest for version in ordered}) < max(2, len(ordered)):
        raise UserError("give at least two days at which the report differs: nothing can fall between equal reports")
    return ordered


# --- doing it --------------------------------------------------------------------------------------------------------


def write_data(versions: Sequence[Version], out: Path) -> str:
    """Write all versions; the digest of the data set."""
    for version in versions:
        write_atomic(out / "data" / f"{version.day}.md", version.report.text)
    return digest({str(version.day): version.report.digest for version in versions})


def plan(setup: Setup, versions: Sequence[Version], metrics: Sequence[str], *, protocols: int) -> Estimate:
    """What it will take."""
    return estimate(setup, [(version.report, metrics) for version in versions], protocols=protocols)


async def run(
    bench: Bench,
    task: Task,
    versions: Sequence[Version],
    metrics: Sequence[str],
    out: Path,
    *,
    protocol: Protocol | None = None,
    reference: Report | None = None,
    seed: int = 0,
) -> Sheet:
    """Measure all versions as of the set-up's day and write the outcome to ``out``."""
    stamp = write_data(versions, out)
    if protocol is None and needs(metrics, "protocol."):
        protocol = await bench.protocol(task)

    async def cell(version: Version, metric: str) -> Cell:
        case = await bench.case(metric, task, version.report, protocol=protocol, reference=reference)
        return Cell(f"{version.day}/{metric}", metric, case)

    measured = await bench.measure(await bench.each(cell(v, metric) for v in versions for metric in metrics))
    sheet = sheet_of(bench, versions, metrics, measured, stamp, seed=seed)
    save(sheet, scores_of(measured), out)
    return sheet


def sheet_of(
    bench: Bench,
    versions: Sequence[Version],
    metrics: Sequence[str],
    measured: Mapping[str, Measured],
    stamp: str,
    *,
    seed: int,
) -> Sheet:
    """The outcome as tables and sentences."""
    rows = tuple(
        (
            str(version.day),
            f"{(versions[0].day - version.day).days} days",
            len(version.changed),
            *(cell for metric in metrics for cell in _cells(measured[f"{version.day}/{metric}"])),
        )
        for version in versions
    )
    header = [name for metric in metrics for name in (metric, "decided")]
    told = {metric: _told(metric, versions, measured, seed=seed) for metric in metrics}
    return Sheet(
        study="time",
        question=QUESTION,
        data=stamp,
        setup=bench.setup.described(),
        endpoint=bench.judge.endpoint,
        versions={one.cell.metric: one.result.version for one in measured.values()},
        tables=(Table(title="Score by age (items decided)", header=("as of", "age", "aged", *header), rows=rows),),
        findings=tuple(sentence for sentence, _ in told.values()),
        known=tuple(
            known.known(KNOWN[metric], ", ".join(_score(measured[f"{version.day}/{metric}"]) for version in versions))
            for metric in metrics
            if metric in KNOWN
        ),
        differences=DIFFERENCES,
        totals=bench.totals,
        useless=told["kic"][1] if "kic" in told else None,
    )


def _cells(one: Measured) -> tuple[float | str | None, str]:
    """Score, and items decided out of items looked at."""
    coverage = one.result.coverage
    return one.score, f"{coverage.decided}/{coverage.checked}" if coverage else one.result.reason or "–"


def _score(one: Measured) -> str:
    return "none" if one.score is None else f"{one.score:.2f}"


def _told(
    metric: str, versions: Sequence[Version], measured: Mapping[str, Measured], *, seed: int
) -> tuple[str, bool | None]:
    """How a metric moves from the newest to the oldest version, and whether it is blind to age (None: cannot say)."""
    results = [measured[f"{version.day}/{metric}"].result for version in versions]
    scores = [result.score for result in results]
    new, old = scores[0], scores[-1]
    name = metric.upper() if metric != "factuality" else "Factuality"
    if new is None or old is None:
        reason = next(result.reason for result in (results[0], results[-1]) if result.score is None)
        return f"{name}: no score for the newest or the oldest version ({reason}): nothing can be said.", None
    steps = [score for score in scores if score is not None]
    falls = all(later <= earlier for earlier, later in itertools.pairwise(steps)) and new > old
    share = f", {100 * (old - new) / new:+.0f} %" if new else ""
    head = f"{name}: {new:.1f} (newest) to {old:.1f} (oldest{share}), {'falling' if falls else 'not falling'} with age"
    if old >= new and metric == "kic":
        return f"{head}. This judge does not see the age: useless here.", True
    if metric != "kic":
        spreads = " and ".join(interval(result.interval) for result in (results[0], results[-1]))
        return f"{head}; intervals {spreads}.", None
    first, last = ({item.id: item.outcome for item in result.items} for result in (results[0], results[-1]))
    both = [(_worth(first[id]), _worth(last[id])) for id in first if id in last]
    known_ = [(a, b) for a, b in both if a is not None and b is not None]
    test = paired_difference([a for a, _ in known_], [b for _, b in known_], seed=seed)
    if test is None:
        return f"{head}; too few questions for a test.", None
    blind = test.high >= 0
    tail = "the interval contains 0: this could be noise" if blind else "more than noise"
    return f"{head}; on the same questions {test.mean:+.1f} [{test.low:+.1f}, {test.high:+.1f}]: {tail}.", blind


def _worth(outcome: object) -> float | None:
    return {"yes": 100.0, "no": 0.0}.get(str(outcome))


KNOWN = {"kic": known.TIME_KIC, "race": known.TIME_RACE}
DIFFERENCES = (
    "one report is aged by code, the paper's reports were written with knowledge cut off at dates",
    "one query here; number of queries and dates of the middle cut-offs of the paper are not known",
    "RACE is against another report on the query; the paper's reference is not known",
)
