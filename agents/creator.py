"""Making the evaluation protocol for a task, in three modes that all give the same data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import AsOf, Task
from ..errors import AgentFailed, CallFailed, ProtocolFailed
from ..protocols import KeyQuestion, Maker, Mode, Protocol, ReasoningQuestion, same_question, seal
from ..reports import task_language
from . import prompts_creator as prompts
from .drafts import (
    KeyDraft,
    ProtocolDraft,
    ReasoningDraft,
    at_least_one,
    flags_for,
    form_problems,
    key_items,
    key_problems,
    plan_problems,
    reasoning_items,
)
from .shelf import Shelf

if TYPE_CHECKING:
    from ..models import ChatModel
    from ..tools import Toolbox

MAX_STEPS = 14
STEP_TOKENS = 4_000
"""Output limit of one agent step: the final answer holds the whole protocol."""
PATIENCE = 2
"""Refused answers before the items that hold are taken and the others left out."""

Items = tuple[tuple[KeyQuestion, ...], tuple[ReasoningQuestion, ...], tuple[str, ...]]


def default_mode(model: ChatModel) -> Mode:
    """``guided`` for the embedded judge, which is too weak to write code reliably; else ``agent``."""
    return Mode.GUIDED if model.embedded else Mode.AGENT


async def create_protocol(
    task: Task,
    model: ChatModel,
    toolbox: Toolbox,
    *,
    as_of: AsOf,
    mode: Mode,
    questions: int = 10,
    reasoning: int = 3,
) -> Protocol:
    """Make a sealed protocol of up to ``questions`` key questions and ``reasoning`` reasoning questions.

    Fewer than wanted are flagged (``few_questions``, ``few_reasoning_questions``). Raises ProtocolFailed when no key
    question could be made; HostStop and ReplayMiss pass.
    """
    make = {Mode.AGENT: _by_agent, Mode.GUIDED: _guided, Mode.STATIC: _static}[mode]
    try:
        keys, reasons, flags = await make(task, model, toolbox, as_of, questions, reasoning)
    except (AgentFailed, CallFailed) as failed:
        raise ProtocolFailed(f"no protocol for task {task.id}: {failed}", subject=task.id) from failed
    at_least_one(keys, task, questions)
    return seal(
        Protocol(
            task=task,
            as_of=as_of,
            created_at=dt.datetime.now(dt.UTC),
            maker=_maker(model, toolbox, mode),
            key_questions=keys,
            reasoning_questions=reasons,
            flags=(*flags, *flags_for(keys, reasons)),
        )
    )


def _maker(model: ChatModel, toolbox: Toolbox, mode: Mode) -> Maker:
    if mode is Mode.STATIC:
        tools: tuple[str, ...] = ()
    elif mode is Mode.GUIDED:
        tools = ("web_search", "read_page")
    else:
        from .toolbox import tool_names

        tools = tool_names(toolbox)
    return Maker(model=model.name, mode=mode, tools=tools, prompt_version=prompts.VERSION)


# agent ----------------------------------------------------------------------------------------------------------------


async def _by_agent(
    task: Task, model: ChatModel, toolbox: Toolbox, as_of: AsOf, questions: int, reasoning: int
) -> Items:
    from .run import AgentJob, run_agent
    from .toolbox import agent_tools, signatures

    shelf = Shelf(as_of, task_language(task))
    job = AgentJob(
        system=prompts.AGENT_SYSTEM.format(tools=signatures(toolbox), day=as_of.day),
        task=prompts.agent_task(task, as_of, questions, reasoning),
        answer=ProtocolDraft,
        check=lambda draft, attempt: problems_of(draft, shelf, questions, reasoning, attempt),
        tools=agent_tools(toolbox, shelf, page_chars(model)),
        as_of=as_of,
        max_steps=MAX_STEPS,
        max_tokens=step_tokens(model, STEP_TOKENS),
    )
    draft = (await run_agent(model, job)).value
    keys, reasons = sound(draft, shelf)
    return key_items(keys, shelf, questions), reasoning_items(reasons, shelf, reasoning), ()


def problems_of(draft: ProtocolDraft, shelf: Shelf, questions: int, reasoning: int, attempt: int) -> list[str]:
    """What is wrong with an answer. After some refusals one with at least one sound key question is taken."""
    keys, _ = sound(draft, shelf)
    if attempt > PATIENCE and keys:
        return []
    found = [f"key question {n}: {p}" for n, key in enumerate(draft.key_questions, 1) for p in key_problems(key, shelf)]
    found += [
        f"reasoning question {number}: {problem}"
        for number, reason in enumerate(draft.reasoning_questions, 1)
        for problem in plan_problems(reason, shelf)
    ]
    found += _repeated(draft.key_questions)
    for name, given, wanted in (
        ("key_questions", len(draft.key_questions), questions),
        ("reasoning_questions", len(draft.reasoning_questions), reasoning),
    ):
        if given < wanted:
            found.append(f"{given} {name}, wanted are {wanted}")
    return found


def _repeated(keys: Sequence[KeyDraft]) -> list[str]:
    return [
        f"key question {number}: asks the same as an earlier one"
        for number, key in enumerate(keys, 1)
        if any(same_question(key.question, earlier.question) for earlier in keys[: number - 1])
    ]


def sound(draft: ProtocolDraft, shelf: Shelf) -> tuple[list[KeyDraft], list[ReasoningDraft]]:
    """The proposed items that nothing is wrong with."""
    return (
        [key for key in draft.key_questions if not key_problems(key, shelf)],
        [reason for reason in draft.reasoning_questions if not plan_problems(reason, shelf)],
    )


def page_chars(model: ChatModel) -> int:
    """Characters of a page that a step may print: a twelfth of the context, 1,500 to 8,000."""
    return max(1_500, min(8_000, model.context // 12 * 3))


def step_tokens(model: ChatModel, wanted: int) -> int:
    """Output limit of one step: what is wanted, at most a quarter of the context."""
    return min(wanted, model.context // 4)


# guided, static -------------------------------------------------------------------------------------------------------


async def _guided(task: Task, model: ChatModel, toolbox: Toolbox, as_of: AsOf, questions: int, reasoning: int) -> Items:
    from .creator_guided import guided_items
    from .guided import Guide

    guide = Guide(model, toolbox, Shelf(as_of, task_language(task)))
    keys, reasons = await guided_items(guide, task, as_of, questions, reasoning)
    return keys, reasons, ()


async def _static(task: Task, model: ChatModel, toolbox: Toolbox, as_of: AsOf, questions: int, reasoning: int) -> Items:
    from ..models import ask

    del toolbox  # the baseline looks at nothing
    messages = prompts.static_prompt(task, as_of, questions, reasoning)
    limit = min(120 * questions + 200 * reasoning, model.context // 2)
    draft = (await ask(model, messages, ProtocolDraft, max_tokens=limit)).value
    shelf = Shelf(as_of)  # empty: no pointer that the model makes up leads anywhere
    keys = [key for key in draft.key_questions if not form_problems(key.question)]
    reasons = [
        reason.model_copy(update={"sources": []})
        for reason in draft.reasoning_questions
        if not plan_problems(reason.model_copy(update={"sources": []}), shelf)
    ]
    return key_items(keys, shelf, questions), reasoning_items(reasons, shelf, reasoning), ("unprovenanced",)
