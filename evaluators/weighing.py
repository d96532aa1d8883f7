"""What scoring by a rubric shares: criteria in batches, scores of 0–10, and how they are weighed (METRICS 8, 9).

A criterion without a score is missing: the others of its dimension share its weight. A dimension without any score has
no value, and no total is made without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from ..models import ChatModel
from ..protocols.rubric import Criterion, Dimension, Rubric

BATCH = 40
"""Criteria in one call, at most."""
ANSWER_TOKENS = 70
"""Output tokens that one criterion's answer may take."""
HEAD_TOKENS = 400
"""Kept free for what stands around texts and criteria."""

# The bands are the original's [paper], so that scores can be compared with its own; the judge never sees a weight.
SCALE = (
    "0 to 2 very poor, 2 to 4 poor, 4 to 6 fair, 6 to 7.5 good, 7.5 to 9 very good, 9 to 10 excellent; one decimal. "
    "Most reports lie between 4 and 8."
)


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number from 0 to 10 is needed")
    return value


Score = Annotated[float, BeforeValidator(_no_bool), Field(ge=0, le=10, allow_inf_nan=False)]
"""A score as a judge gives it."""

Why = Annotated[str, BeforeValidator(lambda value: " ".join(value.split())[:300] if isinstance(value, str) else value)]
"""A judge's reason; long ones are cut."""


def listed(dimensions: Sequence[Dimension], wanted: frozenset[str]) -> str:
    """The criteria with these ids under their dimensions, without weights."""
    lines = []
    for dimension in dimensions:
        criteria = [criterion for criterion in dimension.criteria if criterion.id in wanted]
        if criteria:
            lines.append(f"{dimension.name}{f' ({dimension.definition})' if dimension.definition else ''}:")
            lines += map(line_of, criteria)
    return "\n".join(lines)


def line_of(criterion: Criterion) -> str:
    """One criterion as a line."""
    return f"{criterion.id}: {criterion.text}{f' ({criterion.explanation})' if criterion.explanation else ''}"


def batches(rubric: Rubric, judge: ChatModel, room: int) -> list[tuple[str, ...]]:
    """Ids of the criteria that are asked about together: all of them where question and answer fit in ``room`` tokens.

    The embedded judge is asked about one dimension at a time: in long answers it goes on as it began.
    """
    if judge.embedded:
        return [tuple(criterion.id for criterion in dimension.criteria) for dimension in rubric.dimensions]
    found: list[list[str]] = [[]]
    used = 0
    for criterion in rubric.criteria:
        cost = judge.count(line_of(criterion)) + ANSWER_TOKENS
        if found[-1] and (used + cost > room or len(found[-1]) >= BATCH):
            found.append([])
            used = 0
        found[-1].append(criterion.id)
        used += cost
    return [tuple(batch) for batch in found]


def dimension_scores(rubric: Rubric, scores: Mapping[str, float]) -> dict[str, float | None]:
    """``S_d = Σ w·s / Σ w`` over the criteria with a score, by the dimension's name; None where none has one."""
    found: dict[str, float | None] = {}
    for dimension in rubric.dimensions:
        pairs = [(one.weight, scores[one.id]) for one in dimension.criteria if one.id in scores]
        found[dimension.name] = _mean(pairs) if pairs else None
    return found


def missing_dimensions(found: Mapping[str, float | None]) -> str:
    """Names of the dimensions without a value; empty where all have one."""
    return ", ".join(name for name, value in found.items() if value is None)


def total(rubric: Rubric, found: Mapping[str, float | None], *, specific: bool | None = None) -> float | None:
    """``S = Σ W·S_d`` over all dimensions, or the mean by weight over the task-specific or the general ones.

    None where one of them has no value, or there are none.
    """
    chosen = [d for d in rubric.dimensions if specific is None or d.specific is specific]
    pairs = [(d.weight, value) for d in chosen if (value := found.get(d.name)) is not None]
    return _mean(pairs) if pairs and len(pairs) == len(chosen) else None


def _mean(pairs: Sequence[tuple[float, float]]) -> float:
    return math.fsum(weight * value for weight, value in pairs) / math.fsum(weight for weight, _ in pairs)


def by_length(values: Sequence[tuple[float, int]]) -> float:
    """The mean over windows, each by its length in characters."""
    return _mean([(length, value) for value, length in values])
