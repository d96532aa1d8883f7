"""The plan verifier for weak models: code searches, reads and picks; one call judges."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, create_model

from ..core import Task
from ..models import report_prompt
from ..protocols import ReasoningQuestion
from ..reports import Report, content_words, normalise_url, numbers_in, task_language
from ..tools import Passage, Toolbox, best_passages, registrable_domain
from . import prompts_verifier as prompts
from .circles import circles
from .drafts import tidy
from .guided import Guide
from .report_text import bearing, quote, window
from .shelf import Read, Shelf
from .verification import FlawKind, Verification
from .verifier import flags_of, flaw, found, visits

if TYPE_CHECKING:
    from ..models import ChatModel

PAGES = 6
"""Pages that are read for a question."""
EVIDENCE = 7
"""Sentences of evidence that are shown."""
POINTED = 6
"""Report sentences that are pointed out, at most."""
A_SITE = 2
"""Sentences of one site that are shown, at most."""
AKIN = 0.3
"""Share of a report sentence's words from which on a page that the report does not cite goes before one it cites."""
ANSWER_TOKENS = 220
OVERHEAD = 1_200
"""Tokens kept free for the question, the evidence and the fixed words."""

Pointer = tuple[Read, int]


class FlawDraft(BaseModel):
    """A flaw as the model names it."""

    kind: FlawKind
    sentence: int


class Inside(BaseModel):
    """The verdict where there is no outside evidence."""

    flaws: list[FlawDraft] = Field(max_length=3)
    coherence: int = Field(ge=0, le=10)
    reason: str = Field(max_length=220)


@lru_cache(maxsize=32)
def verdict_type(evidence: int) -> type[Inside]:
    """The verdict's type for this many sentences of evidence: a pointer at another one is no answer."""
    if not evidence:
        return Inside
    return create_model(
        "Verdict",
        flaws=(list[FlawDraft], Field(max_length=3)),
        coherence=(int, Field(ge=0, le=10)),
        # 0 is understood and not offered: the weak model would take it whatever the evidence says.
        evidence=(int, Field(ge=0, le=evidence, json_schema_extra={"minimum": 1})),
        validity=(Annotated[int, Field(ge=0, le=10)] | None, ...),
        reason=(str, Field(max_length=220)),
    )  # type: ignore[return-value]  # has all fields of Inside, in the order in which they are asked for


async def guided_verification(
    question: ReasoningQuestion, task: Task, report: Report, model: ChatModel, toolbox: Toolbox, sample: int
) -> Verification:
    """Two searches, a few pages, one judgement. Raises CallFailed, HostStop, ReplayMiss."""
    shelf = Shelf(toolbox.as_of, task_language(task))
    guide = Guide(model, toolbox, shelf, sample)
    pointed = bearing(report, f"{question.text} {question.plan.extract}", POINTED)
    reads = await guide.research(queries_for(question, report, pointed), PAGES)
    pointers = evidence_for(question, report, pointed, reads)
    lines = "\n".join(f"[{n}] {_dated(read)}{tidy(read.sentence(s) or '')}" for n, (read, s) in enumerate(pointers, 1))
    rounds = [pair for pair in circles(report) if set(pair) & set(pointed)]
    text = prompts.guided_question(question, ", ".join(map(str, pointed)), lines, toolbox.as_of, rounds)
    numbered, windowed = window(report, question.text, model.context - OVERHEAD - ANSWER_TOKENS, model.count)
    messages = report_prompt(task.prompt, numbered, text)
    verdict = await guide.ask("judge", messages, verdict_type(len(pointers)), ANSWER_TOKENS)
    return _verification(verdict, report, pointers, guide, windowed, rounds)


def queries_for(question: ReasoningQuestion, report: Report, pointed: list[int]) -> list[str]:
    """The plan's own search, and one with the words of the sentences that the report rests on."""
    checkable = sorted(pointed, key=lambda number: not numbers_in(quote(report, [number])))[:2]
    said = list(dict.fromkeys(word for word in quote(report, checkable).split() if content_words(word)))
    return [query for query in dict.fromkeys((question.plan.lookup, " ".join(said[:12]))) if query]


def evidence_for(question: ReasoningQuestion, report: Report, pointed: list[int], reads: list[Read]) -> list[Pointer]:
    """The sentences of the pages to hold against the report: the nearest one to each sentence pointed out, so that
    premise and outside view stand side by side, and one that the plan's own search finds. Few of one site, and those
    of pages that the report itself cites only where no other speaks of the same: a check must come from elsewhere."""
    cited = {normalise_url(source.target) for source in report.sources if source.target}
    pages = {read.page.url: read for read in reads}
    chosen: dict[tuple[str, int], Pointer] = {}
    sites: Counter[str] = Counter()

    def worth(passage: Passage, wish: str) -> tuple[bool, float]:
        words = set(content_words(wish))
        akin = len(words & set(content_words(passage.text))) >= AKIN * len(words)
        return akin and normalise_url(passage.url) not in cited, passage.score

    said = [text for number in pointed if len(content_words(text := quote(report, [number]))) > 2]
    for wish in [*said, f"{question.plan.lookup} {question.text}"]:
        found = best_passages(wish, [read.page for read in reads], limit=8, window=1)
        free = [passage for passage in found if sites[_site(passage.url)] < A_SITE and _tells(passage.text)]
        best = max(free, key=lambda passage: worth(passage, wish), default=None)
        if best is not None:
            for number in pages[best.url].overlapping(best.start, best.end):
                sites[_site(best.url)] += (best.url, number) not in chosen
                chosen.setdefault((best.url, number), (pages[best.url], number))
    return list(chosen.values())[:EVIDENCE]


def _tells(sentence: str) -> bool:
    """A statement with something in it: no question, no "The replacements are ready."."""
    return not sentence.endswith(("?", "？")) and len(content_words(sentence)) > 3


def _site(url: str) -> str:
    return registrable_domain(url) or url


def _dated(read: Read) -> str:
    return f"({read.page.published}) " if read.page.published else ""


def _verification(
    verdict: Inside,
    report: Report,
    pointers: list[Pointer],
    guide: Guide,
    windowed: bool,
    rounds: list[tuple[int, int]],
) -> Verification:
    validity = getattr(verdict, "validity", None)
    # Null validity says that nothing outside decides, whatever sentence was pointed at.
    chosen = 0 if validity is None else int(getattr(verdict, "evidence", 0))
    shown = [
        found(guide.shelf, read.page.url, number, decisive=place == chosen)
        for place, (read, number) in enumerate(pointers, 1)
    ]
    evidence = tuple(one for one in shown if one is not None)
    flaws = [flaw(report, draft.kind, [draft.sentence]) for draft in verdict.flaws]
    flaws += [
        flaw(report, FlawKind.CIRCULAR, list(pair), "each is given as the reason of the other") for pair in rounds
    ]
    return Verification(
        coherence=verdict.coherence,
        validity=validity if any(one.decisive for one in evidence) else None,
        flaws=tuple(dict.fromkeys(found_flaw for found_flaw, _ in flaws if found_flaw.sentences)),
        evidence=evidence,
        reason=tidy(verdict.reason),
        queries=tuple(guide.shelf.queries),
        pages=visits(guide.shelf.pages, guide.shelf),
        flags=flags_of(evidence, dropped=any(lost for _, lost in flaws), windowed=windowed),
        steps=tuple(guide.steps),
        calls=tuple(guide.calls),
    )
