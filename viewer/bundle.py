"""All that one page shows: a small index that is read at once, and parts that are read when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from ..core import Json
from ..protocols.schema import Protocol
from ..runs.data import UnitResult
from ..runs.labels import claims_label
from ..runs.names import names_of
from ..runs.reading import RunView, open_run
from .columns import Columns, visible
from .differences import differences_of
from .heads import head_of, metrics_of
from .lookups import Lookups
from .parts import FULL, Detail, calls_part, pages_part, quoted_in, report_part
from .protocols import Asked, asked_part, run_of

T = TypeVar("T")
SCHEMA = 1
"""Version of the data that the page's script reads; both are built together."""


class RunPages:
    """One run: its head and the parts of each of its reports."""

    def __init__(self, view: RunView, ledger: Path | None = None) -> None:
        self.view = view
        self.columns = Columns(view.results())
        self.look = Lookups(ledger or Path(view.config.ledger), view.config.run)
        self._names = names_of((ref.task, ref.id) for ref in view.config.reports)

    @cached_property
    def head(self) -> dict[str, Json]:
        """See :func:`.heads.head_of`."""
        head = head_of(self.view, self.columns, lookups_missing=self.look.missing)
        return {**head, "protocols": {visible(task): number for number, task in enumerate(self._asked)}}

    @cached_property
    def _asked(self) -> dict[str, Asked]:
        """Task to what its reports were asked, where that was made for the task."""
        found: dict[str, Asked] = {}
        for ref in self.view.config.reports:
            for unit in self.columns.units(ref.task, ref.id) if ref.task not in found else ():
                protocol, rubric = self.view.protocol(unit), self.view.rubric(unit)
                if protocol is not None or rubric is not None:
                    found.setdefault(ref.task, Asked()).add(unit.metric, protocol, rubric)
        return found

    def names(self) -> Iterator[str]:
        """Names of all parts, in the order in which they are written."""
        yield from (f"protocol.{number}" for number in range(len(self._asked)))
        for number in range(len(self.view.config.reports)):
            yield from (f"{kind}.{number}" for kind in ("report", "pages", "calls"))

    def part(self, name: str, detail: Detail) -> dict[str, Json]:
        """One part. Raises KeyError for a name that is none, InputError for a run folder with holes."""
        kind, _, number = name.partition(".")
        if not number.isdecimal():
            raise KeyError(name)
        if kind == "protocol":
            return asked_part(_at(list(self._asked.values()), number), self.look, detail)
        ref = _at(self.view.config.reports, number)
        units = self.columns.units(ref.task, ref.id)
        if kind == "report":
            return self._report(ref.task, ref.id, units)
        if kind == "pages":
            return pages_part(quoted_in(units), self.look, detail)
        if kind == "calls":
            return calls_part(list(self._scopes(ref.task, ref.id, units)), self.look, detail)
        raise KeyError(name)

    def _report(self, task: str, system: str, units: Sequence[UnitResult]) -> dict[str, Json]:
        report = self.view.report(task, system)
        claims = next((found for unit in units if (found := self.view.claims(unit))), None)
        return report_part(report, claims, units)

    def _scopes(self, task: str, system: str, units: Sequence[UnitResult]) -> Iterator[tuple[str, str]]:
        """(name of a unit in the page, scope of its calls in the ledger)."""
        yield "claims", claims_label(self._names[task, system])
        for unit in units:
            yield f"{unit.metric}|{unit.judge}|{unit.repeat}", self.view.scope(unit)


class Bundle:
    """One page: a run, two runs side by side, or a protocol by itself. Close it when done."""

    def __init__(self, runs: Sequence[RunPages] = (), *, alone: tuple[Protocol, Lookups] | None = None) -> None:
        self.runs, self._alone = tuple(runs), alone

    def index(self) -> dict[str, Json]:
        """What the page reads first."""
        from dream_eval import __version__

        kind = "protocol" if self._alone else ("run", "compare")[len(self.runs) - 1]
        names = dict.fromkeys(name for run in self.runs for name in run.view.config.metrics)
        return {
            "schema": SCHEMA,
            "kind": kind,
            "version": __version__,
            "metrics": metrics_of(names),
            "runs": [run.head for run in self.runs],
            "differences": differences_of([(run.view.config, run.columns) for run in self.runs]) if self.runs else [],
        }

    def names(self) -> Iterator[str]:
        """Names of all parts."""
        if self._alone:
            yield "0.protocol.0"
        for number, run in enumerate(self.runs):
            yield from (f"{number}.{name}" for name in run.names())

    def part(self, name: str, detail: Detail = FULL) -> dict[str, Json]:
        """One part, by its name. Raises KeyError, InputError."""
        number, _, rest = name.partition(".")
        if self._alone and name == "0.protocol.0":
            return asked_part(Asked(self._alone[0]), self._alone[1], detail)
        if not number.isdecimal():
            raise KeyError(name)
        return _at(self.runs, number).part(rest, detail)

    def close(self) -> None:
        """Close the ledgers."""
        for look in (*(run.look for run in self.runs), *([self._alone[1]] if self._alone else [])):
            look.close()


def of_runs(paths: Sequence[Path | str], *, ledger: Path | None = None) -> Bundle:
    """One run, or two to compare. Raises InputError."""
    return Bundle([RunPages(open_run(path), ledger) for path in paths])


def of_protocol(protocol: Protocol, ledger: Path | None) -> Bundle:
    """A protocol by itself; how it was made is looked up in the ledger, where it is there."""
    first = Lookups(ledger, "")
    run = run_of(protocol, first)
    first.close()
    return Bundle(alone=(protocol, Lookups(ledger, run or "")))


def _at(things: Sequence[T], number: str) -> T:
    try:
        return things[int(number)]
    except IndexError:
        raise KeyError(number) from None


__all__ = ["SCHEMA", "Bundle", "RunPages", "of_protocol", "of_runs"]
