"""Reports and tools as the work needs them: a few reports in memory, the rest in the run folder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from weakref import WeakValueDictionary

from ..core import Task
from ..reports.data import Report
from ..tools import Toolbox
from .cases import CaseRef
from .kept import Kept
from .work import Work

REPORTS = 8
"""Reports kept in memory beside those at work."""
TASKS = 8
"""Tasks whose tools are kept."""

K = TypeVar("K")
V = TypeVar("V")


class Library:
    """Gives reports and, for each task, the tools to which no report on it is evidence."""

    def __init__(self, work: Work, kept: Kept, toolbox: Toolbox) -> None:
        self._kept, self._toolbox = kept, toolbox
        every = replace(work, cases=(*work.cases, *work.beside))
        self._cases = {cases[0].task.id: cases for cases in every.by_task()}
        self._recent: OrderedDict[str, Report] = OrderedDict()
        self._at_work: WeakValueDictionary[str, Report] = WeakValueDictionary()
        self._tools: OrderedDict[str, Toolbox] = OrderedDict()

    def report(self, case: CaseRef) -> Report:
        """The report, out of the run folder. Raises InputError."""
        name = "\0".join(case.place)
        report = _newest(self._recent, name, REPORTS, lambda: self._at_work.get(name) or self._kept.report(case))
        self._at_work[name] = report
        return report

    def tools(self, task: Task) -> Toolbox:
        """The tools for work on a task: near copies of the reports on it, of any system, are no evidence."""
        cases = self._cases.get(task.id, ())
        return _newest(
            self._tools, task.id, TASKS, lambda: self._toolbox.under_test(self.report(case).text for case in cases)
        )


def _newest(kept: OrderedDict[K, V], key: K, most: int, make: Callable[[], V]) -> V:
    """The value made before, or made now; of more than ``most`` the one that was not asked for longest goes."""
    if key not in kept:
        kept[key] = make()
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
    return kept[key]
