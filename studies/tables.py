"""Comparisons as tables for people, and as rows for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..protocols.catalogue import METRICS
from ..stats.data import Estimate
from ..stats.paired import test_name
from .compare import SystemComparison, SystemPair, SystemScore
from .judges import JudgeComparison, JudgePair
from .output import Table
from .vendors import SelfPreference

MOST_PAIRS = 40
"""From so many pairs on only those that differ beyond noise are listed; ``--to json`` has all."""
SHOWN = 6
"""Disagreements shown; ``--to json`` has more."""
NAMED = 12
"""Missing tasks named in a line."""

Row = tuple[str, ...]


def system_tables(found: SystemComparison, *, slices: Sequence[str] | None = None) -> list[Table]:
    """What is said of systems.

    ``slices``: which of ``topic``, ``language``, ``vertical`` to show; None: verticals, where one has several metrics.
    """
    if slices is None:
        verticals = [METRICS[name].vertical for name in found.metrics]
        slices = ("vertical",) if len(set(verticals)) < len(verticals) else ()
    tables = [_scores(found), _missing(found), _pairs(found)]
    tables += [_slices(found, by) for by in slices]
    tables += [_orders(found), _lengths(found), _correlations(found)]
    return [table for table in tables if table is not None and (table.rows or table.notes)]


def judge_tables(found: JudgeComparison) -> list[Table]:
    """What is said of judges."""
    tables = [
        _bias(found),
        _agreement(found),
        _alphas(found),
        _spending(found),
        _preference(found),
        _disagreements(found),
    ]
    return [table for table in tables if table.rows or table.notes]


# --- systems ---------------------------------------------------------------------------------------------------------


def _scores(found: SystemComparison) -> Table:
    rows: list[Row] = []
    for metric in found.metrics:
        rows.append((titled(metric),))
        rows += [_score_row(score, found.tasks) for score in found.scores if score.metric == metric]
    notes = [
        "mean: over the tasks with a score, points of 0–100, with a 95 % bootstrap interval over tasks; "
        "coverage: tasks with a score of those where the metric applies; "
        "rank: on the tasks that all ranked systems have, with the places that the data leave open (95 %)."
    ]
    why = {score.unranked for score in found.scores if score.unranked}
    notes += [f"– : no rank: {reason}." for reason in sorted(why)]
    return Table("Scores", ("system", "mean", "95 %", "tasks", "coverage", "rank"), tuple(rows), tuple(notes), True)


def _score_row(score: SystemScore, tasks: int) -> Row:
    mean = score.mean
    share = "–" if score.coverage is None else f"{score.coverage:.0%}"
    return (
        f"  {score.system}",
        "–" if mean is None else f"{mean.value:.1f}",
        "" if mean is None else bounds(mean),
        f"{mean.n if mean else 0}/{tasks}",
        share,
        "–" if score.rank is None else f"{score.rank.rank:g} [{score.rank.best}–{score.rank.worst}]",
    )


def _missing(found: SystemComparison) -> Table | None:
    """Every missing task, those with one reason on one line."""
    places: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for score in found.scores:
        for reason in dict.fromkeys(one.reason for one in score.missing):
            tasks = tuple(one.task for one in score.missing if one.reason == reason)
            places.setdefault((score.system, reason, tasks), []).append(score.metric)
    notes = [
        f"{system}: {', '.join(metrics)}: {len(tasks)} of {found.tasks} tasks ({reason}): {listed(tasks)}"
        for (system, reason, tasks), metrics in places.items()
    ]
    return Table("Tasks without a score", (), (), tuple(notes)) if notes else None


def _pairs(found: SystemComparison) -> Table:
    tested = [pair for pair in found.pairs if pair.difference is not None]
    shown = tested if len(tested) <= MOST_PAIRS else [p for p in tested if p.verdict != "within noise"]
    rows: list[Row] = []
    for metric in found.metrics:
        mine = [_pair_row(pair) for pair in shown if pair.metric == metric]
        rows += [(metric,), *mine] if mine else []
    notes = (*_test_notes(tested, len(shown)), *_untested(found))
    columns = ("second – first", "diff.", "95 %", "p", "least", "second is") if tested else ()
    return Table("Differences on the same tasks", columns, tuple(rows), notes, True, frozenset({0, 5}))


def _pair_row(pair: SystemPair) -> Row:
    difference = pair.difference
    assert difference is not None
    return (
        f"  {pair.other} – {pair.one}",
        f"{difference.mean:+.1f}",
        f"{difference.low:+.1f} to {difference.high:+.1f}",
        p_value(pair.p_adjusted),
        f"{difference.detectable:.1f}" if difference.detectable else "–",
        _side(pair.verdict, difference.mean, "higher", "lower"),
    )


def _side(verdict: str, gap: float, above: str, below: str) -> str:
    return "within noise" if verdict.startswith("within noise") else above if gap > 0 else below


def _test_notes(tested: Sequence[SystemPair], shown: int) -> list[str]:
    if not tested:
        return []
    names = sorted({pair.n for pair in tested})
    notes = [
        f"Test: {test_name(names[-1])}."
        if len(names) == 1
        else f"Test: {test_name(names[-1])}; {names[0]}–{names[-1]} tasks, exact up to 12.",
        f"p: two-sided, Holm's correction over all {len(tested)} tests of this table. least: the least true difference "
        "that so many tasks would show (80 % power, 5 % level, uncorrected); a smaller one cannot be ruled out.",
    ]
    if shown < len(tested):
        notes.append(
            f"{len(tested) - shown} of {len(tested)} pairs are within noise and not listed (--to json has all)."
        )
    return notes


def _untested(found: SystemComparison) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for pair in found.pairs:
        if pair.difference is None:
            groups.setdefault(pair.verdict, []).append(pair.metric)
    for verdict, metrics in groups.items():
        yield f"{', '.join(dict.fromkeys(metrics))}: {verdict}; {len(metrics)} pairs not compared."
    apart: dict[tuple[str, str, str], list[str]] = {}
    for pair in found.pairs:
        for missing in pair.left_out:
            if missing.reason.startswith("not judged alike"):
                apart.setdefault((pair.metric, missing.reason, f"{pair.one} and {pair.other}"), []).append(missing.task)
    for (metric, reason, names), tasks in apart.items():
        yield f"{metric}: {names}: {reason}: {listed(tasks)}"


def _slices(found: SystemComparison, by: str) -> Table:
    mine = [part for part in found.slices if part.by == by]
    title = {"vertical": "By vertical", "topic": "By topic", "language": "By language"}[by]
    if not mine:
        why = "there are no scores" + ("" if by == "vertical" else f", or all tasks have the same {by} or none")
        return Table(title, (), (), (why,))
    values = list(dict.fromkeys((part.value, part.metric) for part in mine))
    cells = {(part.value, part.metric, part.system): part.mean for part in mine}
    rows: list[Row] = []
    for value, metric in values:
        head = f"{value}, {metric}" if metric else value
        rows.append((head,))
        for system in found.systems:
            mean = cells.get((value, metric, system))
            if mean is not None:
                rows.append((f"  {system}", f"{mean.value:.1f}", bounds(mean), str(mean.n)))
    note = "Mean of the vertical's metrics, on tasks where the system has all of them." if by == "vertical" else ""
    return Table(title, ("system", "mean", "95 %", "tasks"), tuple(rows), (note,) if note else (), True)


def _orders(found: SystemComparison) -> Table | None:
    if not found.orders:
        return None
    taus = {frozenset((order.one, order.other)): order.tau for order in found.orders}
    names = [name for name in found.metrics if any(name in key for key in taus)]
    rows = tuple((one, *(_tau(taus, one, other) for other in names)) for one in names)
    note = f"Kendall's tau-b over {found.orders[0].systems} systems; with few systems a single swap moves it far."
    return Table("Do the metrics order the systems alike?", ("", *names), rows, (note,))


def _tau(taus: dict[frozenset[str], float | None], one: str, other: str) -> str:
    tau = taus.get(frozenset((one, other)))
    return "" if one == other else "–" if tau is None else f"{tau:+.2f}"


def _lengths(found: SystemComparison) -> Table | None:
    if not found.lengths:
        return None
    measures = list(dict.fromkeys(length.measure for length in found.lengths))
    cells = {(length.system, length.measure): length.mean for length in found.lengths}
    rows = [
        (name or "all reports", *(f"{cells[name, m].value:,.0f}" if (name, m) in cells else "–" for m in measures))
        for name in (*found.systems, "")
    ]
    return Table("Length of the reports (means)", ("system", *measures), tuple(rows))


def _correlations(found: SystemComparison) -> Table:
    rows = tuple(
        (one.metric, one.measure, f"{one.rho.value:+.2f}", bounds(one.rho, "+.2f"), str(one.rho.n))
        for one in found.correlations
    )
    note = "Spearman's rho within tasks. A metric that follows length may reward it, or length may come with quality."
    columns = ("metric", "measure", "rho", "95 %", "reports")
    return Table("Do scores follow length?", columns, rows, (note,) if rows else (), left=frozenset({0, 1}))


# --- judges ----------------------------------------------------------------------------------------------------------


def _bias(found: JudgeComparison) -> Table:
    rows, names = list[Row](), short_names(found.judges)
    for metric in found.metrics:
        pairs = [pair for pair in found.pairs if pair.metric == metric and pair.mean_bias is not None]
        rows += [(metric,), *(_bias_row(pair, names) for pair in pairs)] if pairs else []
    tested = [pair for pair in found.pairs if pair.bias is not None]
    notes = (
        [f"Test: {test_name(max(pair.tasks for pair in tested))}, Holm over all of them ({len(tested)})."]
        if tested
        else []
    )
    notes += [
        f"{pair.metric}: {pair.apart} units that {pair.one} and {pair.other} judged by different protocols, claim "
        "lists or prompts are left out."
        for pair in found.pairs
        if pair.apart
    ]
    notes += _unshared(found)
    columns = ("second – first", "points", "95 %", "p", "tasks", "second is")
    return Table("Who is harsher?", columns, tuple(rows), tuple(notes), True, frozenset({0, 5}))


def _unshared(found: JudgeComparison) -> Iterator[str]:
    """Reports that a judge has no score for, with why, those with one reason on one line."""
    groups: dict[tuple[str, str, int], list[str]] = {}
    for gap in found.missing:
        groups.setdefault((gap.judge, gap.reason, gap.units), []).append(gap.metric)
    for (judge, reason, units), metrics in groups.items():
        yield f"{judge}: {', '.join(metrics)}: {units} reports without a score are left out ({reason})."


def _bias_row(pair: JudgePair, names: Mapping[str, str]) -> Row:
    bias = pair.bias
    return (
        f"  {names[pair.other]} – {names[pair.one]}",
        f"{pair.mean_bias:+.1f}",
        f"{bias.low:+.1f} to {bias.high:+.1f}" if bias else "",
        p_value(pair.p_adjusted),
        str(pair.tasks),
        _side(pair.verdict, bias.mean, "softer", "harsher") if bias else "too few tasks",
    )


def _agreement(found: JudgeComparison) -> Table:
    rows, names = list[Row](), short_names(found.judges)
    for metric in found.metrics:
        pairs = [pair for pair in found.pairs if pair.metric == metric and (pair.items or pair.systems > 2)]
        rows += [(metric,), *(_agreement_row(pair, names) for pair in pairs)] if pairs else []
    notes = (
        "kappa: Cohen's, item verdicts, interval by bootstrap over reports; undecided is a verdict, could-not-check is "
        "missing. tau-b, rho: Kendall's and Spearman's, order of the systems by mean; – under three systems.",
    )
    columns = ("judges", "kappa", "95 %", "items", "tau-b", "rho")
    return Table("Do they see the same?", columns, tuple(rows), notes if rows else (), True)


def _agreement_row(pair: JudgePair, names: Mapping[str, str]) -> Row:
    kappa = pair.kappa
    return (
        f"  {names[pair.one]} / {names[pair.other]}",
        "–" if kappa is None else f"{kappa.value:.2f}",
        "" if kappa is None else bounds(kappa, ".2f"),
        f"{pair.items}" + (f" (+{pair.not_looked} missing)" if pair.not_looked else ""),
        "–" if pair.tau is None else f"{pair.tau:+.2f}",
        "–" if pair.rho is None else f"{pair.rho:+.2f}",
    )


def _alphas(found: JudgeComparison) -> Table:
    words = {"nominal": "verdicts", "interval": "item scores"}
    rows = tuple(
        (titled(one.metric), words[one.level], "–" if one.alpha is None else f"{one.alpha:.2f}", str(one.items))
        for one in found.alphas
    )
    note = "Krippendorff's alpha, nominal for verdicts, interval for item scores; 1 is full agreement, 0 chance."
    columns = ("metric", "of", "alpha", "items")
    return Table("All judges together", columns, rows, (note,) if rows else (), left=frozenset({0, 1}))


def _spending(found: JudgeComparison) -> Table:
    names = short_names(found.judges)
    rows = tuple(
        (
            f"{names[one.judge]}{' *' if one.maker else ''}",
            f"{one.calls:.0f}",
            f"{one.tokens:,.0f}",
            "unknown" if one.usd is None else f"{one.usd:.4f}",
            f"{one.seconds:.1f}",
        )
        for one in found.spending
    )
    if not rows:
        return Table("What one report costs", (), (), ("unknown: no ledger of these runs is at hand",))
    note = "From the ledger, as if nothing had been reused. * made protocols and claim lists too, which is counted."
    columns = ("judge", "calls", "tokens", "USD", "seconds")
    return Table("What one report costs", columns, rows, (note,))


def _preference(found: JudgeComparison) -> Table:
    names = short_names(found.judges)
    rows = tuple(
        (
            one.metric,
            f"{names[one.judge]} (against {names[one.against]})",
            "" if one.preference is None else f"{one.preference.mean:+.1f}",
            "" if one.preference is None else f"{one.preference.low:+.1f} to {one.preference.high:+.1f}",
            p_value(one.p_adjusted),
            _favour(one),
        )
        for one in found.self_preference
    )
    note = (
        "Points by which a judge lifts its own vendor's systems above the others more than the other judge does; Holm. "
        "Where the other judge's vendor has systems among those others, it may be that judge's doing."
    )
    columns = ("metric", "judge", "points", "95 %", "p", "own systems")
    return Table("Self-preference", columns, rows, (note,) if rows else (), left=frozenset({0, 1, 5}))


def _disagreements(found: JudgeComparison) -> Table:
    notes, more = [], len(found.disagreements) - SHOWN
    for one in found.disagreements[:SHOWN]:
        said = "; ".join(
            f"{said.judge}: {said.verdict or 'nothing'}"
            + (f" (“{said.quote[:120]}” {said.url or 'report'})" if said.quote else "")
            for said in one.said
        )
        notes.append(f"{one.metric}, {one.system}, {one.task}, {one.item}: {one.text[:160]} — {said}")
    notes += [f"{more} more with --to json"] if more > 0 else []
    return Table("Where judges disagree most", (), (), tuple(notes))


def _favour(one: SelfPreference) -> str:
    if one.preference is None:
        return "too few tasks"
    return _side(one.verdict, one.preference.mean, "favoured", "disfavoured")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Judges by the last part of their names, where that still tells them apart."""
    short = {name: name.rpartition("/")[2] for name in names}
    return short if len(set(short.values())) == len(short) else {name: name for name in names}


# --- figures ---------------------------------------------------------------------------------------------------------


def titled(metric: str) -> str:
    """A metric with its title."""
    return f"{METRICS[metric].title} ({metric})"


def bounds(estimate: Estimate, form: str = ".1f") -> str:
    """An interval, or nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    between = " to " if form.startswith("+") else "–"
    return f"{estimate.low:{form}}{between}{estimate.high:{form}}"


def p_value(p: float | None) -> str:
    """A p-value; nothing where there was no test."""
    return "" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"


def listed(names: Sequence[str]) -> str:
    """Names, the first ones of many."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more (--to json names all)" if more > 0 else "")


# --- for spreadsheets ------------------------------------------------------------------------------------------------

COLUMNS = ("kind", "metric", "first", "second", "what", "value", "low", "high", "n", "p", "note")
"""Of the CSV: one figure a row."""


def system_rows(found: SystemComparison) -> Iterable[Sequence[object]]:
    """All figures on systems."""
    for score in found.scores:
        yield ("score", score.metric, score.system, "", "mean", *_figures(score.mean), None, score.unranked)
        yield ("score", score.metric, score.system, "", "coverage", score.coverage, *[None] * 4, "")
        for missing in score.missing:
            yield ("missing", score.metric, score.system, "", missing.task, *[None] * 5, missing.reason)
        if score.rank is not None:
            rank = score.rank
            yield ("score", score.metric, score.system, "", "rank", rank.rank, rank.best, rank.worst, None, None, "")
    for pair in found.pairs:
        gap = pair.difference
        figures = (gap.mean, gap.low, gap.high) if gap else (None, None, None)
        yield (
            "pair",
            pair.metric,
            pair.one,
            pair.other,
            "second - first",
            *figures,
            pair.n,
            pair.p_adjusted,
            pair.verdict,
        )
        if gap:
            least = gap.detectable
            yield ("pair", pair.metric, pair.one, pair.other, "least detectable", least, None, None, pair.n, None, "")
    for part in found.slices:
        yield (part.by, part.metric, part.system, "", part.value, *_figures(part.mean), None, "")
    for length in found.lengths:
        yield ("length", "", length.system, "", length.measure, *_figures(length.mean), None, "")
    for one in found.correlations:
        yield ("correlation", one.metric, "", "", one.measure, *_figures(one.rho), None, "")
    for order in found.orders:
        yield ("order", "", order.one, order.other, "tau-b", order.tau, None, None, order.systems, None, "")


def judge_rows(found: JudgeComparison) -> Iterable[Sequence[object]]:
    """All figures on judges."""
    for pair in found.pairs:
        names, bias = ("pair", pair.metric, pair.one, pair.other), pair.bias
        figures = (bias.low, bias.high) if bias else (None, None)
        yield (*names, "second - first", pair.mean_bias, *figures, pair.tasks, pair.p_adjusted, pair.verdict)
        yield (*names, "kappa", *_figures(pair.kappa), None, f"{pair.not_looked} missing")
        yield (*names, "tau-b", pair.tau, None, None, pair.systems, None, "")
        yield (*names, "spearman", pair.rho, None, None, pair.systems, None, "")
    for lack in found.missing:
        yield ("missing", lack.metric, lack.judge, "", "reports", lack.units, None, None, lack.units, None, lack.reason)
    for one in found.alphas:
        yield ("alpha", one.metric, "", "", one.level, one.alpha, None, None, one.items, None, "")
    for cost in found.spending:
        for what in ("calls", "tokens", "usd", "seconds"):
            yield ("spending", "", cost.judge, "", what, getattr(cost, what), None, None, cost.reports, None, cost.run)
    for own in found.self_preference:
        gap = own.preference
        gain = (gap.mean, gap.low, gap.high) if gap else (None, None, None)
        row = (*gain, own.tasks, own.p_adjusted, own.verdict)
        yield ("self-preference", own.metric, own.judge, own.against, own.vendor, *row)


def _figures(estimate: Estimate | None) -> tuple[float | None, float | None, float | None, int]:
    return (None, None, None, 0) if estimate is None else (estimate.value, estimate.low, estimate.high, estimate.n)
