"""Reasoning quality: do the report's conclusions follow, and do they survive a look outside? (METRICS 2)

Each open question of the protocol has a validation plan, which an agent carries out (``agents.verify_plan``). It
returns coherence and validity, 0–10 each. ``RQ = 100 · mean((coherence + validity) / 20)`` over the questions whose
outside check could run.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..agents.prompts_verifier import VERSION as PLAN_VERSION
from ..agents.verification import Flaw, Found, Verification
from ..agents.verifier import verify_plan
from ..core import Coverage, Json, Outcome
from ..models import ChatModel
from ..protocols.schema import ReasoningQuestion
from ..stats import mean, score_range
from ..tools import Toolbox
from .base import FAILURES, Case, Results, Settings, first_reason, flags_of, lost, quotes, together
from .results import Evidence, Item, MetricResult

VERSION = 100 * 1 + PLAN_VERSION
RESULTS = Results("rq", VERSION)


async def reasoning_quality(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Carry out the protocol's validation plans. Fails when no question's outside check could run."""
    assert case.protocol is not None
    questions = case.protocol.reasoning_questions
    if not questions:
        return RESULTS.failed("protocol_failed: no reasoning questions")
    items = await together(_verified(question, case, judge, toolbox, settings) for question in questions)
    return score(items)


async def _verified(
    question: ReasoningQuestion, case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings
) -> Item:
    try:
        verification = await verify_plan(question, case.task, case.report, judge, toolbox, mode=settings.mode)
    except FAILURES as error:
        return lost(question.id, question.text, error)
    return item_of(question, verification, case)


def item_of(question: ReasoningQuestion, found: Verification, case: Case) -> Item:
    """A question with its scores; ``value`` is coherence + validity (0–20), None unless both could be given.

    Validity counts only with evidence from outside: a score that cites nothing is the judge's own opinion.
    """
    validity = found.validity if any(one.decisive for one in found.evidence) else None
    value = None if found.coherence is None or validity is None else float(found.coherence + validity)
    in_report = tuple(e for flaw in found.flaws for e in quotes(case.report, flaw.sentences))
    return Item(
        id=question.id,
        text=question.text,
        outcome=None if value is not None else Outcome.NOT_CHECKED,
        value=value,
        evidence=(*(_evidence(one) for one in found.evidence), *in_report),
        flags=found.flags,
        reason=found.reason or ("" if value is not None else "the outside check could not run"),
        calls=found.calls,
        detail={
            "coherence": found.coherence,
            "validity": validity,
            "flaws": [_flaw(flaw) for flaw in found.flaws],
            "queries": list(found.queries),
            "pages": {visit.url: str(visit.state) for visit in found.pages},
            "steps": [step.model_dump(mode="json") for step in found.steps],
        },
    )


def _evidence(found: Found) -> Evidence:
    return Evidence(
        url=found.url,
        quote=found.quote,
        start=found.start,
        end=found.end,
        published=found.published,
        dating=found.dating,
        key=found.key,
    )


def _flaw(flaw: Flaw) -> Json:
    return {"name": str(flaw.kind), "where": flaw.quote, "sentences": list(flaw.sentences), "note": flaw.note}


def score(items: Sequence[Item]) -> MetricResult:
    """The result over questions; coherence of all questions is shown apart."""
    values = [5 * item.value for item in items if item.value is not None]
    coherence = [c for item in items if isinstance(c := item.detail.get("coherence"), int)]
    validity = [v for item in items if item.value is not None and isinstance(v := item.detail.get("validity"), int)]
    coverage = Coverage(decided=len(values), checked=len(items))
    flaws = [flaw for item in items for flaw in _list(item.detail.get("flaws"))]
    windowed = any("windowed" in item.flags for item in items)
    flags = flags_of(None, "thin" if 2 * len(values) < len(items) else None, "windowed" if windowed else None)
    parts: dict[str, float | None] = {
        "coherence": 10 * mean(coherence) if coherence else None,
        "validity": 10 * mean(validity) if validity else None,
    }
    counts = {"questions": len(items), "flaws": len(flaws)}
    if not values:
        reason = first_reason(items) or "no outside check could run"
        return RESULTS.failed(reason, coverage=coverage, parts=parts, counts=counts, items=tuple(items))
    return RESULTS.scored(
        mean(values),
        interval=score_range(values),
        coverage=coverage,
        flags=flags,
        parts=parts,
        counts=counts,
        items=tuple(items),
    )


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
