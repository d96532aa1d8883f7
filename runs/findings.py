"""The findings a reader should see first: what is wrong with a report, with quote and address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from ..core import Frozen, Outcome
from ..evaluators.results import Evidence, Item, MetricResult

Kind = Literal[
    "contradicted claim", "citation that does not hold", "dead citation", "missing key fact", "reasoning flaw"
]


class Worst(Frozen):
    """One finding. All text in it is somebody else's."""

    metric: str
    kind: Kind
    item: str
    """Id of the item it comes from."""
    text: str
    """The claim, the question, or the place in the report."""
    quote: str | None = None
    """What speaks against it, copied from the source."""
    url: str | None = None
    note: str = ""
    flaw: str | None = None
    """Name of the reasoning flaw (METRICS 2)."""


def worst_of(result: MetricResult) -> list[Worst]:
    """The findings of one result, in the order of its items; empty where nothing is wrong."""
    finder = _FINDERS.get(result.metric)
    return [] if finder is None else [found for item in result.items for found in finder(item)]


def _contradicted(item: Item) -> Iterator[Worst]:
    if item.outcome is Outcome.CONTRADICTED:
        against = _evidence(item, "refutes")
        note = "outdated" if "outdated" in item.flags else ""
        yield _worst("factuality", "contradicted claim", item, against, note)


def _citation(item: Item) -> Iterator[Worst]:
    if "dead_citation" in item.flags:
        yield _worst("ci", "dead citation", item, _evidence(item), item.reason)
    elif item.outcome in (Outcome.CONTRADICTED, Outcome.NO):
        yield _worst("ci", "citation that does not hold", item, _evidence(item), item.reason)


def _missing(item: Item) -> Iterator[Worst]:
    if item.outcome is Outcome.NO:
        quote, url = item.detail.get("quote"), item.detail.get("url")
        yield Worst(
            metric="kic",
            kind="missing key fact",
            item=item.id,
            text=str(item.detail.get("fact") or item.text),
            quote=quote if isinstance(quote, str) else None,
            url=url if isinstance(url, str) else None,
        )


def _flaws(item: Item) -> Iterator[Worst]:
    flaws = item.detail.get("flaws")
    for flaw in flaws if isinstance(flaws, list) else []:
        if isinstance(flaw, dict):
            name, where, note = (str(flaw.get(field) or "") for field in ("name", "where", "note"))
            shown = ": ".join(part for part in (name, note) if part)
            yield Worst(
                metric="rq", kind="reasoning flaw", item=item.id, text=where or item.text, note=shown, flaw=name or None
            )


def _worst(metric: str, kind: Kind, item: Item, evidence: Evidence | None, note: str) -> Worst:
    url = evidence.url if evidence else item.detail.get("url")
    return Worst(
        metric=metric,
        kind=kind,
        item=item.id,
        text=item.text,
        quote=evidence.quote if evidence else None,
        url=url if isinstance(url, str) else None,
        note=note,
    )


def _evidence(item: Item, stance: str | None = None) -> Evidence | None:
    return next((found for found in item.evidence if stance is None or found.stance == stance), None)


_FINDERS: dict[str, Callable[[Item], Iterator[Worst]]] = {
    "factuality": _contradicted,
    "ci": _citation,
    "kic": _missing,
    "rq": _flaws,
}
