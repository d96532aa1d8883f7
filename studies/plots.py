"""Pictures of comparisons, as PNG and SVG. Needs matplotlib (the extra ``plots``); no display.

Colours are Okabe and Ito's, which people with any colour vision tell apart; markers differ too, so that print in grey
works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..protocols.catalogue import METRICS
from .compare import SystemComparison
from .human import HumanStudy
from .judges import JudgeComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LONGEST = 28
"""Characters of a name in a picture."""
ACROSS = 3
"""Panels side by side."""
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "dream-eval",
    "svg.fonttype": "none",
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "figure.constrained_layout.wspace": 0.06,
    "figure.constrained_layout.use": True,
}


def draw(found: SystemComparison | JudgeComparison, folder: Path) -> list[Path]:
    """All pictures of a comparison; returns what was written.

    Systems: intervals by system and metric, ranks, agreement of metrics. Judges: agreement of judges, cost against
    agreement. Pictures without data are left out. Raises UserError without matplotlib, OSError.
    """
    with _drawing():
        if isinstance(found, JudgeComparison):
            pictures = [("judge-agreement", _judge_heat(found)), ("judge-cost", _judge_cost(found))]
        else:
            pictures = [
                ("intervals", _intervals(found)),
                ("ranks", _ranks(found)),
                ("metric-agreement", _metric_heat(found)),
            ]
        return _write([(name, figure) for name, figure in pictures if figure is not None], folder)


def draw_calibration(study: HumanStudy, folder: Path) -> list[Path]:
    """The calibration curve of a study against people. Raises as :func:`draw`."""
    with _drawing():
        return _write([("calibration", _calibration(study))], folder)


@contextmanager
def _drawing() -> Iterator[None]:
    try:
        import matplotlib
    except ImportError:
        raise UserError("pictures need matplotlib: pip install 'dream-eval[plots]'") from None
    matplotlib.use("Agg")
    look: Any = STYLE
    with matplotlib.rc_context(look):
        yield


def _write(pictures: Sequence[tuple[str, Figure]], folder: Path) -> list[Path]:
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in pictures:
        for ending in ("png", "svg"):
            figure.savefig(folder / f"{name}.{ending}", metadata={"Date": None} if ending == "svg" else None)
            written.append(folder / f"{name}.{ending}")
        pyplot.close(figure)
    return written


def _new(width: float, height: float, columns: int = 1, rows: int = 1, **more: Any) -> tuple[Figure, Any]:
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=(width, height), **more)


def _short(name: str) -> str:
    """A name that fits, and that matplotlib does not take for mathematics."""
    plain = "".join(sign for sign in name if sign.isprintable()).replace("$", r"\$")
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST // 2 - 1]}…{plain[-LONGEST // 2 :]}"


# --- systems ---------------------------------------------------------------------------------------------------------


def _intervals(found: SystemComparison) -> Figure | None:
    """Small multiples, one a metric: mean and interval of every system."""
    metrics = [m for m in found.metrics if any(s.mean for s in found.scores if s.metric == m)]
    if not metrics:
        return None
    rows = -(-len(metrics) // ACROSS)
    height = 0.5 + rows * (0.75 + 0.24 * len(found.systems))
    figure, axes = _new(7.0, height, min(len(metrics), ACROSS), rows, sharey=True, squeeze=False)
    for axis in axes.flat[len(metrics) :]:
        axis.set_visible(False)
    for axis, metric in zip(axes.flat, metrics, strict=False):
        for place, system in enumerate(found.systems):
            _interval(axis, found, system, metric, place)
        axis.set(xlim=(0, 100), yticks=range(len(found.systems)), xticks=(0, 25, 50, 75, 100))
        axis.set_title(METRICS[metric].title, fontsize=9)
        axis.set_yticklabels([_short(system) for system in found.systems])
        axis.tick_params(axis="y", length=0)
        axis.spines["left"].set_visible(False)
    axes.flat[0].set_ylim(len(found.systems) - 0.5, -0.5)
    bars = any(s.mean and s.mean.low is not None for s in found.scores)
    what = "bars: 95 % bootstrap over tasks" if bars else "too few tasks for intervals"
    title = f"Points of 0–100 by {_short(found.judge)}, {found.tasks} tasks; {what}; hollow: not ranked"
    figure.suptitle(title, fontsize=9)
    return figure


def _interval(axis: Axes, found: SystemComparison, system: str, metric: str, place: int) -> None:
    score = found.score(system, metric)
    if score.mean is None:
        axis.text(50, place, "no score", ha="center", va="center", color="#777777", fontsize=8)
        return
    colour, mean = COLOURS[place % len(COLOURS)], score.mean
    if mean.low is not None and mean.high is not None:
        axis.plot((mean.low, mean.high), (place, place), color=colour, linewidth=1.8, solid_capstyle="butt")
    filled = colour if score.rank is not None else "white"
    marker = MARKERS[place % len(MARKERS)]
    axis.plot(mean.value, place, marker, markersize=5.5, color=colour, markerfacecolor=filled, clip_on=False)


def _ranks(found: SystemComparison) -> Figure | None:
    """One row a metric: the place of each system with the places that the data leave open."""
    metrics = [m for m in found.metrics if any(s.rank for s in found.scores if s.metric == m)]
    if not metrics:
        return None
    ranked = [name for name in found.systems if any(found.score(name, m).rank for m in metrics)]
    figure, axis = _new(6.5, 1.0 + 0.12 * len(metrics) * (len(ranked) + 1))
    step = 0.72 / len(ranked)
    for number, system in enumerate(ranked):
        place = found.systems.index(system)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for row, metric in enumerate(metrics):
            rank = found.score(system, metric).rank
            if rank is not None:
                y = row + (number - (len(ranked) - 1) / 2) * step
                axis.plot((rank.best, rank.worst), (y, y), color=colour, linewidth=1.6, alpha=0.75)
                axis.plot(rank.rank, y, marker, color=colour, markersize=5.5, label=_short(system) if not row else None)
    axis.set(yticks=range(len(metrics)), xlabel="rank, 1 is best; bars: places that the data leave open (95 %)")
    axis.set_yticklabels([METRICS[metric].title for metric in metrics])
    axis.set_xticks(range(1, len(ranked) + 1))
    axis.set_xlim(0.7, len(ranked) + 0.3)
    axis.set_ylim(len(metrics) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    for row in range(1, len(metrics)):
        axis.axhline(row - 0.5, color="#E3E3E3", linewidth=0.6)
    handles = {label: handle for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside right center")
    return figure


def _metric_heat(found: SystemComparison) -> Figure | None:
    names = [name for name in found.metrics if any(name in (o.one, o.other) for o in found.orders)]
    taus = {(o.one, o.other): o.tau for o in found.orders}
    taus |= {(other, one): tau for (one, other), tau in taus.items()}
    if len(names) < 2:
        return None
    title = f"Order of {found.orders[0].systems} systems: Kendall's tau-b between metrics"
    return _heat([[taus.get((a, b)) for b in names] for a in names], names, title, "tau-b")


# --- judges ----------------------------------------------------------------------------------------------------------


def _judge_heat(found: JudgeComparison) -> Figure | None:
    """Mean kappa of every two judges over the metrics with verdicts."""
    kappas = _kappas(found)
    if not kappas:
        return None
    both = {**kappas, **{(other, one): kappa for (one, other), kappa in kappas.items()}}
    rows = [[both.get((a, b)) for b in found.judges] for a in found.judges]
    metrics = sorted({pair.metric for pair in found.pairs if pair.kappa is not None})
    return _heat(rows, [_short(name) for name in found.judges], f"Cohen's kappa, mean of {', '.join(metrics)}", "kappa")


def _kappas(found: JudgeComparison) -> dict[tuple[str, str], float]:
    values: dict[tuple[str, str], list[float]] = {}
    for pair in found.pairs:
        if pair.kappa is not None:
            values.setdefault((pair.one, pair.other), []).append(pair.kappa.value)
    return {judges: sum(one) / len(one) for judges, one in values.items()}


def _judge_cost(found: JudgeComparison) -> Figure | None:
    """Cost (or tokens, where a price is unknown) a report against the mean agreement with the other judges."""
    kappas = _kappas(found)
    priced = all(one.usd for one in found.spending)
    points = []
    for spent in {one.judge: one for one in found.spending}.values():
        values = [kappa for judges, kappa in kappas.items() if spent.judge in judges]
        if values:
            points.append((spent.judge, spent.usd if priced else spent.tokens, sum(values) / len(values)))
    if not points:
        return None
    figure, axis = _new(5.0, 3.4)
    for judge, cost, value in points:
        place = found.judges.index(judge)
        axis.plot(cost, value, MARKERS[place % len(MARKERS)], color=COLOURS[place % len(COLOURS)], markersize=7)
        axis.annotate(_short(judge), (cost, value), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=8)
    axis.set_xscale("log")
    axis.margins(x=0.3, y=0.25)
    axis.set(xlabel="US dollars a report" if priced else "tokens a report", ylabel="mean kappa with the other judges")
    axis.set_title("Cost against agreement (agreement is not truth)")
    return figure


def _heat(rows: Sequence[Sequence[float | None]], names: Sequence[str], title: str, label: str) -> Figure:
    import numpy as np
    from matplotlib import colormaps

    values = np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=float)
    size = 1.9 + 0.5 * len(names)
    figure, axis = _new(max(size + 0.9, 4.4), max(size, 3.2))
    map_ = colormaps["RdBu"].with_extremes(bad="#EEEEEE")
    image = axis.imshow(values, cmap=map_, vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(values):
        text = "" if row == column else "–" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
        ink = "white" if abs(value) > 0.6 else "black"
        axis.text(column, row, text, ha="center", va="center", color=ink, fontsize=8)
    for edge in range(1, len(names)):
        axis.axhline(edge - 0.5, color="white", linewidth=1.5)
        axis.axvline(edge - 0.5, color="white", linewidth=1.5)
    axis.set(xticks=range(len(names)), yticks=range(len(names)))
    axis.set_xticklabels(names, rotation=35, ha="right", rotation_mode="anchor")
    axis.set_yticklabels(names)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    figure.suptitle(title, fontsize=9)
    figure.colorbar(image, ax=axis, shrink=0.8, label=label)
    return figure


# --- people ----------------------------------------------------------------------------------------------------------


def _calibration(study: HumanStudy) -> Figure:
    figure, axis = _new(4.2, 3.8)
    axis.plot((0, 1), (0, 1), color="#999999", linewidth=0.8, linestyle="--", label="perfect")
    words = {"ours": "dream-eval", "plain": "plain prompt"}
    tried = [one for one in study.methods if one.method in words and one.curve]
    for number, one in enumerate(tried):
        shift = 0.012 * (number - (len(tried) - 1) / 2)
        x, y = [bin.confidence + shift for bin in one.curve], [bin.truth for bin in one.curve]
        ends = [[bin.truth - bin.low for bin in one.curve], [bin.high - bin.truth for bin in one.curve]]
        look = {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 5.5, "linewidth": 1.2}
        axis.errorbar(x, y, yerr=ends, capsize=2.5, label=f"{words[one.method]} (error {one.error:.2f})", **look)
    axis.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xlabel="judge says", ylabel="people say")
    axis.set_title(f"{_short(study.judge)}: {_short(study.data)}, n = {tried[0].n if tried else 0}")
    axis.legend(loc="upper left")
    return figure
