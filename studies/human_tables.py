"""Studies against people as tables."""

from __future__ import annotations

from ..stats.data import Estimate
from .human import HumanStudy, MethodResult
from .human_reports import ReportStudy
from .output import Table
from .tables import bounds

NAMES = {"ours": "dream-eval", "plain": "plain prompt", "constant": "commonest label"}
WEAK = 0.6
"""Balanced accuracy below which the output says that the judge is too weak."""

Row = tuple[str, ...]


def human_tables(study: HumanStudy) -> list[Table]:
    """Figures of all methods, F1 by label, the confusion counts and the calibration curve."""
    return [_figures(study), _f1(study), *(_confusion(study, one) for one in _asked(study)), _curve(study)]


def _asked(study: HumanStudy) -> list[MethodResult]:
    return [one for one in study.methods if one.method != "constant"]


def _figures(study: HumanStudy) -> Table:
    rows = tuple(
        (
            NAMES[one.method],
            _shown(one.balanced),
            _shown(one.accuracy),
            "–" if one.kappa is None else _shown(one.kappa),
            str(one.n),
            str(one.lost),
        )
        for one in study.methods
    )
    counts = ", ".join(f"{label} {count}" for label, count in study.counts.items())
    notes = [f"People said: {counts}" + (f" ({study.sampled})." if study.sampled else ".")]
    notes += [f"Left out: {count} ({reason})." for reason, count in study.left_out.items()]
    notes.append(
        f"Guessing reaches a balanced accuracy of {study.guessing:.2f}. Intervals: bootstrap over groups that "
        "belong together. lost: a call failed, no answer."
    )
    notes += [f"{NAMES[one.method]}: {one.lost} lost: {one.why_lost}" for one in _asked(study) if one.lost]
    return Table(
        "Agreement with people",
        ("method", "balanced acc.", "accuracy", "kappa", "n", "lost"),
        rows,
        (*notes, *_verdict(study)),
    )


def _verdict(study: HumanStudy) -> list[str]:
    notes, ours = [], study.method("ours")
    if study.gain is not None:
        gain = study.gain
        sure = gain.low is not None and (gain.low > 0 or (gain.high or 0) < 0)
        words = "" if sure else ": within noise"
        notes.append(
            f"dream-eval less plain prompt: {100 * gain.value:+.1f} points of balanced accuracy "
            f"[{100 * (gain.low or 0):+.1f} to {100 * (gain.high or 0):+.1f}], n = {gain.n}{words}."
        )
    if ours is not None and ours.balanced.value < WEAK:
        notes.append(f"{study.judge} is too weak here: do not rely on its verdicts.")
    return notes


def _f1(study: HumanStudy) -> Table:
    rows = tuple(
        (NAMES[one.method], *(_shown(one.f1[label]) if label in one.f1 else "–" for label in study.labels))
        for one in study.methods
    )
    return Table("F1 by label", ("method", *study.labels), rows)


def _confusion(study: HumanStudy, one: MethodResult) -> Table:
    rows = tuple(
        (f"people: {label}", *map(str, counts)) for label, counts in zip(study.labels, one.confusion, strict=True)
    )
    return Table(f"{NAMES[one.method]} says …", ("", *study.labels), rows)


def _curve(study: HumanStudy) -> Table:
    rows: list[Row] = []
    for one in _asked(study):
        rows.append((NAMES[one.method],))
        rows += [(f"  {b.confidence:.2f}", f"{b.truth:.2f}", f"{b.low:.2f}–{b.high:.2f}", str(b.n)) for b in one.curve]
    errors = [f"{NAMES[one.method]} {one.error:.2f}" for one in _asked(study) if one.error is not None]
    what = "the second one is better" if study.kind == "preference" else "supported (partly counts half)"
    note = f"How far it says {what}, against how far people do. Expected calibration error: {', '.join(errors)}."
    return Table("Calibration", ("it says", "people say", "95 %", "n"), tuple(rows), (note,), True)


def _shown(estimate: Estimate) -> str:
    interval = bounds(estimate, ".2f")
    return f"{estimate.value:.2f}" + (f" [{interval}]" if interval else "")


def report_tables(found: ReportStudy) -> list[Table]:
    """Metrics against people's scores of reports."""
    rows = tuple(
        (
            f"{one.metric}",
            one.judge,
            "–"
            if one.rho is None
            else f"{one.rho.value:+.2f}" + (f" [{bounds(one.rho, '+.2f')}]" if one.rho.low else ""),
            "–" if one.pairs is None else _shown(one.pairs),
            str(one.reports),
        )
        for one in found.metrics
    )
    notes = [
        "rho: Spearman's within tasks; pairs: of two reports on a task that people score differently, how often the "
        "metric puts the same one first (a tie counts half; guessing: 0.50), bootstrap over tasks. length: words of "
        "the report, the baseline that knows nothing.",
    ]
    notes += [f"No report of these in the runs: {', '.join(found.unknown[:12])}."] if found.unknown else []
    columns = ("metric", "judge", "rho", "pairs", "reports")
    return [Table("Do the metrics follow people?", columns, rows, tuple(notes), left=frozenset({0, 1}))]
