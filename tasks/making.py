"""The first two stages: personas of a domain, and the candidates that a persona brings."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..models import ChatModel
from ..reports import word_count
from . import prompts
from .data import Candidate, Cell, Fate, Persona
from .forms import Draft, PersonDraft, PlainDraft, Written
from .languages import speaks, tongue
from .likeness import alike, same_subject
from .listing import Taken, ask_several
from .rules import Fault, fault_of

MOST_NOTES = 5
"""Angles and sources that are kept of a candidate."""


@dataclass(frozen=True)
class Made:
    """A persona, with the ledger keys of the calls that made it."""

    persona: Persona
    calls: tuple[str, ...]


async def make_personas(cell: Cell, count: int, judge: ChatModel) -> Taken[PersonDraft]:
    """Ask for the personas of a domain, in its language, no two alike. CallFailed when the judge cannot be asked."""

    def check(draft: PersonDraft, taken: Sequence[PersonDraft]) -> Fault | None:
        if not all((draft.name, draft.role, draft.background)):
            return Fault("empty", "name, role or background is empty")
        if not speaks(f"{draft.role} {draft.subfield} {draft.background}", cell.language):
            return Fault("wrong_language", f"it is not in {tongue(cell.language).name}")
        if any(alike(_job(draft), _job(other)) or draft.name == other.name for other in taken):
            return Fault("alike", "it is too much like another of them")
        return None

    return await ask_several(judge, prompts.personas(cell, count), PersonDraft, count, check, tokens=260)


async def make_candidates(
    made: Made, cell: Cell, count: int, day: dt.date, judge: ChatModel
) -> tuple[list[Candidate], Taken[Written]]:
    """Ask for a persona's tasks. Those that break a rule twice come as rejected candidates.

    CallFailed when the judge cannot be asked.
    """
    language, plain = tongue(cell.language), judge.embedded

    def check(draft: Written, taken: Sequence[Written]) -> Fault | None:
        if any(same_subject(draft.prompt, other.prompt, cell.language) for other in taken):
            return Fault("near_duplicate", "it is another of them in other words")
        return fault_of(draft.prompt, language, day)

    asked = prompts.candidates(made.persona, cell.language, count, day, plain=plain)
    form: type[Written] = PlainDraft if plain else Draft
    taken = await ask_several(judge, asked, form, count, check, tokens=140 if plain else 300)
    calls = {"personas": made.calls, "candidates": taken.calls}
    good = [_candidate(draft, made.persona, cell, calls, asked_again=again) for draft, again in taken.good]
    return good + [_refused(_candidate(d, made.persona, cell, calls, asked_again=True), f) for d, f in taken.bad], taken


def persona_of(draft: PersonDraft) -> Persona:
    """As it is kept."""
    return Persona(**draft.model_dump())


def id_of(cell: Cell, prompt: str) -> str:
    """``domain-language-digest``: the same for the same task in the same domain, whatever else is in the set."""
    digest = hashlib.sha256("\0".join((cell.domain, cell.language, prompt)).encode()).hexdigest()[:10]
    name = re.sub(r"[^a-z0-9]+", "-", cell.domain.lower()).strip("-")[:24].strip("-") or "domain"
    return f"{name}-{cell.language.lower()}-{digest}"


def _job(draft: PersonDraft) -> str:
    return f"{draft.role} {draft.subfield}"


def _candidate(
    draft: Written, persona: Persona, cell: Cell, calls: dict[str, tuple[str, ...]], *, asked_again: bool
) -> Candidate:
    notes = draft if isinstance(draft, Draft) else Draft(prompt=draft.prompt)
    return Candidate(
        id=id_of(cell, draft.prompt),
        domain=cell.domain,
        language=cell.language,
        persona=persona,
        prompt=draft.prompt,
        words=word_count(draft.prompt),
        asked_again=asked_again,
        challenges=notes.challenges,
        angles=notes.angles[:MOST_NOTES],
        sources=notes.sources[:MOST_NOTES],
        calls=calls,
    )


def _refused(candidate: Candidate, fault: Fault) -> Candidate:
    fate = Fate.NEAR_DUPLICATE if fault.rule == "near_duplicate" else Fate.BROKE_RULE
    return candidate.model_copy(update={"fate": fate, "rule": fault.rule, "reason": fault.words})
