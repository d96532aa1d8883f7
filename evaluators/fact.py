"""DeepResearch Bench's FACT: do the cited pages say what they are cited for? (METRICS 9)

Pairs of (statement, URL) come from our parser: a statement is a sentence with a citation mark. The pages are read as
CI reads them (same ledger keys), so that none is fetched twice. Accuracy is ``supported / (supported + not)``, a
statement that a page supports in part counting as supported [paper]; the stricter figure and the one that counts
unknown pairs as not supported stand beside it [ours]. Supported pairs are the report's *effective citations*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core import Json, Outcome, PageState
from ..models import ChatModel, system, user, without_tokens
from ..reports import content_words, fold, normalise_url, scalar
from ..reports.data import Report, SegmentKind
from ..stats import items_interval, mean
from ..tools import Toolbox
from ..tools.data import Page
from . import verdicts
from .asking import Rows, ask_pointed, fences, lines, rows_of
from .base import FAILURES, Case, Results, Settings, coverage_of, flags_of, lost, outcome_counts, together
from .candidates import leans_back
from .citations import evidence_on, pair_outcome, shown_of, why_none
from .evidence import text_of
from .results import Item, MetricResult
from .stances import Label, Stance, partly_at_most
from .verdicts import STANCES, SYSTEM, Verdict, label_claims

VERSION = 100 * 1 + verdicts.VERSION
RESULTS = Results("fact", VERSION)

VALUES = {Outcome.SUPPORTED: 100.0, Outcome.PARTLY: 100.0, Outcome.CONTRADICTED: 0.0, Outcome.NO: 0.0}
"""What a decided pair is worth. ``no``: the page was read, or is gone, and does not say it."""

FEWEST_WORDS = 2
"""Content words that a sentence, with what it leans on, must have to state something: "See [1]." does not."""

PAGE_TOKENS, STATEMENT_TOKENS = 300, 120
"""Of a page the judge sees so many tokens, and so many more a statement: what is nearest to the statements."""
CALL_TOKENS = 6000
"""Pages and statements that are asked about together, at most; half of a small context."""
CALL_STATEMENTS = 40
"""Statements in one call, at most."""

# Several pages a call: the original sends a page a call, most of them for one or two statements. Sentences are numbered
# through all pages, so that a verdict that rests on another page is seen by its numbers.
QUESTION = """\
Each statement cites one page. For each: is it supported by its own page, partly supported, contradicted by it, or is \
there not enough evidence on it? Give the verdict and the numbers of the sentences of that page that decide it.
{statements}"""

ONCE_MORE = "{which}: name at least one sentence of the statement's own page, or answer not_enough_evidence."


@dataclass(frozen=True)
class Pair:
    """A cited sentence with one of the addresses that it cites."""

    sentence: int
    text: str
    context: str
    """The sentence before it, where it leans on that one."""
    url: str

    @property
    def id(self) -> str:
        """``sentence@url``: unique in a report."""
        return f"{self.sentence}@{self.url}"

    @property
    def shown(self) -> str:
        """As the judge reads it."""
        return f"{self.text} (said before it: {self.context})" if self.context else self.text


@dataclass(frozen=True)
class Shown:
    """A page that was read, with what is shown of it and the pairs that cite it."""

    page: Page
    sentences: tuple[str, ...]
    pairs: tuple[Pair, ...]


async def fact(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Check all pairs of the report. Fails when no cited page could be judged."""
    pairs = pairs_of(case.report)
    if not pairs:
        listed = any(source.target for source in case.report.sources)
        flags = ("listed_only",) if listed else ()
        return RESULTS.not_applicable("no_citations", flags=flags, counts={"pairs": 0, "effective": 0})
    pages: dict[str, list[Pair]] = {}
    for pair in pairs:
        pages.setdefault(pair.url, []).append(pair)
    read = await together(_read(url, group, toolbox) for url, group in pages.items())
    found = {item.id: item for items, _ in read for item in items}
    shown = [_shown(page, pages[url], judge, settings) for url, (_, page) in zip(pages, read, strict=True) if page]
    for items in await together(_asked(group, judge) for group in grouped(shown, judge)):
        found |= {item.id: item for item in items}
    return score([found[pair.id] for pair in pairs], pages=len(pages))


def pairs_of(report: Report) -> list[Pair]:
    """Cited sentences with each address they cite, in order, the same statement and address once."""
    seen: set[tuple[str, str]] = set()
    pairs = []
    targets = {source.id: normalise_url(source.target) or source.target for source in report.sources if source.target}
    for mark in report.marks:
        sentence = report.sentences[mark.sentence - 1]
        kind = report.segments[sentence.segment].kind
        context = _context(report, sentence.number)
        if kind is SegmentKind.REFERENCES or len(content_words(f"{context} {sentence.text}")) < FEWEST_WORDS:
            continue
        for url in (targets[id] for id in mark.sources if id in targets):
            key = (fold(sentence.text), url)
            if key not in seen:
                seen.add(key)
                pairs.append(Pair(sentence.number, sentence.text, context, url))
    return pairs


def _context(report: Report, number: int) -> str:
    """The sentence before, in the same paragraph, of one that cannot be understood alone."""
    sentence = report.sentences[number - 1]
    before = report.sentences[number - 2] if number > 1 else None
    if before is None or before.segment != sentence.segment or not leans_back(sentence.text):
        return ""
    return before.text


# --- pages -----------------------------------------------------------------------------------------------------------


async def _read(url: str, pairs: Sequence[Pair], toolbox: Toolbox) -> tuple[list[Item], Page | None]:
    """The page, or the items of its pairs where it cannot be read."""
    try:
        page = await toolbox.read(url)
    except FAILURES as error:
        return [lost(pair.id, pair.text, error, **_detail(pair, None)) for pair in pairs], None
    if page.state is PageState.OK:
        return [], page
    return [_unread(pair, page) for pair in pairs], None


def _unread(pair: Pair, page: Page) -> Item:
    """A page that is gone supports nothing; of any other unread page nothing is known."""
    gone = page.state is PageState.GONE
    return Item(
        id=pair.id,
        text=pair.text,
        outcome=Outcome.NO if gone else Outcome.NOT_CHECKED,
        value=0.0 if gone else None,
        flags=("dead_citation",) if gone else (),
        reason=page.reason or "gone" if gone else f"{page.state}: {page.reason}",
        detail=_detail(pair, page),
    )


def _detail(pair: Pair, page: Page | None) -> dict[str, Json]:
    return {"sentence": pair.sentence, "url": pair.url, "page": None if page is None else str(page.state)}


def _shown(page: Page, pairs: Sequence[Pair], judge: ChatModel, settings: Settings) -> Shown:
    """What the judge sees of a page: all of it where it is short, else what is nearest to the statements."""
    room = min(settings.page_tokens, PAGE_TOKENS + STATEMENT_TOKENS * len(pairs))
    sentences = shown_of(page, [pair.text for pair in pairs], judge, replace(settings, page_tokens=room))
    return Shown(page, tuple(sentences), tuple(pairs))


def grouped(shown: Iterable[Shown], judge: ChatModel) -> list[list[Shown]]:
    """Pages that are asked about together, in order. The embedded judge reads one at a time."""
    limit = min(CALL_TOKENS, judge.context // 2)
    groups: list[list[Shown]] = []
    used, statements = 0, 0
    for one in (part for page in shown for part in _split(page)):
        cost = sum(judge.count(text) + 6 for text in (*one.sentences, *(pair.shown for pair in one.pairs)))
        full = used + cost > limit or statements + len(one.pairs) > CALL_STATEMENTS
        if not groups or judge.embedded or full:
            groups.append([])
            used, statements = 0, 0
        groups[-1].append(one)
        used, statements = used + cost, statements + len(one.pairs)
    return groups


def _split(shown: Shown) -> list[Shown]:
    """A page that is cited by more statements than fit into one call is asked about in several."""
    starts = range(0, len(shown.pairs), CALL_STATEMENTS)
    return [replace(shown, pairs=shown.pairs[start : start + CALL_STATEMENTS]) for start in starts]


# --- verdicts --------------------------------------------------------------------------------------------------------


async def _asked(group: Sequence[Shown], judge: ChatModel) -> list[Item]:
    """The items of all pairs of some pages. A call that fails for good loses just these."""
    try:
        labels = await (_labels_small(group, judge) if judge.embedded else _labels(group, judge))
    except FAILURES as error:
        return [lost(p.id, p.text, error, **_detail(p, one.page)) for one in group for p in one.pairs]
    return [_judged(pair, one, labels[pair.id]) for one in group for pair in one.pairs]


async def _labels_small(group: Sequence[Shown], judge: ChatModel) -> dict[str, Label | None]:
    found: dict[str, Label | None] = {}
    for one in group:
        texts = {pair.id: pair.text for pair in one.pairs}
        found |= await label_claims(texts, one.sentences, judge, page=text_of(one.page))
    return found


async def _labels(group: Sequence[Shown], judge: ChatModel) -> dict[str, Label | None]:
    """What each page says about its statements; None for a statement that the judge left out."""
    places = _places(group)
    question = QUESTION.format(statements=_listed(group, places))
    shown = fences({f"page {n}": _numbered(one, places[one.pairs[0].id][1]) for n, one in enumerate(group, 1)})
    messages = [system(SYSTEM), user(f"{shown}\n\n{without_tokens(scalar(question))}")]
    ids = {pair.id: f"s{n}" for n, pair in enumerate((p for one in group for p in one.pairs), 1)}

    def wrong(answer: Rows) -> str:
        given = {key: answer.on(key) for key in ids.values()}
        bad = [key for id, key in ids.items() if given[key] is not None and not _points(given[key], places[id])]
        return ONCE_MORE.format(which=", ".join(bad)) if bad else ""

    form = rows_of(tuple(ids.values()), Verdict)
    answer, calls = await ask_pointed(judge, messages, form, wrong, max_tokens=40 + 40 * len(ids))
    pages = {pair.id: one for one in group for pair in one.pairs}
    return {id: _label(answer.on(key), places[id], pages[id], id, calls) for id, key in ids.items()}


Place = tuple[int, int, int]
"""Number of the page in its call, and the numbers of its first and last sentence."""


def _places(group: Sequence[Shown]) -> dict[str, Place]:
    places: dict[str, Place] = {}
    first = 1
    for number, one in enumerate(group, 1):
        places |= {pair.id: (number, first, first + len(one.sentences) - 1) for pair in one.pairs}
        first += len(one.sentences)
    return places


def _numbered(one: Shown, first: int) -> str:
    title = [f"Title: {' '.join(one.page.title.split())[:200]}"] if one.page.title else []
    return "\n".join([*title, lines([" ".join(text.split()) for text in one.sentences], first)])


def _listed(group: Sequence[Shown], places: Mapping[str, Place]) -> str:
    told, count = [], 0
    for one in group:
        page, first, last = places[one.pairs[0].id]
        told.append(f"Of page {page} (sentences {first} to {last}):")
        for pair in one.pairs:
            count += 1
            told.append(f"s{count}: {pair.shown}")
    return "\n".join(told)


def _points(answer: Verdict, place: Place) -> bool:
    """Whether the answer needs no evidence, or points at a sentence of the statement's own page."""
    _, first, last = place
    return STANCES[answer.verdict] is Stance.NEITHER or any(first <= n <= last for n in answer.sentences)


def _label(given: Verdict | None, place: Place, one: Shown, id: str, calls: tuple[str, ...]) -> Label | None:
    if given is None:
        return None
    stance, (_, first, last) = STANCES[given.verdict], place
    if stance is Stance.NEITHER:
        return Label(stance, calls=calls)
    own = tuple(dict.fromkeys(n - first + 1 for n in given.sentences if first <= n <= last))
    if not own:
        return Label(Stance.NEITHER, (), ("quote_not_found",), calls)
    statement = next(pair.text for pair in one.pairs if pair.id == id)
    return partly_at_most(statement, text_of(one.page), Label(stance, own, (), calls))


def _judged(pair: Pair, one: Shown, label: Label | None) -> Item:
    page = one.page
    if label is None:
        reason = "the judge left this statement out"
        return Item(id=pair.id, text=pair.text, outcome=Outcome.NOT_CHECKED, reason=reason, detail=_detail(pair, page))
    outcome = pair_outcome(label)
    return Item(
        id=pair.id,
        text=pair.text,
        outcome=outcome,
        value=VALUES.get(outcome),
        evidence=evidence_on(page, one.sentences, label),
        flags=label.flags,
        reason="the page does not say it" if outcome is Outcome.NO else "",
        calls=label.calls,
        detail=_detail(pair, page),
    )


# --- the score -------------------------------------------------------------------------------------------------------


def score(items: Sequence[Item], *, pages: int) -> MetricResult:
    """The result over pairs."""
    values = [item.value for item in items if item.value is not None]
    coverage = coverage_of(items, VALUES)
    unknown = len(items) - len(values)
    effective = sum(value == 100 for value in values)
    dead = "dead_citation" if any("dead_citation" in item.flags for item in items) else None
    flags = flags_of(coverage, dead)
    counts = outcome_counts(items) | {
        "pairs": len(items),
        "pages": pages,
        "effective": effective,
        "not_supported": len(values) - effective,
        "unknown": unknown,
    }
    parts: dict[str, float | None] = {"unknown_rate": 100 * unknown / len(items)}
    if not values:
        reason = why_none(items)
        return RESULTS.failed(reason, coverage=coverage, flags=flags, parts=parts, counts=counts, items=tuple(items))
    whole = sum(item.outcome is Outcome.SUPPORTED for item in items)
    parts |= {"strict": 100 * whole / len(values), "low": 100 * effective / len(items)}
    return RESULTS.scored(
        mean(values),
        interval=items_interval(values),
        coverage=coverage,
        flags=flags,
        parts=parts,
        counts=counts,
        items=tuple(items),
    )
