"""A protocol by an agent without retrieval: several steps, no tools, nothing looked up (the middle arm of the study).

It drafts, is told what code finds wrong with the form, and repairs it. Its questions rest on no evidence, which the
lints then say.
"""

from __future__ import annotations

import datetime as dt

from ..agents import prompts_creator
from ..agents.drafts import (
    KeyDraft,
    ProtocolDraft,
    ReasoningDraft,
    at_least_one,
    flags_for,
    form_problems,
    key_items,
    plan_problems,
    reasoning_items,
)
from ..agents.shelf import Shelf
from ..core import AsOf, Task
from ..models import ChatModel, ask, fence, user
from ..protocols import Maker, Mode, Protocol, same_question, seal

ROUNDS = 2
"""Repairs, at most."""
STEPS = 6
STEP_TOKENS = 4_000

SYSTEM = """\
You prepare the evaluation of research reports. You work in steps. In each step write one sentence of plan, then \
Python code between <code> and </code>; then you are shown what the code printed. Only print() shows you anything.
Functions:
final_answer(answer) — hands in the result, a dict.
You cannot look anything up: use what you know of the time up to {day}."""

TASK = """\
Make an evaluation protocol for reports that answer this query (as of {day}):
{query}
First think in steps about what a good answer must contain and what could be wrong with it. Then call final_answer \
with a dict of two lists:
"key_questions": {questions} dicts with "fact", "question" (yes or no: does the report state this one fact), \
"rationale", "time_sensitive" (True or False),
"reasoning_questions": {reasoning} dicts with "question" (open: how the report argues), "rationale", "plan": dict of \
"extract", "lookup" (search words for an outside check), "where" ("web", "arxiv" or "github"), "cross_check", \
"against". Write in the language of the query."""

AGAIN = """\
This is wrong with it:
{problems}
Write the whole protocol again with all of this repaired, and replace questions that do not decide the answer by \
better ones."""


async def protocol_without_retrieval(
    task: Task, model: ChatModel, *, as_of: AsOf, mode: Mode, questions: int, reasoning: int
) -> Protocol:
    """A sealed protocol without evidence (flag ``no_retrieval``). ProtocolFailed, AgentFailed, CallFailed when there is
    none."""
    make = _by_agent if mode is Mode.AGENT else _in_rounds
    draft = await make(task, model, as_of, questions, reasoning)
    shelf = Shelf(as_of)  # empty: no pointer that the model makes up leads anywhere
    keys = key_items([key for key in draft.key_questions if not form_problems(key.question)], shelf, questions)
    open_ = [_bare(reason) for reason in draft.reasoning_questions]
    reasons = reasoning_items([one for one in open_ if not plan_problems(one, shelf)], shelf, reasoning)
    at_least_one(keys, task, questions)
    return seal(
        Protocol(
            task=task,
            as_of=as_of,
            created_at=dt.datetime.now(dt.UTC),
            maker=Maker(model=model.name, mode=mode, tools=(), prompt_version=prompts_creator.VERSION),
            key_questions=keys,
            reasoning_questions=reasons,
            flags=("no_retrieval", *flags_for(keys, reasons)),
        )
    )


async def _by_agent(task: Task, model: ChatModel, as_of: AsOf, questions: int, reasoning: int) -> ProtocolDraft:
    from ..agents.run import AgentJob, run_agent

    words = {"day": as_of.day, "query": fence(task.prompt, "query"), "questions": questions, "reasoning": reasoning}
    job = AgentJob(
        system=SYSTEM.format(day=as_of.day),
        task=TASK.format(**words),
        answer=ProtocolDraft,
        check=lambda draft, attempt: problems_of(draft, questions, reasoning) if attempt <= ROUNDS else [],
        tools=lambda _: (),
        as_of=as_of,
        max_steps=STEPS,
        max_tokens=min(STEP_TOKENS, model.context // 4),
    )
    return (await run_agent(model, job)).value


async def _in_rounds(task: Task, model: ChatModel, as_of: AsOf, questions: int, reasoning: int) -> ProtocolDraft:
    """The same in structured answers, for models too weak to write code."""
    limit = min(120 * questions + 200 * reasoning, model.context // 3)
    messages = prompts_creator.static_prompt(task, as_of, questions, reasoning)
    draft = (await ask(model, messages, ProtocolDraft, max_tokens=limit)).value
    for _ in range(ROUNDS):
        problems = problems_of(draft, questions, reasoning)
        if not problems:
            break
        listed = "\n".join(f"- {problem}" for problem in problems)
        told = f"Your protocol:\n{fence(draft.model_dump_json())}\n{AGAIN.format(problems=listed)}"
        draft = (await ask(model, [*messages, user(told)], ProtocolDraft, max_tokens=limit)).value
    return draft


def problems_of(draft: ProtocolDraft, questions: int, reasoning: int) -> list[str]:
    """What code finds wrong with the form, in words for the model."""
    found = [
        f"key question {n}: {p}" for n, key in enumerate(draft.key_questions, 1) for p in form_problems(key.question)
    ]
    found += [f"key question {n}: asks the same as an earlier one" for n in _repeated(draft.key_questions)]
    shelf = Shelf(AsOf(day=dt.date.min))
    found += [
        f"reasoning question {n}: {problem}"
        for n, reason in enumerate(draft.reasoning_questions, 1)
        for problem in plan_problems(_bare(reason), shelf)
    ]
    if len(draft.key_questions) < questions:
        found.append(f"{len(draft.key_questions)} key_questions, wanted are {questions}")
    if len(draft.reasoning_questions) < reasoning:
        found.append(f"{len(draft.reasoning_questions)} reasoning_questions, wanted are {reasoning}")
    return found


def _repeated(keys: list[KeyDraft]) -> list[int]:
    return [
        number
        for number, key in enumerate(keys, 1)
        if any(same_question(key.question, earlier.question) for earlier in keys[: number - 1])
    ]


def _bare(reason: ReasoningDraft) -> ReasoningDraft:
    return reason.model_copy(update={"sources": []})
