"""What a model proposes as a protocol, and the code that turns it into items or says what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from ..core import AsOf, Task
from ..errors import ProtocolFailed
from ..protocols import (
    KeyQuestion,
    Plan,
    Provenance,
    ReasoningQuestion,
    compound,
    has_outside_step,
    same_question,
    yes_no,
)
from ..reports import content_words, missing_numbers
from .shelf import Shelf

FEW_QUESTIONS = 8
"""Fewer key questions than this get the flag ``few_questions`` (METRICS 1)."""
FEW_REASONING = 3
"""Fewer reasoning questions than this get the flag ``few_reasoning_questions`` (METRICS 2)."""
SAME_FACT = 0.6
"""Share of the smaller fact's content words that two facts share when, with equal numbers, they count as one."""

_PRESENT = re.compile(
    r"\b(?:now|current(?:ly)?|today|latest|recent(?:ly)?|so far)\b|目前|现在|最新|至今", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|cannot|without|wrong|false|incorrect|untrue|myth)\b|n['’]t\b"
    r"|不|没|無|无|未|非",
    re.IGNORECASE,
)


class SourceDraft(BaseModel):
    """A pointer at a sentence of a page that was read. ``[url, number]`` is taken too."""

    url: str
    sentence: int

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) == 2:
            return {"url": value[0], "sentence": value[1]}
        return value


class KeyDraft(BaseModel):
    """A key question as proposed."""

    fact: str = Field(min_length=1)
    question: str = Field(min_length=1)
    rationale: str = ""
    time_sensitive: bool = False
    sources: list[SourceDraft] = Field(default_factory=list)


class PlanDraft(BaseModel):
    """A validation plan as proposed."""

    extract: str = Field(min_length=1)
    lookup: str = Field(min_length=1)
    where: Literal["web", "arxiv", "github"] = "web"
    cross_check: str = Field(min_length=1)
    against: str = Field(min_length=1)


class ReasoningDraft(BaseModel):
    """A reasoning question as proposed."""

    question: str = Field(min_length=1)
    rationale: str = ""
    plan: PlanDraft
    sources: list[SourceDraft] = Field(default_factory=list)


class ProtocolDraft(BaseModel):
    """The final answer of the protocol creator."""

    key_questions: list[KeyDraft]
    reasoning_questions: list[ReasoningDraft]


def key_problems(draft: KeyDraft, shelf: Shelf) -> list[str]:
    """What is wrong with one proposed key question, provenance apart from form; words for the model."""
    problems = form_problems(draft.question)
    if not draft.sources:
        problems.append("it has no sources; give [url, sentence number] of a page you read")
    pointers = [problem for source in draft.sources if (problem := shelf.problem(source.url, source.sentence))]
    problems += pointers
    quotes = " ".join(quote.quote for quote in provenance(draft.sources, shelf))
    if quotes and not pointers and not carried(draft.question, quotes):
        problems.append("a number of its question does not stand in the sentence it points at")
    return problems


def form_problems(question: str) -> list[str]:
    """What is wrong with the form of a yes/no question."""
    problems = []
    if yes_no(question) is False:
        problems.append("its question cannot be answered with yes or no")
    if compound(question):
        problems.append("its question asks two things")
    return problems


def plan_problems(draft: ReasoningDraft, shelf: Shelf) -> list[str]:
    """What is wrong with one proposed reasoning question; words for the model."""
    problems = []
    if yes_no(draft.question):
        problems.append("its question must be open, not yes/no")
    if not has_outside_step(plan_of(draft.plan)):
        problems.append("its plan looks nothing up outside the report")
    return problems + [p for source in draft.sources if (p := shelf.problem(source.url, source.sentence))]


def carried(question: str, quotes: str) -> bool:
    """Whether all numbers and dates of the question stand in the quotes."""
    return not missing_numbers(question, quotes)


def negated(text: str) -> bool:
    """Whether a statement denies something, by its words."""
    return bool(_NEGATION.search(text))


def same_fact(one: str, other: str) -> bool:
    """Whether two facts say the same: most words of the shorter one, the numbers of one all in the other, and both
    affirmed or both denied."""
    if negated(one) != negated(other) or (missing_numbers(one, other) and missing_numbers(other, one)):
        return False
    left, right = set(content_words(one)), set(content_words(other))
    smaller = min(len(left), len(right))
    return bool(smaller) and len(left & right) / smaller >= SAME_FACT


def provenance(sources: Iterable[SourceDraft], shelf: Shelf) -> tuple[Provenance, ...]:
    """The quotes behind the pointers that hold, each once."""
    found = [shelf.provenance(source.url, source.sentence) for source in sources]
    return tuple(dict.fromkeys(quote for quote in found if quote is not None))


def key_items(drafts: Sequence[KeyDraft], shelf: Shelf, limit: int) -> tuple[KeyQuestion, ...]:
    """The proposed key questions as items, near-duplicates left out, at most ``limit``, numbered from k1."""
    items: list[KeyQuestion] = []
    for draft in drafts:
        text = tidy(draft.question)
        if len(items) == limit or any(same_question(text, item.text) for item in items):
            continue
        items.append(
            KeyQuestion(
                id=f"k{len(items) + 1}",
                text=text,
                fact=tidy(draft.fact),
                rationale=tidy(draft.rationale),
                time_sensitive=draft.time_sensitive,
                provenance=provenance(draft.sources, shelf),
            )
        )
    return tuple(items)


def reasoning_items(drafts: Sequence[ReasoningDraft], shelf: Shelf, limit: int) -> tuple[ReasoningQuestion, ...]:
    """The proposed reasoning questions as items, near-duplicates left out, at most ``limit``, numbered from r1."""
    items: list[ReasoningQuestion] = []
    for draft in drafts:
        text = tidy(draft.question)
        if len(items) == limit or any(same_question(text, item.text) for item in items):
            continue
        items.append(
            ReasoningQuestion(
                id=f"r{len(items) + 1}",
                text=text,
                rationale=tidy(draft.rationale),
                plan=plan_of(draft.plan),
                provenance=provenance(draft.sources, shelf),
            )
        )
    return tuple(items)


def flags_for(keys: Sequence[KeyQuestion], reasons: Sequence[ReasoningQuestion]) -> tuple[str, ...]:
    """Flags on the size of a protocol."""
    flags = ["few_questions"] if len(keys) < FEW_QUESTIONS else []
    return tuple([*flags, "few_reasoning_questions"] if len(reasons) < FEW_REASONING else flags)


def at_least_one(keys: Sequence[KeyQuestion], task: Task, wanted: int) -> None:
    """Raise ProtocolFailed when there is no key question: K = 0 is a failed protocol, not a score."""
    if not keys:
        message = f"no usable protocol for task {task.id}: 0 of {wanted} key questions could be made"
        raise ProtocolFailed(message, subject=task.id)


def recent(text: str, as_of: AsOf) -> bool:
    """Whether a fact of a young page is one that an older report would miss: it names a year from the last one on, or
    is told as the present state."""
    years = {int(found[0]) for found in re.finditer(r"(?<!\d)(?:19|20)\d\d(?!\d)", text)}
    return any(year >= as_of.day.year - 1 for year in years) or bool(_PRESENT.search(text))


def tidy(text: str) -> str:
    """White space folded to single blanks."""
    return " ".join(text.split())


def plan_of(draft: PlanDraft) -> Plan:
    """The plan as an item holds it."""
    return Plan(
        extract=tidy(draft.extract),
        lookup=tidy(draft.lookup),
        where=draft.where,
        cross_check=tidy(draft.cross_check),
        against=tidy(draft.against),
    )
