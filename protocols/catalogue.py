"""All metrics as a table one can read: what each one is, needs and looks at.

Three groups: DREAM's own six, DeepResearchEval's two, DeepResearch Bench's two.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from ..core import Frozen

Input = Literal[
    "report", "protocol.key_questions", "protocol.reasoning_questions", "claims", "citations", "rubric", "reference"
]
"""What a metric looks at. The key of a unit holds the digests of just these."""

Group = Literal["dream", "dre", "drb"]
"""Whose metric it is: DREAM, DeepResearchEval, DeepResearch Bench."""


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
    """The four sides of a report's quality that DREAM distinguishes; tables group by it.

    The peers' overall scores of quality stand under task compliance, where most of their weight lies.
    """

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
    """True: its questions or criteria are made for the task. False: the same for every task."""
    kind: Literal["llm", "agent", "workflow"]
    """The evaluator that serves it."""
    needs: frozenset[Ability]
    """Without one of these no evaluator can serve it."""
    inputs: tuple[Input, ...]
    group: Group = "dream"


_CHAT, _SEARCH, _PAGES = Ability.CHAT, Ability.SEARCH, Ability.PAGES

_TABLE = (
    # group, name, title, vertical, adaptive, kind, needs, inputs
    ("dream", "wq", "Writing quality", Vertical.PRESENTATION, False, "llm", {_CHAT}, ("report",)),
    (
        "dream",
        "kic",
        "Key-information coverage",
        Vertical.COMPLIANCE,
        True,
        "llm",
        {_CHAT},
        ("report", "protocol.key_questions"),
    ),
    (
        "dream",
        "rq",
        "Reasoning quality",
        Vertical.DEPTH,
        True,
        "agent",
        {_CHAT, _SEARCH, _PAGES},
        ("report", "protocol.reasoning_questions"),
    ),
    (
        "dream",
        "factuality",
        "Factuality",
        Vertical.SOURCES,
        False,
        "workflow",
        {_CHAT, _SEARCH, _PAGES},
        ("report", "claims"),
    ),
    (
        "dream",
        "ci",
        "Citation integrity",
        Vertical.SOURCES,
        False,
        "workflow",
        {_CHAT, _PAGES},
        ("report", "claims", "citations"),
    ),
    ("dream", "da", "Domain authoritativeness", Vertical.SOURCES, False, "workflow", {_CHAT}, ("report", "citations")),
    ("dre", "dre_quality", "Point-wise quality", Vertical.COMPLIANCE, True, "llm", {_CHAT}, ("report", "rubric")),
    (
        "dre",
        "dre_facts",
        "Active fact-checking",
        Vertical.SOURCES,
        False,
        "agent",
        {_CHAT, _SEARCH, _PAGES},
        ("report", "claims"),
    ),
    ("drb", "race", "RACE", Vertical.COMPLIANCE, True, "llm", {_CHAT}, ("report", "rubric", "reference")),
    ("drb", "fact", "FACT", Vertical.SOURCES, False, "workflow", {_CHAT, _PAGES}, ("report", "citations")),
)

METRICS: dict[str, Metric] = {
    name: Metric(
        group=group,
        name=name,
        title=title,
        vertical=vertical,
        adaptive=adaptive,
        kind=kind,
        needs=frozenset(needs),
        inputs=inputs,
    )
    for group, name, title, vertical, adaptive, kind, needs, inputs in _TABLE
}
"""By name, in the order of the tables."""

GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(name for name, metric in METRICS.items() if metric.group == group) for group in ("dream", "dre", "drb")
}
"""Names of the metrics of each group."""

DREAM = GROUPS["dream"]
"""What is measured when nobody says what."""
