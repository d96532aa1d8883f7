"""What carrying out a validation plan brings: scores, named flaws and the evidence for them."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum

from pydantic import Field

from ..core import Dating, Frozen, PageState
from .data import Step


class FlawKind(StrEnum):
    """The flaws of reasoning that have a name (METRICS 2)."""

    UNSUPPORTED = "unsupported claim"
    CIRCULAR = "circular reasoning"
    CHERRY_PICKED = "cherry-picked evidence"
    FALSE_CAUSE = "false cause"
    OVERGENERALISATION = "overgeneralisation"
    CONTRADICTION = "contradiction"
    OUTDATED = "outdated premise"


class Flaw(Frozen):
    """A flaw that was found, with where it stands in the report."""

    kind: FlawKind
    sentences: tuple[int, ...] = ()
    """Numbers of the report's sentences."""
    quote: str = ""
    """Those sentences, copied by code."""
    note: str = ""


class Found(Frozen):
    """A sentence of a page, as evidence."""

    url: str
    title: str = ""
    quote: str
    start: int
    end: int
    """Offsets into the page's text."""
    published: dt.date | None = None
    dating: Dating = Dating.UNKNOWN
    key: str
    """Ledger key of the page."""
    decisive: bool = False
    """The verdict rests on it."""


class Visit(Frozen):
    """A page that was asked for."""

    url: str
    state: PageState
    published: dt.date | None = None
    dating: Dating = Dating.UNKNOWN
    flags: tuple[str, ...] = ()
    key: str


class Verification(Frozen):
    """How a reasoning question's plan came out for one report."""

    coherence: int | None = Field(default=None, ge=0, le=10)
    """Do the conclusions follow from the report's own premises."""
    validity: int | None = Field(default=None, ge=0, le=10)
    """Do premises and conclusions survive the outside check. None: the check could not run or cites no evidence."""
    flaws: tuple[Flaw, ...] = ()
    evidence: tuple[Found, ...] = ()
    reason: str = ""
    queries: tuple[str, ...] = ()
    pages: tuple[Visit, ...] = ()
    """Every page asked for; those dated after the as-of date are listed here and decide nothing."""
    flags: tuple[str, ...] = ()
    """``windowed``: not the whole report was read. ``no_evidence``: nothing outside decided. ``pointer_dropped``: a
    sentence number that does not exist was left out. ``undated_evidence``: a decisive page has no date."""
    steps: tuple[Step, ...] = ()
    calls: tuple[str, ...] = ()
    """Ledger keys of the model calls."""
