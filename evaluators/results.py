"""What an evaluator says of a report: a status, a score with its coverage, and every item behind it."""

from __future__ import annotations

import datetime as dt

from pydantic import Field, model_validator

from ..core import Coverage, Dating, Frozen, Interval, Json, Outcome, Status

LOST = "call_failed"
"""Flag of an item that could not be checked because a call or an agent failed: asking again may help."""


class Evidence(Frozen):
    """A quote, copied by code out of a stored page or out of the report itself."""

    url: str | None = None
    """None: the report under test."""
    quote: str
    start: int | None = None
    end: int | None = None
    """Offsets into the page's or the report's text."""
    stance: str | None = None
    """``supports``, ``refutes``, ``neither``; None where no stance was asked for."""
    published: dt.date | None = None
    dating: Dating = Dating.UNKNOWN
    key: str | None = None
    """Ledger key of the page."""


class Item(Frozen):
    """One claim, pair, question, criterion or domain, and what was found out about it."""

    id: str
    text: str
    outcome: Outcome | None = None
    value: float | None = None
    """A score where the metric has one an item (WQ 1–5, DA 1–10, RQ 0–20)."""
    evidence: tuple[Evidence, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    """Why, in a line: the judge's words, or the rule or failure."""
    calls: tuple[str, ...] = ()
    """Ledger keys of the model calls behind it."""
    detail: dict[str, Json] = Field(default_factory=dict)
    """What only this metric has (queries asked, named flaws, page state …)."""


class MetricResult(Frozen):
    """How one metric of one report by one judge ended."""

    metric: str
    version: int
    """Version of the metric's prompts and rules."""
    status: Status
    score: float | None = Field(default=None, ge=0, le=100)
    interval: Interval | None = None
    coverage: Coverage | None = None
    reason: str = ""
    """The rule (not applicable) or the reason (failed)."""
    flags: tuple[str, ...] = ()
    parts: dict[str, float | None] = Field(default_factory=dict)
    """Named parts and bounds, 0–100 unless said otherwise: ``ca``, ``cf``, ``cf_low`` …"""
    counts: dict[str, int] = Field(default_factory=dict)
    items: tuple[Item, ...] = ()

    @property
    def settled(self) -> bool:
        """Nothing in it was lost to a failed call; otherwise the same command tries again."""
        return self.status is not Status.FAILED and not any(LOST in item.flags for item in self.items)

    @model_validator(mode="after")
    def _no_number_without_a_score(self) -> MetricResult:
        if (self.status is Status.SCORED) != (self.score is not None):
            raise ValueError(f"status {self.status} with score {self.score}")
        if self.status is not Status.SCORED and not self.reason:
            raise ValueError(f"status {self.status} needs a reason")
        return self
