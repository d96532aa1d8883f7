"""All errors of dream-eval, in one tree. Each carries its subject.

::

    DreamError
    ├── UserError                 the user must change something first: one line, no traceback, exit 2
    │   └── InputError            a file's line or field is wrong
    ├── CallFailed                one outside call failed for good; recorded in the ledger
    │   ├── ModelFailed
    │   │   ├── CallRefused       400, 413, 422, filter, context length: this unit fails, the run goes on
    │   │   ├── Overloaded        rate limit or transient fault that outlasted its retries
    │   │   └── BadReply          the reply is not what was asked for, after one repair try
    │   └── ToolFailed            search, page, arXiv or GitHub could not be asked
    ├── ReplayMiss                replay mode, and the ledger has no such call
    ├── AgentFailed               an agent run did not end in success
    ├── ProtocolFailed            no usable protocol could be made
    └── HostStop                  the run must stop, whatever it was doing
        ├── AccountRefused        401, 402, 403, unknown model, quota used up: exit 5
        ├── BudgetReached         exit 4
        ├── DeadlineReached       a job's time is over (stops the job, not the run)
        └── Interrupted           Ctrl-C: exit 3
"""

from __future__ import annotations

from pathlib import Path


class DreamError(Exception):
    """Root of the tree."""


class UserError(DreamError):
    """Something the user must change first. The message says what and how, in one line."""


class InputError(UserError):
    """A file cannot be used as it is; names the file, the line and the field where known."""

    def __init__(
        self, message: str, *, path: Path | str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        place = str(path) if path is not None else ""
        if line is not None:
            place += f":{line}"
        if field is not None:
            place += f" ({field})" if place else field
        super().__init__(f"{place}: {message}" if place else message)
        self.path, self.line, self.field = path, line, field


class CallFailed(DreamError):
    """An outside call failed for good. ``code`` is stable and is what the ledger stores."""

    code = "call_failed"

    def __init__(self, message: str, *, subject: str = "") -> None:
        super().__init__(message)
        self.subject = subject


class ModelFailed(CallFailed):
    """A completion failed. ``subject`` is the judge's name."""

    code = "model_failed"


class CallRefused(ModelFailed):
    """The endpoint refused this very call. The unit fails, the run goes on."""

    code = "call_refused"


class Overloaded(ModelFailed):
    """A rate limit or transient fault outlasted all retries."""

    code = "overloaded"


class BadReply(ModelFailed):
    """The reply was not what was asked for, even after the repair try. ``raw`` keeps it."""

    code = "bad_reply"

    def __init__(self, message: str, *, subject: str = "", raw: str = "") -> None:
        super().__init__(message, subject=subject)
        self.raw = raw


class ToolFailed(CallFailed):
    """A search, page, arXiv or GitHub call failed. ``subject`` is the URL or query."""

    code = "tool_failed"


class ReplayMiss(DreamError):
    """Replay mode and no such call in the ledger. ``subject`` says what was asked."""

    def __init__(self, message: str, *, key: str, subject: str = "") -> None:
        super().__init__(message)
        self.key, self.subject = key, subject


class AgentFailed(DreamError):
    """An agent run ended in anything but success. ``state`` is smolagents' end state or our own word."""

    def __init__(self, message: str, *, state: str) -> None:
        super().__init__(message)
        self.state = state


class ProtocolFailed(DreamError):
    """No usable protocol for the task. ``subject`` is the task's id."""

    def __init__(self, message: str, *, subject: str) -> None:
        super().__init__(message)
        self.subject = subject


class HostStop(DreamError):
    """The host ends what is running. Sandboxed code and agents must not be able to swallow it."""


class AccountRefused(HostStop):
    """The provider refuses the account or the model: no call will succeed. ``subject`` is the judge's name."""

    def __init__(self, message: str, *, subject: str) -> None:
        super().__init__(message)
        self.subject = subject


class BudgetReached(HostStop):
    """The next call does not fit into the budget."""


class DeadlineReached(HostStop):
    """A job's time is over."""


class Interrupted(HostStop):
    """The user asked to stop."""


class Stop(BaseException):
    """Carries a :class:`HostStop` through code that catches ``Exception`` (smolagents' loop).

    Raised and unwrapped by ``agents/`` only.
    """

    def __init__(self, cause: HostStop) -> None:
        super().__init__(str(cause))
        self.cause = cause
