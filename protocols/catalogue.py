"""The six DREAM metrics as a table one can read: what each one is, needs and looks at."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from ..core import Frozen

Input = Literal["report", "protocol.key_questions", "protocol.reasoning_questions", "claims", "citations"]
"""What a metric looks at. The key of a unit holds the digests of just these."""


class Ability(StrEnum):
    """Something that a judge, or the tools in its hands, can do."""

    CHAT = "chat"
    SEARCH = "search"
    PAGES = "pages"
    ARXIV = "arxiv"
    GITHUB = "github"
    CODE = "code"
    """Running model-written code in the sandbox (the mode ``agent``)."""


class Vertical(StrEnum):
    """The four sides of a report's quality that DREAM distinguishes; tables group by it."""

    PRESENTATION = "presentation quality"
    COMPLIANCE = "task compliance"
    DEPTH = "analytical depth"
    SOURCES = "source quality"


class Metric(Frozen):
    """One metric of the catalogue."""

    name: str
    title: str
    vertical: Vertical
    adaptive: bool
    """True: its questions are made for the task. False: the same for every task."""
    kind: Literal["llm", "agent", "workflow"]
    """The evaluator that serves it."""
    needs: frozenset[Ability]
    """Without one of these no evaluator can serve it."""
    inputs: tuple[Input, ...]


_CHAT, _SEARCH, _PAGES = Ability.CHAT, Ability.SEARCH, Ability.PAGES

_TABLE = (
    # name, title, vertical, adaptive, kind, needs, inputs
    ("wq", "Writing quality", Vertical.PRESENTATION, False, "llm", {_CHAT}, ("report",)),
    (
        "kic",
        "Key-information coverage",
        Vertical.COMPLIANCE,
        True,
        "llm",
        {_CHAT},
        ("report", "protocol.key_questions"),
    ),
    (
        "rq",
        "Reasoning quality",
        Vertical.DEPTH,
        True,
        "agent",
        {_CHAT, _SEARCH, _PAGES},
        ("report", "protocol.reasoning_questions"),
    ),
    ("factuality", "Factuality", Vertical.SOURCES, False, "workflow", {_CHAT, _SEARCH, _PAGES}, ("report", "claims")),
    (
        "ci",
        "Citation integrity",
        Vertical.SOURCES,
        False,
        "workflow",
        {_CHAT, _PAGES},
        ("report", "claims", "citations"),
    ),
    ("da", "Domain authoritativeness", Vertical.SOURCES, False, "workflow", {_CHAT}, ("report", "citations")),
)

METRICS: dict[str, Metric] = {
    name: Metric(
        name=name, title=title, vertical=vertical, adaptive=adaptive, kind=kind, needs=frozenset(needs), inputs=inputs
    )
    for name, title, vertical, adaptive, kind, needs, inputs in _TABLE
}
"""By name, in the order of the tables."""
