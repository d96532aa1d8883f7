"""The distribution report: what was wanted, what came of it, and which rule rejected how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from ..core import Frozen
from .data import Candidate, Cell, Fate, Lost


class Spread(Frozen):
    """Lowest, middle and highest."""

    low: float
    median: float
    high: float


class CellAccount(Frozen):
    """What became of the candidates of one domain in one language; the counts add up to ``wanted``."""

    cell: Cell
    wanted: int
    """Candidates asked for."""
    lost: int
    """Never written."""
    fates: dict[Fate, int]

    def count(self, *fates: Fate) -> int:
        """How many met one of these fates."""
        return sum(self.fates.get(fate, 0) for fate in fates)


class Account(Frozen):
    """How the set is distributed. Nothing that was asked for is missing from it."""

    cells: tuple[CellAccount, ...]
    rules: dict[str, int]
    """Candidates rejected by each rule (a failed call counts under its code), most first."""
    lost: tuple[Lost, ...]
    personas: int
    """Distinct people with a kept task."""
    languages: dict[str, int]
    """Kept tasks by language."""
    words: Spread | None
    """Of kept tasks."""
    asked_again: int
    """Personas and tasks that were asked for a second time."""
    confidences: dict[str, int]
    """How often the first filter gave each confidence."""
    qualities: dict[str, int]
    """How often the second filter gave each quality."""

    @property
    def kept(self) -> int:
        """Tasks in the set."""
        return sum(cell.count(Fate.KEPT) for cell in self.cells)

    @property
    def constant(self) -> tuple[str, ...]:
        """Filters that gave one and the same figure to all of at least five candidates: they do not judge."""
        spreads = {"qualification": self.confidences, "search necessity": self.qualities}
        return tuple(name for name, seen in spreads.items() if len(seen) == 1 and sum(seen.values()) >= 5)


def account_of(
    candidates: Sequence[Candidate], cells: Sequence[Cell], lost: Sequence[Lost], *, wanted: int, asked_again: int
) -> Account:
    """Count. ``wanted``: candidates asked for, a cell."""
    kept = [one for one in candidates if one.fate is Fate.KEPT]
    rules = Counter(one.rule for one in candidates if not one.alive)
    words = sorted(one.words for one in kept)
    confidences = sorted(one.qualification.confidence for one in candidates if one.qualification)
    qualities = sorted(round(one.necessity.quality, 2) for one in candidates if one.necessity)
    return Account(
        cells=tuple(_cell(cell, candidates, lost, wanted) for cell in cells),
        rules=dict(rules.most_common()),
        lost=tuple(lost),
        personas=len({(one.domain, one.language, one.persona.model_dump_json()) for one in kept}),
        languages=dict(Counter(one.language for one in kept)),
        words=Spread(low=words[0], median=median(words), high=words[-1]) if words else None,
        asked_again=asked_again,
        confidences=dict(Counter(f"{value:g}" for value in confidences)),
        qualities=dict(Counter(f"{value:g}" for value in qualities)),
    )


def _cell(cell: Cell, candidates: Sequence[Candidate], lost: Sequence[Lost], wanted: int) -> CellAccount:
    fates = Counter(one.fate for one in candidates if one.cell == cell)
    gone = sum(one.count for one in lost if one.cell == cell)
    return CellAccount(cell=cell, wanted=wanted, lost=gone, fates={fate: fates[fate] for fate in Fate if fates[fate]})
