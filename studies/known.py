"""What the DREAM paper reports of its controlled studies, and what is not known of their set-up.

The paper's body could not be read; the figures come from summaries by others. Grades: A in the paper's own abstract or
in two independent summaries, B in one detailed summary, C in one loose note. None of them is used in a computation.
"""

from __future__ import annotations

from .sheet import Known

__all__ = ["Figure", "Known", "known"]

Figure = tuple[str, str, str]
"""What was measured, what the paper reports, and the grade of that report."""

CORRUPTION_FALL = ("Factuality against the share r of false claims", "falls about linearly with r", "A")
CORRUPTION_FLAT = ("FACT (citations only) against r", "stays the same whatever r is", "A")
REASONING_RQ = ("RQ, flawed against sound", "about -40 %, in every pair", "A")
REASONING_RACE = ("RACE, flawed against sound", "about -9 %; in several pairs it rises", "A")
TIME_KIC = ("KIC: up to date, middle cut-off, January 2024", "79.35, 44.80, 22.34", "A")
TIME_RACE = ("RACE: up to date, middle cut-off", "50.02, 50.04", "B")
PROTOCOLS = (
    "Ratings of static / agent without / agent with retrieval",
    "with retrieval highest; no figures found",
    "B",
)


def known(figure: Figure, ours: str) -> Known:
    """A figure of the paper beside ours."""
    what, paper, grade = figure
    return Known(what=what, paper=paper, grade=grade, ours=ours)
