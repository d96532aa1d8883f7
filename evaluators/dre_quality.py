"""DeepResearchEval's point-wise quality: a task's own rubric, each criterion 0–10 (METRICS 8). No tools.

``S_d = Σ w·s / Σ w`` over a dimension's criteria, ``S = Σ W_d·S_d``; the score is ``10·S``. All criteria are asked
about in one call where the context allows, behind the head that all metrics share, and without their weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ..core import Coverage, Json, Outcome
from ..models import ChatModel, ask, report_prompt
from ..protocols.rubric import Criterion, Dimension, Rubric
from ..reports import numbered
from ..stats import score_range
from ..tools import Toolbox
from .asking import Given, Pointers, answers_to, rows_of
from .base import FAILURES, Case, Results, Settings, first_reason, flags_of, lost, quotes, together, windows
from .results import Item, MetricResult
from .weighing import (
    ANSWER_TOKENS,
    HEAD_TOKENS,
    SCALE,
    Score,
    Why,
    batches,
    by_length,
    dimension_scores,
    listed,
    missing_dimensions,
    total,
)

VERSION = 1
RESULTS = Results("dre_quality", VERSION)

# The reason stands before the score: what is written first is what the score then follows from.
QUESTION = """\
Score the report on each criterion, 0 to 10: {scale}
{criteria}
For each: why, in at most fifteen words; the score; the numbers of up to three sentences that it rests on."""

PLAIN_QUESTION = """\
Score the report on each criterion, 0 to 10: {scale}
{criteria}"""


class Mark(BaseModel):
    """The judge's answer on one criterion."""

    why: Why = ""
    score: Score
    sentences: Pointers = ()


class PlainMark(BaseModel):
    """The embedded judge's answer on one criterion."""

    score: Score


@dataclass(frozen=True)
class Seen:
    """One criterion in one window of the report."""

    mark: Mark | None
    numbers: tuple[int, ...]
    """The sentences that were shown."""
    length: int
    """Characters of the window; its weight."""
    calls: tuple[str, ...] = ()
    error: Exception | None = None


async def point_wise_quality(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Score the report by its task's rubric. Fails when a whole dimension has no score."""
    del toolbox, settings
    assert case.rubric is not None
    parts = windows(case.report, case.task, judge)
    if not parts[0]:
        return RESULTS.not_applicable("empty_report")
    answered = await together(
        _asked(batch, numbers, case, judge) for numbers in parts for batch in _batches(numbers, case, judge)
    )
    seen: dict[str, list[Seen]] = {criterion.id: [] for criterion in case.rubric.criteria}
    for group in answered:
        for id, one in group.items():
            seen[id].append(one)
    return score(seen, case, windowed=len(parts))


def _batches(numbers: tuple[int, ...], case: Case, judge: ChatModel) -> list[tuple[str, ...]]:
    assert case.rubric is not None
    used = judge.count(numbered(case.report, numbers)) + judge.count(case.task.prompt) + HEAD_TOKENS
    return batches(case.rubric, judge, judge.context - used)


async def _asked(batch: tuple[str, ...], numbers: tuple[int, ...], case: Case, judge: ChatModel) -> dict[str, Seen]:
    """The scores of some criteria in one window. A call that fails for good loses just these."""
    assert case.rubric is not None
    text = numbered(case.report, numbers)
    form: type[Given] = answers_to(batch, PlainMark) if judge.embedded else rows_of(batch, Mark)
    question = PLAIN_QUESTION if judge.embedded else QUESTION
    asked = question.format(scale=SCALE, criteria=listed(case.rubric.dimensions, frozenset(batch)))
    messages = report_prompt(case.task.prompt, text, asked)
    try:
        answer = await ask(judge, messages, form, max_tokens=80 + ANSWER_TOKENS * len(batch))
    except FAILURES as error:
        return {id: Seen(None, numbers, len(text), error=error) for id in batch}
    return {id: Seen(_mark(answer.value.on(id)), numbers, len(text), answer.calls) for id in batch}


def _mark(given: Any) -> Mark | None:
    return Mark(score=given.score) if isinstance(given, PlainMark) else given


# --- the score -------------------------------------------------------------------------------------------------------


def score(seen: Mapping[str, Sequence[Seen]], case: Case, *, windowed: int = 1) -> MetricResult:
    """The result over criteria. ``windowed``: windows that the report was read in."""
    assert case.rubric is not None
    rubric = case.rubric
    items = tuple(
        _item(criterion, dimension, seen[criterion.id], case)
        for dimension in rubric.dimensions
        for criterion in dimension.criteria
    )
    scores = {item.id: item.value for item in items if item.value is not None}
    found = dimension_scores(rubric, scores)
    coverage = Coverage(decided=len(scores), checked=len(items))
    flags = flags_of(coverage, "windowed" if windowed > 1 else None, *rubric.flags)
    counts = {
        "criteria": len(items),
        "missing": len(items) - len(scores),
        "windows": windowed,
        "wrong_pointers": sum(_wrong(seen[item.id]) for item in items),
    }
    parts = parts_of(rubric, found)
    if missing := missing_dimensions(found):
        reason = f"no score for {missing}: {first_reason(items)}"
        return RESULTS.failed(reason, coverage=coverage, flags=flags, parts=parts, counts=counts, items=items)
    whole = total(rubric, found)
    assert whole is not None
    return RESULTS.scored(
        10 * whole,
        interval=score_range([10 * value for value in scores.values()]),
        coverage=coverage,
        flags=flags,
        parts=parts,
        counts=counts,
        items=items,
    )


def parts_of(rubric: Rubric, found: Mapping[str, float | None]) -> dict[str, float | None]:
    """Each dimension, the general and the task-specific ones alone (0–100), and the latter's share of the weight."""
    parts = {name: None if value is None else 10 * value for name, value in found.items()}
    for name, specific in (("general", False), ("specific", True)):
        value = total(rubric, found, specific=specific)
        parts[name] = None if value is None else 10 * value
    return parts | {"specific_share": 100 * rubric.specific_weight}


def _item(criterion: Criterion, dimension: Dimension, seen: Sequence[Seen], case: Case) -> Item:
    weight = dimension.weight * criterion.weight
    detail: dict[str, Json] = {"dimension": dimension.name, "weight": weight, "specific": dimension.specific}
    failed = next((one.error for one in seen if one.error is not None), None)
    if failed is not None:
        return lost(criterion.id, criterion.text, failed, **detail)
    marks = [(one, one.mark) for one in seen if one.mark is not None]
    calls = tuple(dict.fromkeys(call for one in seen for call in one.calls))
    if not marks or len(marks) < len(seen):
        reason = "the judge left this criterion out"
        return Item(
            id=criterion.id,
            text=criterion.text,
            outcome=Outcome.NOT_CHECKED,
            reason=reason,
            calls=calls,
            detail=detail,
        )
    pointed = [number for one, mark in marks for number in mark.sentences if number in one.numbers]
    return Item(
        id=criterion.id,
        text=criterion.text,
        value=by_length([(mark.score, one.length) for one, mark in marks]),
        evidence=quotes(case.report, pointed),
        reason=" / ".join(mark.why for _, mark in marks if mark.why),
        calls=calls,
        detail=detail,
    )


def _wrong(seen: Sequence[Seen]) -> int:
    """Pointers at sentences that were not shown: dropped, and counted."""
    return sum(number not in one.numbers for one in seen if one.mark for number in one.mark.sentences)
