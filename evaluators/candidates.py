"""Which sentences of a report can be checked, and which matter most, found by code.

For the embedded maker only: asked to choose, it took the last items of the list and called every sentence checkable. So
code chooses, and the model is left with what it can do: wording.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core import Task
from ..reports import content_words, numbers_in
from ..reports.data import Report, SegmentKind, Sentence

SILENT = frozenset({SegmentKind.HEADING, SegmentKind.CODE, SegmentKind.MATH, SegmentKind.REFERENCES})
"""Kinds of segments that hold no claims."""

_ADVICE = re.compile(
    r"\b(?:should|must|ought to|needs? to|let us|we recommend|is recommended|consider)\b|应该|应当|需要|建议|必须",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:do not|don't|never|make|switch|replace|avoid|ask|use|start|begin|plan|consider|choose|keep|review|test|build"
    r"|create|adopt|ensure|check|monitor|prepare|train|set|define|prioriti[sz]e|identify|assess|implement|establish|develop"
    r"|update|track|evaluate|include|apply|focus|look|read|see|note|take|give|put|move|add|remove|stop|wait|buy|sell|hire|map)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<=[\w,;:)] )(?:[A-Z][\w-]+|[A-Z]{2,}[\w-]*)|[A-Z]{2,}[\w-]*"
    r"|[\u4e00-\u9fff]{2,}(?:公司|大学|部|局|委员会|银行|集团)"
)
_POINTS_BACK = re.compile(
    r"^(?:\S+ ){0,4}(?:it|its|they|their|them|he|she|his|her|this|these|those)\b"
    r"|^(?:that|such|both|all (?:two|three|four)|the (?:former|latter|same|plan|team|company|report|study|results?"
    r"|figures?|number|agency|paper|authors?|group|firm|law|rule|standards?)\b)"
    r"|\b(?:in this way|the same (?:day|week|month|year)|do (?:it|so|this|that)|all (?:two|three|four) of)\b"
    r"|^(?:其|该|此|这|那|它|他|她)",
    re.IGNORECASE,
)
"""Signs that a sentence leans on one before it."""


@dataclass(frozen=True)
class Candidate:
    """A sentence that can be checked."""

    number: int
    text: str
    salience: float
    """How much depends on it, as far as form tells: cited, in the query's words, with numbers and names."""
    alone: bool
    """It can be understood without its neighbours, as far as form tells."""


def candidates(report: Report, task: Task) -> list[Candidate]:
    """The report's checkable sentences, in order: statements with a number, a name or a citation."""
    asked = set(content_words(task.prompt))
    cited = {mark.sentence for mark in report.marks if mark.sources}
    return [
        Candidate(s.number, s.text, _salience(s, asked, s.number in cited), not leans_back(s.text))
        for s in report.sentences
        if report.segments[s.segment].kind not in SILENT and checkable(s.text, cited=s.number in cited)
    ]


def leans_back(text: str) -> bool:
    """Whether a sentence needs the one before it to be understood, as far as form tells."""
    return _POINTS_BACK.search(text) is not None


def checkable(text: str, *, cited: bool) -> bool:
    """Whether a sentence states something about the world, as far as form tells."""
    plain = text.strip()
    if plain.endswith(("?", "？", ":", "：")) or _ORDER.match(plain) or _ADVICE.search(plain):
        return False
    return cited or bool(numbers_in(plain)) or _NAME.search(plain) is not None


def _salience(sentence: Sentence, asked: set[str], cited: bool) -> float:
    words = set(content_words(sentence.text))
    near = len(words & asked) / len(words) if words else 0.0
    return 2.0 * cited + 2.0 * near + min(2, len(numbers_in(sentence.text))) / 2 + bool(_NAME.search(sentence.text)) / 2


def ranked(found: Sequence[Candidate]) -> list[Candidate]:
    """The most salient first; of equals the earlier."""
    return sorted(found, key=lambda candidate: (-candidate.salience, candidate.number))
