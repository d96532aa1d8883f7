"""What comes of asking a system for a report: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field

from ...core import Frozen, Json, Task
from ...ledger import Usage


class State(StrEnum):
    """How one attempt at a task ended. Only ``DONE`` leaves a report."""

    DONE = "done"
    TIMEOUT = "timeout"
    """Still running when its time was over; ended with all its processes."""
    MEMORY = "memory"
    """Took more memory than it was allowed; ended."""
    FLOOD = "flood"
    """Printed more than a report can be; ended."""
    EXIT = "exit code"
    """Ended with a code that is not 0, whatever it printed."""
    KILLED = "killed"
    """Ended by a signal that did not come from us."""
    EMPTY = "no output"
    BINARY = "binary"
    """Printed something that is no UTF-8 text."""
    BAD_JSON = "bad JSON"
    """Began a JSON object and did not finish it, or left out the article."""
    REFUSED = "refused"
    """A model's endpoint refused the request."""
    FAILED = "failed"
    """A model's endpoint, or the built-in agent, failed for good."""


EXPLAINED = {
    State.TIMEOUT: "raise --timeout if it needs longer; its report counts once it ends",
    State.MEMORY: "raise --memory-mb if it needs more",
    State.FLOOD: "print the report alone to standard output, everything else to standard error",
    State.EXIT: "its standard error stands in the log",
    State.KILLED: "SIGKILL is often the machine out of memory; other signals are its own crash, see the log",
    State.EMPTY: "print the report to standard output",
    State.BINARY: "print UTF-8 text",
    State.BAD_JSON: "print one JSON object with the member article, or plain Markdown",
    State.REFUSED: "the endpoint's words stand in the log",
    State.FAILED: "the same command tries again",
}
"""What to do about each state, for people."""


class Profile(Frozen):
    """What a report took. None: not known, which is never 0."""

    seconds: float = Field(ge=0)
    """Wall time of the attempt that gave the report."""
    attempts: int = Field(default=1, ge=1)
    calls: int | None = None
    """Model calls."""
    reused: int = 0
    """Calls among them that the ledger answered: ``seconds`` is too short then."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    """US dollars for model calls."""
    measured: Literal["proxy", "ledger", "system"] | None = None
    """Who counted: our proxy, our own calls, or the system itself."""
    left_behind: int = 0
    """Processes that the command left running when it ended; they were ended too."""

    @property
    def tokens(self) -> int | None:
        """Prompt and completion tokens together."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


class Told(Frozen):
    """What a system says about its own use."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)


@dataclass(frozen=True)
class Delivery:
    """A report as a system handed it over."""

    article: str
    sources: tuple[Json, ...] = ()
    """Addresses, or objects with ``url`` and ``title``, as the report loaders read them."""
    trace: Json = None
    """Whatever the system wants to keep of its way there."""
    told: Told = Told()  # noqa: RUF009  # frozen


@dataclass(frozen=True)
class Meter:
    """Sums over the records of one attempt's model calls."""

    calls: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: the cost of a call is unknown."""

    def plus(self, usage: Usage, *, reused: bool) -> Meter:
        """One call more."""
        known = self.cost_usd is not None and usage.cost_usd is not None
        return Meter(
            self.calls + 1,
            self.reused + reused,
            self.prompt_tokens + usage.prompt_tokens,
            self.completion_tokens + usage.completion_tokens,
            (self.cost_usd or 0.0) + (usage.cost_usd or 0.0) if known else None,
        )


class NoReport(Exception):
    """An attempt ended without a report."""

    def __init__(
        self, state: State, reason: str, *, code: int | None = None, stderr: str = "", account: bool = False
    ) -> None:
        super().__init__(reason)
        self.state, self.reason, self.code, self.stderr = state, reason, code, stderr
        self.account = account
        """The account was refused: no later task will fare better."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at one task, as the log keeps it."""

    task: str
    number: int
    """Counts from 1 through all runs of the collection."""
    state: State
    reason: str
    seconds: float
    code: int | None = None
    """Exit code; negative: the signal."""
    stderr: str = ""
    """The end of what it wrote to standard error."""


@dataclass(frozen=True)
class Asked:
    """One request to a system: the task, and where this attempt stands."""

    task: Task
    system: str
    number: int
    """Number of the attempt, from 1."""

    @property
    def label(self) -> str:
        """Names the attempt in the ledger: its calls are draws of their own."""
        return f"{self.system}/{self.task.id}/{self.number}"
