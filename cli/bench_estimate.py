"""What a benchmark would take before anything is collected: by system what is known and what is not, and the judge."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path

from ..agents.research.benches import Expected, expected
from ..agents.research.files import read_profiles
from ..core import Task
from ..reports import Report, read_report
from ..runs.plan import Plan
from .expect import expected_line
from .text import one_line

STAND_IN_SENTENCES = 60
"""Of a report that is still to be written: about 1,200 words, each sentence with a source of its own."""


def system_lines(
    name: str, way: str, missing: int, tasks: int, *, earlier: Sequence[Path], seconds: float, jobs: int, seen: bool
) -> list[str]:
    """What is known of a system that is to write reports. ``seconds``: limit of one; ``seen``: its model calls are
    counted, so that a budget holds for them."""
    worst = seconds * ceil(missing / jobs)
    lines = [
        f"{name} is to write {missing} of {tasks} reports: {way}",
        f"{name}: time is at worst {_time(worst)} (at most {_time(seconds)} a report, {jobs} at a time)",
    ]
    found = expected([profile for path in earlier for profile in read_profiles(path).values()])
    lines += [f"{name}: {_measured(found, missing, jobs)}"]
    if found is None or found.cost_usd is None:
        limit = (
            "--budget-usd and --budget-tokens hold for it" if seen else "its model calls are not seen: no budget holds"
        )
        lines.append(f"{name}: cost is not known before; {limit}")
    return [one_line(line) for line in lines]


def _measured(found: Expected | None, missing: int, jobs: int) -> str:
    """What earlier reports of the system took, and what the missing ones would at that rate."""
    if found is None:
        return "no earlier report of it says what it takes"
    rates = [(found.seconds, _time, max(1, min(jobs, missing))), (found.tokens, _tokens, 1), (found.cost_usd, _usd, 1)]
    parts = [
        f"{show(mean)} each, {show(mean * missing / share)} in all" for mean, show, share in rates if mean is not None
    ]
    return f"measured on {found.reports} earlier reports of it (means): {'; '.join(parts)}"


def stand_ins(tasks: Sequence[Task]) -> list[Report]:
    """Reports of usual length in place of those still to be written, so that judging can be estimated."""
    text = "\n".join(
        f"Statement {n} of the report gives a finding, a figure of {n} percent and the year in which it was so "
        f"[{n}](https://example.org/{n})."
        for n in range(1, STAND_IN_SENTENCES + 1)
    )
    return [read_report(text, id="stand-in", task_id=task.id, prompt=task.prompt) for task in tasks]


def judging_line(plan: Plan) -> str:
    """What judging the reports to be written would take."""
    return f"judging them, if they are about 1,200 words long: {expected_line(plan)}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tokens(number: float) -> str:
    return f"{number:,.0f} tokens"


def _usd(number: float) -> str:
    return f"US$ {number:.3f}"
