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
    if label.stance is not Stance.SUPPORTS or not missing_figures(claim, text):
        return label
    there = not missing_figures(claim, f"{text} {wider}")
    stance, flag = (Stance.PARTLY, "number_elsewhere") if there else (Stance.NEITHER, "number_not_on_page")
    return replace(label, stance=stance, flags=(*label.flags, flag))


def partly_at_most(claim: str, page: str, label: Label) -> Label:
    """The label, lowered where a whole page is said to support a claim whose numbers it does not have."""
    if label.stance is not Stance.SUPPORTS or not missing_figures(claim, page):
        return label
    return replace(label, stance=Stance.PARTLY, flags=(*label.flags, "number_not_on_page"))


def missing_figures(claim: str, text: str) -> set[str]:
    """Numbers and dates of the claim, written in digits or in words, that the text does not have."""
    return missing_numbers(claim, text) | missing_words(claim, text)


def figures(text: str) -> dict[str, str]:
    """Numbers and dates of a text, in digits or in English words, to what they are: ``date``, ``number``, or a unit.

    Those of names (*FIPS 203*, *RSA-2048*) are none.
    """
    text = _NAMED.sub(" ", text)
    found = {number: _kind(number) for number in numbers.numbers_in(text)}
    found |= {word: "number" for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS}
    return found | {month.lower(): "date" for month in set(_MONTHS) - {"May"} if month in text}


def _kind(number: str) -> str:
    value, unit = numbers.split_number(number)
    date = re.match(r"(?:\d{4}|-)-\d\d", value) or (not unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", value))
    return "date" if date else unit or "number"


_NAMED = re.compile(r"\b[A-Z]\w*[A-Z][\w-]*[ -]\d[\d.]*\b")


def missing_words(claim: str, text: str) -> set[str]:
    """Numbers and months of an English claim that are written in words, and that the text has in no form.

    *One* and *first* are turns of phrase more often than figures: they are missing only where the text has another
    number or rank before the same word.
    """
    there = set(re.findall(r"[a-z]+|\d+", text.lower()))
    numbers_there = {number.lstrip("0") for number in there if number.isdecimal()}
    numbers_there |= {day_or_month.lstrip("0") for day_or_month in re.findall(r"(?<=-)\d\d", text)}
    words = {word for word in re.findall(r"[a-z]+", claim.lower()) if word in _WORDS} - there
    missing = {word for word in words if _WORDS[word] not in numbers_there and not _scaled(word, text)}
    missing |= {word for word in ("one", "first") if word not in there and _outdone(word, claim, text)}
    months = {month for month in _MONTHS if month in claim} - {"May"}
    return missing | {month.lower() for month in months if not _month_there(month, there, text)}


def _outdone(word: str, claim: str, text: str) -> bool:
    """Whether a text has another number where the claim has *one*, or another rank where it has *first*."""
    rivals = "|".join(_RANKS if word == "first" else _COUNTS)
    following = re.findall(rf"\b{word} (\w+)", claim.lower())
    return any(re.search(rf"\b(?:{rivals}) {re.escape(noun)}\b", text.lower()) for noun in following)


def _scaled(word: str, text: str) -> bool:
    """Whether a scale (*million*) stands in the text in short or in full."""
    zeros, short = _SCALES.get(word, ("", ""))
    return bool(zeros) and (re.search(rf"\d\s?(?:{short})\b|{zeros}\b", text.lower()) is not None)


def _month_there(month: str, words: set[str], text: str) -> bool:
    place = _MONTHS.index(month) + 1
    return bool({month.lower(), month[:3].lower(), "sept" if month == "September" else ""} & words) or (
        re.search(rf"(?:[-/.]|年)0?{place}(?:[-/.]|月|\b)|\b0?{place}[-/.]", text) is not None
    )


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RANKS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_WORDS = {
    **{word: str(number) for number, word in enumerate(_COUNTS, 2)},
    **{word: str(number) for number, word in enumerate(_RANKS, 2)},
    **{"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60"},
    **{"eleven": "11", "twelve": "12", "dozen": "12", "seventy": "70", "eighty": "80", "ninety": "90"},
    **{"hundred": "100", "thousand": "1000", "million": "-", "billion": "-", "trillion": "-"},
}
_SCALES = {
    "thousand": (",000", "k"),
    "million": (",000,000", "m|mn|mln"),
    "billion": (",000,000,000", "b|bn|bln"),
    "trillion": (",000,000,000,000", "t|tn|trn"),
}
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
    words = set(re.findall(r"[a-z]+", text.lower()))
    there |= {str(_SMALL.index(word)) for word in words if word in _SMALL}
    return {token for token in missing if not _explained(token, there, words)}


def _explained(token: str, there: set[str], words: set[str]) -> bool:
    value = numbers.split_number(token)[0]
    year, *rest = re.findall(r"\d+", value)
    if len(rest) == 2:
        month = _MONTHS[int(rest[0]) - 1][:3].lower() if 1 <= int(rest[0]) <= 12 else ""
        return {year, str(int(rest[1]))} <= there and any(word.startswith(month) for word in words)
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
