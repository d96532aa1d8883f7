"""Neutral search queries, built by code (METRICS 4, step 1).

A query must not presuppose that a claim is true or that it is false. So it keeps what the claim speaks *about* (names
and content words, in their order) and leaves out what it says about it: numbers, units, dates, negations, words of
direction and comparison, quantifiers. By construction a claim, its negation and its twin with another number give the
same queries. No model is asked: nothing to pay, nothing to drift, nothing to be suggested by the claim.
"""

from __future__ import annotations

import re
import unicodedata

from ..core import AsOf
from .query_words import (
    DROPPED,
    HAN_DROPPED,
    HAN_PROTECTED,
    IRREGULAR,
    KEPT_DOUBLE,
    NAMES_WITH_DIGITS,
    NEVER_A_NAME,
    NUMBER_WORDS,
    TAKES_E,
    UNITS,
)

LONGEST = 14
"""Words in a query; search engines ignore more or answer worse."""

LONGEST_HAN = 40
"""Characters in a query in Chinese."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_NEGATED_FRAME = re.compile(
    r"^\s*(?:it(?:'s| is| was)|that is)\s+(?:not\s+)?(?:true|false|untrue|the case|correct|incorrect|wrong)\s+that\s+",
    re.IGNORECASE,
)
_FAILING = re.compile(r"\b(?:fail(?:s|ed|ing)?|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)) to\b", re.IGNORECASE)
_TOKEN = re.compile(r"[$€£¥~≈<>≤≥±+\-−]*[\w°%‰][\w.,:/'&+$€£¥°%‰\-−]*")
_NUMBER = re.compile(r"^[$€£¥~≈<>≤≥±+\-−a-z]{0,4}[$€£¥]?[\d][\d.,:/\-−]*(?:st|nd|rd|th|s|x)?[%‰]?$")
_AMOUNT = re.compile(r"^(?:us|a|c|hk|nt)?[$€£¥~+\-−]*\d[\d.,]*(?P<unit>[^\d\s]+)$")


def neutral_queries(claim: str, *, as_of: AsOf | None = None, limit: int = 2) -> tuple[str, ...]:
    """One or two queries for a claim, most telling first; none when nothing but numbers and function words is left.

    ``as_of``: its year is added to the first query (for claims that time can change: their evidence should be of that
    year, whatever they say).
    """
    if _HAN.search(claim):
        text = _han_query(claim)
        queries = [text] if text else []
    else:
        queries = _word_queries(claim)
    if queries and as_of is not None:
        queries[0] = f"{queries[0]} {as_of.day.year}"
    return tuple(queries[:limit])


# --- words -----------------------------------------------------------------------------------------------------------


def _word_queries(claim: str) -> list[str]:
    words = _content_words(claim)[:LONGEST]
    if not words:
        return []
    queries = [" ".join(word for word, _ in words)]
    names = [word for word, name in words if name]
    others = sorted((word for word, name in words if not name), key=lambda word: (-len(word), word))[:2]
    if names and len(names) + len(others) < len(words):
        queries.append(" ".join(word for word, name in words if name or word in others))
    return queries


def _content_words(claim: str) -> list[tuple[str, bool]]:
    """Kept words in order, each with whether it looks like a name."""
    text = unicodedata.normalize("NFKC", claim).replace("’", "'").replace("‘", "'")
    text = _FAILING.sub(" ", _NEGATED_FRAME.sub("", text))
    kept: dict[str, bool] = {}
    tokens = [token.strip(".,:/'&-−") for token in _TOKEN.findall(text)]
    for index, token in enumerate(tokens):
        if _inside_name(tokens, index):
            kept.setdefault(token.lower(), True)
            continue
        for word, name in _words_of(token, first=index == 0):
            kept.setdefault(word, name)
    return list(kept.items())


def _inside_name(tokens: list[str], index: int) -> bool:
    """A word that would be left out, but stands capitalised beside another capital: *New York Times*, *Best Buy*."""
    token = tokens[index]
    if index == 0 or not token.istitle() or token.lower() not in DROPPED or token.lower() in NEVER_A_NAME:
        return False
    beside = [tokens[i] for i in (index - 1, index + 1) if 0 < i < len(tokens)]
    return any(other.istitle() and other.lower() not in DROPPED for other in beside)


def _words_of(token: str, *, first: bool) -> list[tuple[str, bool]]:
    """What is kept of one token: nothing, one word, or the parts of a compound with an amount in it."""
    token = re.sub(r"'s$|'$", "", token)
    lower = token.lower()
    if _is_dropped(lower):
        return []
    parts = re.split(r"[-−/]", token)
    if len(parts) > 1 and (_is_amount(parts[0].lower()) or parts[0].lower() in NUMBER_WORDS):
        return [pair for part in parts[1:] for pair in _words_of(part, first=False)]
    if sum(char.isupper() for char in token) > 1 or any(char.isdigit() for char in token):
        return [(token, True)]
    if token[:1].isupper() and not first:
        return [(lower, True)]
    word = lemma(lower)
    return [] if word in DROPPED else [(word, False)]


def _is_dropped(word: str) -> bool:
    return not word or word in DROPPED or word.endswith("n't") or _is_amount(word)


def _is_amount(word: str) -> bool:
    """A number, a date, or a number with its unit (but no name such as 5G)."""
    if word in NAMES_WITH_DIGITS:
        return False
    if re.match(r"^[a-z]", word) and not word.startswith(("us$", "a$", "c$", "hk$", "nt$", "fy", "mid-", "q")):
        return False
    if _NUMBER.match(word):
        return True
    amount = _AMOUNT.match(word)
    return amount is not None and (amount["unit"].strip("-−.") in UNITS or amount["unit"].strip("-−.") in DROPPED)


def lemma(word: str) -> str:
    """Base form of a lower-case English word in the third person, plural or past tense; other words as they are.

    Only these forms matter: "did not approve" and "approved" must give the same word.
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 3 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s"):
        return _without_s(word)
    if word.endswith("ed") and not word.endswith("eed") and re.search(r"[aeiouy]", word[:-2]):
        return _without_ed(word[:-2])
    return word


def _without_s(word: str) -> str:
    if word.endswith(("ss", "us", "is", "ics")):
        return word
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


def _without_ed(stem: str) -> str:
    doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiou"
    if doubled and not KEPT_DOUBLE.search(stem):
        return stem[:-1]
    return stem + "e" if TAKES_E.search(stem) else stem


# --- Chinese ---------------------------------------------------------------------------------------------------------

_HAN_DROP = tuple(re.compile(pattern) for pattern in HAN_DROPPED)
_HAN_KEEP = re.compile("|".join(sorted(map(re.escape, HAN_PROTECTED), key=len, reverse=True)))


def _han_query(claim: str) -> str:
    """The claim without what :data:`HAN_DROPPED` names, joined up again so that a cut leaves no trace."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", unicodedata.normalize("NFKC", claim))
    latin: list[str] = []
    pieces: list[str] = []
    for piece in re.split(r"[^\w.%\-]+", text):
        words = re.findall(r"[A-Za-z][\w.\-]*[A-Za-z0-9]|[A-Za-z]", re.sub(_HAN, " ", piece))
        latin += [word for word in words if not _is_dropped(word.lower())]
        han = _strip_han(re.sub(r"[A-Za-z][A-Za-z0-9.\-]*", "", piece))
        if len(han) > 1:
            pieces.append(han)
    return " ".join([*dict.fromkeys(latin), *_cut(pieces)])


def _strip_han(piece: str) -> str:
    """One stretch without punctuation, protected words set aside first."""
    kept: list[str] = []

    def aside(match: re.Match[str]) -> str:
        kept.append(match[0])
        return chr(0xE000 + len(kept) - 1)

    piece = _HAN_KEEP.sub(aside, piece)
    for pattern in _HAN_DROP:
        piece = pattern.sub("", piece)
    piece = re.sub(r"[\ue000-\uf8ff]", lambda match: kept[ord(match[0]) - 0xE000], piece)
    return re.sub(r"[^\u3400-\u4dbf\u4e00-\u9fff]", "", piece)


def _cut(pieces: list[str]) -> list[str]:
    room, out = LONGEST_HAN, []
    for piece in pieces:
        if room <= 0:
            break
        out.append(piece[:room])
        room -= len(piece)
    return out
