"""smolagents' ``PythonExecutor`` over a pydantic-monty session: where model-written code runs.

The interpreter is a worker process without files, environment, network and host modules. We drive it ourselves, one
suspension after the other, so that each host call passes through :meth:`MontyExecutor._tool`: a host stop ends the
feed right there and the sandbox is never resumed (handing the stop in as an exception would let the sandboxed
code swallow it).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smolagents.local_python_executor import CodeOutput, PythonExecutor

from ..core import Json
from ..errors import HostStop, Stop
from ..models import fence
from .escape import ENDING, Escape
from .plain import Refusal, cut, plain, scrubbed, shown, without_addresses
from .watch import Watch

if TYPE_CHECKING:
    from pydantic_monty import FunctionSnapshot, Monty, MontyError, MontySession, SyncSnapshot

FINAL = "final_answer"
GONE = "Variables and functions of earlier steps are gone."


@dataclass(frozen=True)
class SandboxLimits:
    """What one step, and one job, of model-written code may use."""

    seconds: float = 10.0
    """Time a step may compute; host calls are not counted."""
    memory: int = 128 * 2**20
    """Bytes of the sandbox's heap."""
    recursion: int = 300
    calls_step: int = 40
    """Tool calls a step; more are refused, and a step that insists is ended."""
    calls_job: int = 200
    suspensions: int = 2_000
    """Host round trips of any kind a step (imports, files that do not exist …)."""
    printed: int = 16_000
    """Characters of printed output that are kept a step."""
    code: int = 40_000
    """Characters of one step's code."""


class StepFailed(Exception):
    """A step's code failed. The text is what the model reads; smolagents hands it over."""


@dataclass(frozen=True)
class HostCall:
    """One call of a tool by sandboxed code."""

    step: int
    tool: str
    arguments: dict[str, Json]
    failed: str = ""
    """Why it gave nothing; empty: it gave an answer."""
    key: str | None = None
    """Ledger key of what it brought."""


class _Final(Exception):
    """The final answer was accepted: the feed is over."""


@dataclass
class _Step:
    """What one feed has used up and printed so far."""

    limits: SandboxLimits
    calls: int = 0
    suspensions: int = 0
    text: list[str] = field(default_factory=list)
    size: int = 0

    def printed(self, _stream: str, text: str) -> None:
        """Keep printed text up to the cap; count the rest."""
        room = self.limits.printed - self.size
        if room > 0:
            self.text.append(text[:room])
        self.size += len(text)

    def output(self) -> str:
        """What was printed. The note on cut output gives no number: an endless loop prints another one each time."""
        text = without_addresses("".join(self.text))
        return text if self.size <= self.limits.printed else f"{text}… [further output was cut]"


class MontyExecutor(PythonExecutor):  # type: ignore[misc]  # smolagents is untyped
    """Runs the code of one agent's job; state is kept between its steps. Used by one thread.

    ``now`` is what the sandbox's clock shows. ``watch`` ends the job. All text that comes out of a step is fenced,
    since code may print what others wrote.
    """

    def __init__(self, now: dt.datetime, *, limits: SandboxLimits | None = None, watch: Watch | None = None) -> None:
        self.limits = limits or SandboxLimits()
        self.calls: list[HostCall] = []
        self.steps = 0
        self._now = now
        self._watch = watch or Watch()
        self._tools: dict[str, Any] = {}
        self._variables: dict[str, Any] = {}
        self._pool: Monty | None = None
        self._session: MontySession | None = None
        self._refusal = ""

    # smolagents' protocol -----------------------------------------------------------------------------------------

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Take the tools. They stay here; the sandbox sees functions of their names."""
        self._tools = dict(tools)

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Take variables that every new session starts with (plain JSON values)."""
        self._variables = {name: plain(value) for name, value in variables.items()}

    def __call__(self, code_action: str) -> CodeOutput:
        """Run one step's code.

        Raises StepFailed for whatever the code did wrong, ``errors.Stop`` when the host ends the job and Escape when
        a replay misses a call or a user's mistake shows. The last two are no Exceptions: smolagents' loop lets them
        pass.
        """
        self._check()
        self.steps += 1
        if len(code_action) > self.limits.code:
            raise StepFailed(f"The code is longer than {self.limits.code} characters. Write less.")
        step = _Step(self.limits)
        try:
            value = self._feed(code_action, step)
        except _Final:
            return CodeOutput(output="accepted", logs="", is_final_answer=True)
        except (Stop, Escape, StepFailed):
            raise
        except Exception as error:
            raise self._failure(error, step) from None
        text = "\n".join(part for part in (step.output().rstrip(), without_addresses(shown(value))) if part)
        return CodeOutput(output="", logs=fence(text, "output") if text else "", is_final_answer=False)

    def cleanup(self) -> None:
        """End the worker process."""
        session, self._session = self._session, None
        pool, self._pool = self._pool, None
        for resource in (session, pool):
            if resource is not None:
                resource.__exit__(None, None, None)

    # one feed -----------------------------------------------------------------------------------------------------

    def _feed(self, code: str, step: _Step) -> object:
        from pydantic_monty import FunctionSnapshot, MontyComplete, NameLookupSnapshot

        session = self._open()
        # Bound anew for each step, so that code which assigned to a tool's name loses no tool.
        bindings = {name: _stub(name) for name in self._tools}
        snapshot = session.feed_start(code, inputs=bindings, print_callback=step.printed)
        while not isinstance(snapshot, MontyComplete):
            step.suspensions += 1
            if step.suspensions > self.limits.suspensions:
                self._lose()
                raise StepFailed(f"The code asked the host for too much and was ended. {GONE}")
            if isinstance(snapshot, FunctionSnapshot):
                snapshot = self._answer(snapshot, step)
            elif isinstance(snapshot, NameLookupSnapshot):
                snapshot = snapshot.resume()
            else:
                self._lose()
                raise StepFailed(f"Nothing can be awaited here; call the functions directly. {GONE}")
        return snapshot.output

    def _answer(self, snapshot: FunctionSnapshot, step: _Step) -> SyncSnapshot:
        if snapshot.is_os_function or snapshot.object_id is not None:
            return snapshot.resume_not_handled()
        name = str(snapshot.function_name)
        try:
            value = self._tool(name, snapshot.args, snapshot.kwargs, step)
        except _Final:
            self._lose()
            raise
        except HostStop as stop:
            self._lose()
            raise Stop(stop) from stop
        except ENDING as error:
            self._lose()
            raise Escape(error) from error
        except StepFailed:
            self._lose()
            raise
        except Exception as fault:
            return snapshot.resume({"exc_type": "ValueError", "message": self._refuse(fault)})
        return snapshot.resume({"return_value": value})

    def _tool(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], step: _Step) -> Json:
        """Call a tool on the host. Raises what the tool raises, and _Final when it took the final answer."""
        self._watch.check()
        step.calls += 1
        if step.calls > 2 * self.limits.calls_step:
            raise StepFailed(f"The code called functions without end and was ended. {GONE}")
        if step.calls > self.limits.calls_step or len(self.calls) >= self.limits.calls_job:
            raise Refusal(f"{name}: no more calls in this step; print what you have")
        tool = self._tools.get(name)
        if tool is None:
            raise Refusal(f"there is no function {name}")
        arguments = _arguments(tool, args, kwargs)
        try:
            value = tool(**arguments)
        except Exception as error:
            self._record(name, arguments, failed=scrubbed(_reason(error)))
            raise
        self._record(name, arguments, key=getattr(tool, "last_key", None))
        if name == FINAL:
            raise _Final
        return plain(value)

    def _record(self, name: str, arguments: dict[str, Json], *, failed: str = "", key: str | None = None) -> None:
        if name != FINAL:
            short = {name: cut(value, 500) if isinstance(value, str) else value for name, value in arguments.items()}
            self.calls.append(HostCall(step=self.steps, tool=name, arguments=short, failed=failed, key=key))

    def _refuse(self, error: Exception) -> str:
        self._refusal = scrubbed(_reason(error))
        return self._refusal

    # failures -----------------------------------------------------------------------------------------------------

    def _failure(self, error: Exception, step: _Step) -> StepFailed:
        from pydantic_monty import MontyCrashedError, MontyError

        if isinstance(error, MontyCrashedError):
            self._lose()
            return StepFailed(f"The interpreter broke down over this code. {GONE}")
        if not isinstance(error, MontyError):
            # The step's value could not even be brought out (an integer of a million digits, say).
            self._lose()
            return StepFailed(f"The code's last value cannot be shown ({type(error).__name__}). {GONE}")
        kind = type(error.exception()).__name__
        if kind in ("TimeoutError", "MemoryError"):
            # Which limit comes first, and how far the code came before, differs from run to run: nothing of it is
            # told, so that a replay reads the same.
            self._lose()
            allowance = f"{self.limits.seconds:g} s or {self.limits.memory // 2**20} MB"
            return StepFailed(f"The code took more than {allowance} and was ended. {GONE}")
        return StepFailed(self._explain(error, kind, step))

    def _explain(self, error: MontyError, kind: str, step: _Step) -> str:
        """What went wrong and where; all that the code or a page may have worded is fenced, our own refusal is not."""
        message = str(error)
        body = message.removeprefix(f"{kind}: ")
        ours = body == self._refusal and bool(body)
        told = [step.output().rstrip(), "" if ours else scrubbed(cut(message, 1_000)), _place(error)]
        fenced = fence("\n".join(part for part in told if part), "output")
        return f"The code failed. {body}\n{fenced}" if ours else f"The code failed.\n{fenced}"

    def _check(self) -> None:
        stop = self._watch.stop()
        if stop is not None:
            self._lose()
            raise Stop(stop)

    # sessions -----------------------------------------------------------------------------------------------------

    def _open(self) -> MontySession:
        if self._session is None:
            from pydantic_monty import Monty

            # A worker of its own for each job: nothing of an earlier job can be in it, and it ends with the job.
            pool = Monty(min_processes=1, max_processes=1, request_timeout=self.limits.seconds + 20)
            self._pool = pool.__enter__()
            self._session = self._checkout(self._pool)
            if self._variables:
                self._session.feed_run("None", inputs=self._variables)
        return self._session

    def _checkout(self, pool: Monty) -> MontySession:
        session = pool.checkout(
            limits={
                "max_feed_duration_secs": self.limits.seconds,
                "max_memory": self.limits.memory,
                "max_recursion_depth": self.limits.recursion,
                "max_suspensions": 1_000_000,
                "max_total_sleep_secs": 0.0,
            },
            os_policy={"datetime": self._now, "timezone": "utc", "sleep": "zero", "random_start": {"seed": 0}},
        )
        return session.__enter__()

    def _lose(self) -> None:
        """Give the session up; the next step gets a new one."""
        try:
            self.cleanup()
        except Exception:  # a worker that is already dead may refuse to be handed back; it is gone all the same
            self._session = self._pool = None


def _arguments(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Json]:
    """Arguments by name, as plain values. ``final_answer(a=…, b=…)`` stands for ``final_answer({"a": …, "b": …})``."""
    names = list(tool.inputs)
    if len(args) > len(names):
        raise Refusal(f"{tool.name} takes {len(names)} arguments: {', '.join(names)}")
    values = dict(zip(names, args, strict=False)) | kwargs
    if tool.name == FINAL and set(values) != {"answer"} and not args:
        values = {"answer": kwargs}
    unknown = [name for name in values if name not in names]
    missing = [name for name in names if name not in values and not tool.inputs[name].get("nullable")]
    if unknown or missing:
        raise Refusal(f"{tool.name} takes these arguments: {', '.join(names)}")
    return {name: plain(value) for name, value in values.items()}


def _reason(error: Exception) -> str:
    """The error's own words where they are ours and hold nothing from outside; else only its type."""
    return str(error) if isinstance(error, Refusal) else f"the call failed ({type(error).__name__})"


def _stub(name: str) -> Callable[..., None]:
    """A host function for the sandbox to know by its name; calls of it come to ``_tool`` and never here."""

    def stub() -> None: ...

    stub.__name__ = stub.__qualname__ = name
    return stub


def _place(error: MontyError) -> str:
    """The innermost line of the model's code that failed."""
    frames = error.traceback() if hasattr(error, "traceback") else []
    frame = next((frame for frame in reversed(frames) if frame.source_line), None)
    return f"line {frame.line}: {frame.source_line.strip()[:200]}" if frame and frame.source_line else ""
