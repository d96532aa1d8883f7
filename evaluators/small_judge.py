"""Stances by the embedded judge: code first, one yes-or-no question, code again.

Asked for a verdict, the embedded judge says "contradicted" to almost everything. Asked whether a text says that a claim
is so, it is usable, and its mistakes are such that code sees them. So:

1. A text in the claim's own words, with its numbers and without a turned sign, supports it: nobody is asked.
2. Else the judge is asked whether the text says so. Yes: it supports the claim, if it has the claim's numbers.
3. No: it refutes the claim where code sees the conflict (another number of the same kind, a negation, the opposite
   direction, in a sentence that speaks of the same thing), else neither.

``docs/metrics.md`` has what these rules do to labels given by people.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from ..models import ChatModel, system, user
from ..reports import numbers, polarity
from .asking import Pointer, ask_pointed, shown
from .stances import Label, Stance, guarded, missing_numbers, overlap

SAME_WORDS = 0.9
"""Share of the claim's content words from which on a stretch says it in the same words."""
STRETCH = 4
"""Sentences that are looked at together."""
RIVAL = 0.5
"""Share of the claim's content words that a sentence with a rival number must have."""
TURNED = 0.6
"""The same for a sentence with another sign."""

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


async def label_small(
    claim: str, sentences: Sequence[str], judge: ChatModel, *, system_text: str, lower: Stance, whole: str = ""
) -> Label:
    """What a text says about a claim. CallFailed when the judge cannot be asked.

    ``lower``: the stance where it is said to support a claim whose numbers it lacks; ``whole``: where they may stand
    too.
    """
    place = same_words(claim, sentences)
    if place is not None:
        return Label(Stance.SUPPORTS, (place,), ("same_words",))
    messages = [system(system_text), user(f"{shown(sentences)}\n\n{QUESTION.format(claim=claim)}")]

    def wrong(answer: Said) -> str:
        return "" if answer.answer == "no" or _good(answer, len(sentences)) else ONCE_MORE.format(last=len(sentences))

    answer, calls = await ask_pointed(judge, messages, Said, wrong, max_tokens=40)
    if answer.answer == "no":
        conflict = visible_conflict(claim, sentences)
        return (
            Label(Stance.NEITHER, (), (), calls) if conflict is None else Label(Stance.REFUTES, (conflict,), (), calls)
        )
    good = _good(answer, len(sentences))
    if not good:
        return Label(Stance.NEITHER, (), ("quote_not_found",), calls)
    return guarded(claim, " ".join([*sentences, whole]), Label(Stance.SUPPORTS, good, (), calls), lower=lower)


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
        if not stretch or overlap(claim, text) < SAME_WORDS or missing_numbers(claim, text):
            continue
        number = nearest(claim, stretch)
        if not turned(claim, stretch[number - 1]):
            return start + number
    return None


def visible_conflict(claim: str, sentences: Sequence[str]) -> int | None:
    """The sentence that speaks of the same thing and says otherwise, as far as form tells; None where none does."""
    if not sentences:
        return None
    number = nearest(claim, sentences)
    sentence, text = sentences[number - 1], " ".join(sentences)
    near = overlap(claim, sentence)
    if near >= RIVAL and rival_number(claim, sentence, text):
        return number
    return number if near >= TURNED and turned(claim, sentence) else None


def rival_number(claim: str, sentence: str, text: str) -> bool:
    """Whether the sentence has another number of the kind that the claim has and the text lacks."""
    others = {kind_of(number) for number in set(numbers.numbers_in(sentence)) - set(numbers.numbers_in(claim))}
    return any(kind_of(number) in others for number in missing_numbers(claim, text))


def kind_of(number: str) -> str:
    """Dates and years are one kind; other numbers go by their unit."""
    value, unit = numbers.split_number(number)
    if re.match(r"(?:\d{4}|-)-\d\d", value) or (not unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", value)):
        return "date"
    return unit or "number"


def turned(claim: str, sentence: str) -> bool:
    """Whether one of the two is negated and the other not, or they point in opposite directions."""
    one, other = polarity(claim), polarity(sentence)
    if (one["no"] > 0) != (other["no"] > 0):
        return True
    pairs = [*OPPOSITES, *((b, a) for a, b in OPPOSITES)]
    return any(one[a] and other[b] and not one[b] and not other[a] for a, b in pairs)
