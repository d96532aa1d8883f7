"""What code can tell of a candidate, so that no model is asked: length, language, period, product, placeholders."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from ..reports import word_count
from .languages import Tongue, speaks, years_in

FEWEST_WORDS, MOST_WORDS = 10, 50
OLD = 2
"""A period that ended this many years before the as-of year, or earlier, needs no current knowledge."""
_PLACEHOLDER = re.compile(
    r"[\[{<]\s*[^\W\d][\w ,/-]*[\]}>]|\b(?:XXX+|XYZ|TBD|lorem ipsum)\b|(?:_{3,}|\.{4,})", re.IGNORECASE
)


@dataclass(frozen=True)
class Fault:
    """A rule that a text breaks."""

    rule: str
    """Stable name, for counting."""
    words: str
    """What is wrong, so that its author can mend it."""


def fault_of(prompt: str, tongue: Tongue, day: dt.date) -> Fault | None:
    """The first rule that a task breaks, or None.

    In order: ``too_short``, ``too_long`` (10 to 50 words; CJK text counts two characters as a word),
    ``wrong_language``, ``placeholder``, ``no_period`` (neither a year nor a word for the present), ``old_period`` (all
    named years lie two or more before ``day`` and nothing leaves the period open), ``no_product`` (nothing to deliver
    is named).
    """
    words = word_count(prompt)
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        rule = "too_short" if words < FEWEST_WORDS else "too_long"
        return Fault(rule, f"it has {words} words, not {FEWEST_WORDS} to {MOST_WORDS}")
    if not speaks(prompt, tongue.tag):
        return Fault("wrong_language", f"it is not in {tongue.name}")
    if found := _PLACEHOLDER.search(prompt):
        return Fault("placeholder", f"{found[0]!r} is a placeholder")
    return _period_fault(prompt, tongue, day) or _product_fault(prompt, tongue)


def _period_fault(prompt: str, tongue: Tongue, day: dt.date) -> Fault | None:
    years = years_in(prompt)
    if tongue.now.search(prompt):
        return None
    if not years:
        return Fault("no_period", "it names no period of time")
    if max(years) <= day.year - OLD:
        return Fault("old_period", f"its period ended in {max(years)}, so it needs nothing new")
    return None


def _product_fault(prompt: str, tongue: Tongue) -> Fault | None:
    if tongue.products.search(prompt):
        return None
    return Fault("no_product", "it names nothing to deliver (a report, a table, a timeline …)")


def period_of(prompt: str, tongue: Tongue) -> str:
    """What binds a task in time: its years, else its word for the present; empty when there is neither."""
    years = sorted(set(years_in(prompt)))
    if years:
        return str(years[0]) if len(years) == 1 else f"{years[0]} to {years[-1]}"
    found = tongue.now.search(prompt)
    return found[0] if found else ""
