"""Key-information coverage: does the report hold the key facts that a good answer needs? (METRICS 1)

Yes/no questions of the protocol, answered from the report alone. ``KIC = 100 · yes / answered``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel

from ..core import Json, Outcome
from ..models import ChatModel, report_prompt
from ..protocols.schema import KeyQuestion
from ..reports import numbered
from ..stats import items_interval, mean
from ..tools import Toolbox
from .asking import Pointer, Pointers, ask_pointed, ask_rows
from .base import (
    FAILURES,
    Case,
    Results,
    Settings,
    coverage_of,
    first_reason,
    flags_of,
    lost,
    outcome_counts,
    quotes,
    together,
    windows,
)
from .results import LOST, Item, MetricResult
from .stances import missing_numbers

VERSION = 2
RESULTS = Results("kic", VERSION)

VALUES = {Outcome.YES: 100.0, Outcome.NO: 0.0}

BATCH = 20
"""Questions in one call, at most; the answer must fit beside the report."""

# The fact is shown with the question: the question alone is often answered yes by a report that only touches the topic.
# "From the report alone": what the judge knows itself must not count for the report.
QUESTION = """\
Does the report itself state each of these facts? Answer from the report alone, not from what you know: yes if it \
states the fact, no if it does not or says something else, undecided if it cannot be told. With a yes, give the \
numbers of the sentences that state it.
{questions}"""

ONCE_MORE = "{which}: with a yes, name at least one sentence of the report that states the fact; otherwise answer no."


class Reply(BaseModel):
    """The judge's answer to one question."""

    answer: Literal["yes", "no", "undecided"]
    sentences: Pointers = ()


# One question a call: in one answer to all, the embedded judge goes on as it began (all yes, or all no). Measured on
# facts of the demo: 14 of 16 alone, against "yes" to everything together.
ONE_QUESTION = """\
Does the report itself state this fact? Answer from the report alone: yes if a sentence of it states the fact, no if \
none does or one says something else; and the number of the sentence.
Fact: {fact}"""


class OneReply(BaseModel):
    """The embedded judge's answer to one question."""

    answer: Literal["yes", "no"]
    sentences: Pointer = ()


AnyReply = Reply | OneReply


async def key_information(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Answer the protocol's key questions from the report. Fails when no question could be asked."""
    del toolbox, settings
    assert case.protocol is not None
    questions = case.protocol.key_questions
    if not questions:
        return RESULTS.failed("protocol_failed: no key questions")
    parts = windows(case.report, case.task, judge)
    settled = [item for q in questions if judge.embedded and (item := settled_by_code(q, case)) is not None]
    open_ = [q for q in questions if q.id not in {item.id for item in settled}]
    if judge.embedded:
        answered = await together(_asked_alone(q, numbers, case, judge) for q in open_ for numbers in parts)
    else:
        batches = [open_[i : i + BATCH] for i in range(0, len(open_), BATCH)]
        answered = await together(_asked(batch, numbers, case, judge) for batch in batches for numbers in parts)
    seen: dict[str, list[Item]] = {question.id: [] for question in questions}
    for item in (*settled, *(item for group in answered for item in group)):
        seen[item.id].append(item)
    return score([over_windows(items) for items in seen.values()], case, windowed=len(parts) > 1)


def settled_by_code(question: KeyQuestion, case: Case) -> Item | None:
    """A no where the question names a number that the report does not have at all; None where somebody must read.

    For the embedded judge only, which says yes to numbers that are not there.
    """
    missing = missing_numbers(question.text, case.report.text)
    if not missing:
        return None
    reason = f"the report does not have {', '.join(sorted(missing))}"
    return Item(
        id=question.id,
        text=question.text,
        outcome=Outcome.NO,
        flags=("number_not_in_report",),
        reason=reason,
        detail=_detail(question),
    )


def _detail(question: KeyQuestion) -> dict[str, Json]:
    """What the question rests on: a missing fact is shown with where it stands."""
    detail: dict[str, Json] = {"time_sensitive": question.time_sensitive, "fact": question.fact}
    if question.provenance:
        detail |= {"url": question.provenance[0].url, "quote": question.provenance[0].quote}
    return detail


async def _asked(batch: Sequence[KeyQuestion], numbers: tuple[int, ...], case: Case, judge: ChatModel) -> list[Item]:
    """The answers to some questions from one window of the report."""
    listed = "\n".join(f"{q.id}: {q.text}{_fact(q)}" for q in batch)
    messages = report_prompt(case.task.prompt, numbered(case.report, numbers), QUESTION.format(questions=listed))

    def good(_: str, reply: Reply) -> bool:
        return _founded(reply, numbers)

    def once_more(open_: Sequence[str]) -> str:
        return ONCE_MORE.format(which=f"Only {', '.join(open_)}, once more")

    ids = tuple(q.id for q in batch)
    try:
        found = await ask_rows(judge, messages, ids, Reply, good, once_more, max_tokens=40 + 40 * len(batch))
    except FAILURES as error:
        return [lost(q.id, q.text, error, **_detail(q)) for q in batch]
    return [_item(q, found.rows.get(q.id), numbers, case, found.calls) for q in batch]


async def _asked_alone(question: KeyQuestion, numbers: tuple[int, ...], case: Case, judge: ChatModel) -> list[Item]:
    """The embedded judge's answer to one question from one window of the report."""
    asked = ONE_QUESTION.format(fact=statement_of(question))
    messages = report_prompt(case.task.prompt, numbered(case.report, numbers), asked)

    def wrong(reply: OneReply) -> str:
        return "" if _founded(reply, numbers) else ONCE_MORE.format(which="The answer")

    try:
        reply, calls = await ask_pointed(judge, messages, OneReply, wrong, max_tokens=40)
    except FAILURES as error:
        return [lost(question.id, question.text, error, **_detail(question))]
    return [_item(question, reply, numbers, case, calls)]


def statement_of(question: KeyQuestion) -> str:
    """What the question asks for, as a statement: "Does the report state that X?" gives X."""
    found = re.fullmatch(
        r"(?:Does|Did) the report (?:itself )?(?:state|say|mention)s? that (.+)\?", question.text.strip()
    )
    return found[1] if found else question.text


def _fact(question: KeyQuestion) -> str:
    return f" (the fact: {question.fact})" if question.fact and question.fact != question.text else ""


def _founded(reply: AnyReply, numbers: Iterable[int]) -> bool:
    """Whether a yes points at a sentence that was shown."""
    return reply.answer != "yes" or bool(set(reply.sentences) & set(numbers))


def _item(
    question: KeyQuestion, reply: AnyReply | None, numbers: tuple[int, ...], case: Case, calls: tuple[str, ...]
) -> Item:
    plain = {"id": question.id, "text": question.text, "calls": calls}
    detail = _detail(question)
    if reply is None:
        reason = "the judge left this question out"
        return Item(**plain, outcome=Outcome.NOT_CHECKED, flags=(LOST,), reason=reason, detail=detail)
    if not _founded(reply, numbers):
        return Item(**plain, outcome=Outcome.UNDECIDED, flags=("quote_not_found",), detail=detail)
    shown = [number for number in reply.sentences if number in numbers]
    return Item(**plain, outcome=Outcome(reply.answer), evidence=quotes(case.report, shown), detail=detail)


def over_windows(items: Sequence[Item]) -> Item:
    """One answer from those of all windows: yes if one says yes, no only if all say no."""
    for outcome in (Outcome.YES, Outcome.NOT_CHECKED, Outcome.UNDECIDED):
        found = next((item for item in items if item.outcome is outcome), None)
        if found is not None:
            return found
    return items[0]


def score(items: Sequence[Item], case: Case, *, windowed: bool) -> MetricResult:
    """The result over questions; the bounds count what is open as no, and as yes."""
    assert case.protocol is not None
    values = [VALUES[item.outcome] for item in items if item.outcome in VALUES]
    coverage = coverage_of(items, VALUES)
    flags = flags_of(coverage, "windowed" if windowed else None, *case.protocol.flags)
    counts = outcome_counts(items)
    if not values:
        why = first_reason(items)
        if why:
            return RESULTS.failed(why, coverage=coverage, flags=flags, counts=counts, items=tuple(items))
        return RESULTS.not_applicable("none_decided", coverage=coverage, flags=flags, counts=counts, items=tuple(items))
    total, open_ = sum(values), len(items) - len(values)
    return RESULTS.scored(
        mean(values),
        interval=items_interval(values),
        coverage=coverage,
        flags=flags,
        parts={
            "answered": 100 * len(values) / len(items),
            "low": total / len(items),
            "high": (total + 100 * open_) / len(items),
        },
        counts=counts,
        items=tuple(items),
    )
