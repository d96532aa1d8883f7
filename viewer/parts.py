"""What is shown of one report: its text with claims, every unit's items, the stored pages, and the calls behind them.

Three parts, each loaded by the page when it is needed: ``report`` (text, claims, units), ``pages`` (texts of the pages
that are quoted), ``calls`` (what was asked outside, by unit).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..core import Json
from ..reports import lint_report
from ..reports.data import ClaimList, Report
from ..runs.data import UnitResult
from ..runs.findings import worst_of
from .lookups import Lookups
from .quotes import spans_of, windows


@dataclass(frozen=True)
class Detail:
    """How much of what was read and asked is kept in a page."""

    name: str
    page_chars: int
    """A page of at most so many characters is kept whole; of a longer one what lies around its quotes."""
    around: int
    """Characters kept on both sides of a quote of such a page."""
    call_chars: int
    """Characters kept of each text in a request or an answer; 0: calls are listed without their texts."""


FULL = Detail("full", page_chars=60_000, around=3_000, call_chars=20_000)
"""For a handful of reports, and for ``--serve``."""
LEAN = Detail("lean", page_chars=6_000, around=900, call_chars=0)
BARE = Detail("bare", page_chars=0, around=240, call_chars=-1)
"""Quotes with a little context, and no calls."""
DETAILS = (FULL, LEAN, BARE)


def report_part(report: Report, claims: ClaimList | None, units: Sequence[UnitResult]) -> dict[str, Json]:
    """The report as it was judged, and all that was found out about it."""
    return {
        "id": report.id,
        "text": report.text,
        "language": report.language,
        "segments": [[segment.kind.value, segment.span.start, segment.span.end] for segment in report.segments],
        "sentences": [[s.number, s.span.start, s.span.end] for s in report.sentences],
        "sources": [
            {"id": s.id, "label": s.label, "target": s.target, "title": s.title, "raw": s.raw} for s in report.sources
        ],
        "marks": [[mark.span.start, mark.span.end, list(mark.sources)] for mark in report.marks],
        "findings": [_dump(finding) for finding in lint_report(report)],
        "cuts": sum(len(cut.text) for cut in report.cuts),
        "claims": [_dump(claim) for claim in claims.claims] if claims else [],
        "maker": claims.maker if claims else None,
        "units": [unit_of(unit) for unit in units],
    }


def unit_of(unit: UnitResult) -> dict[str, Json]:
    """A unit with its items and its worst findings."""
    return {
        "metric": unit.metric,
        "judge": unit.judge,
        "repeat": unit.repeat,
        **_dump(unit.result),
        "worst": [_dump(found) for found in worst_of(unit.result)],
    }


def _dump(value: object) -> dict[str, Json]:
    """The fields that say something: defaults are left out."""
    dumped: dict[str, Json] = value.model_dump(mode="json", exclude_defaults=True)  # type: ignore[attr-defined]
    return dumped


# --- pages -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quoted:
    """A quote from a stored page."""

    key: str
    """Ledger key of the page."""
    url: str
    quote: str
    start: int | None = None
    end: int | None = None


def pages_part(quoted: Iterable[Quoted], look: Lookups, detail: Detail) -> dict[str, Json]:
    """The quoted pages by ledger key, each with the places of its quotes; those that are gone are left out."""
    by_page: dict[str, list[Quoted]] = {}
    for one in quoted:
        by_page.setdefault(one.key, []).append(one)
    pages = {key: _page(look, key, quotes, detail) for key, quotes in by_page.items()}
    return {key: page for key, page in pages.items() if page is not None}


def quoted_in(units: Sequence[UnitResult]) -> Iterator[Quoted]:
    """Every quote from a page that the units rest on."""
    for unit in units:
        for item in unit.result.items:
            for found in item.evidence:
                if found.key and found.url:
                    yield Quoted(found.key, found.url, found.quote, found.start, found.end)


def _page(look: Lookups, key: str, quotes: Sequence[Quoted], detail: Detail) -> Json:
    page = look.page(key)
    if page is None:
        return None
    spans = {one.quote: spans_of(page.text, one.quote, one.start, one.end) for one in quotes}
    flat = [span for found in spans.values() for span in found]
    whole = len(page.text) <= detail.page_chars
    keep = [(0, len(page.text))] if whole else windows(len(page.text), flat, around=detail.around)
    return {
        **page.fields,
        "url": quotes[0].url,
        "length": len(page.text),
        "text": [[start, page.text[start:end]] for start, end in keep],
        "quotes": [[quote, [list(span) for span in found]] for quote, found in spans.items()],
    }


# --- calls -----------------------------------------------------------------------------------------------------------


def calls_part(scopes: Sequence[tuple[str, str]], look: Lookups, detail: Detail) -> dict[str, Json]:
    """The calls behind a report: ``scopes`` are (name of the unit, scope in the ledger).

    A call that several units used is kept once.
    """
    calls: dict[str, Json] = {}
    units: dict[str, Json] = {}
    if detail.call_chars >= 0:
        for name, scope in scopes:
            found = list(look.calls(scope))
            units[name] = [call["key"] for call in found]
            calls |= {str(call["key"]): _shortened(call, detail.call_chars) for call in found}
    return {"calls": calls, "units": units}


def _shortened(call: dict[str, Json], limit: int) -> Json:
    texts = {"request": call.pop("request"), "answer": call.pop("answer")}
    shown = {name: cut_json(value, limit) for name, value in texts.items()} if limit else {}
    return {**call, **shown}


def cut_json(value: Json, limit: int) -> Json:
    """The same with every long string cut, and told how long it was."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]} […{len(value) - limit:,} more characters]"
    if isinstance(value, list):
        return [cut_json(one, limit) for one in value]
    if isinstance(value, dict):
        return {name: cut_json(one, limit) for name, one in value.items()}
    return value
