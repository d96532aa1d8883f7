"""What an evaluation will take, from stated defaults: said before anything is asked.

The figures are for orientation: those of the embedded judge were measured on the demo, those of hosted judges are
assumptions, and pages differ in length.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

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
CRITERION_NEW = 30
"""Tokens of a reply, a criterion of a rubric."""
CLAIMS = frozenset({"factuality", "ci", "dre_facts"})
"""Metrics that look at the claim list."""


LIKELY = 0.75
"""Tokens of a report over the upper bound that is counted without a tokeniser."""


@dataclass(frozen=True)
class Rates:
    """What one piece of work takes, in calls and tokens."""

    labels: float
    """Calls a claim of Factuality: one, or one a passage that is labelled."""
    label_prompt: int
    label_fresh: int
    """What no prefix cache serves of it."""
    label_new: int
    page_calls: int
    """Calls a cited page of CI."""
    page_prompt: int
    page_fresh: int
    page_new: int
    """Reply, a call."""
    claim_new: int
    """Reply of the claim extraction, a claim; 0: no model is asked."""
    domain_prompt: int
    domain_fresh: int
    domain_new: int


EMBEDDED = Rates(3.5, 218, 94, 1, 2, 218, 94, 1, 0, 150, 27, 14)
"""As measured on the demo: 8 claims a report, short pages; two questions a label, whose beginning is shared."""
HOSTED = Rates(1, 1150, 1150, 100, 1, 2500, 2500, 60, 70, 250, 30, 20)
"""Longer passages, all of a claim in one call, and whole pages where they fit.

A label is as measured with o200k_base: on the claims and pages of WiCE (90, each claim with its own page and three
others, four passages of four sentences) 1,148 tokens of prompt and schema and 98 of the reply; against the scripted
endpoint, ``benchmarks/runs.py tokens``, 1,026 and 85. Pages and domains there: 1,871 and 239 a call; cited pages are
often longer than that. No prefix cache serves a label: only the instructions are shared.
"""


@dataclass(frozen=True)
class Shape:
    """What counts of a report."""

    tokens: int
    claims: int
    """Check-worthy claims expected, after ``--max-claims``."""
    pages: int
    """Distinct cited pages."""

    def limited(self, max_claims: int | None) -> Shape:
        """The same where only so many claims are checked."""
        return self if max_claims is None else replace(self, claims=min(self.claims, max_claims))


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
            return embedded_seconds(self.fresh, self.new)
        return math.ceil(self.calls / HOSTED_IN_FLIGHT) * HOSTED_CALL_S

    def sequential(self, *, embedded: bool) -> float:
        """Seconds that its calls take one after another."""
        return self.seconds(embedded=True) if embedded else self.calls * HOSTED_CALL_S


def embedded_seconds(fresh: float, new: float) -> float:
    """What the embedded judge needs for so many prompt tokens that no prefix cache serves, and new ones."""
    return fresh / EMBEDDED_PROMPT_PER_S + new / EMBEDDED_NEW_PER_S


def protocol_load(mode: Mode, *, questions: int, reasoning: int) -> Load:
    """Making one protocol."""
    items = questions + reasoning
    if mode is Mode.STATIC:
        return Load(1, INSTRUCTIONS, INSTRUCTIONS, 110 * items)
    if mode is Mode.GUIDED:
        return Load(6, 200 * items, 120 * items, 140 * items, lookups=13)
    return Load(10, 10 * 6000, 10 * 1500, 10 * 200 + 120 * items, lookups=20)


def report_load(
    shape: Shape, metrics: Collection[str], mode: Mode, *, questions: int, reasoning: int, embedded: bool = False
) -> Load:
    """All metrics of one report, its claim list included."""
    pieces = (*metrics, "claims") if CLAIMS & set(metrics) else tuple(metrics)
    total = Load()
    for piece in pieces:
        total += piece_load(piece, shape, mode, questions=questions, reasoning=reasoning, embedded=embedded)
    return total


def piece_load(what: str, shape: Shape, mode: Mode, *, questions: int, reasoning: int, embedded: bool = False) -> Load:
    """One piece of work: a metric of a report, its ``claims``, or a task's ``protocol`` or rubric.

    The report is read once afresh, which is counted with ``wq``; further prompts share it as their beginning.
    """
    rates = EMBEDDED if embedded else HOSTED
    if what == "protocol":
        return protocol_load(mode, questions=questions, reasoning=reasoning)
    if what.endswith("rubric"):
        return Load(2, 2 * INSTRUCTIONS, 2 * INSTRUCTIONS, 1400)
    if what == "claims":
        return _reading(shape, new=rates.claim_new * shape.claims) if rates.claim_new else Load()
    if what == "wq":
        return Load(fresh=shape.tokens) + _reading(shape, new=60)
    if what == "kic":
        return _reading(shape, new=20 * questions)
    if what == "rq":
        return _question_load(shape, mode).times(reasoning)
    if what == "factuality":
        return _label_load(rates, shape.claims)
    if what in ("ci", "fact"):
        pages = min(shape.pages, shape.claims) if what == "ci" else shape.pages
        one = Load(1, rates.page_prompt, rates.page_fresh, rates.page_new)
        return replace(one.times(pages * rates.page_calls), lookups=pages)
    return _peer_load(what, shape, rates, mode)


def _peer_load(what: str, shape: Shape, rates: Rates, mode: Mode) -> Load:
    if what == "dre_quality":
        return _reading(shape, new=CRITERION_NEW * 20)
    if what == "race":
        return _reading(Shape(2 * shape.tokens, 0, 0), new=2 * CRITERION_NEW * 20, calls=2)
    if what == "dre_facts":
        return _question_load(Shape(0, 0, 0), mode).times(shape.claims)
    return Load(1, rates.domain_prompt, rates.domain_fresh, rates.domain_new).times(max(1, shape.pages))


def _reading(shape: Shape, *, new: int, calls: int = 1) -> Load:
    return Load(calls, calls * (shape.tokens + INSTRUCTIONS), calls * INSTRUCTIONS, new)


def _question_load(shape: Shape, mode: Mode) -> Load:
    if mode is Mode.AGENT:
        return Load(4, 4 * 5000, 4 * 1500, 4 * 200, lookups=4)
    return Load(1, shape.tokens + 2 * INSTRUCTIONS, 2 * INSTRUCTIONS, 150, lookups=5)


def _label_load(rates: Rates, claims: int) -> Load:
    calls = math.ceil(rates.labels * claims)
    return replace(Load(1, rates.label_prompt, rates.label_fresh, rates.label_new).times(calls), lookups=5 * claims)


def expected_claims(sentences: int, max_claims: int | None = None) -> int:
    """Check-worthy claims of a report with so many sentences: about two in three of them carry one."""
    found = math.ceil(sentences * 2 / 3)
    return found if max_claims is None else min(found, max_claims)
