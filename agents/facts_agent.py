"""The fact-checking agent as a CodeAgent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, RootModel, field_validator

from ..core import PageState, Task
from ..models import fence
from ..reports import Report, task_language
from ..reports.data import Claim
from ..tools import Toolbox
from . import prompts_facts as prompts
from .creator import page_chars, step_tokens
from .data import Step
from .drafts import SourceDraft, tidy
from .facts import Checked, FactCheck, Word, context_of
from .run import AgentJob, run_agent
from .shelf import Shelf
from .toolbox import agent_tools, signatures
from .verifier import found, visits

if TYPE_CHECKING:
    from ..models import ChatModel

MAX_STEPS = 10
STEP_TOKENS = 2_500
PATIENCE = 2
"""Refused answers before what does not hold is dropped instead."""


class CheckedDraft(BaseModel):
    """One verdict as the agent gives it."""

    verdict: Word
    evidence: list[SourceDraft] = Field(default_factory=list)
    reasoning: str = ""

    @field_validator("verdict", mode="before")
    @classmethod
    def _loosely(cls, value: object) -> object:
        """``Right`` is meant well."""
        return value.strip().lower() if isinstance(value, str) else value


class Drafts(RootModel[dict[str, CheckedDraft]]):
    """The final answer: a verdict a claim id."""


async def agent_check(
    claims: Sequence[Claim], task: Task, report: Report, model: ChatModel, toolbox: Toolbox, sample: int
) -> FactCheck:
    """Let a CodeAgent check the claims. Raises AgentFailed, HostStop, ReplayMiss."""
    shelf = Shelf(toolbox.as_of, task_language(task))
    job = AgentJob(
        system=prompts.SYSTEM.format(tools=signatures(toolbox), day=toolbox.as_of.day),
        task=_task(claims, task, report),
        answer=Drafts,
        check=lambda drafts, attempt: [] if attempt > PATIENCE else problems_of(drafts, claims, shelf),
        tools=agent_tools(toolbox, shelf, page_chars(model)),
        as_of=toolbox.as_of,
        max_steps=MAX_STEPS,
        max_tokens=step_tokens(model, STEP_TOKENS),
        sample=sample,
    )
    run = await run_agent(model, job)
    drafts = run.value.root
    return FactCheck(
        verdicts=tuple(_checked(claim.id, drafts[claim.id], shelf) for claim in claims if claim.id in drafts),
        blind=blind(shelf, run.steps),
        queries=tuple(shelf.queries),
        pages=visits(shelf.pages, shelf),
        steps=run.steps,
        calls=run.calls,
    )


def _task(claims: Sequence[Claim], task: Task, report: Report) -> str:
    listed = fence("\n".join(f"{claim.id}: {claim.text}" for claim in claims), "claims")
    context = fence(context_of(claims, report), "report")
    return prompts.TASK.format(query=fence(task.prompt, "query"), context=context, claims=listed)


def problems_of(drafts: Drafts, claims: Sequence[Claim], shelf: Shelf) -> list[str]:
    """What is wrong with an answer, in words for the model."""
    given, ids = drafts.root, [claim.id for claim in claims]
    problems = [f"{id} is missing" for id in ids if id not in given]
    if any(id not in ids for id in given):
        problems.append(f"the claims are {', '.join(ids)} and no others")
    for id in ids:
        draft = given.get(id)
        if draft is None:
            continue
        wrong = [problem for one in draft.evidence if (problem := shelf.problem(one.url, one.sentence))]
        problems += [f"{id}: {problem}" for problem in wrong[:1]]
        if draft.verdict is not Word.UNKNOWN and not draft.evidence:
            problems.append(f'{id}: {draft.verdict} needs evidence, [url, sentence number]; otherwise say "unknown"')
    if not shelf.queries and not shelf.pages:
        problems.append("nothing was looked up: search and read first")
    return problems


def _checked(id: str, draft: CheckedDraft, shelf: Shelf) -> Checked:
    pointers = [found(shelf, one.url, one.sentence, decisive=True) for one in draft.evidence]
    evidence = tuple(dict.fromkeys(one for one in pointers if one is not None))
    baseless = draft.verdict is not Word.UNKNOWN and not evidence
    return Checked(
        claim=id,
        verdict=Word.UNKNOWN if baseless else draft.verdict,
        evidence=evidence,
        reasoning=tidy(draft.reasoning),
        flags=("quote_not_found",) if baseless else (),
    )


def blind(shelf: Shelf, steps: Sequence[Step]) -> str:
    """Why nobody could look; empty where somebody could: then not finding anything says something."""
    uses = [use for step in steps for use in step.tools]
    if any(page.state is PageState.OK for page in shelf.pages):
        return ""
    if shelf.pages and not all(page.state is PageState.GONE for page in shelf.pages):
        states = sorted({str(page.state) for page in shelf.pages})
        return f"no page could be read ({', '.join(states)})"
    searched = [use for use in uses if use.tool.endswith("_search")]
    if any(not use.failed for use in searched):
        return ""
    return "no search could be done" if searched else "nothing was looked up"
