"""The table of scores: no figure is ever cut, whatever the width."""

from __future__ import annotations

import datetime as dt
import io

import pytest
from dream_eval.cli.table import show_summary
from dream_eval.core import AsOf, Coverage, Interval, Status
from dream_eval.ledger import Totals
from dream_eval.protocols.catalogue import METRICS
from dream_eval.runs.data import RunState
from dream_eval.runs.summary import ReportSummary, Score, Summary
from rich.console import Console


def score(metric: str, value: float) -> Score:
    return Score(
        metric=metric,
        judge="j",
        vertical=METRICS[metric].vertical,
        status=Status.SCORED,
        score=value,
        interval=Interval(low=value - 9, high=value + 9, kind="wilson"),
        coverage=Coverage(decided=1234, checked=5678),
        ranked=False,
    )


def summary(reports: int) -> Summary:
    made = tuple(
        ReportSummary(
            task=f"t{n}",
            report="a-name-that-is-rather-long",
            name=f"a-name-that-is-rather-long#t{n}",
            scores=tuple(score(metric, 10.0 * n + 11) for metric in METRICS),
            expected=6,
            scored=6,
            not_applicable=0,
            failed=0,
            coverage=1.0,
            below_floor=True,
        )
        for n in range(reports)
    )
    return Summary(
        run="r",
        state=RunState.FINISHED,
        as_of=AsOf(day=dt.date(2026, 5, 1)),
        judges=("j",),
        reports=made,
        expected=6 * reports,
        scored=6 * reports,
        not_applicable=0,
        failed=0,
        coverage=1.0,
        floor=0.9,
        totals=Totals(),
    )


@pytest.mark.parametrize("reports", [1, 2, 5])
@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
def test_no_figure_is_cut_at_any_width(reports: int, width: int) -> None:
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, markup=False, highlight=False)
    show_summary(console, summary(reports))
    lines = file.getvalue().splitlines()
    for n in range(reports):
        value = 10.0 * n + 11
        cell = f"{value:.1f} [{value - 9:.0f}–{value + 9:.0f}]"
        assert sum(line.count(cell) for line in lines) == len(METRICS), (cell, lines)
    assert sum(line.count("1234/5678 thin") for line in lines) == reports * len(METRICS)
    assert "…" not in "".join(line for line in lines if "1234/5678" in line)
    assert sum(line.count("6/6 below floor") for line in lines) == reports


def test_flags_are_told_in_words_and_once() -> None:
    made = summary(2)
    flagged = tuple(
        report.model_copy(
            update={"scores": (report.scores[0].model_copy(update={"flags": ("thin", "windowed", "new_flag")}),)}
        )
        for report in made.reports
    )
    file = io.StringIO()
    show_summary(Console(file=file, width=300, color_system=None), made.model_copy(update={"reports": flagged}))
    said = [line for line in file.getvalue().splitlines() if "read in parts" in line]
    assert len(said) == 1
    assert "#t0 wq" in said[0]
    assert "#t1 wq" in said[0]
    assert "new_flag" in file.getvalue()


def test_three_reports_are_a_table_on_an_ordinary_terminal() -> None:
    file = io.StringIO()
    show_summary(Console(file=file, width=80, color_system=None, markup=False, highlight=False), summary(3))
    lines = file.getvalue().splitlines()
    assert sum("11.0 [2–20]" in line and "31.0 [22–40]" in line for line in lines) == len(METRICS)


def test_the_table_is_a_table_where_it_fits_and_tells_reports_apart() -> None:
    for width, title in ((110, True), (60, False)):
        file = io.StringIO()
        show_summary(Console(file=file, width=width, color_system=None, markup=False, highlight=False), summary(2))
        head = "".join(file.getvalue().splitlines()[1:3])
        assert "metric" in head
        assert "#t0" in head
        assert "#t1" in head
        assert (METRICS["wq"].title in file.getvalue()) is title
        assert ("wq: writing quality" in file.getvalue()) is not title
