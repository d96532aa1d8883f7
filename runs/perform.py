"""From what is asked to a finished run folder: opens ledger, judge and tools, runs the engine, writes the summary."""

from __future__ import annotations

import datetime as dt
import os
import secrets as random_names
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from .. import models, tools
from ..agents.prompts_creator import VERSION as CREATOR_VERSION
from ..core import AsOf, Json
from ..errors import AccountRefused, BudgetReached, HostStop, InputError, UserError
from ..evaluators import CLAIMS_VERSION, VERSIONS, Settings, route
from ..ledger import Budget, Ledger, Totals
from ..ledger import Mode as LedgerMode
from ..models import Limits, is_local, open_model, parse_judge
from ..protocols.schema import Mode, Protocol
from ..reports.data import Report
from ..tools import Endpoints, Toolbox, open_toolbox
from . import checked
from .ask import Ask, default_ledger, search_identity
from .control import Control
from .data import Exit, ReportRef, RunConfig, RunState, UnitResult
from .engine import Engine
from .files import short_digest, slug
from .kept import Kept
from .measured import agreement_of
from .names import names_of
from .progress import Listener, Watcher
from .store import RunFolder
from .summary import Summary, summarise
from .units import Conditions
from .work import Work


@dataclass(frozen=True)
class RunResult:
    """How a run ended. Everything in it is also in ``folder``."""

    folder: Path
    config: RunConfig
    state: RunState
    reason: str
    """Why it stopped early; empty when finished."""
    results: tuple[UnitResult, ...]
    """In plan order; fewer than planned after an early stop."""
    summary: Summary

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

    def score(self, report: str, metric: str) -> float | None:
        """The score (0–100) of a report by a metric; None: not applicable, failed or not reached.

        ``report``: its name; where reports of several tasks share it ``name#task``, or the id of the task. Raises
        UserError when it is the name of several.
        """
        names = names_of((ref.task, ref.id) for ref in self.config.reports)
        found = [place for place, name in names.items() if name == report]
        found = found or [place for place in names if report in place]
        if len(found) > 1:
            raise UserError(f"several reports are called {report!r}: say {', '.join(names[place] for place in found)}")
        for line in self.results:
            if (line.task, line.report) in found and line.metric == metric:
                return line.result.score
        return None


@dataclass(frozen=True)
class Outside:
    """What tests set in code: patience and addresses. Never settable from outside the process."""

    limits: Limits = field(default_factory=Limits)
    endpoints: Endpoints = field(default_factory=Endpoints)


async def perform(
    ask: Ask,
    *,
    ledger_mode: LedgerMode = LedgerMode.CACHE,
    on_progress: Listener | None = None,
    control: Control | None = None,
    outside: Outside | None = None,
    replayed: RunConfig | None = None,
) -> RunResult:
    """Run what is asked, or what is left of it.

    ``replayed``: the configuration of a run that is run again under its own name.
    Raises UserError, ReplayMiss, OSError.
    """
    watcher, control, outside = Watcher(on_progress), control or Control(), outside or Outside()
    keys = keys_to_mask()
    folder = RunFolder(ask.folder, secrets=keys)
    folder.check(ledger=ask.ledger)
    with folder.lock(), folder.keeping_errors():
        folder.tidy()
        config = replayed or configure(ask, folder)
        _save_inputs(ask, folder, config)
        budget = Budget(usd=ask.budget_usd, tokens=ask.budget_tokens)
        work = work_of(ask, config, afresh=ledger_mode is LedgerMode.REFRESH)
        watcher.names = work.names
        with Ledger.open(config.ledger, run=config.run, mode=ledger_mode, secrets=keys, budget=budget) as ledger:
            ledger.listen(watcher.event)
            control.on_stop(ledger.stop)
            if known_totals(folder, config, ledger.totals()) != ledger.totals():
                watcher.note(f"the ledger {config.ledger} does not know this run: what it used before is not counted")
            kept = Kept(work, folder).whole()
            if kept is not None:
                totals = known_totals(folder, config, ledger.totals())
                watcher.whole(kept, totals)
                return _end(config, folder, totals, kept, control)
            desk = Desk(ask, folder, ledger, watcher, control, outside)
            lines, config = await _work(work, config, desk)
            return _end(config, folder, ledger.totals(), lines, control)


def keys_to_mask() -> tuple[str, ...]:
    """Values of all configured keys: they are replaced in everything that is written."""
    return (*models.secret_values(), *tools.secret_values())


def configure(ask: Ask, folder: RunFolder) -> RunConfig:
    """What ``run.json`` will say: the run's name and its start date are those of the first start."""
    before, judge = folder.config(), shown_name(ask.judge)
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    started = before.as_of if before is not None and not before.as_of.given else AsOf(day=now.date(), given=False)
    as_of = AsOf(day=ask.as_of) if ask.as_of else started
    if before is not None:  # a run goes on as of its first day
        checked.protocols_in_time(as_of.day, ask.protocols)
    return RunConfig(
        run=before.run if before else f"{slug(folder.path.name)}-{random_names.token_hex(4)}",
        version=_version(),
        created_at=before.created_at if before else now,
        as_of=as_of,
        tasks=tuple({task.id: task for task, _ in ask.cases}.values()),
        reports=tuple(_ref(task.id, report) for task, report in ask.cases),
        judges=(judge,),
        endpoints={name: place for name, place in before.endpoints.items() if name == judge} if before else {},
        metrics=ask.metrics,
        versions={metric: VERSIONS[metric] for metric in ask.metrics},
        search=ask.search,
        search_digests=tuple(search_identity(entry) for entry in ask.search),
        exclude_hosts=ask.exclude_hosts,
        mode=ask.mode,
        questions=ask.questions,
        reasoning=ask.reasoning,
        max_claims=ask.max_claims,
        protocols={_task_id(ask, protocol): protocol.digest for protocol in ask.protocols},
        ledger=str((ask.ledger or default_ledger()).resolve()),
        budget_usd=ask.budget_usd,
        budget_tokens=ask.budget_tokens,
        floor=ask.floor,
    )


def shown_name(judge: str) -> str:
    """The name under which results of a judge are stored, as far as it is known before the judge is opened."""
    if not is_local(judge):
        return parse_judge(judge).name
    return f"{judge} (DREAM_LOCAL_MODEL)" if os.environ.get("DREAM_LOCAL_MODEL") else judge


def work_of(ask: Ask, config: RunConfig, *, afresh: bool = False) -> Work:
    """What is to be done, under the configuration's names and dates."""
    settings = Settings(mode=_verifier_mode(ask), max_claims=ask.max_claims)
    conditions = Conditions(
        as_of=config.as_of,
        mode=settings.mode,
        search=config.search_digests,
        exclude_hosts=config.exclude_hosts,
        settings=settings_of(settings),
        versions=config.versions,
    )
    return Work(
        cases=ask.cases,
        metrics=ask.metrics,
        judge=config.maker,
        conditions=conditions,
        settings=settings,
        creator=ask.mode,
        questions=ask.questions,
        reasoning=ask.reasoning,
        max_claims=ask.max_claims,
        claims_version=CLAIMS_VERSION,
        protocol_version=CREATOR_VERSION,
        protocols={_task_id(ask, protocol): protocol for protocol in ask.protocols},
        afresh=afresh,
    )


def settings_of(settings: Settings) -> dict[str, Json]:
    """The evaluators' settings as they enter unit keys."""
    values: dict[str, Json] = TypeAdapter(Settings).dump_python(settings, mode="json")
    return {name: value for name, value in values.items() if name not in ("mode", "max_claims")}


@dataclass(frozen=True)
class Desk:
    """What a run works with."""

    ask: Ask
    folder: RunFolder
    ledger: Ledger
    watcher: Watcher
    control: Control
    outside: Outside


async def _work(work: Work, config: RunConfig, desk: Desk) -> tuple[list[UnitResult], RunConfig]:
    async with AsyncExitStack() as stack:
        try:
            opened = open_model(desk.ask.judge, desk.ledger, limits=desk.outside.limits, notify=desk.watcher.note)
            judge = await stack.enter_async_context(opened)
            toolbox = await stack.enter_async_context(_toolbox(config, desk))
        except HostStop as stop:
            desk.control.stop(stop)
            return desk.folder.results(), config
        config = config.model_copy(update={"judges": (judge.name,), "endpoints": {judge.name: judge.endpoint}})
        desk.folder.save("run.json", config)
        work = replace(work, judge=judge.name)
        route(work.metrics, judge, toolbox, work.settings.mode)
        desk.watcher.begin(len(work.units()), desk.ledger.totals())
        engine = Engine(work, desk.folder, judge, toolbox, control=desk.control, watcher=desk.watcher)
        return await engine.run(), config


def _toolbox(config: RunConfig, desk: Desk) -> AbstractAsyncContextManager[Toolbox]:
    replaying = desk.ledger.mode is LedgerMode.REPLAY
    return open_toolbox(
        desk.ledger,
        as_of=config.as_of,
        search=config.search_digests if replaying else config.search,
        exclude_hosts=config.exclude_hosts,
        report_texts=[report.text for _, report in desk.ask.cases],
        endpoints=desk.outside.endpoints,
    )


def known_totals(folder: RunFolder, config: RunConfig, counted: Totals) -> Totals:
    """What the ledger counted; of a ledger that does not know the run (a new one), what the run's summary says."""
    try:
        stored = folder.load("summary.json", Summary) if counted == Totals() else None
    except InputError:  # of another version, or broken
        return counted
    return stored.totals if stored is not None and stored.run == config.run else counted


def _end(
    config: RunConfig, folder: RunFolder, totals: Totals, lines: Sequence[UnitResult], control: Control
) -> RunResult:
    cause, planned = control.cause, len(config.reports) * len(config.metrics)
    state = state_after(cause) if cause is not None and len(lines) < planned else RunState.FINISHED
    if state is RunState.FINISHED:
        folder.finish(lines)
    reason = "" if state is RunState.FINISHED else str(cause)
    agreement = agreement_of(config.maker, endpoint=config.endpoints.get(config.maker))
    summary = summarise(config, lines, totals, state=state, reason=reason, agreement=agreement)
    folder.save("summary.json", summary)
    return RunResult(folder.path, config, state, reason, tuple(lines), summary)


def state_after(cause: HostStop) -> RunState:
    """How a run stands that stopped for this reason."""
    if isinstance(cause, AccountRefused):
        return RunState.REFUSED
    return RunState.BUDGET if isinstance(cause, BudgetReached) else RunState.INTERRUPTED


def _verifier_mode(ask: Ask) -> Mode:
    """The static mode makes protocols only; their plans are carried out in the judge's default mode."""
    if ask.mode is not Mode.STATIC:
        return ask.mode
    return Mode.GUIDED if ask.embedded else Mode.AGENT


def _save_inputs(ask: Ask, folder: RunFolder, config: RunConfig) -> None:
    folder.save("run.json", config)
    for (_, report), ref in zip(ask.cases, config.reports, strict=True):
        folder.save(f"reports/{ref.file}", report)
    for protocol in ask.protocols:
        folder.save(f"protocols/given-{protocol.digest[:12]}.json", protocol)


def _ref(task: str, report: Report) -> ReportRef:
    name = f"{slug(report.id)}-{short_digest(task, report.id)}.json"
    return ReportRef(id=report.id, task=task, digest=report.digest, file=name)


def _task_id(ask: Ask, protocol: Protocol) -> str:
    """The task of the run that a given protocol was made for; ids may differ, the query may not."""
    return next(task.id for task, _ in ask.cases if task.prompt.strip() == protocol.task.prompt.strip())


def _version() -> str:
    from dream_eval import __version__

    return __version__
