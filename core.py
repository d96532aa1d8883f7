"""What every layer shares: tasks, the as-of date, outcomes, page states, coverage.

(Not called ``types.py``: at the root of the repository that name would shadow the standard library's
module for ``python -m …`` started there.)
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Json = JsonValue
"""A value that JSON can carry."""


class Frozen(BaseModel):
    """Base of all plain data: immutable, unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Task(Frozen):
    """A research task: the query that a report answers."""

    id: str = Field(min_length=1)
    prompt: str = Field(min_length=1)
    language: str | None = None
    """BCP 47 tag such as ``en`` or ``zh``; None: detected from the prompt where it matters."""
    topic: str | None = None
    as_of: dt.date | None = None


class Dating(StrEnum):
    """Where a piece of evidence lies in time, seen from the as-of date."""

    BEFORE = "before"
    """Dated on or before the as-of date."""
    AFTER = "after"
    """Dated after it: listed, never decides."""
    UNKNOWN = "unknown"
    """No date found: may decide, and is flagged."""


class AsOf(Frozen):
    """The day as of which everything is judged. One value flows through a whole run."""

    day: dt.date
    given: bool = True
    """False: nobody asked for a date; it is the day on which the run was started."""

    def place(self, published: dt.date | None) -> Dating:
        """Say whether something published on ``published`` lies before or after this day."""
        if published is None:
            return Dating.UNKNOWN
        return Dating.BEFORE if published <= self.day else Dating.AFTER


class Status(StrEnum):
    """How a unit (report, metric, judge, repeat) ended. No failure ever becomes a number."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"


class Outcome(StrEnum):
    """What was found out about one item (claim, pair, question)."""

    SUPPORTED = "supported"
    PARTLY = "partly_supported"
    CONTRADICTED = "contradicted"
    CONFLICTING = "conflicting"
    UNDECIDED = "undecided"
    """Looked, and found nothing decisive."""
    NOT_CHECKED = "could_not_check"
    """Could not look. Never counted as unsupported."""
    YES = "yes"
    NO = "no"


class PageState(StrEnum):
    """What came of reading a page."""

    OK = "ok"
    GONE = "gone"
    """404, 410, no such host. Judged: not supported in CF, ignored in Factuality."""
    BLOCKED = "blocked"
    PAYWALLED = "paywalled"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    NOT_TEXT = "not_text"


class SearchState(StrEnum):
    """What came of a search. Only ``OK`` and ``EMPTY`` say anything about the world."""

    OK = "ok"
    EMPTY = "empty"
    BLOCKED = "blocked"
    OUT_OF_CREDIT = "out_of_credit"
    FAILED = "failed"


class Coverage(Frozen):
    """Items decided out of items checked."""

    decided: int = Field(ge=0)
    checked: int = Field(ge=0)

    @property
    def share(self) -> float | None:
        """Share decided in [0, 1]; None when there was nothing to check."""
        return self.decided / self.checked if self.checked else None

    @property
    def thin(self) -> bool:
        """Fewer than 5 decided items, or under half: shown and not ranked (METRICS 0)."""
        return self.decided < 5 or 2 * self.decided < self.checked


class Interval(Frozen):
    """A 95 % interval of a score on the 0–100 scale, or just the range where no interval is honest."""

    low: float
    high: float
    kind: Literal["wilson", "bootstrap", "range"]
