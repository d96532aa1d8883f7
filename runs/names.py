"""What reports are called where people read: by their own name, with the task where that alone is not enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

Place = tuple[str, str]
"""Ids of a task and of a report on it."""


def names_of(places: Iterable[Place]) -> dict[Place, str]:
    """A name for each place, no two the same: ``report``, or ``report#task`` where several tasks have such a report."""
    distinct = dict.fromkeys(places)
    seen = Counter(report for _, report in distinct)
    return {(task, report): report if seen[report] == 1 else f"{report}#{task}" for task, report in distinct}
