"""dream-eval: judge research reports with an agent that can search, read and check.

The documented calls are :func:`dream_eval.evaluate` and :func:`dream_eval.run`; everything else is imported from its
package.
Nothing is imported until it is used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "AsOf": "core",
    "Claim": "reports.data",
    "ClaimList": "reports.data",
    "Coverage": "core",
    "DreamError": "errors",
    "Interval": "core",
    "MetricResult": "evaluators.results",
    "Outcome": "core",
    "Protocol": "protocols.schema",
    "ReplayMiss": "errors",
    "Report": "reports.data",
    "RunResult": "runs.perform",
    "RunState": "runs.data",
    "Status": "core",
    "Summary": "runs.summary",
    "Task": "core",
    "UserError": "errors",
    "evaluate": "runs.api",
    "frames": "runs.export_frames",
    "load_protocol": "protocols",
    "load_reports": "reports",
    "perform": "runs.perform",
    "prepare": "runs.api",
    "run": "runs.wishes",
}
"""Public name to the module below this package that holds it."""

__all__ = [
    "AsOf",
    "Claim",
    "ClaimList",
    "Coverage",
    "DreamError",
    "Interval",
    "MetricResult",
    "Outcome",
    "Protocol",
    "ReplayMiss",
    "Report",
    "RunResult",
    "RunState",
    "Status",
    "Summary",
    "Task",
    "UserError",
    "__version__",
    "evaluate",
    "frames",
    "load_protocol",
    "load_reports",
    "perform",
    "prepare",
    "run",
]

if TYPE_CHECKING:
    from dream_eval.core import AsOf, Coverage, Interval, Outcome, Status, Task
    from dream_eval.errors import DreamError, ReplayMiss, UserError
    from dream_eval.evaluators.results import MetricResult
    from dream_eval.protocols import load_protocol
    from dream_eval.protocols.schema import Protocol
    from dream_eval.reports import load_reports
    from dream_eval.reports.data import Claim, ClaimList, Report
    from dream_eval.runs.api import evaluate, prepare
    from dream_eval.runs.data import RunState
    from dream_eval.runs.export_frames import frames
    from dream_eval.runs.perform import RunResult, perform
    from dream_eval.runs.summary import Summary
    from dream_eval.runs.wishes import run


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"dream_eval.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
