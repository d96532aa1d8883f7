"""A run as JUnit XML, for the test view of a CI system: a suite a system, a case a (task, metric, judge, repeat)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import product
from pathlib import Path
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from ..core import Status
from .data import RunConfig, UnitResult
from .files import write_atomic
from .labels import places_of
from .reading import RunView, open_run
from .results import index_of, line_at

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""
_BREAKS = re.compile(r"[\t\r\n]+")


@dataclass(frozen=True)
class Case:
    """One test case."""

    group: str
    """System and metric."""
    name: str
    element: str = ""
    """``error``, ``failure`` or ``skipped``; empty for a case that passed."""
    kind: str = ""
    """Type of the error or failure."""
    message: str = ""
    said: str = ""
    """What a case with a score says of itself."""


def write_junit(folder: Path | str, path: Path | str, gates: Mapping[str, float] | None = None) -> None:
    """Write the units of a run folder to ``path``. Raises InputError (no run), OSError.

    A failed unit and one that was not reached is an error, a metric that does not apply is skipped. Each of ``gates``
    (metric to least score, 0–100) is a case of its own, held against the figure that the exit code goes by (a system's
    mean over tasks, judge by judge): a failure when it is below, or there is none.
    """
    write_atomic(Path(path), junit(open_run(folder), gates or {}))


def junit(view: RunView, gates: Mapping[str, float]) -> str:
    """The same as text."""
    text = StringIO()
    out = XMLGenerator(text, encoding="UTF-8", short_empty_elements=True)
    out.startDocument()
    suites: dict[str, list[Case]] = {system: [] for system in view.config.systems}
    for system, case in _cases(view, gates):
        suites[system].append(case)
    everything = [case for suite in suites.values() for case in suite]
    _start(out, "testsuites", {"name": _attribute(view.config.run), **_counts(everything)})
    for system, suite in suites.items():
        name = {"name": _attribute(system), "timestamp": f"{view.config.created_at:%Y-%m-%dT%H:%M:%S}"}
        _start(out, "testsuite", {**name, **_counts(suite), "skipped": _count(suite, "skipped")})
        for case in suite:
            _write(out, case)
        out.endElement("testsuite")
    out.endElement("testsuites")
    out.endDocument()
    return text.getvalue()


def _cases(view: RunView, gates: Mapping[str, float]) -> Iterator[tuple[str, Case]]:
    """Each unit of the plan as a case, with its system."""
    config, last = view.config, index_of(view.path / "results.jsonl").last
    for place in places_of(config):
        task, system, metric, judge, repeat = place
        line = line_at(last[place]) if place in last else None
        case = Case(f"{system}.{metric}", _case_name(config, task, judge, repeat), said=_said(line))
        yield system, _judged(case, line)
    for system, (metric, least) in product(config.systems, gates.items()):
        for judge in config.judges:
            yield system, _gate(view, system, metric, judge, least)


def _gate(view: RunView, system: str, metric: str, judge: str, least: float) -> Case:
    cells = view.summary.systems if view.summary else ()
    found = (cell.shown for cell in cells if (cell.system, cell.metric, cell.judge) == (system, metric, judge))
    score = next(found, None)
    name = f"{metric} ≥ {least:g}" + (f" · {judge}" if len(view.config.judges) > 1 else "")
    case = Case(f"{system}.gates", name, said="" if score is None else f"score {score:.1f}")
    if score is None:
        return replace(case, element="failure", kind="gate", message=f"no score to hold against {least:g}")
    if score < least:
        return replace(case, element="failure", kind="gate", message=f"{score:.1f} is below {least:g}")
    return case


def _case_name(config: RunConfig, task: str, judge: str, repeat: int) -> str:
    """The task; judge and repeat where there are several."""
    parts = [task]
    parts += [judge] if len(config.judges) > 1 else []
    parts += [f"repeat {repeat + 1}"] if config.repeats > 1 else []
    return " · ".join(parts)


def _judged(case: Case, line: UnitResult | None) -> Case:
    if line is None:
        return replace(case, element="error", kind="not_reached", message="the run stopped before it")
    result = line.result
    if result.status is Status.FAILED:
        return replace(case, element="error", kind="failed", message=result.reason)
    if result.score is None:
        return replace(case, element="skipped", message=f"not applicable: {result.reason}")
    return case


def _said(line: UnitResult | None) -> str:
    if line is None or line.result.score is None:
        return ""
    result = line.result
    parts = [f"score {result.score:.1f}"]
    if result.interval is not None:
        parts.append(f"interval {result.interval.low:.1f}–{result.interval.high:.1f}")
    if result.coverage is not None:
        parts.append(f"{result.coverage.decided} of {result.coverage.checked} decided")
    return ", ".join(parts)


def _write(out: XMLGenerator, case: Case) -> None:
    _start(out, "testcase", {"classname": _attribute(case.group), "name": _attribute(case.name)})
    if case.element:
        kind = {"type": case.kind} if case.kind else {}
        _start(out, case.element, {"message": _attribute(case.message), **kind})
        out.endElement(case.element)
    if case.said:
        _start(out, "system-out", {})
        out.characters(case.said)
        out.endElement("system-out")
    out.endElement("testcase")


def _start(out: XMLGenerator, element: str, attributes: Mapping[str, str]) -> None:
    out.startElement(element, AttributesImpl(dict(attributes)))


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    return {"tests": str(len(cases)), "failures": _count(cases, "failure"), "errors": _count(cases, "error")}


def _count(cases: Sequence[Case], element: str) -> str:
    return str(sum(case.element == element for case in cases))


def _attribute(text: str) -> str:
    """Text of others on one line, without what XML cannot hold."""
    return _BREAKS.sub(" ", _NOT_XML.sub("", text))
