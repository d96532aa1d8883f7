"""Circular reasoning that form alone shows: two sentences of a report that give each other as the reason.

"A, because B." and "B, because A." need nobody's judgement. Circles over more steps, or in other words, do.
"""

from __future__ import annotations

import re
from itertools import combinations

from ..reports import Report, content_words
from ..reports.data import Sentence

ALIKE = 0.7
"""Share of common content words (of all words of both) from which on two clauses say the same."""
FEWEST = 3
"""Content words a clause must have."""
NEAR = 6
"""Sentences between the two, at most: further away it is a summary and no argument."""

_REASON_LAST = re.compile(
    r"^(?P<conclusion>.+?),?\s(?:because|since|for the reason that)\s(?P<reason>.+)$", re.I | re.S
)
_REASON_FIRST = re.compile(r"^(?:because|since)\s(?P<reason>[^,]+),\s(?P<conclusion>.+)$", re.I | re.S)
_CONCLUSION_LAST = re.compile(r"^(?P<reason>.+?)[,;]\s(?:so|therefore|hence|thus)\s(?P<conclusion>.+)$", re.I | re.S)
_CHINESE = re.compile(
    r"^因为(?P<reason>.+?)[，,](?:所以|因此)?(?P<conclusion>.+)$|^(?P<late>.+?)[，,]因为(?P<early>.+)$", re.S
)

Clauses = tuple[frozenset[str], frozenset[str]]
"""Content words of the conclusion and of the reason."""


def circles(report: Report) -> list[tuple[int, int]]:
    """Numbers of the sentences, in pairs, that are each given as the reason of the other."""
    found = [(sentence, parts) for sentence in report.sentences if (parts := argument(sentence.text))]
    return [
        (one.number, other.number)
        for (one, first), (other, second) in combinations(found, 2)
        if _near(one, other) and alike(first[0], second[1]) and alike(first[1], second[0])
    ]


def argument(text: str) -> Clauses | None:
    """A sentence taken apart into conclusion and reason; None where it gives no reason or one of them is too short."""
    for pattern in (_REASON_FIRST, _REASON_LAST, _CONCLUSION_LAST, _CHINESE):
        match = pattern.match(text.strip())
        if match:
            parts = match.groupdict()
            conclusion = parts.get("conclusion") or parts.get("late") or ""
            reason = parts.get("reason") or parts.get("early") or ""
            both = frozenset(content_words(conclusion)), frozenset(content_words(reason))
            return both if min(map(len, both)) >= FEWEST else None
    return None


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two clauses share nearly all their content words."""
    return len(one & other) >= ALIKE * len(one | other)


def _near(one: Sentence, other: Sentence) -> bool:
    return abs(one.number - other.number) <= NEAR
