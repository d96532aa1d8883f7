"""Near copies: of the report under test, and of one source in many places.

Texts are compared by their shingles: five neighbouring terms each (stop words left out, CJK as character pairs). All
shingles are compared, none sampled, of the first 40,000 terms of a text.

- *Copies of each other* (:func:`is_copy`): at least 60 % of the shorter text's shingles stand in the longer one, which
  is at most three times as long; or, below 20 shingles, the same terms throughout.
- *Copy of the report* (:func:`holds_report`): half of the report's shingles stand in the page, however long the page
  is. (A short source that a report has copied out whole stays a source.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .data import Page
from .indexing import Indexed
from .passages import index_of

SHARE = 0.6
"""Share of the shorter text found in the longer one from which on they are copies."""
LONGER = 3.0
"""A text more than this many times as long is a work of its own that quotes the other."""
REPORT_SHARE = 0.5
"""Share of a report found in a page from which on the page is a copy of the report."""
_FEW = 20


@dataclass(frozen=True)
class Shingles:
    """What texts are compared by."""

    index: Indexed

    def __len__(self) -> int:
        """How many there are."""
        return len(self.index.shingles)

    @cached_property
    def all(self) -> frozenset[int]:
        """They themselves, as hashes."""
        return frozenset(self.index.shingles)

    def hold(self, other: Shingles, share: float) -> bool:
        """Whether ``share`` of the other's are among these. Most texts have little in common, and the buckets tell that
        at once: each of the other's that is none of these has a shingle in it which is not here."""
        wanted = share * len(other)
        if len(other) - (other.index.buckets & ~self.index.buckets).bit_count() < wanted:
            return False
        return len(self.all & other.all) >= wanted


def shingles(text: str) -> Shingles:
    """The text's shingles."""
    return Shingles(index_of(text))


def is_copy(text: str, other: str) -> bool:
    """Whether the two texts are near copies of each other (see the module's thresholds)."""
    return copies(shingles(text), shingles(other))


def copies(one: Shingles, other: Shingles) -> bool:
    """:func:`is_copy` on shingles made before."""
    short, long = sorted((one, other), key=len)
    if not len(short):
        return False
    if len(short) < _FEW:
        return short.all == long.all
    return len(long) <= LONGER * len(short) and long.hold(short, SHARE)


def holds_report(page: Shingles, report: Shingles) -> bool:
    """Whether a page carries the report (or is a near copy of it), so that it is no evidence for it."""
    if len(report) < _FEW:
        return len(report) > 0 and report.all <= page.all
    return page.hold(report, REPORT_SHARE) or copies(page, report)


def independent(pages: Sequence[Page]) -> list[list[Page]]:
    """Group pages that are near copies of one another; each group is one source. Order of first appearance."""
    groups: list[tuple[list[Shingles], list[Page]]] = []
    for page in pages:
        own = shingles(page.text)
        for known, members in groups:
            if any(copies(own, other) for other in known):
                known.append(own)
                members.append(page)
                break
        else:
            groups.append(([own], [page]))
    return [members for _, members in groups]
