"""The protocol creator for weak models: the model words queries, picks sentences and asks; code does the rest."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field, create_model

from ..core import AsOf, Task
from ..protocols import KeyQuestion, ReasoningQuestion, compound, has_outside_step, yes_no
from ..reports import content_words, numbers_in
from ..tools import best_passages
from . import prompts_creator as prompts
from .drafts import (
    KeyDraft,
    PlanDraft,
    ReasoningDraft,
    SourceDraft,
    carried,
    key_items,
    reasoning_items,
    recent,
    same_fact,
    tidy,
)
from .guided import Guide
from .shelf import Read

PAGES = 8
"""Pages that are read."""
LINES = 14
"""Sentences shown to the model at once."""
ROUNDS = 3
"""Calls that pick key facts, at most."""
PICKS = 5
"""Key facts asked for in one call: short lists keep a weak model's JSON sound."""
WORDS = range(6, 46)
"""Length of a sentence that can carry a key fact."""
YEAR = dt.timedelta(days=365)

_DANGLING = re.compile(
    # Sentences that start like this lean on the one before and cannot stand alone.
    r"^(?:it|this|that|these|those|they|he|she|both|such|here|there|then|but|and|so|because|also|its|their|his|her|"
    r"however|therefore|instead|for this|in this|first|second|third|fourth|one|"
    r"the (?:rule|advice|design|method|same))\b",
    re.IGNORECASE,
)
_HAN = re.compile(r"[\u3400-\u9fff]")


class QueriesDraft(BaseModel):
    """Search queries."""

    queries: list[str] = Field(min_length=3, max_length=5)


class PickDraft(BaseModel):
    """A sentence that carries a key fact, and the question on it."""

    sentence: int
    question: str


class OpenDraft(BaseModel):
    """A reasoning question with its plan, flat."""

    question: str
    extract: str
    lookup: str
    cross_check: str
    against: str


@dataclass(frozen=True)
class Candidate:
    """A sentence that may carry a key fact."""

    read: Read
    number: int
    query: str
    """The search that led to it."""
    also: tuple[SourceDraft, ...] = ()
    """Other pages that state the same."""

    @property
    def text(self) -> str:
        """The sentence, on one line."""
        return tidy(self.read.sentence(self.number) or "")

    @property
    def source(self) -> SourceDraft:
        """Where it stands."""
        return SourceDraft(url=self.read.page.url, sentence=self.number)


async def guided_items(
    guide: Guide, task: Task, as_of: AsOf, questions: int, reasoning: int
) -> tuple[tuple[KeyQuestion, ...], tuple[ReasoningQuestion, ...]]:
    """Research and write the items. Fewer than asked for when the evidence does not give more."""
    queries = await _queries(guide, task, as_of)
    reads = await guide.research([*queries, task.prompt], PAGES)
    pool = merged(candidates([*queries, task.prompt], reads))
    keys = await _keys(guide, task, as_of, pool, questions)
    reasons = await _reasons(guide, task, as_of, keys, reasoning)
    return keys, reasons


async def _queries(guide: Guide, task: Task, as_of: AsOf) -> list[str]:
    draft = await guide.try_ask("queries", prompts.queries_prompt(task, as_of), QueriesDraft, 120)
    words = [tidy(query)[:200] for query in draft.queries] if draft else []
    return list(dict.fromkeys(query for query in words if query))


# key questions --------------------------------------------------------------------------------------------------------


def candidates(queries: Sequence[str], reads: Sequence[Read]) -> list[Candidate]:
    """Sentences that can stand alone and say something checkable: the best for each query in turn."""
    pages = {read.page.url: read for read in reads}
    lists = []
    for query in queries:
        passages = best_passages(query, [read.page for read in reads], limit=8, window=2)
        found = [
            Candidate(read=pages[passage.url], number=number, query=query)
            for passage in passages
            for number in pages[passage.url].overlapping(passage.start, passage.end)
        ]
        lists.append([candidate for candidate in found if _stands_alone(candidate.text)])
    return list(_in_turn(lists))


def _in_turn(lists: Sequence[Sequence[Candidate]]) -> Iterator[Candidate]:
    """First of each list, second of each list …, each sentence once."""
    seen = set()
    for place in range(max(map(len, lists), default=0)):
        for found in lists:
            if place < len(found) and (key := (found[place].read.page.url, found[place].number)) not in seen:
                seen.add(key)
                yield found[place]


def _stands_alone(sentence: str) -> bool:
    """Long enough, no question, no dangling start, and with a number or a name in it."""
    if sentence.endswith(("?", "？", ":", "：")) or _DANGLING.match(sentence):
        return False
    if _HAN.search(sentence):
        return 10 <= len(sentence) <= 150
    if len(sentence.split()) not in WORDS:
        return False
    return bool(numbers_in(sentence)) or bool(re.search(r"\s[A-Z][\w-]+", sentence))


def merged(pool: Sequence[Candidate]) -> list[Candidate]:
    """The pool with each fact once; other pages that state it become further sources."""
    kept: list[Candidate] = []
    for candidate in pool:
        for place, earlier in enumerate(kept):
            if same_fact(candidate.text, earlier.text):
                if candidate.read.page.url != earlier.read.page.url and len(earlier.also) < 2:
                    kept[place] = replace(earlier, also=(*earlier.also, candidate.source))
                break
        else:
            kept.append(candidate)
    return kept


async def _keys(
    guide: Guide, task: Task, as_of: AsOf, pool: Sequence[Candidate], questions: int
) -> tuple[KeyQuestion, ...]:
    drafts: list[KeyDraft] = []
    items: tuple[KeyQuestion, ...] = ()
    left = list(pool)
    for _ in range(ROUNDS + questions // PICKS):
        shown, left = left[:LINES], left[LINES:]
        if len(items) >= questions or not shown:
            break
        number = min(PICKS, questions - len(items), len(shown))
        drafts.extend(await _pick(guide, task, as_of, shown, number))
        items = key_items(drafts, guide.shelf, questions)
    return items


async def _pick(guide: Guide, task: Task, as_of: AsOf, shown: Sequence[Candidate], number: int) -> list[KeyDraft]:
    lines = "\n".join(f"[{place}] {candidate.text}" for place, candidate in enumerate(shown, 1))
    kind = create_model(
        "Picks",
        facts=(list[_pointer(len(shown))], Field(min_length=number, max_length=number)),  # type: ignore[misc]
    )
    prompt = prompts.facts_prompt(task, as_of, lines, number)
    draft = await guide.try_ask("facts", prompt, kind, 60 * number + 60)
    picks: dict[int, str] = {}
    for pick in getattr(draft, "facts", ()):
        picks.setdefault(pick.sentence, pick.question)
    made = [_draft(shown[place - 1], question, as_of) for place, question in picks.items()]
    return [key for key in made if key is not None]


def _pointer(last: int) -> type[PickDraft]:
    """A pick whose sentence number must be one of those shown."""
    return create_model("Pick", __base__=PickDraft, sentence=(int, Field(ge=1, le=last)))


def _draft(candidate: Candidate, question: str, as_of: AsOf) -> KeyDraft | None:
    """The key question on a sentence; None when neither the model's nor the template's question will do."""
    fact = candidate.text
    text = repaired(tidy(question), fact)
    if text is None:
        return None
    published = candidate.read.page.published
    fresh = published is not None and as_of.day - published <= YEAR
    return KeyDraft(
        fact=fact,
        question=text,
        rationale=f"Found by searching for: {candidate.query}",
        time_sensitive=recent(fact, fresh, as_of),
        sources=[candidate.source, *candidate.also],
    )


def repaired(question: str, fact: str) -> str | None:
    """The model's question where it asks with yes or no for just this fact, else one made from the fact by template."""
    for text in (question, templated(fact)):
        if yes_no(text) is not False and not compound(text) and carried(text, fact) and _on_topic(text, fact):
            return text
    return None


def templated(fact: str) -> str:
    """A yes/no question on a fact, in Chinese for a Chinese fact and else in English."""
    body = fact.rstrip(" .。!！")
    if _HAN.search(body):
        return f"报告是否指出:{body}?".replace(":", "：").replace("?", "？")
    start = body.split(" ", 1)[0]
    # A lower-case start reads better; names and acronyms keep theirs.
    if start.lower() in {
        "the",
        "a",
        "an",
        "in",
        "on",
        "by",
        "about",
        "all",
        "most",
        "many",
        "some",
        "for",
        "from",
        "at",
    }:
        body = body[0].lower() + body[1:]
    return f"Does the report state that {body}?"


def _on_topic(question: str, fact: str) -> bool:
    """Most content words of the question come from the fact, and it asks for enough of it to be told apart."""
    asked, given = set(content_words(question)) - {"state", "report", "mention"}, set(content_words(fact))
    shared = len(asked & given)
    return bool(asked) and shared >= 0.6 * len(asked) and shared >= min(3, len(given))


# reasoning questions ------------------------------------------------------------------------------------------------


async def _reasons(
    guide: Guide, task: Task, as_of: AsOf, keys: Sequence[KeyQuestion], number: int
) -> tuple[ReasoningQuestion, ...]:
    if not number:
        return ()
    facts = "\n".join(f"- {key.fact}" for key in keys[:8])
    kind = create_model("Opens", questions=(list[OpenDraft], Field(min_length=number, max_length=number)))
    draft = await guide.try_ask("reasoning", prompts.reasoning_prompt(task, as_of, facts, number), kind, 130 * number)
    opens = [_open(found) for found in getattr(draft, "questions", ())]
    return reasoning_items([found for found in opens if found is not None], guide.shelf, number)


def _open(draft: OpenDraft) -> ReasoningDraft | None:
    """The question with its plan; a plan that looks nothing up gets the question's own words to search for."""
    parts = {name: tidy(value) for name, value in draft.model_dump().items()}
    question = parts.pop("question")
    if not question or yes_no(question) or not all((parts["extract"], parts["cross_check"], parts["against"])):
        return None
    plan = PlanDraft.model_construct(where="web", **parts)
    reason = ReasoningDraft.model_construct(question=question, rationale="", plan=plan, sources=[])
    items = reasoning_items([reason], None, 1)  # type: ignore[arg-type]  # no sources: the shelf is not looked at
    if not has_outside_step(items[0].plan):
        plan = plan.model_copy(update={"lookup": " ".join(dict.fromkeys(_search_words(question)))})
    return reason.model_copy(update={"plan": plan})


def _search_words(question: str) -> list[str]:
    return [word for word in re.findall(r"[\w-]+", question) if content_words(word)][:10]
