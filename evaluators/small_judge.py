"""Stances by the embedded judge: code first, one yes-or-no question, code again.

Asked for a verdict, the embedded judge says "contradicted" to almost everything. Asked whether a text says that a claim
is so, it is usable, and its mistakes are such that code sees them. So:

1. A text in the claim's own words, with its numbers and without a turned sign, supports it: nobody is asked.
2. Else the judge is asked whether the text says so. Yes: it supports the claim, if it has the claim's numbers and does
   not point in the opposite direction.
3. No: it refutes the claim where code sees the conflict, in a sentence that speaks of the same thing: another number of
   the same kind (dates say too little), a word of denial, a negation, the opposite direction. Else neither.

``docs/metrics.md`` has what these rules do to labels given by people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel

from ..models import ChatModel, system, user
from ..reports import numbers, polarity
from .asking import Pointer, ask_pointed, shown
from .stances import Label, Stance, missing_figures, missing_numbers, overlap

SAME_WORDS = 0.9
"""Share of the claim's content words from which on a stretch says it in the same words."""
STRETCH = 4
"""Sentences that are looked at together."""
SAME_SENTENCE = 0.5
"""The share that one of its sentences must have then: words from here and there say nothing."""
RIVAL, RIVAL_SENTENCE = 0.5, 0.3
"""Shares that a text, and a sentence of it with a rival number, must have."""
BEFORE = 2
"""Sentences before one with a rival number that has a unit: "… of Cloudflare. … The share was 38 percent." """
DENIED = 0.4
"""The share that a sentence with a word of denial must have."""
NEGATED, OPPOSED = 0.7, 0.6
"""The shares that a sentence with another sign, or in the opposite direction, must have."""

# Not "is it true": then it answers from memory. The pointer comes behind the answer: the other way round it says yes to
# everything.
QUESTION = (
    "Claim: {claim}\n\nDoes the evidence say that this is so? Answer yes or no, and give the number of the sentence "
    "that says it."
)

ONCE_MORE = "With a yes, name one sentence between 1 and {last} that says it; otherwise answer no."

OPPOSITES = (("up", "down"), ("more", "less"), ("yes", "against"), ("before", "after"))


class Said(BaseModel):
    """The judge's answer."""

    answer: Literal["yes", "no"]
    sentences: Pointer = ()


async def label_small(claim: str, sentences: Sequence[str], judge: ChatModel, *, system_text: str) -> Label:
    """What a text says about a claim, before its numbers are checked. CallFailed when the judge cannot be asked."""
    place = same_words(claim, sentences)
    if place is not None:
        return Label(Stance.SUPPORTS, (place,), ("same_words",))
    messages = [system(system_text), user(f"{shown(sentences)}\n\n{QUESTION.format(claim=claim)}")]

    def wrong(answer: Said) -> str:
        return "" if answer.answer == "no" or _good(answer, len(sentences)) else ONCE_MORE.format(last=len(sentences))

    answer, calls = await ask_pointed(judge, messages, Said, wrong, max_tokens=40)
    if answer.answer == "no":
        conflict = visible_conflict(claim, sentences)
        return Label(Stance.REFUTES, (conflict,), (), calls) if conflict else Label(Stance.NEITHER, (), (), calls)
    good = _good(answer, len(sentences))
    if not good:
        return Label(Stance.NEITHER, (), ("quote_not_found",), calls)
    if any(overlap(claim, sentence) >= OPPOSED and opposite(claim, sentence) for sentence in sentences):
        return Label(Stance.NEITHER, (), ("opposite_direction",), calls)
    return Label(Stance.SUPPORTS, good, (), calls)


def _good(answer: Said, count: int) -> tuple[int, ...]:
    return tuple(number for number in answer.sentences if 1 <= number <= count)


# --- what code sees --------------------------------------------------------------------------------------------------


def nearest(claim: str, sentences: Sequence[str]) -> int:
    """Number (from 1) of the sentence that shares most words with the claim; of equals the first."""
    return max(range(1, len(sentences) + 1), key=lambda number: (overlap(claim, sentences[number - 1]), -number))


def same_words(claim: str, sentences: Sequence[str]) -> int | None:
    """The sentence nearest to the claim in a stretch that says it in the same words; None where none does."""
    for start in range(max(1, len(sentences) - STRETCH + 1)):
        stretch = sentences[start : start + STRETCH]
        text = " ".join(stretch)
        if not stretch or overlap(claim, text) < SAME_WORDS or missing_figures(claim, text):
            continue
        number = nearest(claim, stretch)
        sentence = stretch[number - 1]
        if overlap(claim, sentence) >= SAME_SENTENCE and not (negated(claim, sentence) or opposite(claim, sentence)):
            return start + number
    return None


def visible_conflict(claim: str, sentences: Sequence[str]) -> int | None:
    """The sentence that speaks of the same thing and says otherwise, as far as form tells; None where none does."""
    text = " ".join(sentences)
    rivals = _kinds(missing_numbers(claim, text)) if overlap(claim, text) >= RIVAL else set()
    own = set(numbers.numbers_in(claim))
    for number, sentence in enumerate(sentences, 1):
        near = overlap(claim, sentence)
        shared = rivals & _kinds(set(numbers.numbers_in(sentence)) - own)
        if shared and near >= RIVAL_SENTENCE:
            return number
        if shared - {"number"} and overlap(claim, " ".join(sentences[max(0, number - 1 - BEFORE) : number])) >= RIVAL:
            return number
        if near >= DENIED and _DENIAL.search(sentence) and not _DENIAL.search(claim):
            return number
        if (near >= NEGATED and negated(claim, sentence)) or (near >= OPPOSED and opposite(claim, sentence)):
            return number
    return None


def _kinds(found: Iterable[str]) -> set[str]:
    """The kinds of numbers, by their unit; dates and years are left out."""
    kinds: set[str] = set()
    for number in found:
        value, unit = numbers.split_number(number)
        if not re.match(r"(?:\d{4}|-)-\d\d", value) and (unit or not re.fullmatch(r"(?:1[5-9]|20)\d\d", value)):
            kinds.add(unit or "number")
    return kinds


_DENIAL = re.compile(
    r"\b(?:wrong|false|falsely|incorrect|untrue|myth|hoax|debunked|refuted|retracted|withdrawn|mistaken|misleading"
    r"|disproved|fake)\b|错误|不实|谣言|虚假",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no longer|cannot)\b|n['’]t\b|[不没未]", re.IGNORECASE)


def negated(claim: str, sentence: str) -> bool:
    """Whether one of the two is negated and the other not."""
    return bool(_NEGATION.search(claim)) != bool(_NEGATION.search(sentence))


def opposite(claim: str, sentence: str) -> bool:
    """Whether the two point in opposite directions: *rose* against *fell*."""
    one, other = polarity(claim), polarity(sentence)
    pairs = [*OPPOSITES, *((b, a) for a, b in OPPOSITES)]
    return any(one[a] and other[b] and not one[b] and not other[a] for a, b in pairs)
