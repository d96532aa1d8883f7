"""The evaluation protocol as data: what is asked of a report, and what each question rests on."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Literal

from pydantic import Field

from ..core import AsOf, Frozen, Task

SCHEMA_VERSION = 1


class Mode(StrEnum):
    """How an agent's job was done."""

    AGENT = "agent"
    """A smolagents CodeAgent with the tools."""
    GUIDED = "guided"
    """Structured actions over the same tools, for models too weak to write code."""
    STATIC = "static"
    """The model alone: the paper's baseline. Creator only."""


class Provenance(Frozen):
    """What a protocol item rests on."""

    url: str
    quote: str = Field(min_length=1)
    """Copied by code from the page, never retyped by a model."""
    published: dt.date | None = None
    key: str
    """Ledger key of the page (or search) it was read in."""


class KeyQuestion(Frozen):
    """A yes/no question on a key fact that a good answer must contain as of the task's date (KIC)."""

    id: str
    """``k1`` …"""
    text: str = Field(min_length=1)
    fact: str
    """The fact that a yes needs."""
    rationale: str = ""
    time_sensitive: bool = False
    provenance: tuple[Provenance, ...] = ()


class Plan(Frozen):
    """How a reasoning question is validated."""

    extract: str
    """What to take out of the report."""
    lookup: str
    """What to look up outside."""
    where: Literal["web", "arxiv", "github"] = "web"
    cross_check: str
    """How to hold the two against each other."""
    against: str
    """What would count against the report."""


class ReasoningQuestion(Frozen):
    """An open question on the report's reasoning, with its validation plan (RQ)."""

    id: str
    """``r1`` …"""
    text: str = Field(min_length=1)
    rationale: str = ""
    plan: Plan
    provenance: tuple[Provenance, ...] = ()


class Maker(Frozen):
    """Who made a protocol."""

    model: str
    mode: Mode
    tools: tuple[str, ...] = ()
    prompt_version: int


class Protocol(Frozen):
    """One protocol file. The same file serves all systems and judges that are compared."""

    schema_version: int = SCHEMA_VERSION
    task: Task
    as_of: AsOf
    created_at: dt.datetime
    """UTC; not part of the digest."""
    maker: Maker
    key_questions: tuple[KeyQuestion, ...]
    reasoning_questions: tuple[ReasoningQuestion, ...]
    flags: tuple[str, ...] = ()
    """``unprovenanced`` in static mode …"""
    digest: str = ""
    """SHA-256 over task, as-of date and items (not maker, not created_at)."""
