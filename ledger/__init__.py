"""The one boundary through which every outside call passes: record, cache, replay, budget.

Nothing else in the product may touch the network. ``Ledger.call`` takes a :class:`Request`, which says in canonical
form what is asked, and a coroutine function that asks it.
"""

from .book import Ledger
from .canon import canonical, digest
from .data import Answer, Budget, Event, Kind, KindTotals, Mode, Record, Request, Reserve, Totals, Usage
from .joining import join_runs
from .scopes import current_scope, scope
from .show import CallDetail, CallInfo, RunInfo, find_call, iter_calls, list_calls, list_runs
from .transfer import export_run, import_runs

__all__ = [
    "Answer",
    "Budget",
    "CallDetail",
    "CallInfo",
    "Event",
    "Kind",
    "KindTotals",
    "Ledger",
    "Mode",
    "Record",
    "Request",
    "Reserve",
    "RunInfo",
    "Totals",
    "Usage",
    "canonical",
    "current_scope",
    "digest",
    "export_run",
    "find_call",
    "import_runs",
    "iter_calls",
    "join_runs",
    "list_calls",
    "list_runs",
    "scope",
]
