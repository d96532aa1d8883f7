"""Text to terms for ranking and comparing, in any script.

Terms are folded (width, case, accents) and lightly stemmed. Runs of Chinese, Japanese, Korean, Thai, Lao, Khmer and
Burmese become overlapping pairs of characters. ``1,000`` and ``1000`` are one term.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from itertools import islice
from zlib import crc32

SHINGLE = 5
"""Terms a shingle."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"([{_UNSPACED}]+)|(\d+(?:[.,]\d+)*)|([^\W\d_{_UNSPACED}]+)")
_RUN = re.compile(rf"[{_UNSPACED}]")
_SPACED = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
"""The tokens of a text without runs."""
_ASCII = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]+")
"""The same, twice as fast, of a folded text in ASCII."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_KEPT = 100_000
"""Tokens whose terms are kept."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")
STOP = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "before",
        "being",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "during",
        "each",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "more",
        "most",
        "no",
        "not",
        "of",
        "on",
        "or",
        "other",
        "our",
        "over",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "under",
        "until",
        "up",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "von",
        "mit",
        "für",
        "le",
        "la",
        "les",
        "des",
        "et",
        "est",
        "de",
        "el",
        "los",
        "las",
        "en",
        "que",
        "il",
        "un",
        "una",
    ]
)
"""Words that say nothing about a passage; kept when a text holds nothing else."""


def terms(text: str) -> list[str]:
    """All terms of ``text`` in order, stop words left out."""
    folded = _fold(text)
    if folded.isascii() or not _RUN.search(folded):
        tokens = (_ASCII if folded.isascii() else _SPACED).findall(folded)
        return list(filter(None, map(_terms.__getitem__, tokens)))
    found: list[str] = []
    for run, number, word in _TOKEN.findall(folded):
        if run:
            found.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
        elif term := _terms[number or word]:
            found.append(term)
    return found


class _Terms(dict[str, str]):
    """From a folded token to its term, "" for a stop word. The same few thousand come again and again."""

    def __missing__(self, token: str) -> str:
        if len(self) >= _KEPT:
            self.clear()
        number = token[0].isdecimal()
        term = _THOUSANDS.sub("", token) if number else "" if token in STOP else _stem(token)
        self[token] = sys.intern(term)
        return term


_terms = _Terms()


class _Signs(dict[str, int]):
    """From a term to a number that is the same in every process, unlike Python's own hash of a word."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _KEPT:
            self.clear()
        self[term] = found = crc32(term.encode("utf-8", "surrogatepass"))
        return found


_signs = _Signs()


def shingles_of(words: Iterable[str]) -> set[int]:
    """32-bit hashes of each five neighbouring terms, of the first 40,000; the same in every process of this Python."""
    found = list(map(_signs.__getitem__, islice(words, 40_000)))
    some = [tuple(found)] * bool(found)
    grams = zip(*(found[i:] for i in range(SHINGLE)), strict=False) if len(found) >= SHINGLE else some
    return {number & 0xFFFFFFFF for number in map(hash, grams)}


def query_terms(text: str) -> list[str]:
    """Distinct terms of a query in order; its stop words when it has nothing else."""
    found = list(dict.fromkeys(terms(text)))
    return found or list(dict.fromkeys(word for _, _, word in _TOKEN.findall(_fold(text)) if word))


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", text))


def _stem(word: str) -> str:
    """Plural and verb endings of English, lightly; other words pass nearly untouched."""
    if len(word) < 4 or not word.isascii():
        return word
    for ending, instead in (("sses", "ss"), ("ies", "y"), ("ied", "y")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 4:
            return (stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem).removesuffix("e")
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word
