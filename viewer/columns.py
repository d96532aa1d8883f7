"""The results of a run, held small: every cell of the table, and each report's units packed until they are written."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

from ..core import Json, Status
from ..runs.data import RunConfig, UnitResult

Place = tuple[str, str]
"""Task and system."""


class Columns:
    """All units of a run in one pass. A unit takes a tenth of its size in memory until its report is asked for."""

    def __init__(self, units: Iterable[UnitResult]) -> None:
        self._packed: dict[Place, list[bytes]] = {}
        self._cells: dict[Place, list[tuple[str, str, int, list[Json]]]] = {}
        self._ranked: dict[tuple[str, str, str], dict[str, list[float]]] = {}
        for unit in units:
            self._add(unit)

    def _add(self, unit: UnitResult) -> None:
        place, result = (unit.task, unit.report), unit.result
        self._packed.setdefault(place, []).append(zlib.compress(unit.model_dump_json().encode(), 1))
        self._cells.setdefault(place, []).append((unit.metric, unit.judge, unit.repeat, cell_of(unit)))
        if result.status is Status.SCORED and result.score is not None and "thin" not in result.flags:
            tasks = self._ranked.setdefault((unit.report, unit.metric, unit.judge), {})
            tasks.setdefault(unit.task, []).append(result.score)

    def units(self, task: str, system: str) -> list[UnitResult]:
        """The units of one report, in the order of the run."""
        packed = self._packed.get((task, system), ())
        return [UnitResult.model_validate_json(zlib.decompress(one)) for one in packed]

    def by_task(self, system: str, metric: str, judge: str) -> dict[str, float]:
        """Task to score (0–100, repeats averaged) where there is one that may be compared."""
        found = self._ranked.get((system, metric, judge), {})
        return {task: sum(scores) / len(scores) for task, scores in found.items()}

    def cells(self, config: RunConfig) -> Json:
        """A list a report, in the order of ``config.reports``: [metric, judge, repeat, status, score, …] by index."""
        metrics = {name: number for number, name in enumerate(config.metrics)}
        judges = {name: number for number, name in enumerate(config.judges)}
        return [
            [[metrics[m], judges[j], repeat, *cell] for m, j, repeat, cell in self._cells.get((ref.task, ref.id), ())]
            for ref in config.reports
        ]


def cell_of(unit: UnitResult) -> list[Json]:
    """One score as the page's table needs it: metric, judge and repeat stand before it."""
    result = unit.result
    interval, coverage = result.interval, result.coverage
    return [
        result.status.value[0],
        rounded(result.score),
        [rounded(interval.low), rounded(interval.high), interval.kind[0]] if interval else None,
        [coverage.decided, coverage.checked] if coverage else None,
        list(result.flags),
        result.reason if result.status is not Status.SCORED else "",
        len(result.items),
    ]


HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd]")
"""Characters that nobody sees, or that turn the writing direction."""


def visible(text: str) -> str:
    """A name as it is shown and linked: hidden characters spelled out, so that no two names look and lead the same."""
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def rounded(value: float | None) -> float | None:
    """Two decimals: the page shows one."""
    return None if value is None else round(value, 2)
