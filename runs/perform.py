"""From what is asked to a finished run folder: opens ledger, judges and tools, runs the engine, writes the summary."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import models, tools
from ..errors import HostStop, InputError, UserError
from ..evaluators import route
from ..ledger import Budget, Ledger, Totals
from ..ledger import Mode as LedgerMode
from ..models import ChatModel, Limits, open_model
from ..tools import Endpoints, Toolbox, open_toolbox
from .ask import Ask
from .configuring import configure, save_inputs, shown_name, work_of
from .control import Control
from .data import Exit, RunConfig, RunState, UnitResult, state_after
from .done import Done, left_of
from .engine import Engine
from .kept import Kept
from .measured import agreement_of
from .names import names_of
from .progress import Listener, Watcher
from .ray_engine import RayEngine, Setup
from .shards import Cluster
from .store import RunFolder
from .summary import Summary, summarise
from .work import Work

WINDOW = 1.25
"""Units of a judge in flight, as a multiple of the calls that its endpoint takes at once."""
FEWEST_IN_FLIGHT = 8


@dataclass(frozen=True)
class RunResult:
    """How a run ended. Everything in it is also in ``folder``."""

    folder: Path
    config: RunConfig
    state: RunState
    reason: str
    """Why it stopped early; empty when finished."""
    summary: Summary
    keys: frozenset[str] = field(repr=False)
    """Keys of the units that are done."""

    @property
    def results(self) -> tuple[UnitResult, ...]:
        """What is done, in plan order when finished, else as it came. Read from the folder at each use."""
        last = {line.place: number for number, line in enumerate(RunFolder(self.folder).lines())}
        return tuple(
            line
            for number, line in enumerate(RunFolder(self.folder).lines())
            if line.unit in self.keys and last[line.place] == number
        )

    @property
    def exit_code(self) -> Exit:
        """0, 3 interrupted, 4 budget, 5 account refused, 6 coverage below the floor."""
        return Exit.first(self.codes)

    @property
    def codes(self) -> set[Exit]:
        """All codes that apply."""
        stops = {
            RunState.INTERRUPTED: Exit.INTERRUPTED,
            RunState.BUDGET: Exit.BUDGET,
            RunState.REFUSED: Exit.REFUSED,
        }
        codes = {stops[self.state]} if self.state in stops else set()
        return codes | ({Exit.COVERAGE} if self.summary.below_floor else set())

    def score(self, report: str, metric: str, *, judge: str | None = None, repeat: int = 0) -> float | None:
        """The score (0–100) of a report by a metric; None: not applicable, failed or not reached.

        ``report``: its name; where reports of several tasks share it ``name#task``, or the id of the task. ``judge``:
        None for the first one. Raises UserError when ``report`` is the name of several.
        """
        names = names_of((ref.task, ref.id) for ref in self.config.reports)
        found = [place for place, name in names.items() if name == report]
        found = found or [place for place in names if report in place]
        if len(found) > 1:
            raise UserError(f"several reports are called {report!r}: say {', '.join(names[place] for place in found)}")
        wanted = (metric, self.config.maker if judge is None else shown_name(judge), repeat)
        for one in self.summary.reports:
            for score in one.scores if (one.task, one.report) in found else ():
                if (score.metric, score.judge, score.repeat) == wanted:
                    return score.score
        return None


COLLECT_AFTER = (5_000, 10, 10)
"""Of the cyclic collector: new objects until the youngest are looked at, and each generation's turns until the next."""


@dataclass(frozen=True)
class Outside:
    """What is set in code: patience and addresses. Never settable from outside the process."""

    limits: Limits = field(default_factory=Limits)
    endpoints: Endpoints = field(default_factory=Endpoints)
    rehearsal: bool = False
    """What the ledger does not answer (in replay mode) is passed over, and does not end the run."""


async def perform(
    ask: Ask,
    *,
    ledger_mode: LedgerMode = LedgerMode.CACHE,
    on_progress: Listener | None = None,
    control: Control | None = None,
    outside: Outside | None = None,
    replayed: RunConfig | None = None,
    ray: Cluster | None = None,
) -> RunResult:
    """Run what is asked, or what is left of it.

    ``replayed``: the configuration of a run that is run again under its own name. ``ray``: on this cluster
    (:func:`.ready.check_cluster` says whether that can be).
    Raises UserError, ReplayMiss, OSError.
    """
    watcher, control, outside = Watcher(on_progress), control or Control(), outside or Outside()
    keys = keys_to_mask()
    folder = RunFolder(ask.folder, secrets=keys)
    folder.check(ledger=ask.ledger)
    with folder.lock(), folder.keeping_errors():
        folder.tidy()
        before = folder.config()
        config = replayed or configure(ask, before, folder.path.name)
        save_inputs(ask, folder, config, before)
        budget = Budget(usd=ask.budget_usd, tokens=ask.budget_tokens)
        work = work_of(ask, config, afresh=ledger_mode is LedgerMode.REFRESH)
        watcher.names = work.names
        with Ledger.open(config.ledger, run=config.run, mode=ledger_mode, secrets=keys, budget=budget) as ledger:
            ledger.listen(watcher.event)
            control.on_stop(ledger.stop)
            known = known_totals(folder, config, ledger.totals())
            if known != ledger.totals():
                watcher.note(f"the ledger {config.ledger} does not know this run: what it used before is not counted")
            desk = Desk(ask, folder, ledger, watcher, control, outside, ray)
            done = Done(work, folder, Kept(work, folder), watcher)
            watcher.begin(work.size, known, plan=work.plan, budget=budget, run=config.run)
            if next(left_of(work, done.kept), None) is None:
                done.take_settled()
                return _end(config, desk, known, done)
            with rarely_collected():
                config, done = await _work(work, config, desk, done)
            return _end(config, desk, ledger.totals(), done)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let the cyclic collector work rarely, and leave out what is there already: it takes a tenth of a run's time, and
    a sixth of a second at once while answers wait. A run makes few cycles."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.collect()
    gc.set_threshold(*COLLECT_AFTER)
    gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:  # else somebody else's would be freed with them
            gc.unfreeze()


def keys_to_mask() -> tuple[str, ...]:
    """Values of all configured keys: they are replaced in everything that is written."""
    return (*models.secret_values(), *tools.secret_values())


@dataclass(frozen=True)
class Desk:
    """What a run works with."""

    ask: Ask
    folder: RunFolder
    ledger: Ledger
    watcher: Watcher
    control: Control
    outside: Outside
    ray: Cluster | None = None

    @property
    def limits(self) -> Limits:
        """Patience with endpoints, with the concurrency that was asked for."""
        wanted = self.ask.concurrency
        return self.outside.limits if wanted is None else replace(self.outside.limits, concurrency=wanted)


async def _work(work: Work, config: RunConfig, desk: Desk, done: Done) -> tuple[RunConfig, Done]:
    async with AsyncExitStack() as stack:
        try:
            judges = await _open_judges(desk, stack)
            toolbox = await stack.enter_async_context(_toolbox(config, desk))
        except HostStop as stop:
            desk.control.stop(stop)
            done.take_settled()
            return config, done
        names = tuple(judges)
        endpoints = {name: judge.endpoint for name, judge in judges.items()}
        config = config.model_copy(update={"judges": names, "endpoints": endpoints})
        desk.folder.save("run.json", config)
        if work.judges != names:  # names that were not known before the judges were opened
            work = replace(work, judges=names)
            done = Done(work, desk.folder, Kept(work, desk.folder), desk.watcher)
        for judge in judges.values():
            route(work.metrics, judge, toolbox, work.settings.mode)
        await _engine(work, config, desk, done, judges, toolbox).run()
        return config, done


def _engine(
    work: Work, config: RunConfig, desk: Desk, done: Done, judges: Mapping[str, ChatModel], toolbox: Toolbox
) -> Engine | RayEngine:
    if desk.ray is not None:
        setup = Setup(
            run=config.run,
            judges=desk.ask.judges,
            mode=desk.ledger.mode,
            budget=desk.ledger.budget,
            limits=desk.limits,
            endpoints=desk.outside.endpoints,
            search=_search(config, desk),
            exclude_hosts=config.exclude_hosts,
        )
        return RayEngine(
            work,
            desk.folder,
            setup,
            desk.ray,
            str(desk.ledger.path),
            done=done,
            control=desk.control,
            watcher=desk.watcher,
        )
    return Engine(
        work,
        desk.folder,
        judges,
        toolbox,
        done=done,
        control=desk.control,
        watcher=desk.watcher,
        rehearsal=desk.outside.rehearsal,
        window=max(FEWEST_IN_FLIGHT, round(WINDOW * desk.limits.concurrency)),
    )


async def _open_judges(desk: Desk, stack: AsyncExitStack) -> Mapping[str, ChatModel]:
    """Each judge once, by the name under which its results are stored, in the order asked for."""
    judges: dict[str, ChatModel] = {}
    for name in desk.ask.judges:
        opened = open_model(name, desk.ledger, limits=desk.limits, notify=desk.watcher.note)
        judge = await stack.enter_async_context(opened)
        if judge.name in judges:
            raise UserError(f"{name} is a judge that is named already ({judge.name}): leave one out")
        judges[judge.name] = judge
    return judges


def _toolbox(config: RunConfig, desk: Desk) -> AbstractAsyncContextManager[Toolbox]:
    return open_toolbox(
        desk.ledger,
        as_of=config.as_of,
        search=_search(config, desk),
        exclude_hosts=config.exclude_hosts,
        endpoints=desk.outside.endpoints,
    )


def _search(config: RunConfig, desk: Desk) -> tuple[str, ...]:
    return config.search_digests if desk.ledger.mode is LedgerMode.REPLAY else config.search


def known_totals(folder: RunFolder, config: RunConfig, counted: Totals) -> Totals:
    """What the ledger counted; of a ledger that does not know the run (a new one), what the run's summary says."""
    try:
        stored = folder.load("summary.json", Summary) if counted == Totals() else None
    except InputError:  # of another version, or broken
        return counted
    return stored.totals if stored is not None and stored.run == config.run else counted


def _end(config: RunConfig, desk: Desk, totals: Totals, done: Done) -> RunResult:
    cause = desk.control.cause
    state = RunState.FINISHED if cause is None or done.whole else state_after(cause)
    reason = "" if state is RunState.FINISHED else str(cause)
    agreement = [row for judge in config.judges for row in agreement_of(judge, endpoint=config.endpoints.get(judge))]
    summary = summarise(config, done.lines(), totals, state=state, reason=reason, agreement=agreement)
    if state is RunState.FINISHED:
        desk.folder.finish(done.spots())
    desk.folder.save("summary.json", summary)
    desk.watcher.end(summary)
    return RunResult(desk.folder.path, config, state, reason, summary, done.keys)
