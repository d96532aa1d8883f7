"""Factuality: are the report's claims true, whatever its own sources say? (METRICS 4)

For each check-worthy claim: look (:mod:`.evidence`), label each passage on its own (:mod:`.verdicts`), then decide from
both streams (:func:`verdict_of`). ``F = 100 · (supported + ½ · partly) / (supported + partly + contradicted)``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from ..core import Dating, Json, Outcome
from ..models import ChatModel
from ..reports import search_language
from ..reports.data import Claim, ClaimList
from ..stats import items_interval, mean
from ..tools import Toolbox
from ..tools.data import Passage
from . import verdicts
from .base import (
    FAILURES,
    Case,
    Results,
    Settings,
    check_worthy,
    coverage_of,
    first_reason,
    flags_of,
    lost,
    outcome_counts,
    together,
)
from .evidence import Found, evidence_of, look, text_of
from .results import Item, MetricResult
from .stances import Label, Stance, overlap
from .verdicts import Excerpt, label_passages

VERSION = 100 * 1 + verdicts.VERSION
RESULTS = Results("factuality", VERSION)

VALUES = {Outcome.SUPPORTED: 100.0, Outcome.PARTLY: 50.0, Outcome.CONTRADICTED: 0.0}
"""What a decided claim is worth; all other outcomes stay out of the score."""

LATER = frozenset({"modified_after", "captured_after"})
"""Flags of pages whose text may be newer than their date."""


async def factuality(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Check every selected claim of the report. Fails when no claim could be checked."""
    assert case.claims is not None
    claims = [claim for claim in check_worthy(case.claims) if claim.selected]
    if not claims:
        return RESULTS.not_applicable("no_check_worthy_claim")
    items = await together(checked_claim(claim, case, judge, toolbox, settings) for claim in claims)
    return score(items, case.claims)


def score(items: Sequence[Item], claims: ClaimList) -> MetricResult:
    """The result over checked claims."""
    values = [VALUES[item.outcome] for item in items if item.outcome in VALUES]
    coverage = coverage_of(items, VALUES)
    flags = flags_of(
        coverage, *list_flags(claims), *sorted({f for item in items for f in item.flags if f == "outdated"})
    )
    counts = outcome_counts(items) | list_counts(claims)
    if not values and any(item.outcome is Outcome.NOT_CHECKED for item in items):
        reason = f"evidence_unavailable ({first_reason(items)})"
        return RESULTS.failed(reason, coverage=coverage, flags=flags, counts=counts, items=tuple(items))
    if not values:
        return RESULTS.not_applicable("none_decided", coverage=coverage, flags=flags, counts=counts, items=tuple(items))
    return RESULTS.scored(
        mean(values),
        interval=items_interval(values),
        coverage=coverage,
        flags=flags,
        counts=counts,
        items=tuple(items),
    )


def list_flags(claims: ClaimList) -> tuple[str, ...]:
    """What a reader must know of the claim list: a selection, or one with holes."""
    chosen = any(claim.check_worthy and not claim.selected for claim in claims.claims)
    return tuple(
        flag
        for flag, holds in (("most_important_claims", chosen), ("claims_incomplete", claims.failed_batches))
        if holds
    )


def list_counts(claims: ClaimList) -> dict[str, int]:
    """How many claims there were and how many proposals were dropped."""
    return {"check_worthy": len(check_worthy(claims)), "dropped_proposals": claims.dropped}


# --- one claim -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One passage and what the judge says it means for the claim."""

    passage: Passage
    label: Label
    own: bool
    """The report itself cites this page for this claim."""


async def checked_claim(claim: Claim, case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> Item:
    """Look for evidence on one claim and decide from it. A failure ends in an item that could not be checked."""
    try:
        tag = search_language(case.task, case.report.language)
        found = await look(claim, case.report, case.as_of, toolbox, settings, language=tag)
        labels = await _labels(claim, found, judge, settings)
    except FAILURES as error:
        return lost(claim.id, claim.text, error)
    findings = [
        Finding(passage, label, passage.url in found.own) for passage, label in zip(found.passages, labels, strict=True)
    ]
    return _item(claim, found, findings)


OFF_TOPIC = Label(Stance.NEITHER, flags=("off_topic",))


async def _labels(claim: Claim, found: Found, judge: ChatModel, settings: Settings) -> list[Label]:
    """A label a passage. Code first: one that speaks of something else is not shown to a judge."""
    near = [passage for passage in found.passages if overlap(claim.text, passage.text) >= settings.overlap]
    pages = {page.url: text_of(page) for page in found.pages}
    excerpts = [Excerpt(one.sentences, str(one.published or ""), pages.get(one.url, "")) for one in near]
    labels = dict(zip(near, await label_passages(claim.text, excerpts, judge), strict=True))
    return [labels.get(passage, OFF_TOPIC) for passage in found.passages]


def _item(claim: Claim, found: Found, findings: Sequence[Finding]) -> Item:
    verdict = verdict_of(findings, time_dependent=claim.time_dependent)
    outcome, flags, reason = verdict.outcome, verdict.flags, verdict.reason
    if not findings:
        outcome, reason = (Outcome.NOT_CHECKED, found.blind) if found.blind else (Outcome.UNDECIDED, "nothing_found")
    if found.late:
        flags = (*flags, "evidence_after_as_of")
    if _may_be_later(found, findings):
        flags = (*flags, "evidence_may_be_later")
    evidence = tuple(
        evidence_of(finding.passage, finding.label.sentences, stance=finding.label.stance) for finding in findings
    )
    return Item(
        id=claim.id,
        text=claim.text,
        outcome=outcome,
        evidence=evidence + found.late,
        flags=flags,
        reason=reason,
        calls=tuple(dict.fromkeys(call for finding in findings for call in finding.label.calls)),
        detail=_detail(claim, found, findings),
    )


def _may_be_later(found: Found, findings: Sequence[Finding]) -> bool:
    """Whether a page that decides was changed, or captured, after the as-of date, though it is dated before."""
    deciding = {finding.passage.url for finding in findings if finding.label.stance is not Stance.NEITHER}
    return any(LATER & set(page.flags) for page in found.pages if page.url in deciding)


def _detail(claim: Claim, found: Found, findings: Sequence[Finding]) -> dict[str, Json]:
    """How was looked, for the one who wants to know."""
    return {
        "importance": claim.importance,
        "time_dependent": claim.time_dependent,
        "queries": list(found.queries),
        "searches": [str(search.state) for search in found.searches],
        "pages": {page.url: str(page.state) for page in found.tried},
        "copies_left_out": found.copies,
        "own_sources": [*sorted(found.own)],
        "label_flags": [list(finding.label.flags) for finding in findings],
    }


# --- from stances to a verdict ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClaimVerdict:
    """What both streams together say about a claim."""

    outcome: Outcome
    reason: str
    flags: tuple[str, ...] = ()


def verdict_of(findings: Sequence[Finding], *, time_dependent: bool) -> ClaimVerdict:
    """The verdict on a claim from its labelled passages.

    ============  ==========  ======================================================================
    supporting    refuting    verdict
    ============  ==========  ======================================================================
    independent   none        supported; partly supported where no passage supports all of it
    only own      none        undecided, ``no_independent_evidence``
    none or own   some        contradicted: a claim's own source cannot outweigh what others say
    independent   some        conflicting, unless time explains it (:func:`_by_time`)
    none          none        undecided
    ============  ==========  ======================================================================
    """
    pro = [f for f in findings if f.label.stance in (Stance.SUPPORTS, Stance.PARTLY) and not f.own]
    own = [f for f in findings if f.label.stance in (Stance.SUPPORTS, Stance.PARTLY) and f.own]
    con = [f for f in findings if f.label.stance is Stance.REFUTES]
    if pro and con:
        return (_by_time(pro, con) if time_dependent else None) or ClaimVerdict(
            Outcome.CONFLICTING, f"{_sources(pro)} for it, {_sources(con)} against it"
        )
    if con:
        dates = [f.passage.published for f in own]
        older = time_dependent and bool(own) and _older(dates, [f.passage.published for f in con])
        flags = (*(("outdated",) if older else ()), *_undated(con))
        return ClaimVerdict(Outcome.CONTRADICTED, f"{_sources(con)} against it", flags)
    if pro:
        whole = any(f.label.stance is Stance.SUPPORTS for f in pro)
        return ClaimVerdict(Outcome.SUPPORTED if whole else Outcome.PARTLY, f"{_sources(pro)} for it", _undated(pro))
    if own:
        return ClaimVerdict(Outcome.UNDECIDED, "only its own source supports it", ("no_independent_evidence",))
    lost = any("quote_not_found" in f.label.flags for f in findings)
    return ClaimVerdict(Outcome.UNDECIDED, "no passage decides it", ("quote_not_found",) if lost else ())


def _by_time(pro: Sequence[Finding], con: Sequence[Finding]) -> ClaimVerdict | None:
    """The newer side decides where every piece of the other side is older; None where dates do not tell them apart."""
    for_, against = [f.passage.published for f in pro], [f.passage.published for f in con]
    if _older(for_, against):
        return ClaimVerdict(Outcome.CONTRADICTED, f"true earlier; newer: {_sources(con)} against it", ("outdated",))
    if _older(against, for_):
        whole = any(f.label.stance is Stance.SUPPORTS for f in pro)
        return ClaimVerdict(Outcome.SUPPORTED if whole else Outcome.PARTLY, f"newer: {_sources(pro)} for it")
    return None


def _older(dates: Sequence[dt.date | None], others: Sequence[dt.date | None]) -> bool:
    """Whether all of ``dates`` are known and lie before all of ``others``, which are known too."""
    known, newer = [d for d in dates if d], [d for d in others if d]
    return len(known) == len(dates) and len(newer) == len(others) and max(known) < min(newer)


def _undated(findings: Sequence[Finding]) -> tuple[str, ...]:
    """A flag where nothing that decides has a date."""
    return ("undated_evidence",) if all(f.passage.dating is Dating.UNKNOWN for f in findings) else ()


def _sources(findings: Sequence[Finding]) -> str:
    """How many pages speak (near copies were counted once)."""
    count = len({finding.passage.url for finding in findings})
    return f"{count} source{'' if count == 1 else 's'}"
