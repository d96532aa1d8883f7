"""What changed between two protocols. Questions are matched by their words, since ids are only numbers in a row."""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Sequence
from typing import Literal

from rapidfuzz import fuzz

from ..core import Frozen
from .schema import KeyQuestion, Protocol, ReasoningQuestion

SIMILAR = 70.0
"""RapidFuzz token-set ratio, 0–100, from which a question counts as the other one reworded."""

Question = KeyQuestion | ReasoningQuestion


def all_questions(protocol: Protocol) -> tuple[Question, ...]:
    """Key questions, then reasoning questions."""
    return (*protocol.key_questions, *protocol.reasoning_questions)


class Change(Frozen):
    """A question that both protocols have, with what differs."""

    old: str
    """Its id in the old protocol."""
    new: str
    """Its id in the new protocol."""
    fields: tuple[str, ...]
    """Names of the fields that differ (``id`` apart)."""


class Diff(Frozen):
    """The difference between two protocols, as ids of their questions."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()
    same: int = 0
    """Number of questions that are equal in both."""
    head: tuple[str, ...] = ()
    """Fields outside the questions that differ: ``task``, ``as_of``, ``maker``."""


def diff(old: Protocol, new: Protocol) -> Diff:
    """Compare two protocols: key questions with key questions, reasoning questions with reasoning questions."""
    parts = [
        _compare(old.key_questions, new.key_questions),
        _compare(old.reasoning_questions, new.reasoning_questions),
    ]
    return Diff(
        added=tuple(id for part in parts for id in part.added),
        removed=tuple(id for part in parts for id in part.removed),
        changed=tuple(change for part in parts for change in part.changed),
        same=sum(part.same for part in parts),
        head=tuple(field for field in ("task", "as_of", "maker") if getattr(old, field) != getattr(new, field)),
    )


def _compare(old: Sequence[Question], new: Sequence[Question]) -> Diff:
    left = list(old)
    added: list[str] = []
    changed: list[Change] = []
    same = 0
    for question in sorted(new, key=lambda candidate: -_best(candidate, old)):
        partner = max(left, key=lambda candidate: _likeness(candidate, question), default=None)
        if partner is None or _likeness(partner, question) < SIMILAR:
            added.append(question.id)
            continue
        left.remove(partner)
        fields = _differences(partner, question)
        if fields:
            changed.append(Change(old=partner.id, new=question.id, fields=fields))
        else:
            same += 1
    order = [question.id for question in new]
    changed.sort(key=lambda change: order.index(change.new))
    removed = tuple(question.id for question in left)
    return Diff(added=tuple(sorted(added, key=order.index)), removed=removed, changed=tuple(changed), same=same)


def _best(question: Question, others: Sequence[Question]) -> float:
    return max((_likeness(other, question) for other in others), default=0.0)


def _likeness(one: Question, other: Question) -> float:
    return float(fuzz.token_sort_ratio(one.text.lower(), other.text.lower()))


def _differences(one: Question, other: Question) -> tuple[str, ...]:
    names = [name for name in type(one).model_fields if name != "id"]
    return tuple(name for name in names if getattr(one, name) != getattr(other, name))


# --- what changed inside of a question -------------------------------------------------------------------------------


class Words(Frozen):
    """A stretch of words that two texts share, or that only one of them has."""

    kind: Literal["same", "gone", "new"]
    text: str


class EvidenceChange(Frozen):
    """How the evidence of a question differs."""

    gone: tuple[str, ...] = ()
    """Addresses that only the old one rests on."""
    new: tuple[str, ...] = ()
    requoted: tuple[str, ...] = ()
    """Addresses of both, with another quote or date."""
    newest_old: dt.date | None = None
    """Date of the newest evidence; None: none is dated."""
    newest_new: dt.date | None = None


def word_changes(old: str, new: str) -> tuple[Words, ...]:
    """The difference of two texts by words, in order; Chinese, Japanese and Korean text by characters."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    found: list[Words] = []
    for kind, a1, a2, b1, b2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(Words(kind="same", text="".join(a[a1:a2])))
            continue
        if a2 > a1:
            found.append(Words(kind="gone", text="".join(a[a1:a2])))
        if b2 > b1:
            found.append(Words(kind="new", text="".join(b[b1:b2])))
    return tuple(found)


_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\s+")


def evidence_change(old: Question, new: Question) -> EvidenceChange:
    """Addresses, quotes and dates of two questions' provenance, compared."""
    before = {source.url: source for source in old.provenance}
    after = {source.url: source for source in new.provenance}
    return EvidenceChange(
        gone=tuple(url for url in before if url not in after),
        new=tuple(url for url in after if url not in before),
        requoted=tuple(
            url
            for url, source in before.items()
            if url in after and (source.quote, source.published) != (after[url].quote, after[url].published)
        ),
        newest_old=_newest(old),
        newest_new=_newest(new),
    )


def _newest(question: Question) -> dt.date | None:
    return max((source.published for source in question.provenance if source.published), default=None)
