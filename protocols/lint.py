"""What is wrong with a protocol's form, found without a model."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from rapidfuzz import fuzz

from ..core import Dating, Frozen
from .language import compound, time_bound, yes_no
from .schema import KeyQuestion, Mode, Plan, Protocol, ReasoningQuestion

KEY_QUESTIONS = range(8, 16)
"""Wanted number of key questions (METRICS 1)."""
REASONING_QUESTIONS = range(3, 6)
"""Wanted number of reasoning questions (METRICS 2)."""
DUPLICATE = 88.0
"""RapidFuzz token-set ratio, 0–100, from which two questions count as one; differing numbers keep them apart."""
STALE = dt.timedelta(days=365)
"""A time-sensitive question needs evidence that is younger than this, seen from the as-of date."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_EMPTY_STEP = re.compile(
    r"^\W*(?:none|nothing|n/?a|not needed|no (?:look-?up|search|need).*|无|不需要)?\W*$", re.IGNORECASE
)
_INWARD_STEP = re.compile(
    r"^\W*(?:re-?)?(?:read|check|see|look (?:at|in)|compare with)\s+(?:in\s+)?the report\b", re.IGNORECASE
)


class Problem(Frozen):
    """One thing wrong with a protocol."""

    rule: str
    """Stable name, for filters and exit codes."""
    item: str | None
    """Id of the question, None for the protocol as a whole."""
    message: str


def lint(protocol: Protocol) -> list[Problem]:
    """All problems of the protocol, in the order of its items; empty when there are none."""
    found: list[Problem] = []
    for rule in _RULES:
        found.extend(rule(protocol))
    return found


def same_question(one: str, other: str) -> bool:
    """Whether two questions ask the same thing: near-equal words and equal numbers."""
    if set(_NUMBER.findall(one)) != set(_NUMBER.findall(other)):
        return False
    one, other = one.lower(), other.lower()
    return max(fuzz.token_sort_ratio(one, other), fuzz.ratio(one, other)) >= DUPLICATE


def has_outside_step(plan: Plan) -> bool:
    """Whether the plan really looks something up outside the report."""
    return not (_EMPTY_STEP.match(plan.lookup) or _INWARD_STEP.match(plan.lookup))


def _counts(protocol: Protocol) -> Iterator[Problem]:
    yield from _count("key_questions", len(protocol.key_questions), KEY_QUESTIONS)
    yield from _count("reasoning_questions", len(protocol.reasoning_questions), REASONING_QUESTIONS)


def _count(what: str, number: int, wanted: range) -> Iterator[Problem]:
    if number not in wanted:
        size = "few" if number < wanted.start else "many"
        words = what.replace("_", " ")
        message = f"{number} {words}; wanted are {wanted.start} to {wanted.stop - 1}"
        yield Problem(rule=f"too_{size}_{what}", item=None, message=message)


def _duplicates(protocol: Protocol) -> Iterator[Problem]:
    for questions in (protocol.key_questions, protocol.reasoning_questions):
        yield from _pairs([(question.id, question.text) for question in questions])


def _pairs(questions: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    for index, (id, text) in enumerate(questions):
        for other, earlier in questions[:index]:
            if same_question(text, earlier):
                yield Problem(rule="duplicate_question", item=id, message=f"asks the same as {other}")
                break


def _forms(protocol: Protocol) -> Iterator[Problem]:
    for question in protocol.key_questions:
        if yes_no(question.text) is False:
            yield Problem(rule="not_yes_no", item=question.id, message="cannot be answered with yes or no")
        if compound(question.text):
            yield Problem(rule="compound_question", item=question.id, message="asks more than one thing")
    for open_question in protocol.reasoning_questions:
        if yes_no(open_question.text):
            yield Problem(rule="closed_reasoning_question", item=open_question.id, message="is a yes/no question")


def _plans(protocol: Protocol) -> Iterator[Problem]:
    for question in protocol.reasoning_questions:
        if not has_outside_step(question.plan):
            message = "its plan looks nothing up outside the report"
            yield Problem(rule="plan_without_outside_step", item=question.id, message=message)


def _provenance(protocol: Protocol) -> Iterator[Problem]:
    items: Iterable[KeyQuestion | ReasoningQuestion] = (*protocol.key_questions, *protocol.reasoning_questions)
    for question in items:
        for source in question.provenance:
            if protocol.as_of.place(source.published) is Dating.AFTER:
                message = f"rests on a page of {source.published}, after the as-of date {protocol.as_of.day}"
                yield Problem(rule="provenance_after_as_of", item=question.id, message=message)
    if protocol.maker.mode is Mode.STATIC and "unprovenanced" in protocol.flags:
        return
    for key_question in protocol.key_questions:
        if not key_question.provenance:
            yield Problem(rule="no_provenance", item=key_question.id, message="rests on no evidence")


def _time(protocol: Protocol) -> Iterator[Problem]:
    sensitive = [question for question in protocol.key_questions if question.time_sensitive]
    if not sensitive and time_bound(protocol.task.prompt, protocol.as_of.day.year):
        message = "the task is time-sensitive and no key question is"
        yield Problem(rule="no_time_sensitive_question", item=None, message=message)
    for question in sensitive:
        dates = [source.published for source in question.provenance if source.published is not None]
        if dates and protocol.as_of.day - max(dates) > STALE:
            message = f"is time-sensitive, and its newest evidence is of {max(dates)}"
            yield Problem(rule="stale_evidence", item=question.id, message=message)
        elif question.provenance and not dates:
            yield Problem(rule="undated_evidence", item=question.id, message="is time-sensitive on undated evidence")


_RULES: tuple[Callable[[Protocol], Iterator[Problem]], ...] = (_counts, _duplicates, _forms, _provenance, _time, _plans)
