"""Whether two texts say the same: nearly equal wording, with the same numbers, negations, directions and names."""

from __future__ import annotations

import re
from collections import Counter

from .numbers import numbers_in
from .text import content_words, fold, has_cjk

TWIN = 92.0
"""RapidFuzz token ratio (0–100) from which two wordings count as one; 96 for CJK, which has no tokens."""

_NEGATIONS = {
    "not", "no", "never", "none", "nor", "neither", "without", "cannot", "lack", "lacks", "lacked", "lacking", "fail",
    "fails", "failed", "unable", "hardly", "barely", "deny", "denies", "denied", "n't", "except", "unlike", "nicht", (
        "kein"
    ),
    "keine", "nie", "ohne", "pas", "jamais", "sans", "sin", "nunca",
}  # fmt: skip
_DIRECTIONS = {
    "up": "increase increases increased increasing rise rises rose risen rising grow grows grew grown growing "
    "growth gain gains gained climb climbs climbed surge surges surged expand expands expanded expansion "
    "improve improved improves up higher accelerate accelerated upward jump jumped soar soared exceed "
    "exceeds exceeded above over outperform outperformed",
    "down": "decrease decreases decreased decreasing fall falls fell fallen falling decline declines declined "
    "declining drop drops dropped shrink shrank shrunk shrinks lose loses lost loss losses reduce reduced "
    "reduces reduction worsen worsened down lower slow slowed slowdown downward plunge plunged plummet "
    "plummeted cut cuts below under underperform underperformed",
    "more": "more greater larger bigger most highest largest best maximum majority strengthen strengthened first",
    "less": "less fewer smaller least lowest smallest worst minimum minority weaken weakened last",
    "before": "before earlier prior precede preceded",
    "after": "after later following subsequent follow followed",
    "yes": "support supports supported allow allows allowed approve approved accept accepted enable enabled "
    "legal true safe",
    "against": "oppose opposes opposed ban bans banned prohibit prohibited reject rejected refuse refused prevent "
    "prevented illegal false unsafe",
}
_DIRECTION = {word: name for name, words in _DIRECTIONS.items() for word in words.split()}
_CJK_SIGNS = re.compile(
    r"(?P<no>不|没|没有|未|無|无|非|否|沒)|(?P<up>增长|增加|上升|上涨|提高|提升|扩大|增長|上昇|增え|高于|超过)"
    r"|(?P<down>下降|减少|下跌|降低|缩小|下滑|減少|低下|萎缩|低于)|(?P<more>最大|最高|最多|更多|更高)|(?P<less>最小|最低|最少|更少|更低)"
)
_END = " .。!！?？;；"
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NAME = re.compile(r"(?<![.!?]\s)(?<!\A)\b[A-ZÀ-Þ][\w’'-]*")


def polarity(text: str) -> Counter[str]:
    """Negations and direction words of a text, as counts: ``no``, ``up``, ``down``, ``more``, ``less`` …"""
    found: Counter[str] = Counter()
    folded = fold(text)
    for token in _TOKEN.findall(folded):
        if token in _NEGATIONS or token.endswith("n't"):
            found["no"] += 1
        elif token in _DIRECTION:
            found[_DIRECTION[token]] += 1
    found.update(match.lastgroup or "" for match in _CJK_SIGNS.finditer(folded))
    return found


def same_signs(text: str, other: str) -> bool:
    """Whether both texts carry the same numbers, dates and units, negations and direction words."""
    return sorted(numbers_in(text)) == sorted(numbers_in(other)) and polarity(text) == polarity(other)


def are_twins(text: str, other: str) -> bool:
    """Whether two claims are one: equal numbers, negations, directions and names, and nearly equal wording."""
    from rapidfuzz import fuzz

    left, right = fold(text).rstrip(_END), fold(other).rstrip(_END)
    if left == right:
        return True
    if not same_signs(text, other):
        return False
    cjk = has_cjk(text)
    ratio = fuzz.ratio(left, right) if cjk else fuzz.token_sort_ratio(left, right)
    if ratio < (96.0 if cjk else TWIN):
        return False
    return cjk or (_names(text) == _names(other) and _differ_little(text, other))


def _names(text: str) -> set[str]:
    return {name.casefold() for name in _NAME.findall(text)}


def _differ_little(text: str, other: str) -> bool:
    """At most one content word in ten differs."""
    left, right = set(content_words(text)), set(content_words(other))
    return 10 * len(left ^ right) <= 2 * max(len(left), len(right))
