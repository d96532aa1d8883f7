"""Which tasks ask the same in other words, and which personas are the same person twice."""

from __future__ import annotations

from functools import lru_cache

from ..reports import content_words
from .languages import tongue, without_stop_words

SAME_SUBJECT = 80.0
"""RapidFuzz token-set ratio (0–100) of the words that tell the subject, from which on two tasks are near duplicates.

On the 100 queries that DeepResearchEval ships it finds four pairs, all of them repetitions: 3, 32, 62 and 66 ask about
the regulation of stablecoins, 28 and 41 about export controls of chips. Among the 100 tasks of DeepResearch Bench the
highest ratio is 67.
"""
FEW = 3
"""Subjects of fewer words are too short for a set: one would be part of many."""
SAME_JOB = 90.0
"""Token-sort ratio of role and subfield, from which on two personas are alike."""


def same_subject(text: str, other: str, language: str) -> bool:
    """Whether two tasks are near duplicates.

    What all tasks have in common (verbs of asking, periods, products) says nothing and is left out on both sides.
    """
    from rapidfuzz import fuzz

    one, two = subject(text, language), subject(other, language)
    ratio = fuzz.token_sort_ratio if min(len(one.split()), len(two.split())) < FEW else fuzz.token_set_ratio
    return ratio(one, two) >= SAME_SUBJECT


def alike(job: str, other: str) -> bool:
    """Whether two personas do the same work."""
    from rapidfuzz import fuzz

    return fuzz.token_sort_ratio(job.casefold(), other.casefold()) >= SAME_JOB


@lru_cache(maxsize=4096)
def subject(text: str, language: str) -> str:
    """The stems of a task's words that tell its subject, in order of the alphabet; of CJK text its character pairs."""
    known = tongue(language)
    for words in (known.now, known.products, known.frame):
        text = words.sub(" ", text)
    text = without_stop_words(text, known)
    return " ".join(sorted(word for word in content_words(text) if not any(c.isdigit() for c in word)))
