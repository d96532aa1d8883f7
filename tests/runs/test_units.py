"""Unit keys: what changes them and, as important, what does not."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from dream_eval.core import AsOf, Task
from dream_eval.protocols.catalogue import METRICS
from dream_eval.protocols.schema import KeyQuestion, Maker, Mode, Plan, Protocol, ReasoningQuestion
from dream_eval.reports.data import Claim, ClaimList, Mark, Report, Source, SourceKind, Span
from dream_eval.runs.cases import ref_of
from dream_eval.runs.kept import protocol_digests
from dream_eval.runs.units import Conditions, Unit, changed, inputs_of, key_of

TASK = Task(id="t", prompt="What holds?")
REPORT = Report(id="r", text="A text.", digest="d" * 64, segments=(), sentences=())
PLAN = Plan(extract="a", lookup="b", cross_check="c", against="d")
PROTOCOL = Protocol(
    task=TASK,
    as_of=AsOf(day=dt.date(2026, 5, 1)),
    created_at=dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
    maker=Maker(model="m", mode=Mode.AGENT, prompt_version=1),
    key_questions=(KeyQuestion(id="k1", text="Is it?", fact="it is"),),
    reasoning_questions=(ReasoningQuestion(id="r1", text="Why?", plan=PLAN),),
    digest="p" * 64,
)
CLAIMS = ClaimList(report="d" * 64, maker="m", version=1, claims=(), digest="c" * 64)
CONDITIONS = Conditions(
    as_of=AsOf(day=dt.date(2026, 5, 1)),
    mode=Mode.AGENT,
    search=("ddgs:duckduckgo",),
    settings={"pages": 4},
    versions=dict.fromkeys(METRICS, 1),
)


def keys(
    task: Task = TASK,
    report: Report = REPORT,
    judge: str = "j",
    repeat: int = 0,
    conditions: Conditions = CONDITIONS,
    protocol: Protocol | None = PROTOCOL,
    claims: ClaimList | None = CLAIMS,
    rubric: str | None = "rubric",
    reference: str | None = "reference",
) -> dict[str, str]:
    """Key of each metric's unit."""
    units = {metric: Unit(ref_of(task, report), metric, judge, repeat) for metric in METRICS}
    made = made_of(protocol, claims) | {"rubric": rubric, "reference": reference}
    return {m: key_of(inputs_of(u, conditions, made)) for m, u in units.items()}


def made_of(protocol: Protocol | None, claims: ClaimList | None) -> dict[str, Any]:
    """Digests of what is made."""
    return (protocol_digests(protocol) if protocol else {}) | {"claims": claims.digest if claims else None}


BASE = keys()
ALL = set(METRICS)
LOOKS = {"rq", "factuality", "ci", "dre_facts", "fact"}
"""Metrics that look at the world."""
CITED = REPORT.model_copy(
    update={
        "sources": (Source(id="s1", kind=SourceKind.INLINE, url="https://a.example/"),),
        "marks": (Mark(span=Span(start=0, end=1), raw="[1]", sources=("s1",), sentence=1),),
    }
)
OTHER_KEY = PROTOCOL.model_copy(update={"key_questions": (KeyQuestion(id="k1", text="Is it so?", fact="it is"),)})
OTHER_OPEN = PROTOCOL.model_copy(update={"reasoning_questions": (ReasoningQuestion(id="r1", text="How?", plan=PLAN),)})
OTHER_MAKER = PROTOCOL.model_copy(update={"maker": Maker(model="n", mode=Mode.STATIC, prompt_version=9)})
CLAIM = Claim(id="c1", text="x", sentences=(1,), check_worthy=True, importance=3, digest="e" * 64)
LATER = AsOf(day=dt.date(2026, 5, 2))


@pytest.mark.parametrize(
    ("change", "redone"),
    [
        ({"report": REPORT.model_copy(update={"digest": "x" * 64})}, ALL),
        ({"report": REPORT.model_copy(update={"id": "other name"})}, set()),
        ({"report": CITED}, {"ci", "da", "fact"}),
        ({"task": TASK.model_copy(update={"prompt": "What else?"})}, ALL),
        ({"task": TASK.model_copy(update={"id": "other id"})}, set()),
        ({"task": TASK.model_copy(update={"language": "de-AT"})}, {"rq", "factuality", "dre_facts"}),
        ({"conditions": replace(CONDITIONS, exclude_hosts=("a.example",))}, LOOKS),
        ({"judge": "k"}, ALL),
        ({"repeat": 1}, ALL),
        ({"protocol": OTHER_KEY}, {"kic"}),
        ({"protocol": OTHER_OPEN}, {"rq"}),
        ({"protocol": OTHER_MAKER}, set()),
        ({"protocol": None}, {"kic", "rq"}),
        (
            {"claims": CLAIMS.model_copy(update={"digest": "f" * 64, "claims": (CLAIM,)})},
            {"factuality", "ci", "dre_facts"},
        ),
        ({"claims": None}, {"factuality", "ci", "dre_facts"}),
        ({"rubric": "other"}, {"dre_quality", "race"}),
        ({"reference": "other"}, {"race"}),
        ({"conditions": replace(CONDITIONS, as_of=LATER)}, ALL),
        ({"conditions": replace(CONDITIONS, as_of=AsOf(day=CONDITIONS.as_of.day, given=False))}, set()),
        ({"conditions": replace(CONDITIONS, mode=Mode.GUIDED)}, {"rq", "dre_facts"}),
        ({"conditions": replace(CONDITIONS, search=("serper",))}, LOOKS),
        ({"conditions": replace(CONDITIONS, settings={"pages": 5})}, LOOKS),
        ({"conditions": replace(CONDITIONS, versions=CONDITIONS.versions | {"wq": 2})}, {"wq"}),
    ],
)
def test_a_change_redoes_just_what_depends_on_it(change: dict[str, Any], redone: set[str]) -> None:
    now = keys(**change)
    assert {metric for metric in METRICS if now[metric] != BASE[metric]} == redone


def test_keys_are_digests_and_differ_between_metrics() -> None:
    assert len(set(BASE.values())) == len(METRICS)
    assert all(len(key) == 64 for key in BASE.values())


def test_what_changed_is_named() -> None:
    unit = Unit(ref_of(TASK, REPORT), "kic", "j")
    before = inputs_of(unit, CONDITIONS, made_of(PROTOCOL, None))
    now = inputs_of(replace(unit, judge="k"), CONDITIONS, made_of(OTHER_KEY, None))
    assert changed(before, now) == ["judge", "protocol.key_questions"]
