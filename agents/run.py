"""Running one CodeAgent job: a fresh agent in a thread of its own, with everything but success being a failure."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel
from smolagents.agents import CodeAgent, PromptTemplates
from smolagents.memory import ActionStep
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.utils import AgentGenerationError

from ..core import AsOf
from ..errors import AgentFailed, CallFailed, DeadlineReached, Stop
from .answer import Check, TypedAnswer
from .data import Step, ToolUse
from .escape import Escape
from .executor import HostCall, MontyExecutor, SandboxLimits
from .host import Host
from .model import CODE_TAGS, BridgeModel
from .plain import cut
from .watch import Watch

if TYPE_CHECKING:
    from ..models import ChatModel

T = TypeVar("T", bound=BaseModel)
_SHOWN = 4_000
"""Characters of a thought, code or observation that a step keeps."""

TEMPLATES: PromptTemplates = {
    # The text comes in as a value, so that braces in it mean nothing to the template engine.
    "system_prompt": "{{custom_instructions}}",
    # The rest must be there and is never used: no planning, no managed agents, no answer after the last step.
    "planning": {"initial_plan": "", "update_plan_pre_messages": "", "update_plan_post_messages": ""},
    "managed_agent": {"task": "", "report": ""},
    "final_answer": {"pre_messages": "", "post_messages": ""},
}


@dataclass(frozen=True)
class AgentJob(Generic[T]):
    """What one CodeAgent is to do."""

    system: str
    task: str
    answer: type[T]
    check: Check[T]
    """What is wrong with an answer; empty: it is accepted."""
    tools: Callable[[Host], Sequence[Any]]
    """Makes the job's smolagents tools, given the way to the event loop."""
    as_of: AsOf
    max_steps: int
    max_tokens: int
    """Output limit of one step."""
    seconds: float = 1_800.0
    """Deadline of the whole job."""
    sample: int = 0
    limits: SandboxLimits = SandboxLimits()  # noqa: RUF009  # frozen


@dataclass(frozen=True)
class AgentRun(Generic[T]):
    """A job that ended in success."""

    value: T
    steps: tuple[Step, ...]
    calls: tuple[str, ...]
    """Ledger keys of the completions."""


class _Agent(CodeAgent):  # type: ignore[misc]  # smolagents is untyped
    """A CodeAgent that ends after its last step: smolagents would pay for one more reply, which is free text."""

    def _handle_max_steps_reached(self, task: str) -> Any:
        del task
        raise AgentFailed(f"no accepted answer after {self.max_steps} steps", state="max_steps_error")


async def run_agent(model: ChatModel, job: AgentJob[T]) -> AgentRun[T]:
    """Run the job in a thread with this task's context. Raises AgentFailed, HostStop, ReplayMiss, UserError."""
    loop = asyncio.get_running_loop()
    watch = Watch(job.seconds)
    context = contextvars.copy_context()
    # Not the loop's own pool: tools may need that one while the agent waits for them.
    pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="agent")
    try:
        return await loop.run_in_executor(pool, context.run, _run, model, job, Host(loop, watch))
    finally:
        watch.cancel()
        pool.shutdown(wait=False)


def _run(model: ChatModel, job: AgentJob[T], host: Host) -> AgentRun[T]:
    noon = dt.datetime.combine(job.as_of.day, dt.time(12), dt.UTC)
    executor = MontyExecutor(noon, limits=job.limits, watch=host.watch)
    bridge = BridgeModel(model, host, max_tokens=job.max_tokens, sample=job.sample)
    answer = TypedAnswer(job.answer, job.check)
    agent = _Agent(
        tools=[*job.tools(host), answer],
        model=bridge,
        prompt_templates=TEMPLATES,
        instructions=job.system,
        executor=executor,
        code_block_tags=CODE_TAGS,
        max_steps=job.max_steps,
        logger=AgentLogger(level=LogLevel.OFF),
    )
    try:
        _finish(agent, job.task)
    finally:
        executor.cleanup()
    if answer.value is None:
        raise AgentFailed("the run ended without an accepted answer", state="no_answer")
    keys = [completion.key for completion in bridge.completions]
    return AgentRun(value=answer.value, steps=_steps(agent, executor, keys), calls=tuple(keys))


def _finish(agent: _Agent, task: str) -> None:
    """Run to the end. Anything but success raises."""
    try:
        result = agent.run(task, return_full_result=True)
    except Stop as stop:
        if isinstance(stop.cause, DeadlineReached):
            raise AgentFailed(str(stop.cause), state="deadline") from stop.cause
        raise stop.cause from None
    except Escape as escape:
        raise escape.cause from None
    except AgentGenerationError as error:
        raise _failed(error) from error
    if result.state != "success":
        raise AgentFailed("the run did not end in success", state=str(result.state))


def _failed(error: AgentGenerationError) -> Exception:
    cause = error.__cause__
    if isinstance(cause, CallFailed):
        return AgentFailed(f"the model's call failed: {cause}", state=cause.code)
    return AgentFailed(f"the model could not be asked ({type(cause).__name__})", state="generation_error")


def _steps(agent: _Agent, executor: MontyExecutor, keys: Sequence[str]) -> tuple[Step, ...]:
    steps, runs = [], 0
    for index, step in enumerate(step for step in agent.memory.steps if isinstance(step, ActionStep)):
        # A reply without readable code never reached the executor, which counts only what it ran.
        runs += step.code_action is not None
        calls = [call for call in executor.calls if step.code_action is not None and call.step == runs]
        steps.append(_step(step, calls, keys[index] if index < len(keys) else None))
    return tuple(steps)


def _step(step: ActionStep, calls: Sequence[HostCall], key: str | None) -> Step:
    written = str(step.model_output or "")
    return Step(
        number=step.step_number,
        thought=cut(written.split(CODE_TAGS[0])[0].split("```")[0].strip(), _SHOWN),
        code=cut(step.code_action or "", _SHOWN),
        observation=cut(step.observations or "", _SHOWN),
        error=cut(str(step.error), _SHOWN) if step.error else "",
        tools=tuple(
            ToolUse(tool=call.tool, arguments=call.arguments, failed=call.failed, key=call.key) for call in calls
        ),
        key=key,
    )
