"""What code decides between candidates: near duplicates, the order, the quota."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from .data import Candidate, Cell, Fate, Shortfall
from .likeness import same_subject


def without_doubles(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Near duplicates of an earlier task in the same language marked as such, and all ids made unique.

    Done before any filter is paid for, so the first one stays and not the better one.
    """
    told: list[Candidate] = []
    seen: Counter[str] = Counter()
    alive: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        if one.alive:
            twin = next(
                (two for two in alive[one.language] if same_subject(one.prompt, two.prompt, one.language)), None
            )
            if twin is None:
                alive[one.language].append(one)
            else:
                one = _doubled(one, twin)
        seen[one.id] += 1
        again = f"-{seen[one.id]}" if seen[one.id] > 1 else ""
        told.append(one.model_copy(update={"id": one.id + again}))
    return told


def _doubled(one: Candidate, twin: Candidate) -> Candidate:
    reason = f"asks the same as {twin.id}"
    return one.model_copy(update={"fate": Fate.NEAR_DUPLICATE, "rule": "near_duplicate", "reason": reason})


def ranked(candidates: Sequence[Candidate], keep: int) -> list[Candidate]:
    """The candidates in their order, those that passed both filters ranked in their cell, the first ``keep`` kept.

    ``score = (strength + 1 - quality) / 2``: how surely it qualifies, and how much the no-search answer lacks. The
    personas of a cell take turns, the one with the best task first; ties go by id, which says nothing about a task.
    """
    by_cell: dict[Cell, list[Candidate]] = defaultdict(list)
    for one in candidates:
        if one.alive:
            by_cell[one.cell].append(one.model_copy(update={"score": score_of(one)}))
    placed = {one.id: one for cell in by_cell.values() for one in _placed(cell, keep)}
    return [placed.get(one.id, one) for one in candidates]


def score_of(one: Candidate) -> float:
    """The score in [0, 1]. ValueError for a candidate without both verdicts."""
    if one.qualification is None or one.necessity is None:
        raise ValueError(f"{one.id} has not passed both filters")
    return (one.qualification.strength + 1 - one.necessity.quality) / 2


def _placed(cell: Sequence[Candidate], keep: int) -> list[Candidate]:
    best = sorted(cell, key=lambda one: (-(one.score or 0), one.id))
    turn: Counter[str] = Counter()
    turns: dict[str, int] = {}
    for one in best:
        turns[one.id] = turn[one.persona.model_dump_json()]
        turn[one.persona.model_dump_json()] += 1
    order = sorted(best, key=lambda one: turns[one.id])  # stable: by score inside a turn
    return [
        one.model_copy(update={"rank": rank, "fate": Fate.KEPT if rank <= keep else Fate.SPARE})
        for rank, one in enumerate(order, 1)
    ]


def shortfalls(
    candidates: Sequence[Candidate], cells: Sequence[Cell], keep: int, lost: Counter[Cell]
) -> list[Shortfall]:
    """The cells with fewer than ``keep`` tasks, each with where the others went. ``lost``: never written, a cell."""
    found = []
    for cell in cells:
        of = [one for one in candidates if one.cell == cell]
        kept = sum(one.fate is Fate.KEPT for one in of)
        if kept < keep:
            gone = Counter(one.rule for one in of if not one.alive)
            if lost[cell]:
                gone["never written"] += lost[cell]
            why = ", ".join(f"{count} {rule}" for rule, count in gone.most_common())
            found.append(Shortfall(cell=cell, kept=kept, wanted=keep, why=why))
    return found
