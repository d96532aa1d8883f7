"""The protocol creator for weak models: the model words queries, picks sentences and asks; code does the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, Field, create_model

from ..core import AsOf, Task
from ..protocols import KeyQuestion, ReasoningQuestion, compound, has_outside_step, yes_no
from ..reports import content_words
from . import prompts_creator as prompts
from .drafts import KeyDraft, PlanDraft, ReasoningDraft, carried, key_items, plan_of, reasoning_items, recent, tidy
from .guided import Guide
from .key_sentences import Candidate, arguable, candidates, facets, fresh, searches

PAGES = 16
"""Pages that are read."""
LINES = 9
"""Sentences shown to the model at once."""
SPARE_CALLS = 2
"""Calls that pick facts beyond those that would do if every pick were good."""
PICKS = 4
"""Key facts asked for in one call, at most: short lists keep a weak model's JSON sound."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_SMALL = frozenset("the a an in on by about all most many some for from at until since after before".split())  # noqa: SIM905
_WORDS = re.compile(r"[\w-]+")
_ARGUING = frozenset(("well", "justify", "view", "report", "conclusion"))
_ASKING = frozenset(("state", "report", "mention"))


# All texts have a length: a weak model that starts to repeat itself would go on to the output limit.


class QueriesDraft(BaseModel):
    """Search queries."""

    queries: list[Annotated[str, Field(max_length=90)]] = Field(min_length=3, max_length=4)


class OpenDraft(BaseModel):
    """A reasoning question with what to search for."""

    question: str = Field(max_length=170)
    lookup: str = Field(max_length=90)


@lru_cache(maxsize=64)
def picks_type(shown: int, number: int) -> type[BaseModel]:
    """So many picks, each pointing at one of the sentences shown."""
    pick = create_model("Pick", sentence=(int, Field(ge=1, le=shown)), question=(str, Field(max_length=300)))
    return create_model("Picks", facts=(list[pick], Field(min_length=number, max_length=number)))


@lru_cache(maxsize=16)
def opens_type(number: int) -> type[BaseModel]:
    """So many reasoning questions."""
    return create_model("Opens", questions=(list[OpenDraft], Field(min_length=number, max_length=number)))


async def guided_items(
    guide: Guide, task: Task, as_of: AsOf, questions: int, reasoning: int
) -> tuple[tuple[KeyQuestion, ...], tuple[ReasoningQuestion, ...]]:
    """Research and write the items. Fewer than asked for when the evidence does not give more."""
    draft = await guide.try_ask("queries", prompts.queries_prompt(task, as_of), QueriesDraft, 100)
    queries = [tidy(query)[:200] for query in draft.queries if query.strip()] if draft else []
    reads = await guide.research(list(dict.fromkeys([*queries, *searches(task.prompt)])), PAGES)
    pool = candidates([*facets(task.prompt), *queries], reads, as_of)
    keys = await _keys(guide, task, as_of, pool, questions)
    reasons = await _reasons(guide, task, as_of, reasoning)
    return keys, reasons


# key questions --------------------------------------------------------------------------------------------------------


async def _keys(
    guide: Guide, task: Task, as_of: AsOf, pool: Sequence[Candidate], questions: int
) -> tuple[KeyQuestion, ...]:
    drafts: list[KeyDraft] = []
    items: tuple[KeyQuestion, ...] = ()
    left = list(pool)
    for _ in range(SPARE_CALLS - (-questions // PICKS)):
        if not left or len(items) >= questions:
            break
        # Weak models take from the top of a list, so the best stand there; the turns of the facets made the batch.
        shown = sorted(left[:LINES], key=lambda candidate: -candidate.score)
        number = min(PICKS, questions - len(items), len(shown))
        picked, made = await _pick(guide, task, as_of, shown, number)
        # What was not picked comes again before older pages do.
        passed = [candidate for candidate in shown if candidate not in picked]
        left = sorted([*left[LINES:], *passed], key=lambda candidate: not fresh(candidate.read, as_of))
        drafts.extend(made)
        items = key_items(drafts, guide.shelf, questions)
    return items


async def _pick(
    guide: Guide, task: Task, as_of: AsOf, shown: Sequence[Candidate], number: int
) -> tuple[list[Candidate], list[KeyDraft]]:
    """The sentences that the model picked, and the key questions on those that gave one."""
    lines = "\n".join(f"[{place}] {candidate.text}" for place, candidate in enumerate(shown, 1))
    prompt = prompts.facts_prompt(task, as_of, lines, number)
    draft = await guide.try_ask("facts", prompt, picks_type(len(shown), number), 70 * number + 40)
    chosen: dict[int, str] = {}
    for pick in getattr(draft, "facts", ()):
        chosen.setdefault(meant(shown, pick.sentence, pick.question), pick.question)
    made = [key_draft(shown[place - 1], question, as_of) for place, question in chosen.items()]
    return [shown[place - 1] for place in chosen], [key for key in made if key is not None]


def meant(shown: Sequence[Candidate], pointed: int, question: str) -> int:
    """The sentence that a question is on: the one pointed at, unless another one carries far more of its words.

    Weak models copy the right sentence and miscount its number.
    """
    asked = set(content_words(question)) - _ASKING

    def shared(place: int) -> float:
        words = asked & set(content_words(shown[place - 1].text))
        return len(words) / len(asked) if asked else 0.0

    best = max(range(1, len(shown) + 1), key=shared)
    return best if shared(best) >= 0.6 and shared(best) > shared(pointed) + 0.2 else pointed


def key_draft(candidate: Candidate, question: str, as_of: AsOf) -> KeyDraft | None:
    """The key question on a sentence; None when neither the model's nor the template's question will do."""
    fact = candidate.text
    text = repaired(tidy(question), fact)
    if text is None:
        return None
    return KeyDraft(
        fact=fact,
        question=text,
        rationale=f"Speaks to: {candidate.facet}",
        time_sensitive=fresh(candidate.read, as_of) and recent(fact, as_of),
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
        return f"报告是否指出：{body}？"
    # A lower-case start reads better; names and acronyms keep theirs.
    if body.split(" ", 1)[0].lower() in _SMALL:
        body = body[0].lower() + body[1:]
    return f"Does the report state that {body}?"


def _on_topic(question: str, fact: str) -> bool:
    """Most content words of the question come from the fact, and it asks for enough of it to be told apart."""
    asked, given = set(content_words(question)) - _ASKING, set(content_words(fact))
    shared = len(asked & given)
    return bool(asked) and shared >= 0.6 * len(asked) and shared >= min(3, len(given))


# reasoning questions --------------------------------------------------------------------------------------------------


async def _reasons(guide: Guide, task: Task, as_of: AsOf, number: int) -> tuple[ReasoningQuestion, ...]:
    """One question a part of the query: the model's where it is one, else one by template."""
    if not number:
        return ()
    parts = arguable(task.prompt, number)
    prompt = prompts.reasoning_prompt(task, as_of, parts, number)
    draft = await guide.try_ask("reasoning", prompt, opens_type(number), 70 * number + 40)
    opens = list(getattr(draft, "questions", ()))
    made = [open_draft(found.question, found.lookup, task) for found in opens]
    drafts = [found for found in made if found is not None]
    # The parts stand behind: what the model left out, or asked twice, is asked by template.
    missing = [open_draft(prompts.part_question(part), "", task) for part in _unasked(parts, drafts)]
    return reasoning_items([*drafts, *(found for found in missing if found is not None)], guide.shelf, number)


def _unasked(parts: Sequence[str], drafts: Sequence[ReasoningDraft]) -> list[str]:
    """The parts that no question speaks to: most of a part's words stand in none."""
    asked = [set(content_words(draft.question)) for draft in drafts]
    return [part for part in parts if not any(_share(set(content_words(part)), words) >= 0.5 for words in asked)]


def _share(part: set[str], words: set[str]) -> float:
    return len(part & words) / len(part) if part else 1.0


def open_draft(question: str, lookup: str, task: Task) -> ReasoningDraft | None:
    """The model's question and search, with the rest of the plan by template; None for a question that is not open."""
    question, lookup = tidy(question), tidy(lookup)
    if not question or yes_no(question):
        return None
    plan = PlanDraft(lookup=lookup or question, **prompts.plan_words(question, task.prompt))
    if not has_outside_step(plan_of(plan)) or len(content_words(lookup)) < 2:
        plan = plan.model_copy(update={"lookup": _own_search(question, task)})
    return ReasoningDraft(question=question, plan=plan)


def _own_search(question: str, task: Task) -> str:
    """What to search for when the model gave nothing: the question's words, and what the query is about."""
    words = _WORDS.findall(f"{question} {searches(task.prompt)[0]}")
    kept = [word for word in words if content_words(word) and word.lower() not in _ARGUING]
    return " ".join(dict.fromkeys(kept[:12])) or question
