"""How well a judge agrees with people, as measured; shown wherever its scores are.

The figures stand in ``measured.json`` beside this file, one object a measurement.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from ..core import Frozen
from .calibrated import calibrations

DATA = Path(__file__).with_name("measured.json")


class Agreement(Frozen):
    """One measurement of one judge on labelled data."""

    judge: str
    """Its name as a run shows it, or its endpoint (``local:<sha256>``)."""
    what: str
    """What was judged, in words: ``support verdicts of claim and passage`` …"""
    data: str
    """The labelled set, with its part."""
    measure: str
    """``balanced accuracy``, ``accuracy``, ``Cohen's kappa`` …"""
    value: float
    chance: float | None = None
    """What guessing reaches by the same measure, where known."""
    n: int = Field(gt=0)
    date: dt.date

    def line(self) -> str:
        """In a line for people."""
        chance = "" if self.chance is None else f" (guessing: {self.chance:.2f})"
        return f"{self.what}: {self.measure} {self.value:.2f}{chance} on {self.data}, n = {self.n}, {self.date}"


def agreement_of(judge: str, *, endpoint: str | None = None, path: Path = DATA) -> tuple[Agreement, ...]:
    """All measurements of a judge, by its name or endpoint: the user's own (:mod:`.calibrated`), and those that come
    with the product; empty: nobody has measured it.

    Raises ValueError when the data file is not what it should be.
    """
    rows = [Agreement.model_validate(row) for row in json.loads(path.read_text())]
    return (*_own(judge, endpoint), *(row for row in rows if row.judge in {judge, endpoint}))


def _own(judge: str, endpoint: str | None) -> Iterator[Agreement]:
    """The user's calibration records; a stale one says so."""
    for record in calibrations(judge, endpoint):
        stale, sample = record.stale(), f"; {record.sampled}" if record.sampled else ""
        yield Agreement(
            judge=judge,
            what=record.what + (f" (STALE, measure again: {stale})" if stale else ""),
            data=f"{record.data}{sample}",
            measure=record.figures[0].measure,
            value=record.figures[0].value,
            chance=record.figures[0].guessing,
            n=record.n,
            date=record.date,
        )
