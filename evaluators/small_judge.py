"""Stances by the embedded judge: code first, one yes-or-no question, code again.

Asked for a verdict, the embedded judge says "contradicted" to almost everything. Asked whether a text says that a claim
is so, it is usable, and its mistakes are such that code sees them. So:

1. A text in the claim's own words, with its numbers and without a turned sign, supports it: nobody is asked.
2. Else the judge is asked whether the text says so. Yes: it supports the claim, if it has the claim's numbers and does
   not point in the opposite direction.
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
SAME_SENTENCE = 0.5
"""The share that one of its sentences must have then: words from here and there say nothing."""
RIVAL, RIVAL_SENTENCE = 0.5, 0.3
"""Shares that a text, and a sentence of it with a rival number, must have."""
TURNED = 0.6
"""The share that a sentence with another sign must have."""

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
    if opposite_sentence(claim, sentences) is not None:
        return Label(Stance.NEITHER, (), ("opposite_direction",), calls)
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
        sentence = stretch[number - 1]
        if overlap(claim, sentence) >= SAME_SENTENCE and not turned(claim, sentence):
            return start + number
    return None


def visible_conflict(claim: str, sentences: Sequence[str]) -> int | None:
    """The sentence that speaks of the same thing and says otherwise, as far as form tells; None where none does."""
    return rival_sentence(claim, sentences) or turned_sentence(claim, sentences)


def rival_sentence(claim: str, sentences: Sequence[str]) -> int | None:
    """The first sentence with another number of a kind that the claim has and the text lacks."""
    text = " ".join(sentences)
    missing = {kind_of(number) for number in missing_numbers(claim, text)}
    if not missing or overlap(claim, text) < RIVAL:
        return None
    own = set(numbers.numbers_in(claim))
    for number, sentence in enumerate(sentences, 1):
        others = {kind_of(other) for other in set(numbers.numbers_in(sentence)) - own}
        if missing & others and overlap(claim, sentence) >= RIVAL_SENTENCE:
            return number
    return None


def turned_sentence(claim: str, sentences: Sequence[str]) -> int | None:
    """The sentence nearest to the claim, where it is near enough and its sign is turned."""
    number = _near(claim, sentences)
    return number if number is not None and turned(claim, sentences[number - 1]) else None


def opposite_sentence(claim: str, sentences: Sequence[str]) -> int | None:
    """The same, for opposite directions only: *rose* against *fell*."""
    number = _near(claim, sentences)
    return number if number is not None and opposite(claim, sentences[number - 1]) else None


def _near(claim: str, sentences: Sequence[str]) -> int | None:
    number = nearest(claim, sentences) if sentences else 0
    return number if number and overlap(claim, sentences[number - 1]) >= TURNED else None


def kind_of(number: str) -> str:
    """Dates and years are one kind; other numbers go by their unit."""
    value, unit = numbers.split_number(number)
    if re.match(r"(?:\d{4}|-)-\d\d", value) or (not unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", value)):
        return "date"
    return unit or "number"


def turned(claim: str, sentence: str) -> bool:
    """Whether one of the two is negated and the other not, or they point in opposite directions."""
    return (polarity(claim)["no"] > 0) != (polarity(sentence)["no"] > 0) or opposite(claim, sentence)


def opposite(claim: str, sentence: str) -> bool:
    """Whether the two point in opposite directions."""
    one, other = polarity(claim), polarity(sentence)
    pairs = [*OPPOSITES, *((b, a) for a, b in OPPOSITES)]
    return any(one[a] and other[b] and not one[b] and not other[a] for a, b in pairs)
