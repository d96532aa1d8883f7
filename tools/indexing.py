"""The index of one text: its sentences, their terms, where each term stands, and its shingles.

It is made where pages are parsed and sent as bytes: flat arrays of numbers, which take neither time to read nor much
room. The bytes come from a process that a stranger's document may have taken over, so nothing in them is believed that
could do harm here (:func:`unpacked`); what such a page holds is the stranger's own affair anyway.
"""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

from ..reports import split_sentences
from .words import shingles_of, terms

_NUMBERS = "I"
_ARRAYS = ("bounds", "said", "words", "cuts", "holders", "turns", "shingles")
_SIZES = struct.Struct(">8I")
"""Bytes of the vocabulary and of each array as they are sent; the buckets follow."""
BUCKETS = 1 << 16
"""Of shingles, by their upper half."""


@dataclass(frozen=True)
class Indexed:
    """One text, indexed. Sentences that say something have a letter or a digit; they are counted by *places*."""

    vocabulary: str
    """The distinct terms in order of first appearance, a line feed before and after each."""
    bounds: array[int]
    """Start and end of every sentence, by turns."""
    said: array[int]
    """Numbers of the sentences that say something, by place."""
    words: array[int]
    """Their terms, as numbers in the vocabulary, one sentence after the other."""
    cuts: array[int]
    """Where each sentence's words begin, and the end of the last."""
    holders: array[int]
    """The places that hold each term, one term after the other."""
    turns: array[int]
    """Where each term's holders begin, and the end of the last."""
    shingles: array[int]
    """See :mod:`.copies`; distinct."""
    buckets: int
    """A bit for each of the shingles' buckets that is in use."""

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """Start and end of every sentence."""
        return list(zip(self.bounds[::2], self.bounds[1::2], strict=True))

    def span(self, number: int) -> tuple[int, int]:
        """Start and end of one."""
        return self.bounds[2 * number], self.bounds[2 * number + 1]

    def number(self, term: str) -> int | None:
        """The term's number; None when the text does not hold it."""
        at = self.vocabulary.find(f"\n{term}\n")
        return None if at < 0 else self.vocabulary.count("\n", 0, at)

    def words_of(self, place: int) -> array[int]:
        """The terms of a sentence, as numbers."""
        return self.words[self.cuts[place] : self.cuts[place + 1]]

    def where(self, number: int) -> array[int]:
        """The places of the sentences that hold a term, in order."""
        return self.holders[self.turns[number] : self.turns[number + 1]]


def indexed(text: str) -> Indexed:
    """The index of a text, made anew."""
    sentences = [(span.start, span.end) for span in split_sentences(text)]
    said = [number for number, (start, end) in enumerate(sentences) if any(map(str.isalnum, text[start:end]))]
    found = [terms(text[start:end]) for start, end in map(sentences.__getitem__, said)]
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    words = [[numbers[term] for term in held] for held in found]
    where: list[list[int]] = [[] for _ in numbers]
    for place, held in enumerate(words):
        for number in set(held):
            where[number].append(place)
    shingles = shingles_of(chain.from_iterable(found))
    return Indexed(
        vocabulary="\n".join(("", *numbers, "")),
        bounds=_array(chain.from_iterable(sentences)),
        said=_array(said),
        words=_array(chain.from_iterable(words)),
        cuts=_array(accumulate(map(len, words), initial=0)),
        holders=_array(chain.from_iterable(where)),
        turns=_array(accumulate(map(len, where), initial=0)),
        shingles=_array(shingles),
        buckets=_buckets(shingles),
    )


def _array(numbers: Iterable[int]) -> array[int]:
    return array(_NUMBERS, numbers)


def _buckets(shingles: Iterable[int]) -> int:
    bits = bytearray(BUCKETS // 8)
    for shingle in shingles:
        bits[shingle >> 19] |= 1 << (shingle >> 16 & 7)
    return int.from_bytes(bits, "little")


def packed(index: Indexed) -> bytes:
    """The index as bytes, for this machine."""
    parts = [index.vocabulary.encode("utf-8", "replace"), *(getattr(index, name).tobytes() for name in _ARRAYS)]
    return b"".join((_SIZES.pack(*map(len, parts)), *parts, index.buckets.to_bytes(BUCKETS // 8, "little")))


def unpacked(data: bytes, chars: int) -> Indexed:
    """The index of a text of ``chars`` characters from its bytes. ValueError for bytes that are no such thing."""
    sizes = _SIZES.unpack(data[: _SIZES.size]) if len(data) > _SIZES.size else ()
    if _SIZES.size + sum(sizes) + BUCKETS // 8 != len(data):
        raise ValueError("sizes")
    ends = list(accumulate(sizes, initial=_SIZES.size))
    parts = [data[start:end] for start, end in pairwise(ends)]
    arrays = {name: _read(part) for name, part in zip(_ARRAYS, parts[1:], strict=True)}
    index = Indexed(parts[0].decode(), **arrays, buckets=int.from_bytes(data[ends[-1] :], "little"))
    if not _sound(index, chars):
        raise ValueError("numbers")
    return index


def _read(data: bytes) -> array[int]:
    numbers = _array(())
    numbers.frombytes(data)
    return numbers


def _sound(index: Indexed, chars: int) -> bool:
    """Whether every number that something is looked up by leads somewhere. (Slices may be empty; they lead nowhere.)"""
    return (
        len(index.bounds) % 2 == 0
        and len(index.cuts) == len(index.said) + 1
        and len(index.turns) == max(1, index.vocabulary.count("\n"))
        and max(index.bounds, default=0) <= chars
        and max(index.said, default=-1) < len(index.bounds) // 2
        and max(index.holders, default=-1) < len(index.said)
    )
