"""Known-easy and known-hard tasks that go through the same filters: they show whether the filters filter."""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from ..core import Frozen
from .data import Necessity, Persona, Qualification
from .languages import tongue

Kind = Literal["easy", "hard"]


@dataclass(frozen=True)
class Sentinel:
    """A task whose right treatment is known: an easy one is to be rejected, a hard one kept."""

    id: str
    kind: Kind
    language: str
    prompt: str
    persona: Persona


class Watched(Frozen):
    """A sentinel and what the filters made of it. Both filters see every sentinel."""

    id: str
    kind: Kind
    language: str
    prompt: str
    qualification: Qualification | None = None
    answer: str = ""
    necessity: Necessity | None = None
    reason: str = ""
    """Why a verdict is missing; empty when none is."""
    calls: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @property
    def qualified(self) -> bool | None:
        """What the first filter says; None: it could not."""
        return None if self.qualification is None else self.qualification.qualified

    @property
    def needs_search(self) -> bool | None:
        """What the second filter says; None: it could not."""
        return None if self.necessity is None else self.necessity.needs_search

    @property
    def kept(self) -> bool | None:
        """Whether both filters keep it; None when that is not known."""
        verdicts = (self.qualified, self.needs_search)
        return False if False in verdicts else None if None in verdicts else True

    def right(self, verdict: bool | None) -> bool:
        """Whether a verdict is the right one for this sentinel; a missing one is not."""
        return verdict is (self.kind == "hard")


class FilterCheck(Frozen):
    """Whether the filters filter, from how the sentinels fared."""

    sentinels: tuple[Watched, ...]

    @property
    def filters(self) -> bool:
        """All easy ones rejected and all hard ones kept."""
        return bool(self.sentinels) and all(one.right(one.kept) for one in self.sentinels)

    def right(self, kind: Kind, which: Literal["kept", "qualified", "needs_search"] = "kept") -> tuple[int, int]:
        """How many of a kind were treated rightly by both filters together or by one of them, and of how many."""
        of = [one for one in self.sentinels if one.kind == kind]
        return sum(one.right(getattr(one, which)) for one in of), len(of)

    @property
    def wrong(self) -> tuple[Watched, ...]:
        """Those that were not treated rightly."""
        return tuple(one for one in self.sentinels if not one.right(one.kept))


def sentinels_of(language: str, day: dt.date) -> list[Sentinel]:
    """The sentinels of a language as of a day, easy ones first. Raises UserError for a language without any."""
    tag = tongue(language).tag
    return [
        Sentinel(f"{kind}-{number}-{tag}", kind, language, _dated(entry[tag], day), _persona(*entry["persona"][tag]))
        for kind in ("easy", "hard")
        for number, entry in enumerate(_table()[kind], 1)
    ]


@cache
def _table() -> dict[Kind, list[dict[str, Any]]]:
    return tomllib.loads(files(__package__).joinpath("sentinels.toml").read_text(encoding="utf-8"))  # type: ignore[return-value]


def _dated(text: str, day: dt.date) -> str:
    return text.format(year=day.year, last=day.year - 1)


def _persona(role: str, background: str) -> Persona:
    return Persona(name="", role=role, affiliation="", subfield=role, background=background)
