"""Which units of a run are done, and where their results stand; the results themselves are not held."""

from __future__ import annotations

from collections.abc import Iterator

from .data import UnitPlace, UnitResult
from .kept import Kept
from .progress import Watcher
from .results import Spot, line_at
from .store import RunFolder
from .units import Unit
from .work import Work


class Done:
    """Takes over what the folder holds and stores what is new."""

    def __init__(self, work: Work, folder: RunFolder, kept: Kept, watcher: Watcher) -> None:
        self.kept = kept
        self._work, self._folder, self._watcher = work, folder, watcher
        self._spots: dict[UnitPlace, Spot] = {}
        self._keys: dict[UnitPlace, str] = {}

    @property
    def count(self) -> int:
        """Units that are done, failed ones included."""
        return len(self._spots)

    @property
    def whole(self) -> bool:
        """Whether that is all of them."""
        return self.count == self._work.size

    def take(self, unit: Unit, key: str | None = None) -> bool:
        """Take over the settled result of a unit, if there is one. ``key``: where it is known already."""
        if unit.place in self._spots:
            return True
        spot = self.kept.settled(unit) if key is None else self.kept.index.settled.get(key)
        line = None if spot is None else line_at(spot)
        if spot is None or line is None:
            return False
        if spot.path != self._folder.results_path or line.place != unit.place:  # of an earlier plan, or renamed
            line = line.model_copy(update={"task": unit.task.id, "report": unit.case.system})
            spot = self._folder.append(line)
        self._spots[unit.place], self._keys[unit.place] = spot, line.unit
        self._watcher.unit(line, reused=True)
        return True

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the units that are done."""
        return frozenset(self._keys.values())

    def take_settled(self) -> None:
        """Take over all that is settled and was not looked at before the run stopped."""
        for unit in self._work.units():
            self.take(unit)

    def add(self, line: UnitResult) -> None:
        """Store a new result: on disk when this returns. Raises OSError."""
        self._spots[line.place], self._keys[line.place] = self._folder.append(line), line.unit
        self._watcher.unit(line, reused=False)

    def spots(self) -> list[Spot]:
        """Where the results stand, in plan order."""
        places = (unit.place for unit in self._work.units())
        return [self._spots[place] for place in places if place in self._spots]

    def lines(self) -> Iterator[UnitResult]:
        """The results in plan order, read one at a time."""
        return (line for spot in self.spots() if (line := line_at(spot)) is not None)


def left_of(work: Work, kept: Kept) -> Iterator[Unit]:
    """Units without a settled result, in plan order; nothing is taken over."""
    return (unit for unit in work.units() if kept.settled(unit) is None)
