"""Citation integrity: do the claims carry citations, and do the cited pages say what they are cited for? (METRICS 5)

Claim attribution ``CA`` is code alone. Citation faithfulness ``CF`` opens each cited page once and asks about all
claims that cite it; a *pair* is one claim with one page. ``CI = 2·CA·CF / (CA + CF)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core import Interval, Json, Outcome, PageState
from ..models import ChatModel
from ..reports import language_of, normalise_url
from ..reports.data import Claim, Report
from ..reports.text import content_words
from ..stats import FEWEST, bootstrap, items_interval, mean, score_range
from ..tools import PassageIndex, Toolbox, index_of
from ..tools.data import Page
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
from .evidence import quote_of, text_of
from .factuality import list_counts, list_flags
from .results import LOST, Evidence, Item, MetricResult
from .stances import Label, Stance
from .verdicts import label_claims

VERSION = 100 * 1 + verdicts.VERSION
RESULTS = Results("ci", VERSION)

VALUES = {Outcome.SUPPORTED: 100.0, Outcome.PARTLY: 50.0, Outcome.CONTRADICTED: 0.0, Outcome.NO: 0.0}
"""What a decided pair is worth. ``no``: the page was read, or is gone, and does not say it."""

OUTCOMES = {
    Stance.SUPPORTS: Outcome.SUPPORTED,
    Stance.PARTLY: Outcome.PARTLY,
    Stance.REFUTES: Outcome.CONTRADICTED,
    Stance.NEITHER: Outcome.NO,
}

BEGINNING = 1500
"""Tokens shown of a long page that shares no word with its claims."""

UNSEEN = "only_a_part_shown"
"""Flag of a pair that is undecided because the judge saw a part of the page, and nothing told which part to show."""

MATCH = 0.3
"""Share of a claim's content words that a listed source's title must have to be named as its likely source."""


async def citation_integrity(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Check attribution and faithfulness of a report's citations. Fails when no cited page could be judged."""
    assert case.claims is not None
    claims = check_worthy(case.claims)
    if not claims:
        return RESULTS.not_applicable("no_check_worthy_claim")
    cited = {claim.id: targets_of(claim, case.report) for claim in claims}
    if not any(cited.values()):
        return _uncited(claims, case)
    pages = _by_page(_chosen(claims, cited), cited)
    language = case.report.language
    read = await together(_page(url, group, language, judge, toolbox, settings) for url, group in pages.items())
    place = {claim.id: index for index, claim in enumerate(claims)}
    items = sorted((item for page in read for item in page), key=lambda item: place[str(item.detail["claim"])])
    return score(items, claims, cited, case, settings)


def targets_of(claim: Claim, report: Report) -> tuple[str, ...]:
    """Distinct addresses cited for a claim, in order. Malformed and placeholder links lead nowhere and do not count."""
    targets = (source.target for source in report.sources if source.id in claim.sources)
    return tuple(dict.fromkeys(normalise_url(target) or target for target in targets if target))


def _chosen(claims: Sequence[Claim], cited: Mapping[str, Sequence[str]]) -> list[Claim]:
    """Cited claims to open pages for: as many as the list's selection has, its members first, then by importance."""
    room = sum(claim.selected for claim in claims)
    ranked = sorted(
        (claim for claim in claims if cited[claim.id]),
        key=lambda claim: (not claim.selected, -claim.importance, claim.digest),
    )
    keep = {claim.id for claim in ranked[:room]}
    return [claim for claim in claims if claim.id in keep]


def _by_page(claims: Sequence[Claim], cited: Mapping[str, Sequence[str]]) -> dict[str, list[Claim]]:
    pages: dict[str, list[Claim]] = {}
    for claim in claims:
        for url in cited[claim.id]:
            pages.setdefault(url, []).append(claim)
    return pages


# --- one page --------------------------------------------------------------------------------------------------------


async def _page(
    url: str, claims: Sequence[Claim], language: str | None, judge: ChatModel, toolbox: Toolbox, settings: Settings
) -> list[Item]:
    """All pairs of one cited page; ``language``: the claims'."""
    try:
        page = await toolbox.read(url)
        if page.state is not PageState.OK:
            return [_unread(claim, page) for claim in claims]
        sentences = shown_of(page, [claim.text for claim in claims], judge, settings)
        labels = await label_claims({c.id: c.text for c in claims}, sentences, judge, page=text_of(page))
    except FAILURES as error:
        return [lost(f"{claim.id}@{url}", claim.text, error, claim=claim.id, url=url, page=None) for claim in claims]
    items = [_judged(claim, page, sentences, labels[claim.id]) for claim in claims]
    return [_in_doubt(item) if _unseen(item, page, sentences, language) else item for item in items]


def shown_of(page: Page, texts: Sequence[str], judge: ChatModel, settings: Settings) -> list[str]:
    """The sentences of a page that the judge sees, in order: all if they fit, else those nearest to the texts.

    Where the page shares no word with any of them, its beginning: that tells what page it is, and in another language
    it may still say it.
    """
    spans = index_of(page.text).sentences
    sentences = [page.text[start:end] for start, end in spans]
    if judge.count(page.text) + 5 * len(sentences) <= settings.page_tokens:
        return sentences
    near = _nearest(page, texts, settings)
    if not near:
        return _beginning(sentences, judge, min(BEGINNING, settings.page_tokens))
    keep: set[int] = set()
    used = 0
    for start, end in near:
        inside = [i for i, span in enumerate(spans) if span[0] < end and span[1] > start]
        cost = sum(judge.count(sentences[i]) + 5 for i in inside if i not in keep)
        if keep and used + cost > settings.page_tokens:
            continue
        keep.update(inside)
        used += cost
    return [sentences[i] for i in sorted(keep)]


def _beginning(sentences: Sequence[str], judge: ChatModel, room: int) -> list[str]:
    """The first sentences, as many as fit; one at least."""
    kept: list[str] = []
    for sentence in sentences:
        room -= judge.count(sentence) + 5
        if room < 0 and kept:
            break
        kept.append(sentence)
    return kept


def _nearest(page: Page, texts: Sequence[str], settings: Settings) -> list[tuple[int, int]]:
    """Stretches of the page by BM25, the best one of each text before the second ones."""
    index = PassageIndex([page], window=settings.window)
    ranked = [index.search(text, limit=settings.passages) for text in texts]
    depth = max(map(len, ranked), default=0)
    return [(one[i].start, one[i].end) for i in range(depth) for one in ranked if i < len(one)]


def _unseen(item: Item, page: Page, sentences: Sequence[str], language: str | None) -> bool:
    """Whether a page may say it in what was not shown: a part was shown, and nothing could lead to the right one.

    A page in the claim's own language without one word of the claim does not say it: code has read all of it.
    """
    if item.outcome is not Outcome.NO or len(sentences) == len(index_of(page.text).sentences):
        return False
    same = language is not None and language_of(page.text) == language
    return not same and not PassageIndex([page]).search(item.text, limit=1)


def _in_doubt(item: Item) -> Item:
    reason = "the page has no word of the claim, perhaps for its language, and only a part of it was read"
    return item.model_copy(update={"outcome": Outcome.UNDECIDED, "value": None, "flags": (UNSEEN,), "reason": reason})


def _unread(claim: Claim, page: Page) -> Item:
    """A page that is gone does not support anything; of any other unread page nothing is known."""
    if page.state is PageState.GONE:
        return _item(claim, page.url, Outcome.NO, flags=("dead_citation",), reason=page.reason or "gone", page=page)
    return _item(claim, page.url, Outcome.NOT_CHECKED, reason=f"{page.state}: {page.reason}", page=page)


def _judged(claim: Claim, page: Page, sentences: Sequence[str], label: Label | None) -> Item:
    if label is None:
        reason = "the judge left this claim out"
        return _item(claim, page.url, Outcome.NOT_CHECKED, flags=(LOST,), reason=reason, page=page)
    outcome = pair_outcome(label)
    return _item(
        claim,
        page.url,
        outcome,
        evidence=evidence_on(page, sentences, label),
        flags=label.flags,
        reason="the page does not say it" if outcome is Outcome.NO else "",
        calls=label.calls,
        page=page,
    )


def evidence_on(page: Page, sentences: Sequence[str], label: Label) -> tuple[Evidence, ...]:
    """The sentences of a page that a label rests on, copied; ``sentences`` is what was shown of it."""
    if not label.sentences:
        return ()
    start = page.text.find(sentences[min(label.sentences) - 1])
    return (
        Evidence(
            url=page.url,
            quote=quote_of(sentences, sorted(label.sentences)),
            start=start if start >= 0 else None,
            stance=label.stance,
            published=page.published,
            dating=page.dating,
            key=page.key,
        ),
    )


def pair_outcome(label: Label) -> Outcome:
    """From what the page says of the claim to the pair's outcome; a verdict without evidence decides nothing."""
    return Outcome.UNDECIDED if "quote_not_found" in label.flags else OUTCOMES[label.stance]


def _item(
    claim: Claim,
    url: str,
    outcome: Outcome,
    *,
    evidence: tuple[Evidence, ...] = (),
    flags: tuple[str, ...] = (),
    reason: str = "",
    calls: tuple[str, ...] = (),
    page: Page | None = None,
) -> Item:
    detail: dict[str, Json] = {"claim": claim.id, "url": url, "page": None if page is None else str(page.state)}
    if page is not None and page.flags:
        detail["page_flags"] = list(page.flags)
    return Item(
        id=f"{claim.id}@{url}",
        text=claim.text,
        outcome=outcome,
        value=VALUES.get(outcome),
        evidence=evidence,
        flags=flags,
        reason=reason,
        calls=calls,
        detail=detail,
    )


# --- the score -------------------------------------------------------------------------------------------------------


def score(
    items: Sequence[Item],
    claims: Sequence[Claim],
    cited: Mapping[str, Sequence[str]],
    case: Case,
    settings: Settings,
) -> MetricResult:
    """The result over pairs."""
    assert case.claims is not None
    ca = 100 * sum(bool(cited[claim.id]) for claim in claims) / len(claims)
    values = [item.value for item in items if item.value is not None]
    unread = sum(item.outcome is Outcome.NOT_CHECKED for item in items)
    coverage = coverage_of(items, VALUES)
    dead = "dead_citation" if any("dead_citation" in item.flags for item in items) else None
    flags = flags_of(coverage, *list_flags(case.claims), dead)
    counts = outcome_counts(items) | list_counts(case.claims) | {"attributed": sum(map(bool, cited.values()))}
    parts: dict[str, float | None] = {"ca": ca, "cf": mean(values) if values else None}
    parts |= {"unread_rate": 100 * unread / len(items)}
    if not values:
        reason = why_none(items)
        return RESULTS.failed(reason, coverage=coverage, flags=flags, parts=parts, counts=counts, items=tuple(items))
    cf_low = sum(values) / (len(values) + unread)
    parts |= {"cf_low": cf_low, "ci_low": harmonic(ca, cf_low)}
    return RESULTS.scored(
        harmonic(ca, mean(values)),
        interval=_interval(items, claims, cited, settings.seed),
        coverage=coverage,
        flags=flags,
        parts=parts | _part_intervals(claims, cited, values),
        counts=counts,
        items=tuple(items),
    )


def harmonic(ca: float, cf: float) -> float:
    """``2·CA·CF / (CA + CF)``, 0 when both are 0."""
    return 2 * ca * cf / (ca + cf) if ca + cf else 0.0


def why_none(items: Sequence[Item]) -> str:
    """Why no pair was decided: no page could be read, the judge failed, or it named no evidence."""
    if all(item.detail.get("page") not in (None, str(PageState.OK)) for item in items):
        return f"no_page_readable ({first_reason(items)})"
    return first_reason(items) or "no_pair_decided"


def _interval(
    items: Sequence[Item], claims: Sequence[Claim], cited: Mapping[str, Sequence[str]], seed: int
) -> Interval | None:
    """Bootstrap over claims, each with its pairs; few claims: the range of what each alone would give."""
    values: dict[str, list[float]] = {claim.id: [] for claim in claims}
    for item in items:
        if item.value is not None:
            values[str(item.detail["claim"])].append(item.value)
    groups = [(bool(cited[claim.id]), values[claim.id]) for claim in claims]
    if len(groups) < FEWEST:
        return score_range([mean(pairs) if pairs else 0.0 for marked, pairs in groups if pairs or not marked])
    return bootstrap(groups, _of_groups, seed=seed)


def _of_groups(groups: Sequence[tuple[bool, list[float]]]) -> float | None:
    ca = 100 * sum(marked for marked, _ in groups) / len(groups)
    pairs = [value for _, values in groups for value in values]
    if not ca:
        return 0.0
    return harmonic(ca, mean(pairs)) if pairs else None


def _part_intervals(
    claims: Sequence[Claim], cited: Mapping[str, Sequence[str]], values: Sequence[float]
) -> dict[str, float | None]:
    """Ends of the intervals of CA and CF."""
    ends: dict[str, float | None] = {}
    for name, points in (("ca", [100.0 if cited[claim.id] else 0.0 for claim in claims]), ("cf", values)):
        if interval := items_interval(points):
            ends |= {f"{name}_from": interval.low, f"{name}_to": interval.high}
    return ends


# --- no citation in the text -----------------------------------------------------------------------------------------


def _uncited(claims: Sequence[Claim], case: Case) -> MetricResult:
    """No claim has a mark that leads anywhere: CI is 0, and it is said why."""
    assert case.claims is not None
    listed = [source for source in case.report.sources if source.target]
    flag = "listed_only" if listed else "no_citations"
    items = [
        Item(id=claim.id, text=claim.text, reason=flag, detail={"claim": claim.id, "likely_source": likely})
        for claim in claims
        if (likely := _likely(claim, case.report)) is not None
    ]
    return RESULTS.scored(
        0.0,
        flags=(*list_flags(case.claims), flag),
        parts={"ca": 0.0, "cf": None},
        counts=list_counts(case.claims) | {"attributed": 0, "listed_sources": len(listed)},
        items=tuple(items),
    )


def _likely(claim: Claim, report: Report) -> str | None:
    """The listed source whose title is nearest to a claim: extra information, never scored."""
    words = set(content_words(claim.text))
    best, found = MATCH, None
    for source in report.sources:
        title = set(content_words(f"{source.title or ''} {source.raw}"))
        share = len(words & title) / len(words) if words else 0.0
        if source.target and share > best:
            best, found = share, source.target
    return found
