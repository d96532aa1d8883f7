"""Task construction as plain data: personas, candidates, what was found out about them, and what became of them."""

from __future__ import annotations

from enum import StrEnum
from statistics import fmean

from pydantic import Field, computed_field

from ..core import Frozen

LEAST_CONFIDENCE = 0.7
"""A candidate whose confidence is not above this does not qualify (METRICS 8)."""
GOOD_QUALITY = 0.7
"""A no-search answer whose quality is above this answers its task well enough (METRICS 8)."""
UP_TO_DATE = 0.75
"""… if it is also at least this accurate and this timely, which is what a search would mend."""


class Sure(StrEnum):
    """How sure one is of a statement."""

    CERTAIN = "certain"
    LIKELY = "likely"
    UNCLEAR = "unclear"
    UNLIKELY = "unlikely"
    NO = "no"

    @property
    def value_01(self) -> float:
        """1, 0.75, 0.5, 0.25, 0."""
        return 1 - list(Sure).index(self) / 4


class Grade(StrEnum):
    """How good an answer is in one respect."""

    POOR = "poor"
    WEAK = "weak"
    FAIR = "fair"
    GOOD = "good"
    EXCELLENT = "excellent"

    @property
    def value_01(self) -> float:
        """0, 0.25, 0.5, 0.75, 1."""
        return list(Grade).index(self) / 4


class Cell(Frozen):
    """What has a quota of its own: one domain in one language."""

    domain: str
    language: str

    @property
    def name(self) -> str:
        """For people: ``Health (en)``."""
        return f"{self.domain} ({self.language})"


class Persona(Frozen):
    """An invented person who needs research for their work."""

    name: str
    role: str
    affiliation: str
    subfield: str
    background: str


class Qualification(Frozen):
    """The first filter's verdict: does the task need research at all, and does it fit the person?"""

    current: Sure
    """Needs what became known lately."""
    sources: Sure
    """Needs several sources, held against each other."""
    depth: Sure
    """Needs several steps, one building on another."""
    fits: Sure | None
    """Subject and difficulty suit the person; None: the embedded judge is not asked."""
    reason: str = ""

    @property
    def said(self) -> dict[str, Sure]:
        """What was said, by name."""
        given = {"current": self.current, "sources": self.sources, "depth": self.depth, "fits": self.fits}
        return {name: sure for name, sure in given.items() if sure is not None}

    @property
    def values(self) -> tuple[float, ...]:
        """The same as numbers in [0, 1]."""
        return tuple(sure.value_01 for sure in self.said.values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def confidence(self) -> float:
        """The weakest of them, in [0, 1]: all are needed."""
        return min(self.values)

    @property
    def strength(self) -> float:
        """Their mean, in [0, 1]: for ranking."""
        return fmean(self.values)

    @property
    def qualified(self) -> bool:
        """Whether the task is kept."""
        return self.confidence > LEAST_CONFIDENCE


class Necessity(Frozen):
    """The second filter's verdict: how good is an answer that was written without a search?

    The last three are None when they were not asked for (by the embedded judge, which calls all of them good).
    """

    accuracy: Grade
    timeliness: Grade
    depth: Grade | None = None
    professionalism: Grade | None = None
    structure: Grade | None = None
    reason: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def quality(self) -> float:
        """Mean of the grades, in [0, 1]."""
        grades = (self.accuracy, self.timeliness, self.depth, self.professionalism, self.structure)
        return fmean(grade.value_01 for grade in grades if grade is not None)

    @property
    def needs_search(self) -> bool:
        """Whether the task is kept: memory alone does not answer it well."""
        known = min(self.accuracy.value_01, self.timeliness.value_01) >= UP_TO_DATE
        return not (self.quality > GOOD_QUALITY and known)


class Fate(StrEnum):
    """What became of a candidate."""

    KEPT = "kept"
    SPARE = "spare"
    """Passed everything; others of its domain were better."""
    BROKE_RULE = "broke_rule"
    """Broke a rule that code checks, twice."""
    NEAR_DUPLICATE = "near_duplicate"
    NOT_QUALIFIED = "not_qualified"
    NO_SEARCH_NEEDED = "no_search_needed"
    FAILED = "failed"
    """A call about it failed: nothing is known of it."""


class Candidate(Frozen):
    """A task on its way, and in the end the line that provenance keeps of it."""

    id: str
    """``domain-language-digest``: stable, and unique in a set."""
    domain: str
    language: str
    persona: Persona
    prompt: str
    words: int = Field(ge=0)
    """CJK text counts two characters as a word."""
    asked_again: bool = False
    """Its first form broke a rule; this is the second."""
    challenges: str = ""
    angles: tuple[str, ...] = ()
    """Rounds of search that the author expects."""
    sources: tuple[str, ...] = ()
    qualification: Qualification | None = None
    answer: str = ""
    """Written without a search."""
    necessity: Necessity | None = None
    fate: Fate = Fate.SPARE
    rule: str = ""
    """The rule that rejected it, or the code of the call that failed."""
    reason: str = ""
    score: float | None = None
    """For ranking, in [0, 1]: mean of the qualification's strength and of what the no-search answer lacks."""
    rank: int | None = None
    """In its domain and language, from 1; None unless it passed everything."""
    calls: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Ledger keys a stage."""

    @property
    def cell(self) -> Cell:
        """Its domain and language."""
        return Cell(domain=self.domain, language=self.language)

    @property
    def alive(self) -> bool:
        """Nothing has rejected it so far."""
        return self.fate in (Fate.KEPT, Fate.SPARE)


class Lost(Frozen):
    """Candidates that were never written."""

    cell: Cell
    stage: str
    """``personas`` or ``candidates``."""
    count: int
    reason: str


class Shortfall(Frozen):
    """A domain and language with fewer tasks than wanted."""

    cell: Cell
    kept: int
    wanted: int
    why: str
    """Where the others went, in words."""

    def __str__(self) -> str:
        return f"{self.cell.name}: {self.kept} of {self.wanted} tasks ({self.why})"
