"""``evaluate``: the documented call."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..core import Task
from ..errors import UserError
from ..ledger import Mode as LedgerMode
from ..models.describing import is_local
from ..protocols import load_protocol
from ..protocols.schema import Mode, Protocol
from . import checked
from .ask import DEFAULT_QUESTIONS, DEFAULT_REASONING, Ask
from .cases import Given, gather, read_query, read_task, task_of
from .data import DEFAULT_FLOOR
from .fetching import home_of, is_address
from .perform import RunResult, perform
from .progress import Listener

GivenProtocol = str | Path | Protocol


def prepare(
    reports: Given | Sequence[Given],
    *,
    query: str | None = None,
    task: str | Task | None = None,
    tasks: str | Path | Sequence[Task] | None = None,
    judge: str | None = None,
    protocol: GivenProtocol | Sequence[GivenProtocol] | None = None,
    metrics: str | Iterable[str] | None = None,
    search: str | Sequence[str] | None = None,
    exclude_hosts: str | Sequence[str] | None = None,
    clean: bool = True,
    as_of: dt.date | str | None = None,
    out: Path | str | None = None,
    ledger: Path | str | None = None,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    max_claims: int | None = None,
    questions: int | None = None,
    reasoning: int | None = None,
    mode: Mode | str | None = None,
    floor: float = DEFAULT_FLOOR,
) -> Ask:
    """Read the files, check every wish and fill in the defaults, without opening anything.

    Parameters as in :func:`evaluate`. ``await perform(prepare(…))`` is :func:`evaluate` for those who have an event
    loop. Raises UserError that names what to change.
    """
    if sum(one is not None for one in (query, task, tasks)) > 1:
        raise UserError("give a query, a task or a file of tasks, not both of two")
    chosen = task_of(read_query(query)) if query is not None else read_task(task) if isinstance(task, str) else task
    given = [reports] if isinstance(reports, (str, Path)) or not isinstance(reports, Sequence) else list(reports)
    cases, protocols = gather(given, task=chosen, tasks=tasks, clean=clean, ledger=ledger), _protocols(protocol)
    name, day = checked.judge(judge), checked.date(as_of) or checked.date(checked.common_date(cases, protocols))
    checked.protocols_fit(cases, protocols)
    checked.protocols_in_time(day or checked.today(), protocols)
    checked.positive(max_claims=max_claims, questions=questions, reasoning=reasoning)
    checked.positive(budget_tokens=budget_tokens, budget_usd=budget_usd)
    checked.share(floor=floor)
    return Ask(
        cases=cases,
        judge=name,
        metrics=checked.metrics([metrics] if isinstance(metrics, str) else list(metrics or ())),
        search=checked.search(search),
        exclude_hosts=checked.hosts([*_listed(exclude_hosts), *(home_of(str(g)) for g in given if is_address(g))]),
        mode=checked.mode(mode, embedded=is_local(name)),
        as_of=day,
        protocols=protocols,
        out=None if out is None else Path(out),
        ledger=None if ledger is None else Path(ledger),
        questions=DEFAULT_QUESTIONS if questions is None else questions,
        reasoning=DEFAULT_REASONING if reasoning is None else reasoning,
        max_claims=max_claims,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        floor=floor,
    )


def evaluate(
    reports: Given | Sequence[Given],
    *,
    query: str | None = None,
    task: str | Task | None = None,
    tasks: str | Path | Sequence[Task] | None = None,
    judge: str | None = None,
    protocol: GivenProtocol | Sequence[GivenProtocol] | None = None,
    metrics: str | Iterable[str] | None = None,
    search: str | Sequence[str] | None = None,
    exclude_hosts: str | Sequence[str] | None = None,
    clean: bool = True,
    as_of: dt.date | str | None = None,
    out: Path | str | None = None,
    ledger: Path | str | None = None,
    ledger_mode: LedgerMode | str = LedgerMode.CACHE,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    max_claims: int | None = None,
    questions: int | None = None,
    reasoning: int | None = None,
    mode: Mode | str | None = None,
    floor: float = DEFAULT_FLOOR,
    on_progress: Listener | None = None,
) -> RunResult:
    """Judge one or more reports against their query and keep everything in a run folder.

    Calling it again with the same arguments continues where it stopped, and does nothing when all is done.

    Args:
        reports: report files or folders of any shape in docs/reports.md, web addresses of reports, or reports read.
        query: what the reports answer, or ``@FILE``. Not needed when the reports carry their prompt.
        task: a task, or ``FILE.jsonl#id``, instead of ``query``.
        tasks: tasks, or a file of them, that the reports belong to by id or by prompt, instead of ``query``.
        judge: ``provider/model``, ``https://host/v1#model`` or ``local``; default ``DREAM_JUDGE``, else ``local``.
        protocol: a protocol (or file) to use; else one is made by an agent and kept in the run folder.
        metrics: some of ``wq``, ``kic``, ``rq``, ``factuality``, ``ci``, ``da``; default all.
        search: back ends, such as ``ddgs:duckduckgo``, ``searxng:URL``, ``tavily``, ``corpus:PATH``.
        exclude_hosts: hosts whose pages are never evidence (``example.com``, ``github.com/owner``).
        clean: cut what chat and agent interfaces leave around a report (see docs/reports.md).
        as_of: the day as of which everything is judged (date or ``YYYY-MM-DD``); default the day of the first start.
        out: the run folder; default ``dream-runs/NAME``, where the name follows from what is asked.
        ledger: the ledger file; default one file a user.
        ledger_mode: ``cache`` (reuse, else call), ``refresh`` (call again), ``replay`` (reuse only, no network).
        budget_usd: US dollars for the whole run, resumed parts included.
        budget_tokens: prompt and completion tokens for the whole run.
        max_claims: check only the most important claims of each report.
        questions: yes/no questions of a protocol that is made; default 10.
        reasoning: reasoning questions of a protocol that is made; default 3.
        mode: ``agent``, ``guided`` or ``static``; default ``agent``, ``guided`` for the embedded judge.
        floor: share of expected units, in [0, 1], below which a report is shown and not ranked.
        on_progress: called with the progress and, where something is worth a line, a notice.

    Returns:
        The results with their summary. A budget that is reached, an account that is refused or an interrupt ends the
        run early and is told in ``state`` and ``reason``; a metric that failed has no score, and says why.

    Raises:
        UserError: something must be changed first; the message says what.
        ReplayMiss: in replay mode, the ledger lacks a call.

    Example::

        import dream_eval

        run = dream_eval.evaluate(
            ["a.md", "b.md"], query="Which heat pumps suit old houses?", judge="openai/gpt-5-mini", budget_usd=2
        )
        for report in run.summary.reports:
            for score in report.scores:
                print(report.report, score.metric, score.score, score.interval, score.reason)
    """
    ask = prepare(
        reports,
        query=query,
        task=task,
        tasks=tasks,
        judge=judge,
        protocol=protocol,
        metrics=metrics,
        search=search,
        exclude_hosts=exclude_hosts,
        clean=clean,
        as_of=as_of,
        out=out,
        ledger=ledger,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_claims=max_claims,
        questions=questions,
        reasoning=reasoning,
        mode=mode,
        floor=floor,
    )
    return _run_here(lambda: asyncio.run(perform(ask, ledger_mode=LedgerMode(ledger_mode), on_progress=on_progress)))


def _run_here(work: Callable[[], RunResult]) -> RunResult:
    """Run it; in a thread of its own where this one has a running loop already (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()


def _listed(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _protocols(given: GivenProtocol | Sequence[GivenProtocol] | None) -> tuple[Protocol, ...]:
    if given is None:
        return ()
    many = [given] if isinstance(given, (str, Path, Protocol)) else given
    return tuple(one if isinstance(one, Protocol) else load_protocol(one) for one in many)
