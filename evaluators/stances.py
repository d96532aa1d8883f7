"""What a text can mean for a claim, and what code can see of it without a judge."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum

from ..reports import content_words, numbers
from ..reports.text import has_cjk


class Stance(StrEnum):
    """What a text says about a claim."""

    SUPPORTS = "supports"
    PARTLY = "partly"
    """It supports a part of the claim and says nothing against the rest."""
    REFUTES = "refutes"
    NEITHER = "neither"


@dataclass(frozen=True)
class Label:
    """A stance with the sentences (counted from 1) that it rests on."""

    stance: Stance
    sentences: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


# --- numbers ---------------------------------------------------------------------------------------------------------


def guarded(claim: str, text: str, wider: str, label: Label) -> Label:
    """The label, lowered where a text is said to support a claim whose numbers it does not have.

    It supports a part where the missing numbers stand in ``wider`` (the rest of the page), else it is neither.
    """
    if label.stance is not Stance.SUPPORTS or not missing_numbers(claim, text):
        return label
    there = not missing_numbers(claim, f"{text} {wider}")
    stance, flag = (Stance.PARTLY, "number_elsewhere") if there else (Stance.NEITHER, "number_not_on_page")
    return replace(label, stance=stance, flags=(*label.flags, flag))


def partly_at_most(claim: str, page: str, label: Label) -> Label:
    """The label, lowered where a whole page is said to support a claim whose numbers it does not have."""
    if label.stance is not Stance.SUPPORTS or not missing_numbers(claim, page):
        return label
    return replace(label, stance=Stance.PARTLY, flags=(*label.flags, "number_not_on_page"))


_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def missing_numbers(claim: str, text: str) -> set[str]:
    """Numbers and dates of the claim that the text does not have, normalised; empty where it has all.

    Lenient where a careful reader is: scales, units and dates as ``reports.missing_numbers`` compares them; small
    numbers as words; a longer decimal that rounds to the claim's number; a date whose year and day stand apart.
    """
    missing = numbers.missing_numbers(claim, text)
    if not missing:
        return set()
    there = {number.replace(",", "") for number in _DIGITS.findall(unicodedata.normalize("NFKC", text))}
    there |= {str(_SMALL.index(word)) for word in re.findall(r"[a-z]+", text.lower()) if word in _SMALL}
    return {token for token in missing if not _explained(token, there)}


def _explained(token: str, there: set[str]) -> bool:
    value = numbers.split_number(token)[0]
    year, *rest = re.findall(r"\d+", value)
    if len(rest) == 2:
        return {year, str(int(rest[1]))} <= there
    return value in there or any(_rounds(other, value) for other in there)


def _rounds(longer: str, number: str) -> bool:
    """Whether a number with more decimals rounds to the other one."""
    decimals = len(number.partition(".")[2])
    if len(longer.partition(".")[2]) <= decimals or not re.fullmatch(r"\d+(?:\.\d+)?", number):
        return False
    return abs(float(longer) - float(number)) <= 0.5 * 10.0**-decimals + 1e-9


# --- words -----------------------------------------------------------------------------------------------------------


def overlap(claim: str, text: str) -> float:
    """Share of the claim's content words that the text has, 0–1; 1 where the two are in different scripts."""
    words = set(content_words(claim))
    if not words or has_cjk(claim) != has_cjk(text):
        return 1.0
    return len(words & set(content_words(text))) / len(words)
