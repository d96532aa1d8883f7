"""From what is asked to a file of reports: opens ledger, proxy, model or tools, and collects."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ... import models, tools
from ...core import Json, Task
from ...errors import UserError
from ...ledger import Budget, Ledger, Mode, Totals
from ...models import Limits as ModelLimits
from .builtin import BUILTIN, open_builtin
from .collect import Collected, Stopper, Told, collect
from .endpoint import Api, open_endpoint
from .files import ReportsFile
from .process import Limits
from .proxy import open_proxy
from .systems import CommandSystem, System, read_command
from .upstream import Upstream


@dataclass(frozen=True)
class Wish:
    """A collection as asked for. One of ``command``, ``endpoint`` and ``builtin`` is given."""

    system: str
    """Name of the system: of its reports, and of its calls in the ledger."""
    tasks: tuple[Task, ...]
    out: Path
    ledger: Path
    command: str | None = None
    endpoint: str | None = None
    builtin: str | None = None
    jobs: int = 1
    retries: int = 0
    limits: Limits = Limits()  # noqa: RUF009  # frozen
    upstream: Upstream | None = None
    """Where a command's model calls go; None: they are not seen."""
    api: Api | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    """More members of an endpoint's request."""
    model: str = "local"
    """Of the built-in agent."""
    search: tuple[str, ...] = ()
    """Search back ends of the built-in agent."""
    as_of: dt.date | None = None
    """The built-in agent's day, where a task names none."""
    budget: Budget = Budget()  # noqa: RUF009  # frozen

    @property
    def run(self) -> str:
        """The collection's name in the ledger: its budget holds for all of its parts."""
        place = hashlib.sha256(str(self.out.absolute()).encode()).hexdigest()[:8]
        return f"collect-{self.system}-{place}"


@dataclass(frozen=True)
class Outside:
    """What tests set in code: patience and addresses. Never settable from outside the process."""

    limits: ModelLimits | None = None
    endpoints: tools.Endpoints | None = None


def check(wish: Wish) -> None:
    """What would end a collection before its first task. UserError."""
    ways = [name for name in ("command", "endpoint", "builtin") if getattr(wish, name) is not None]
    if len(ways) != 1:
        raise UserError("say how the system is asked: one of --command, --endpoint and --builtin")
    if wish.builtin is not None and wish.builtin not in BUILTIN:
        raise UserError(f"unknown built-in system {wish.builtin!r}: {', '.join(BUILTIN)}")
    if wish.out.suffix != ".jsonl":
        raise UserError(f"--out {wish.out}: reports are written as lines of JSON; give a name that ends in .jsonl")
    if wish.limits.memory_mb is not None and not Path("/proc/self/stat").exists():
        raise UserError("--memory-mb needs /proc, which only Linux has; leave it out here")
    if wish.command is not None:
        read_command(wish.command)


async def perform(
    wish: Wish,
    *,
    mode: Mode = Mode.CACHE,
    stopper: Stopper | None = None,
    told: Told = lambda *_: None,
    notify: Callable[[str], None] = lambda _: None,
    outside: Outside | None = None,
) -> tuple[Collected, Totals]:
    """Collect what is asked, or what is left of it. Also returns what it used.

    Raises UserError, InputError, OSError. Budget, account, interrupt and a missing record in replay come back as
    ``Collected.stopped``.
    """
    check(wish)
    stopper, outside = stopper or Stopper(), outside or Outside()
    keys = (*models.secret_values(), *tools.secret_values())
    with (
        ReportsFile(wish.out, wish.system, keys).open(wish.tasks) as file,
        Ledger.open(wish.ledger, run=wish.run, mode=mode, secrets=keys, budget=wish.budget) as ledger,
    ):
        async with _system(wish, ledger, file, stopper, notify, outside) as system:
            done = await collect(
                wish.tasks, system, file, jobs=wish.jobs, retries=wish.retries, stopper=stopper, told=told
            )
        return done, ledger.totals()


@asynccontextmanager
async def _system(
    wish: Wish,
    ledger: Ledger,
    file: ReportsFile,
    stopper: Stopper,
    notify: Callable[[str], None],
    outside: Outside,
) -> AsyncIterator[System]:
    """The system, ready to be asked."""
    async with AsyncExitStack() as stack:
        if wish.command is not None:
            proxy = None
            if wish.upstream is not None:
                opening = open_proxy(ledger, wish.upstream, on_stop=stopper.stop, on_key=file.hide)
                proxy = await stack.enter_async_context(opening)
            yield CommandSystem(read_command(wish.command), wish.limits, proxy)
        elif wish.endpoint is not None:
            yield await stack.enter_async_context(
                open_endpoint(
                    *(wish.endpoint, ledger),
                    api=wish.api,
                    seconds=wish.limits.seconds,
                    extra=wish.extra,
                    limits=outside.limits,
                )
            )
        else:
            yield await stack.enter_async_context(
                open_builtin(
                    *(wish.model, ledger, wish.search, wish.as_of),
                    seconds=wish.limits.seconds,
                    limits=outside.limits,
                    endpoints=outside.endpoints,
                    notify=notify,
                )
            )
