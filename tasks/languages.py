"""The languages in which tasks can be written, and what code can tell about a text in one of them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import UserError
from ..reports import language_of

SCRIPTS = {"zh", "ja", "ko", "ru"}
"""Told by their letters; the others by their frequent words."""
_UNSPACED = {"zh", "ja", "ko"}
_WORD = re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True)
class Tongue:
    """A language. ``tag`` is its BCP 47 tag without a region."""

    tag: str
    name: str
    now: re.Pattern[str]
    """What binds a task to the present, or leaves its period open towards it."""
    products: re.Pattern[str]
    """What can be delivered."""
    frame: re.Pattern[str]
    """Words in which tasks on different subjects are alike."""
    stop: frozenset[str]
    """Frequent words; empty where the script tells the language."""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    table = _table()
    own = {tag: part["stop"] for tag, part in table.items() if "stop" in part}
    return {tag: frozenset(words.split()) for tag, words in (own | table["rivals"]).items()}


def known_languages() -> tuple[str, ...]:
    """Tags of the languages that tasks can be written in."""
    return tuple(tag for tag in _table() if tag != "rivals")


@cache
def tongue(language: str) -> Tongue:
    """What is known of a language, ``de`` or ``de-AT``. Raises UserError for one that code cannot check."""
    tag = language.split("-")[0].lower()
    if tag not in known_languages():
        raise UserError(f"tasks cannot be checked in the language {language!r}: choose among {', '.join(_table())}")
    part = _table()[tag]
    edge = "" if tag in _UNSPACED else r"\b"
    now, products, frame = _any(part["now"], edge), _stems(part["products"], edge), _stems(part["frame"], edge)
    return Tongue(tag, part["name"], now, products, frame, _stop_words().get(tag, frozenset()))


def _stems(words: str, edge: str) -> re.Pattern[str]:
    return _any(" ".join(f"{stem}*" for stem in words.split()), edge)


def _any(words: str, edge: str) -> re.Pattern[str]:
    parts = sorted((word.replace("_", " ") for word in words.split()), key=len, reverse=True)
    ends = (re.escape(part.rstrip("*")) + (r"\w*" if part.endswith("*") and edge else edge) for part in parts)
    return re.compile(f"{edge}(?:{'|'.join(ends)})", re.IGNORECASE)


def speaks(text: str, language: str) -> bool:
    """Whether a text is in the language, by its script or its frequent words; regions are not told apart."""
    tag = language.split("-")[0].lower()
    found = language_of(text)
    if tag in SCRIPTS or found in {*SCRIPTS, "ar", "he", "hi", "el", "th"}:
        return found == tag
    votes = {name: _votes(text, stop) for name, stop in _stop_words().items()}
    return votes[tag] >= 2 and votes[tag] == max(votes.values())


def without_stop_words(text: str, known: Tongue) -> str:
    """The text without the language's frequent words."""
    return _WORD.sub(lambda found: "" if found[0].lower() in known.stop else found[0], text)


def _votes(text: str, stop: frozenset[str]) -> int:
    return sum(word in stop for word in _WORD.findall(text.lower()))


def years_in(text: str) -> list[int]:
    """The years (1900 to 2099) that a text names."""
    return [int(found[0]) for found in _YEAR.finditer(text)]
