"""What an evaluation will take, from stated defaults: said before anything is asked.

The figures are for orientation (usually within a factor of two) and err on the high side: pages and papers differ.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..protocols.schema import Mode

EMBEDDED_PROMPT_PER_S = 88.0
"""Prompt tokens a second of the embedded judge on 2 cores, as measured."""
EMBEDDED_NEW_PER_S = 30.0
"""New tokens a second of the embedded judge on 2 cores, as measured."""
HOSTED_CALL_S = 4.0
"""Assumed seconds a call of a hosted judge."""
HOSTED_IN_FLIGHT = 8
"""Assumed calls at once of a hosted judge."""
INSTRUCTIONS = 350
"""Tokens of instructions and schema in a prompt."""
PASSAGE = 250
"""Tokens of one passage shown to a judge."""


@dataclass(frozen=True)
class Shape:
    """What counts of a report."""

    tokens: int
    claims: int
    """Check-worthy claims expected, after ``--max-claims``."""
    pages: int
    """Distinct cited pages."""


@dataclass(frozen=True)
class Load:
    """Calls and tokens of one piece of work. ``fresh``: prompt tokens that no prefix cache serves."""

    calls: int = 0
    prompt: int = 0
    fresh: int = 0
    new: int = 0
    lookups: int = 0
    """Searches and pages."""

    def __add__(self, other: Load) -> Load:
        return Load(
            self.calls + other.calls,
            self.prompt + other.prompt,
            self.fresh + other.fresh,
            self.new + other.new,
            self.lookups + other.lookups,
        )

    def times(self, n: int) -> Load:
        """``n`` of it."""
        return Load(self.calls * n, self.prompt * n, self.fresh * n, self.new * n, self.lookups * n)

    def scaled(self, share: float) -> Load:
        """This share of it, in [0, 1]."""
        parts = (self.calls, self.prompt, self.fresh, self.new, self.lookups)
        return Load(*(math.ceil(part * share) for part in parts))

    def seconds(self, *, embedded: bool) -> float:
        """Expected wall time."""
        if embedded:
            return self.fresh / EMBEDDED_PROMPT_PER_S + self.new / EMBEDDED_NEW_PER_S
        return math.ceil(self.calls / HOSTED_IN_FLIGHT) * HOSTED_CALL_S


def protocol_load(mode: Mode, *, questions: int, reasoning: int) -> Load:
    """Making one protocol."""
    items = questions + reasoning
    if mode is Mode.STATIC:
        return Load(2, 2 * INSTRUCTIONS, 2 * INSTRUCTIONS, 70 * items)
    if mode is Mode.GUIDED:
        return Load(2 + items, items * 450, items * 450, 80 * items, lookups=12)
    return Load(14, 14 * 4500, 14 * 1500, 14 * 250 + 70 * items, lookups=20)


def report_load(shape: Shape, metrics: Collection[str], mode: Mode, *, questions: int, reasoning: int) -> Load:
    """All metrics of one report. The report is read once afresh; further prompts share it as their beginning."""
    total = Load(fresh=shape.tokens if {"wq", "kic", "rq", "factuality", "ci"} & set(metrics) else 0)
    if {"factuality", "ci"} & set(metrics):
        total += _reading(shape, new=70 * shape.claims)
    for metric in metrics:
        total += _metric_load(metric, shape, mode, questions=questions, reasoning=reasoning)
    return total


def _reading(shape: Shape, *, new: int, calls: int = 1) -> Load:
    return Load(calls, calls * (shape.tokens + INSTRUCTIONS), calls * INSTRUCTIONS, new)


def _metric_load(metric: str, shape: Shape, mode: Mode, *, questions: int, reasoning: int) -> Load:
    if metric == "wq":
        return _reading(shape, new=160)
    if metric == "kic":
        return _reading(shape, new=25 * questions)
    if metric == "rq" and mode is Mode.AGENT:
        return Load(6, 6 * (shape.tokens + 2000), 6 * 900, 6 * 250, lookups=5).times(reasoning)
    if metric == "rq":
        return (_reading(shape, new=110) + Load(1, 900, 900, 110, lookups=3)).times(reasoning)
    if metric == "factuality":
        return Load(3, 3 * (PASSAGE + INSTRUCTIONS), 3 * PASSAGE + INSTRUCTIONS, 60, lookups=4).times(shape.claims)
    if metric == "ci":
        return Load(1, 3 * PASSAGE + INSTRUCTIONS, 3 * PASSAGE, 40, lookups=1).times(shape.pages)
    return Load(1, INSTRUCTIONS + 20 * shape.pages, INSTRUCTIONS, 20 * max(1, shape.pages))


def expected_claims(sentences: int, max_claims: int | None) -> int:
    """Check-worthy claims of a report with so many sentences: about two in three of them carry one."""
    found = math.ceil(sentences * 2 / 3)
    return found if max_claims is None else min(found, max_claims)


def total_load(
    shapes: Sequence[Shape],
    metrics: Collection[str],
    mode: Mode,
    *,
    protocols: int,
    questions: int,
    reasoning: int,
) -> Load:
    """A whole evaluation in which ``protocols`` protocols are still to be made."""
    total = Load()
    for shape in shapes:
        total += report_load(shape, metrics, mode, questions=questions, reasoning=reasoning)
    return total + protocol_load(mode, questions=questions, reasoning=reasoning).times(protocols)
