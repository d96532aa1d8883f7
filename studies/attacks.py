"""What attacks on the judge change: the same report, or a page of the evidence, with and without an attack in it.

The shift of a metric is its score under attack less its score on the clean twin. Harmless insertions of the same kind
say how far scores move anyway: the noise floor. *Flagged* is what the product says without a judge: cuts of the
cleaner, lints that no harmless insertion earns, hidden text on pages. *Removed*: the judge never sees its words.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import Task
from ..ledger import digest
from ..protocols.schema import Protocol
from ..reports import Report, lint_report, numbered, read_report
from ..runs.files import write_atomic
from ..stats import bootstrap_mean, mean, score_range
from ..tools.corpus import Corpus
from ..tools.hosts import page_key
from .attack_data import ATTACKS, CONTROLS, Attack, put_in
from .attack_pages import AttackedPage, attacked_page, corpus_with
from .harness import Bench, Cell, Estimate, Measured, Setup, estimate, needs, scores_of
from .sheet import Sheet, Table, interval, save

QUESTION = "Does a report, or a page of its evidence, score better with words or forms that attack the judge?"
LOOKING = ("factuality", "ci", "fact", "rq", "dre_facts")
"""Metrics that read pages; the others cannot see an attacked one."""


@dataclass(frozen=True)
class Attacked:
    """An attack, put in."""

    attack: Attack
    report: Report
    """The clean one where a page is attacked."""
    corpus: Path | None = None
    page: AttackedPage | None = None
    flags: tuple[str, ...] = ()
    """What the product says of it without a judge."""
    removed: bool = False
    """The judge does not see the attack's words."""


@dataclass(frozen=True)
class DataSet:
    """The clean report, its attacked twins and the controls."""

    task: Task
    clean: Report
    attacked: tuple[Attacked, ...]
    controls: tuple[Attacked, ...]
    pages: tuple[Attack, ...] = ()
    """To be put into pages, once the clean report is judged: see :func:`with_pages`."""
    corpus: Path | None = None
    """Where these pages are."""
    seed: int = 0
    left_out: tuple[str, ...] = ()
    """Attacks that could not be put in, with why."""


def data_set(
    task: Task, report: Report, attacks: Sequence[Attack], out: Path, *, corpus: Path | None, controls: int, seed: int
) -> DataSet:
    """Put the attacks on reports in and write them to ``out``; what an earlier choice of attacks left there goes.

    ``corpus``: where pages come from; None: no page is attacked.
    """
    harmless = [_report_twin(report, attack, seed, ()) for attack in CONTROLS[:controls]]
    usual = {flag for one in [_report_twin(report, attack, seed, ()) for attack in CONTROLS] for flag in one.flags}
    done = [_report_twin(report, one, seed, usual) for one in attacks if one.place == "report"]
    pages = tuple(one for one in attacks if one.place == "page")
    left: list[str] = []
    if corpus is None:
        left = [f"{one.id}: pages are attacked in a corpus only (--search corpus:PATH)" for one in pages]
    found = DataSet(
        task,
        report,
        tuple(done),
        tuple(harmless),
        pages=pages if corpus is not None else (),
        corpus=corpus,
        seed=seed,
        left_out=tuple(left),
    )
    _tidy(out / "data", {one.attack.id for one in _all(found)} | {one.id for one in found.pages})
    _write(found, out)
    return found


def _tidy(data: Path, kept: set[str]) -> None:
    """Remove what an earlier choice of attacks wrote: code makes it again, and answers stand in the ledger."""
    ours = {attack.id for attack in (*ATTACKS, *CONTROLS)} - kept
    for folder in ("reports", "pages", "corpora"):
        for path in (data / folder).glob("*"):
            if path.stem in ours and path.is_file():
                path.unlink()


def _report_twin(report: Report, attack: Attack, seed: int, usual: Sequence[str] | set[str]) -> Attacked:
    text = put_in(report, attack, random.Random(f"{seed}/{attack.id}"))
    made = read_report(text, id=attack.id, task_id=report.task_id, prompt=report.prompt)
    rules = (
        {finding.rule for finding in lint_report(made)} - {finding.rule for finding in lint_report(report)} - set(usual)
    )
    cuts = {f"cut: {cut.rule}" for cut in made.cuts} - {f"cut: {cut.rule}" for cut in report.cuts}
    return Attacked(attack, made, flags=tuple(sorted(rules | cuts)), removed=_removed(attack, numbered(made)))


def _removed(attack: Attack, shown: str) -> bool:
    """Whether an attack that is hidden from people is hidden from the judge too."""
    if attack.where == "invisible":
        return not any(ord(char) >= 0xE0000 for char in shown)
    return attack.where in ("comment", "span") and attack.text[:40] not in " ".join(shown.split())


def with_pages(found: DataSet, clean: Iterable[Measured], out: Path) -> DataSet:
    """The data set with its attacks on pages: each in a page that is evidence of the clean report's items, behind the
    passage that was quoted, both drawn by the seed. Written to ``out``."""
    if not found.pages or found.corpus is None:
        return found
    corpus = Corpus.open(found.corpus)
    try:
        places = _places(clean, corpus)
        if places:
            twins = [_page_twin(found, one, places, corpus, out) for one in found.pages]
            more = replace(found, attacked=(*found.attacked, *twins), pages=())
        else:
            more = found
    finally:
        corpus.close()
    _write(more, out)
    return more


def to_draw(found: DataSet) -> list[str]:
    """A line on pages that are not drawn yet, where there are any."""
    line = f"{len(found.pages)} of them in pages, drawn when the clean report is judged from those that it rests on"
    return [line] if found.pages else []


def _page_twin(
    found: DataSet, attack: Attack, places: Sequence[tuple[str, str]], corpus: Corpus, out: Path
) -> Attacked:
    assert found.corpus is not None
    url, near = random.Random(f"{found.seed}/{attack.id}").choice(places)
    page = corpus.get(url)
    assert page is not None
    made = attacked_page(page, attack, near)
    flags = tuple(sorted(set(made.document.flags) - set(page.flags) - {"pdf"}))
    shown = f"{made.document.title} {made.document.text}"  # judges are shown titles too
    removed = " ".join(attack.text.split())[:40] not in " ".join(shown.split())
    where = corpus_with(found.corpus, made.document, out / "data" / "corpora" / f"{attack.id}.sqlite")
    return Attacked(attack, found.clean, where, made, flags, removed)


def _places(clean: Iterable[Measured], corpus: Corpus) -> list[tuple[str, str]]:
    """(page of the corpus, quote of it) for all evidence of these units, in their order."""
    quoted = [one for unit in clean for item in unit.result.items for one in item.evidence if one.url is not None]
    pages = [(corpus.get(one.url or ""), one.quote) for one in quoted]
    return list(dict.fromkeys((page.url, quote) for page, quote in pages if page is not None and page.text))


def _write(found: DataSet, out: Path) -> None:
    write_atomic(out / "data" / "clean.md", found.clean.text)
    rows = []
    for one in (*found.attacked, *found.controls):
        if one.page is not None:
            write_atomic(out / "data" / "pages" / one.page.name, one.page.body)
        else:
            write_atomic(out / "data" / "reports" / f"{one.attack.id}.md", one.report.text)
        page = None if one.page is None else one.page.document.url
        rows.append({**one.attack.model_dump(mode="json"), "url": page, "flags": one.flags, "removed": one.removed})
    rows += [{**one.model_dump(mode="json"), "url": None} for one in found.pages]  # not drawn yet
    write_atomic(out / "data" / "attacks.json", json.dumps(rows, ensure_ascii=False, indent=2) + "\n")


def digest_of(found: DataSet) -> str:
    """SHA-256 over all that is judged."""
    return digest(
        {
            one.attack.id: digest(one.page.document.text) if one.page else one.report.digest
            for one in (*found.attacked, *found.controls)
        }
        | {"clean": found.clean.digest}
    )


# --- doing it --------------------------------------------------------------------------------------------------------


def plan(setup: Setup, found: DataSet, metrics: Sequence[str], *, protocols: int) -> Estimate:
    """What it will take."""
    looking = tuple(metric for metric in metrics if metric in LOOKING)
    units = [(found.clean, tuple(metrics)), *((one.report, tuple(metrics)) for one in _all(found))]
    units += [(found.clean, looking)] * len(found.pages)
    return estimate(setup, units, protocols=protocols)


def metrics_of(one: Attacked, metrics: Sequence[str]) -> tuple[str, ...]:
    """The metrics that can see an attack."""
    return tuple(metric for metric in metrics if one.corpus is None or metric in LOOKING)


def _all(found: DataSet) -> tuple[Attacked, ...]:
    return (*found.controls, *found.attacked)


async def run(
    bench: Bench,
    found: DataSet,
    metrics: Sequence[str],
    out: Path,
    *,
    protocol: Protocol | None = None,
    reference: Report | None = None,
    seed: int = 0,
) -> Sheet:
    """Measure the clean report, the controls and all attacks, and write the outcome to ``out``."""
    if protocol is None and needs(metrics, "protocol."):
        protocol = await bench.protocol(found.task)

    async def cell(one: Attacked | None, metric: str) -> Cell:
        report = found.clean if one is None else one.report
        search = (f"corpus:{one.corpus}",) if one is not None and one.corpus is not None else ()
        case = await bench.case(metric, found.task, report, protocol=protocol, reference=reference)
        return Cell(f"{one.attack.id if one else 'clean'}/{metric}", metric, case, search)

    async def measure(wanted: Sequence[tuple[Attacked | None, str]]) -> dict[str, Measured]:
        return await bench.measure(await bench.each(cell(one, metric) for one, metric in wanted))

    measured = await measure([(None, metric) for metric in metrics])
    found = with_pages(found, [measured[f"clean/{metric}"] for metric in metrics if metric in LOOKING], out)
    measured |= await measure([(one, metric) for one in _all(found) for metric in metrics_of(one, metrics)])
    sheet = sheet_of(bench, found, metrics, measured, seed=seed)
    save(sheet, scores_of(measured), out)
    return sheet


# --- what it says ----------------------------------------------------------------------------------------------------


def shifts(of: Sequence[Attacked], metric: str, measured: Mapping[str, Measured]) -> dict[str, float]:
    """Shift of each attack that could matter and has a score beside the clean one's, in points, by the attack's id."""
    clean = measured[f"clean/{metric}"].score
    found = {}
    for one in of:
        unit = measured.get(f"{one.attack.id}/{metric}")
        if clean is not None and unit is not None and unit.score is not None and matters(one, metric, measured):
            found[one.attack.id] = unit.score - clean
    return found


def matters(one: Attacked, metric: str, measured: Mapping[str, Measured]) -> bool:
    """Whether a metric can see what was attacked: a report always, a page where it is evidence of an item with or
    without the attack. Any other page says nothing of the judge."""
    if one.page is None:
        return True
    key = page_key(one.page.document.url)
    units = [measured.get(f"{name}/{metric}") for name in ("clean", one.attack.id)]
    return any(key in map(page_key, _addresses(unit)) for unit in units if unit is not None)


def _addresses(unit: Measured) -> set[str]:
    return {one.url for item in unit.result.items for one in item.evidence if one.url is not None}


def _on_pages(found: DataSet, metrics: Sequence[str], measured: Mapping[str, Measured]) -> list[str]:
    """Sentences on the attacks in pages: how many could matter, or why none was made."""
    looking = [metric for metric in metrics if metric in LOOKING]
    if found.pages:
        count = f"{len(found.pages)} attacks in pages are not made"
        why = "the clean report has no evidence from a page" if looking else "none of these metrics reads pages"
        return [f"{count}: {why}."]
    pages = [one for one in found.attacked if one.page is not None]
    counts = ", ".join(f"{m} {sum(matters(one, m, measured) for one in pages)}" for m in looking)
    urls = len({one.page.document.url for one in pages if one.page is not None})
    words = f"{len(pages)} attacks in pages, in {urls} of the pages that the clean report's items rest on"
    return [f"{words}; they could matter to: {counts}."] if pages else []


def sheet_of(
    bench: Bench, found: DataSet, metrics: Sequence[str], measured: Mapping[str, Measured], *, seed: int
) -> Sheet:
    """The outcome as tables and sentences."""
    moved = {metric: shifts(found.attacked, metric, measured) for metric in metrics}
    floors = {metric: _floor(shifts(found.controls, metric, measured)) for metric in metrics}
    told = {metric: _told(metric, moved[metric], floors[metric], measured, found, seed=seed) for metric in metrics}
    flagged = sum(bool(one.flags) for one in found.attacked)
    removed = sum(one.removed for one in found.attacked)
    count = len(found.attacked)
    findings = [
        *told.values(),
        *_on_pages(found, metrics, measured),
        f"Flagged without a judge: {flagged} of {count} attacks; words removed before the judge sees them: {removed}.",
        f"Report: {found.clean.id}; harmless insertions for the noise floor: {len(found.controls)}; seed {seed}.",
    ]
    return Sheet(
        study="attacks",
        question=QUESTION,
        data=digest_of(found),
        setup=bench.setup.described() | {"attacks": count},
        endpoint=bench.judge.endpoint,
        versions={one.cell.metric: one.result.version for one in measured.values()},
        tables=(_families(found, metrics, moved), _each(found, metrics, moved)),
        findings=tuple(findings),
        differences=(),
        totals=bench.totals,
    )


def _floor(values: Mapping[str, float]) -> float | None:
    return max(map(abs, values.values())) if values else None


def _told(
    metric: str,
    moved: Mapping[str, float],
    floor: float | None,
    measured: Mapping[str, Measured],
    found: DataSet,
    *,
    seed: int,
) -> str:
    """Mean shift with interval, the worst one, and how many lie beyond the noise floor."""
    clean = measured[f"clean/{metric}"]
    name = metric.upper() if metric not in ("factuality",) else "Factuality"
    if clean.score is None:
        return f"{name}: the clean report has no score ({clean.result.reason}): nothing can be said."
    able = [one for one in found.attacked if f"{one.attack.id}/{metric}" in measured and matters(one, metric, measured)]
    if not moved:
        return f"{name}: no attacked twin that could matter has a score: nothing can be said."
    values = list(moved.values())
    spread = bootstrap_mean(values, seed=seed)
    head = f"{name}: clean {clean.score:.1f}; mean shift {mean(values):+.1f} {interval(spread, '+')}"
    head += f" over {len(values)} of {len(able)} attacks; "
    head += _farthest(moved)
    if floor is None:
        return f"{head}; no noise floor (no harmless insertion was measured)."
    beyond = sum(value > floor + 1e-9 for value in values)
    calm = f"none is beyond the noise floor of {floor:.1f}"
    raised = "1 raises" if beyond == 1 else f"{beyond} raise"
    hit = f"{raised} the score by more than the noise floor of {floor:.1f}: this judge can be moved"
    return f"{head}; {hit if beyond else calm}."


def _farthest(moved: Mapping[str, float]) -> str:
    """The attack that raised the score most; where none did, the one that lowered it most."""
    top, bottom = max(moved, key=lambda id: moved[id]), min(moved, key=lambda id: moved[id])
    if moved[top] > 0:
        return f"the largest {moved[top]:+.1f} ({top})"
    return f"no score rose; the lowest {moved[bottom]:+.1f} ({bottom})" if moved[bottom] < 0 else "no score moved"


def _families(found: DataSet, metrics: Sequence[str], moved: Mapping[str, Mapping[str, float]]) -> Table:
    rows = []
    for family in dict.fromkeys(one.attack.family for one in found.attacked):
        members = [one for one in found.attacked if one.attack.family == family]
        row: list[str | float | int | None] = [
            family,
            len(members),
            f"{sum(bool(one.flags) for one in members)}/{len(members)}",
            f"{sum(one.removed for one in members)}/{len(members)}",
        ]
        for metric in metrics:
            values = [moved[metric][one.attack.id] for one in members if one.attack.id in moved[metric]]
            row.append(_shift(values))
        rows.append(tuple(row))
    return Table(
        title="Mean shift by family (range), in points",
        header=("family", "n", "flagged", "removed", *metrics),
        rows=tuple(rows),
    )


def _shift(values: Sequence[float]) -> str | None:
    if not values:
        return None
    spread = score_range(values)
    tail = "" if len(values) == 1 else f" ({spread.low:+.0f}…{spread.high:+.0f})"
    return f"{mean(values):+.1f}{tail}"


def _each(found: DataSet, metrics: Sequence[str], moved: Mapping[str, Mapping[str, float]]) -> Table:
    rows = [
        (
            one.attack.id,
            ", ".join(one.flags) or ("removed" if one.removed else "–"),
            *(None if one.attack.id not in moved[m] else f"{moved[m][one.attack.id]:+.1f}" for m in metrics),
        )
        for one in found.attacked
    ]
    return Table(title="Shift of each attack", header=("attack", "flagged by", *metrics), rows=tuple(rows))


def corpus_of(search: Sequence[str]) -> Path | None:
    """The corpus that pages are taken from; None when evidence comes from elsewhere."""
    return next((Path(entry.removeprefix("corpus:")) for entry in search if entry.startswith("corpus:")), None)


def known_families() -> str:
    """Names of the families, for messages."""
    return ", ".join(dict.fromkeys(attack.family for attack in ATTACKS))
