"""A run on a Ray cluster: protocols, rubrics and claim lists as tasks of their own, then a report a task.

The process that starts the run keeps the run folder; :class:`.ray_desk.Desk` keeps ledger, budget and limiters. Workers
get copies of the few files that a report needs, run the ordinary :class:`.engine.Engine` on them, and tell each
finished unit at once. A task whose node is lost is started again elsewhere: what it had recorded is not called again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import HostStop, ReplayMiss, UserError
from ..ledger import Budget, Mode
from ..models import ChatModel, Limits, open_model
from ..tools import Endpoints, open_toolbox
from .cases import CaseRef
from .control import Control
from .crew import Crew
from .done import Done
from .engine import Engine
from .kept import Kept, report_file
from .library import Library
from .progress import Notice, Progress, Watcher
from .results import dump_line
from .shards import Cluster
from .shared import Missing, Shared
from .store import RunFolder
from .work import Work

CPUS = 0.5
"""Of a node, that a report takes: most of its time it waits for answers."""
TRIES = 5
"""Nodes that one task may lose before the run gives up."""
ABSENT = "--engine ray needs Ray: pip install 'dream-eval[ray]'"


@dataclass(frozen=True)
class Setup:
    """What every worker needs to know of a run."""

    run: str
    judges: tuple[str, ...]
    """As named by the user."""
    mode: Mode
    budget: Budget
    limits: Limits
    endpoints: Endpoints
    search: tuple[str, ...]
    exclude_hosts: tuple[str, ...]


Files = Mapping[str, bytes]
"""Files of a run folder by their names in it."""


class RayEngine:
    """Does the work of an :class:`.engine.Engine` on a cluster."""

    def __init__(
        self, work: Work, folder: RunFolder, setup: Setup, place: Cluster, ledger: str,
        *, done: Done, control: Control, watcher: Watcher,
    ) -> None:  # fmt: skip
        self._work, self._folder, self._setup, self._place, self._ledger = work, folder, setup, place, ledger
        self._done, self._control, self._watcher = done, control, watcher
        self._kept: Kept = done.kept
        self._crew = Crew()
        self._made: dict[str, asyncio.Task[None]] = {}
        self._missing: dict[str, str] = {}
        self._order = {cases[0].task.id: number for number, cases in enumerate(work.by_task())}
        self._hearing = asyncio.Lock()
        self._stages: dict[tuple[str, Any], ExitStack] = {}
        self._desk: Any = None

    async def run(self) -> None:
        """Do what is not done yet. Raises UserError, ReplayMiss, OSError, and what a worker's own bug raises."""
        with _cluster(self._place) as ray:
            self._desk = self._opened(ray)
            self._control.on_stop(lambda cause: self._desk.stop.remote(_packed(cause)))
            slots = asyncio.Semaphore(max(2, int(2 * ray.cluster_resources().get("CPU", 1) / CPUS)))
            hearing = asyncio.create_task(self._listen())
            work = asyncio.create_task(self._crew.run(self._in_slot(case, slots) for case in self._work.cases))
            try:
                await asyncio.wait({work, hearing}, return_when=asyncio.FIRST_COMPLETED)
                if hearing.done():  # what came could not be stored
                    await hearing
                await work
                await self._hear(wait=False)
            finally:
                for job in (work, hearing):
                    job.cancel()
                await asyncio.gather(work, hearing, return_exceptions=True)
                await self._desk.close.remote()
                ray.kill(self._desk)
        if self._control.cause is not None:
            self._done.take_settled()

    def _opened(self, ray: Any) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from .ray_desk import Desk

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options = {"name": f"dream-{self._setup.run}", "num_cpus": 0, "scheduling_strategy": here}
        setup = self._setup
        arguments = (self._ledger, setup.run, setup.mode, setup.budget, setup.limits.concurrency)
        return ray.remote(Desk).options(max_concurrency=10_000, **options).remote(*arguments)

    # reports

    async def _in_slot(self, case: CaseRef, slots: asyncio.Semaphore) -> None:
        async with slots:
            left = [unit for unit in self._units(case) if not self._done.take(unit)]
            if left and self._control.cause is None:
                await self._report(case)

    def _units(self, case: CaseRef) -> Iterator[Any]:
        return (unit for unit in self._work.units() if unit.case.place == case.place)

    async def _report(self, case: CaseRef) -> None:
        work = self._work
        wanted = [self._once(self._kept.claims_name(case), "claims", case)] if work.any_needs("claims") else []
        if work.any_needs("protocol"):
            wanted.append(self._once(self._kept.protocol_name(case.task), "protocol", case))
        wanted += [
            self._once(self._kept.rubric_name(case.task, metric), metric, case)
            for metric in work.metrics
            if work.needs(metric, "rubric")
        ]
        await asyncio.gather(*wanted)
        if self._control.cause is None:
            await self._sent(case, None)

    async def _once(self, name: str, what: str, case: CaseRef) -> None:
        if name not in self._made:
            self._made[name] = asyncio.create_task(self._make(name, what, case))
        await asyncio.shield(self._made[name])

    async def _make(self, name: str, what: str, case: CaseRef) -> None:
        if self._is_there(what, case) or self._control.cause is not None:
            return
        made = await self._sent(case, what)
        if isinstance(made, str):
            self._missing[name] = made
        elif made is not None:
            from .files import write_atomic

            write_atomic(self._folder.path / name, made)
            self._kept.fresh.add(name)

    def _is_there(self, what: str, case: CaseRef) -> bool:
        if what == "claims":
            return self._kept.has_claims(case)
        if what == "protocol":
            return self._kept.protocol(case.task) is not None
        return self._kept.rubric(case.task, what) is not None

    # tasks on the cluster

    async def _sent(self, case: CaseRef, what: str | None) -> Any:
        """What a task brings; when its node is lost it is done again elsewhere."""
        import ray

        work = _part(self._work, case)
        for attempt in range(1, TRIES + 1):
            owner = secrets.token_hex(6)
            errand = Errand(self._setup, work, self._files(case), self._missing, self._order[case.task.id], owner)
            task = ray.remote(carry_out).options(num_cpus=CPUS, max_retries=0).remote(self._desk, errand, what)
            try:
                brought, stop = await task
            except ray.exceptions.RayTaskError:  # a bug of ours, there as here
                raise
            except ray.exceptions.RayError:  # the node, its raylet or the worker is gone
                await self._desk.lost.remote(owner)
                await self._hear(wait=False)
                if attempt == TRIES:
                    raise UserError(f"{TRIES} workers were lost over one report: is there enough memory?") from None
                self._watcher.note(f"a worker was lost: {case.system}#{case.task.id} goes on elsewhere")
                continue
            await self._hear(wait=False)
            if stop is not None:
                self._stop(stop)
            return brought
        return None

    def _stop(self, sent: Any) -> None:
        from .ray_desk import unpacked

        error = unpacked(sent)
        if isinstance(error, HostStop):
            self._control.stop(error)
        else:
            raise error

    def _files(self, case: CaseRef) -> Files:
        """What a worker needs of the run folder: reports on the task, what was made for it, and what is done."""
        kept, task = self._kept, case.task
        names = [report_file(other) for other in self._work.cases if other.task.id == task.id]
        names += [report_file(other) for name, other in self._work.references.items() if name == task.id]
        names += [kept.protocol_name(task), kept.claims_name(case)]
        names += [kept.rubric_name(task, metric) for metric in self._work.metrics]
        root = self._folder.path
        found = {name: (root / name).read_bytes() for name in dict.fromkeys(names) if (root / name).exists()}
        done = [line for line in self._done.lines() if (line.task, line.report) == case.place and line.settled]
        return found | {"results.jsonl": "".join(dump_line(line) + "\n" for line in done).encode()}

    # what happens

    async def _listen(self) -> None:
        while True:
            await self._hear(wait=True)

    async def _hear(self, *, wait: bool) -> None:
        news = await self._desk.news.remote(wait=wait)
        async with self._hearing:
            for kind, value in news:
                self._take(kind, value)

    def _take(self, kind: str, value: Any) -> None:
        if kind == "event":
            self._watcher.event(value)
        elif kind == "unit":
            self._done.add(value)
        elif kind == "note":
            self._watcher.note(value)
        elif kind == "stage":
            self._stages.setdefault(value, ExitStack()).enter_context(self._watcher.stage(*value))
        elif kind == "stage_end" and (stage := self._stages.pop(value, None)):
            stage.close()


@contextmanager
def _cluster(place: Cluster) -> Iterator[Any]:
    """A connection to the cluster; one that is already there is used and left open. UserError when there is none."""
    try:
        import ray
    except ImportError:
        raise UserError(ABSENT) from None
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(address=place.address, namespace="dream-eval", logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UserError(f"--ray-address {place.address}: no cluster answers there ({error})") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _packed(error: BaseException) -> Any:
    from .ray_desk import packed

    return packed(error)


def _part(work: Work, case: CaseRef) -> Work:
    """The work on one report; the others on its task are no evidence for it."""
    beside = tuple(other for other in work.cases if other.task.id == case.task.id and other.place != case.place)
    references = {name: other for name, other in work.references.items() if name == case.task.id}
    return replace(work, cases=(case,), beside=beside, references=references)


# --- on a worker -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Errand:
    """What one task is about."""

    setup: Setup
    work: Work
    files: Files
    missing: Mapping[str, str]
    """Names of inputs that could not be made, and why."""
    number: int
    """Of its task in the order of the run."""
    owner: str


def carry_out(desk: Any, errand: Errand, what: str | None) -> tuple[Any, Any]:
    """Judge a report, or make one thing that it needs (``protocol``, ``claims``, or a metric's rubric).

    Returns the made file's bytes, or the reason why it could not be made, and the packed error that stopped the work.
    """
    import ray

    with TemporaryDirectory(prefix="dream-ray-") as place:
        for name, data in errand.files.items():
            (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / name).write_bytes(data)
        told: list[Any] = []

        def heard(_: Progress, notice: Notice | None) -> None:
            if notice is None:
                return
            if notice.kind == "unit" and notice.line is not None and not notice.reused:
                told.append(desk.tell.remote("unit", notice.line))
            elif notice.kind == "note":
                told.append(desk.tell.remote("note", notice.text))
            elif notice.kind in ("stage", "stage_end"):
                told.append(desk.tell.remote(notice.kind, (notice.stage, notice.place)))

        try:
            return asyncio.run(_done(desk, errand, RunFolder(place), Watcher(heard), what))
        finally:
            ray.get(told)


async def _done(desk: Any, errand: Errand, folder: RunFolder, watcher: Watcher, what: str | None) -> tuple[Any, Any]:
    from .ray_desk import FarLedger, FarLimiter

    setup, work, control = errand.setup, errand.work, Control()
    ledger = FarLedger(desk, errand.owner, run=setup.run, mode=setup.mode, budget=setup.budget)
    kept = Kept(work, folder)
    async with AsyncExitStack() as stack:
        judges: dict[str, ChatModel] = {}
        for wanted in setup.judges:
            limiter = FarLimiter(desk, errand.owner, wanted, errand.number)
            judge = await stack.enter_async_context(open_model(wanted, ledger, limits=setup.limits, limiter=limiter))
            judges[judge.name] = judge
        toolbox = await stack.enter_async_context(
            open_toolbox(
                ledger,
                as_of=work.conditions.as_of,
                search=setup.search,
                exclude_hosts=setup.exclude_hosts,
                endpoints=setup.endpoints,
            )
        )
        try:
            if what is not None:
                shared = Shared(work, folder, kept, judges[work.judges[0]], Library(work, kept, toolbox), watcher)
                return await _made(shared, kept, folder, work.cases[0], what), None
            done = Done(work, folder, kept, watcher)
            engine = Engine(
                work, folder, judges, toolbox, done=done, control=control, watcher=watcher,
                window=len(work.metrics) * len(judges) * work.repeats, missing=errand.missing,
            )  # fmt: skip
            await engine.run()
        except (HostStop, ReplayMiss, UserError) as error:
            return None, _packed(error)
    return None, None if control.cause is None else _packed(control.cause)


async def _made(shared: Shared, kept: Kept, folder: RunFolder, case: CaseRef, what: str) -> bytes | str:
    made: object
    if what == "protocol":
        made, name = await shared.protocol(case.task), kept.protocol_name(case.task)
    elif what == "claims":
        made, name = await shared.claims(case), kept.claims_name(case)
    else:
        made, name = await shared.rubric(case.task, what), kept.rubric_name(case.task, what)
    return made.reason if isinstance(made, Missing) else (folder.path / name).read_bytes()
