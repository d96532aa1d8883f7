"""DeepResearchEval's active fact-checking: Right, Wrong or Unknown, claim by claim (METRICS 8).

The claims are our frozen list, so that the denominator is not the checker's choice. In the mode ``agent`` a CodeAgent
checks a few neighbouring claims a job, with search and pages (``agents.check_claims``). In the mode ``guided`` code
searches and reads as for Factuality (the same queries and pages in the ledger) and the judge is asked once for several
claims; the embedded judge labels passages one by one, as there. ``Ratio = 100 · Right / (Right + Wrong + Unknown)``
over claims with a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from ..agents.facts import Checked, FactCheck, Word, check_claims, context_of
from ..agents.prompts_facts import VERSION as AGENT_VERSION
from ..core import Json, Outcome
from ..models import ChatModel, Message, fence, system, user, without_tokens
from ..protocols.schema import Mode
from ..reports import scalar, search_language
from ..reports.data import Claim
from ..stats import items_interval, mean
from ..tools import Toolbox
from ..tools.data import Passage
from . import verdicts
from .asking import Pointers, Rows, ask_pointed, rows_of
from .base import FAILURES, Case, Results, Settings, check_worthy, coverage_of, first_reason, flags_of, lost, together
from .evidence import Found, evidence_of, look
from .factuality import checked_claim, list_counts, list_flags
from .results import Evidence, Item, MetricResult

VERSION = 10_000 * 1 + 100 * AGENT_VERSION + verdicts.VERSION
RESULTS = Results("dre_facts", VERSION)

OUTCOMES = {Word.RIGHT: Outcome.SUPPORTED, Word.WRONG: Outcome.CONTRADICTED, Word.UNKNOWN: Outcome.UNDECIDED}
WORDS = {outcome: word for word, outcome in OUTCOMES.items()}
"""Outcome of an item to the peer's word."""
VALUES = {Outcome.SUPPORTED: 100.0, Outcome.CONTRADICTED: 0.0, Outcome.UNDECIDED: 0.0}

GROUP = 8
"""Claims that are checked together, at most."""

QUESTION = """\
Check these claims of the report against evidence from elsewhere, not against what you know. Each claim has its own \
evidence.
{claims}
For each claim: why, in at most twenty words; the verdict: right if its evidence says all of it, wrong if it \
contradicts it or a part of it, unknown if it does not settle it; the numbers of the evidence sentences that decide."""

ONCE_MORE = "{which}: with right or wrong, name at least one sentence of the claim's own evidence; else say unknown."


class Reply(BaseModel):
    """The judge's answer on one claim, in the mode ``guided``."""

    why: Annotated[str, BeforeValidator(lambda value: value[:300] if isinstance(value, str) else value)] = ""
    verdict: Word
    sentences: Pointers = ()


async def active_facts(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Check every selected claim. Fails when no claim got a verdict."""
    assert case.claims is not None
    claims = [claim for claim in check_worthy(case.claims) if claim.selected]
    if not claims:
        return RESULTS.not_applicable("no_check_worthy_claim")
    if judge.embedded and settings.mode is not Mode.AGENT:
        items = await together(_alone(claim, case, judge, toolbox, settings) for claim in claims)
    else:
        one = _by_agent if settings.mode is Mode.AGENT else _guided
        done = await together(one(group, case, judge, toolbox, settings) for group in grouped(claims))
        items = [item for group in done for item in group]
    return score(items, case)


def grouped(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Neighbouring claims together: those of a section stay together where they are few."""
    groups: list[list[Claim]] = []
    sections: list[list[Claim]] = []
    for claim in claims:
        if not sections or sections[-1][-1].section != claim.section or len(sections[-1]) >= GROUP:
            sections.append([])
        sections[-1].append(claim)
    for section in sections:
        if groups and len(groups[-1]) + len(section) <= GROUP:
            groups[-1] += section
        else:
            groups.append(list(section))
    return groups


# --- agent -----------------------------------------------------------------------------------------------------------


async def _by_agent(
    claims: Sequence[Claim], case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings
) -> list[Item]:
    del settings
    try:
        done = await check_claims(claims, case.task, case.report, judge, toolbox)
    except FAILURES as error:
        return [lost(claim.id, claim.text, error, **_detail(claim)) for claim in claims]
    given = {checked.claim: checked for checked in done.verdicts}
    return [_from_agent(claim, given.get(claim.id), done, first=claims[0]) for claim in claims]


def _from_agent(claim: Claim, checked: Checked | None, done: FactCheck, *, first: Claim) -> Item:
    detail = _detail(claim) | _how(done, first=None if claim is first else first)
    if checked is None or (checked.verdict is Word.UNKNOWN and done.blind):
        return _unchecked(claim, done.blind or "the agent left this claim out", done.calls, detail)
    evidence = tuple(
        Evidence(
            url=one.url,
            quote=one.quote,
            start=one.start,
            end=one.end,
            published=one.published,
            dating=one.dating,
            key=one.key,
        )
        for one in checked.evidence
    )
    return _item(claim, checked.verdict, evidence, checked.reasoning, checked.flags, done.calls, detail)


def _how(done: FactCheck, *, first: Claim | None) -> dict[str, Json]:
    """How was looked. The steps of a job stand with its first claim only."""
    looked: dict[str, Json] = {
        "queries": list(done.queries),
        "pages": {visit.url: str(visit.state) for visit in done.pages},
    }
    if first is not None:
        return looked | {"job": first.id}
    return looked | {"steps": [step.model_dump(mode="json") for step in done.steps]}


# --- guided ----------------------------------------------------------------------------------------------------------


async def _alone(claim: Claim, case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> Item:
    """The embedded judge: Factuality's own verdict (and its calls), in the peer's words."""
    item = await checked_claim(claim, case, judge, toolbox, settings)
    if item.outcome is Outcome.NOT_CHECKED:
        return item
    outcome = item.outcome if item.outcome in VALUES else Outcome.UNDECIDED
    return item.model_copy(update={"outcome": outcome, "value": VALUES[outcome or Outcome.UNDECIDED]})


async def _guided(
    claims: Sequence[Claim], case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings
) -> list[Item]:
    """Code looks, claim by claim; one question on all that have evidence."""
    looks = await together(_look(claim, case, toolbox, settings) for claim in claims)
    known = [(claim, found) for claim, found in zip(claims, looks, strict=True) if isinstance(found, Found)]
    blocks = _blocks([(claim, found) for claim, found in known if found.passages])
    try:
        answered = await _judged(blocks, case, judge) if blocks else {}
    except FAILURES as error:
        answered = {one.claim.id: lost(one.claim.id, one.claim.text, error, **_detail(one.claim)) for one in blocks}
    return [answered.get(claim.id) or _nothing(claim, found) for claim, found in zip(claims, looks, strict=True)]


async def _look(claim: Claim, case: Case, toolbox: Toolbox, settings: Settings) -> Found | Exception:
    try:
        tag = search_language(case.task, case.report.language)
        return await look(claim, case.report, case.as_of, toolbox, settings, language=tag)
    except FAILURES as error:
        return error


def _nothing(claim: Claim, found: Found | Exception) -> Item:
    """A claim for which there is no passage: nobody could look, or there is nothing."""
    if isinstance(found, Exception):
        return lost(claim.id, claim.text, found, **_detail(claim))
    detail = _detail(claim) | _where(found)
    if found.blind:
        return _unchecked(claim, found.blind, (), detail)
    return _item(claim, Word.UNKNOWN, found.late, "nothing was found", (), (), detail)


Line = tuple[Passage, int]
"""A sentence (from 1) of a passage."""


@dataclass(frozen=True)
class Block:
    """A claim with its evidence; the sentences of all blocks of a question are numbered through."""

    claim: Claim
    found: Found
    lines: tuple[Line, ...]
    first: int

    @property
    def span(self) -> range:
        """Its sentence numbers."""
        return range(self.first, self.first + len(self.lines))

    def founded(self, reply: Reply | None) -> bool:
        """Whether the answer needs no evidence, or points at this claim's."""
        return reply is None or reply.verdict is Word.UNKNOWN or any(number in self.span for number in reply.sentences)

    def shown(self) -> str:
        """As the judge reads it."""
        texts = [_line(number, line) for number, line in zip(self.span, self.lines, strict=True)]
        return f"{self.claim.id}: {without_tokens(scalar(self.claim.text))}\n{fence(chr(10).join(texts))}"


def _blocks(open_: Sequence[tuple[Claim, Found]]) -> list[Block]:
    blocks: list[Block] = []
    for claim, found in open_:
        lines = tuple((p, n) for p in found.passages for n in range(1, len(p.sentences) + 1))
        blocks.append(Block(claim, found, lines, blocks[-1].span.stop if blocks else 1))
    return blocks


async def _judged(blocks: Sequence[Block], case: Case, judge: ChatModel) -> dict[str, Item]:
    def wrong(answer: Rows) -> str:
        bad = [one.claim.id for one in blocks if not one.founded(answer.on(one.claim.id))]
        return ONCE_MORE.format(which=", ".join(bad)) if bad else ""

    form = rows_of(tuple(one.claim.id for one in blocks), Reply)
    messages = _messages(blocks, case)
    answer, calls = await ask_pointed(judge, messages, form, wrong, max_tokens=60 + 80 * len(blocks))
    return {one.claim.id: _from_reply(one, answer.on(one.claim.id), calls) for one in blocks}


def _messages(blocks: Sequence[Block], case: Case) -> list[Message]:
    context = fence(context_of([one.claim for one in blocks], case.report), "report")
    head = f"The report answers this query:\n{fence(case.task.prompt, 'query')}\n\nPart of it:\n{context}"
    question = QUESTION.format(claims="\n".join(one.shown() for one in blocks))
    return [system(verdicts.SYSTEM), user(f"{head}\n\n{question}")]


def _line(number: int, line: Line) -> str:
    passage, sentence = line
    dated = f"({passage.published}) " if passage.published and sentence == 1 else ""
    return f"[{number}] {dated}{' '.join(passage.sentences[sentence - 1].split())}"


def _from_reply(block: Block, reply: Reply | None, calls: tuple[str, ...]) -> Item:
    claim, found = block.claim, block.found
    detail = _detail(claim) | _where(found)
    if reply is None:
        return _unchecked(claim, "the judge left this claim out", calls, detail)
    verdict = reply.verdict if block.founded(reply) else Word.UNKNOWN
    pointed = [block.lines[number - block.first] for number in reply.sentences if number in block.span]
    evidence = tuple(evidence_of(passage, [sentence]) for passage, sentence in dict.fromkeys(pointed))
    flags = () if block.founded(reply) else ("quote_not_found",)
    return _item(claim, verdict, evidence + found.late, " ".join(reply.why.split()), flags, calls, detail)


def _where(found: Found) -> dict[str, Json]:
    return {"queries": list(found.queries), "pages": {page.url: str(page.state) for page in found.tried}}


# --- items and score -------------------------------------------------------------------------------------------------


def _detail(claim: Claim) -> dict[str, Json]:
    return {"importance": claim.importance, "sentences": list(claim.sentences)}


def _unchecked(claim: Claim, reason: str, calls: tuple[str, ...], detail: dict[str, Json]) -> Item:
    return Item(id=claim.id, text=claim.text, outcome=Outcome.NOT_CHECKED, reason=reason, calls=calls, detail=detail)


def _item(
    claim: Claim,
    verdict: Word,
    evidence: tuple[Evidence, ...],
    reason: str,
    flags: tuple[str, ...],
    calls: tuple[str, ...],
    detail: dict[str, Json],
) -> Item:
    outcome = OUTCOMES[verdict]
    return Item(
        id=claim.id,
        text=claim.text,
        outcome=outcome,
        value=VALUES[outcome],
        evidence=evidence,
        flags=flags,
        reason=reason,
        calls=calls,
        detail=detail,
    )


def score(items: Sequence[Item], case: Case) -> MetricResult:
    """The result over claims; a claim without a verdict only lowers coverage."""
    assert case.claims is not None
    counts = {str(word): sum(item.outcome is outcome for item in items) for word, outcome in OUTCOMES.items()}
    values = [VALUES[item.outcome] for item in items if item.outcome in VALUES]
    coverage = coverage_of(items, VALUES)
    flags = flags_of(coverage, *list_flags(case.claims))
    counts |= {"not_checked": len(items) - len(values)} | list_counts(case.claims)
    if not values:
        reason = f"evidence_unavailable ({first_reason(items)})"
        return RESULTS.failed(reason, coverage=coverage, flags=flags, counts=counts, items=tuple(items))
    return RESULTS.scored(
        mean(values),
        interval=items_interval(values),
        coverage=coverage,
        flags=flags,
        parts={str(word): 100 * counts[str(word)] / len(values) for word in OUTCOMES},
        counts=counts,
        items=tuple(items),
    )
