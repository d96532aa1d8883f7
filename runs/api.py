"""``evaluate``: the documented call."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..core import Task
from ..errors import UserError
from ..ledger import Mode as LedgerMode
from ..models.describing import is_local
from ..protocols import load_criteria, load_protocol
from ..protocols.rubric import Rubric
from ..protocols.schema import Mode, Protocol
from . import checked
from .ask import DEFAULT_QUESTIONS, DEFAULT_REASONING, MOST_REPEATS, Ask
from .cases import CaseRef, Given, Source, Sources, gather, read_query, read_task, task_of
from .data import DEFAULT_FLOOR
from .fetching import home_of, is_address
from .perform import RunResult, perform
from .progress import Listener
from .ready import check_ready
from .shards import Shard

GivenProtocol = str | Path | Protocol
GivenRubric = str | Path | Rubric
Systems = Mapping[str, Given | Sequence[Given]]
"""Name of a system to its reports."""


def prepare(
    reports: Given | Sequence[Given] | Systems,
    *,
    query: str | None = None,
    task: str | Task | None = None,
    tasks: str | Path | Sequence[Task] | None = None,
    judge: str | Sequence[str] | None = None,
    protocol: GivenProtocol | Sequence[GivenProtocol] | None = None,
    rubric: GivenRubric | Sequence[GivenRubric] | None = None,
    reference: str | None = None,
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
    repeats: int = 1,
    concurrency: int | None = None,
    mode: Mode | str | None = None,
    floor: float = DEFAULT_FLOOR,
    shard: Shard | None = None,
    command: str = "",
) -> Ask:
    """Read the files, check every wish and fill in the defaults, without opening anything.

    Parameters as in :func:`evaluate`; ``shard`` (i, n): only part i of n, whole tasks; ``command``: as it was typed.
    ``await perform(prepare(…))`` is :func:`evaluate` for those who have an event loop. Raises UserError that names what
    to change.
    """
    if sum(one is not None for one in (query, task, tasks)) > 1:
        raise UserError("give a query, a task or a file of tasks, not both of two")
    chosen = task_of(read_query(query)) if query is not None else read_task(task) if isinstance(task, str) else task
    checked.positive(max_claims=max_claims, questions=questions, reasoning=reasoning, repeats=repeats)
    checked.positive(budget_tokens=budget_tokens, budget_usd=budget_usd, concurrency=concurrency)
    checked.share(floor=floor)
    if repeats > MOST_REPEATS:
        raise UserError(f"--repeats {repeats} is more than {MOST_REPEATS}")
    if ledger is not None and Path(ledger).is_dir():
        raise UserError(f"--ledger {ledger} is a folder: name a file in it")
    judges, names = (
        checked.judges(judge),
        checked.metrics(_listed(metrics)),
    )
    sources = Sources(_sources(reports), clean, ledger)
    cases = gather(sources, task=chosen, tasks=tasks)
    if "race" in names and not reference:
        raise UserError("race holds reports against others: say which, as --reference SYSTEM or --reference FILE")
    protocols, rubrics = _protocols(protocol), _fitting(_rubrics(rubric), cases)
    day = checked.date(as_of) or checked.date(checked.common_date(cases, protocols))
    checked.protocols_fit(cases, protocols)
    checked.protocols_in_time(day or checked.today(), protocols)
    others, other_cases = _references(reference, cases, sources)
    homes = (home_of(str(source.given)) for source in sources.items if is_address(source.given))
    return Ask(
        sources=sources,
        cases=cases,
        judges=judges,
        metrics=names,
        search=checked.search(search),
        exclude_hosts=checked.hosts([*_listed(exclude_hosts), *homes]),
        mode=checked.mode(mode, embedded=is_local(judges[0])),
        as_of=day,
        protocols=protocols,
        rubrics=rubrics,
        reference=reference or "",
        references=others,
        reference_cases=other_cases,
        out=None if out is None else Path(out),
        ledger=None if ledger is None else Path(ledger),
        questions=DEFAULT_QUESTIONS if questions is None else questions,
        reasoning=DEFAULT_REASONING if reasoning is None else reasoning,
        max_claims=max_claims,
        repeats=repeats,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        concurrency=concurrency,
        floor=floor,
        shard=checked.shard(shard),
        command=command,
    )


def evaluate(
    reports: Given | Sequence[Given] | Systems,
    *,
    query: str | None = None,
    task: str | Task | None = None,
    tasks: str | Path | Sequence[Task] | None = None,
    judge: str | Sequence[str] | None = None,
    protocol: GivenProtocol | Sequence[GivenProtocol] | None = None,
    rubric: GivenRubric | Sequence[GivenRubric] | None = None,
    reference: str | None = None,
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
    repeats: int = 1,
    concurrency: int | None = None,
    mode: Mode | str | None = None,
    floor: float = DEFAULT_FLOOR,
    on_progress: Listener | None = None,
) -> RunResult:
    """Judge one or more reports against their query and keep everything in a run folder.

    Calling it again with the same arguments continues where it stopped, and does nothing when all is done.

    Args:
        reports: report files or folders of any shape in docs/reports.md, web addresses of reports, or reports read; or
            a mapping of names of systems to theirs.
        query: what the reports answer, or ``@FILE``. Not needed when the reports carry their prompt.
        task: a task, or ``FILE.jsonl#id``, instead of ``query``.
        tasks: tasks, or a file of them, that the reports belong to by id or by prompt, instead of ``query``.
        judge: ``provider/model``, ``https://host/v1#model`` or ``local``; default ``DREAM_JUDGE``, else ``local``.
            Several judge the same; the first one makes protocols, rubrics and claim lists, which all share.
        protocol: a protocol (or file) to use; else one is made by an agent and kept in the run folder.
        rubric: a rubric (or file) to use for ``dre_quality`` or ``race``; else one is made.
        reference: the system, or the file, whose reports ``race`` holds the others against.
        metrics: names of metrics, or of groups of them (``dream``, ``dre``, ``drb``); default ``dream``.
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
        repeats: how often every unit is judged.
        concurrency: calls at the same time to one endpoint, at most; default 16.
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
        rubric=rubric,
        reference=reference,
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
        repeats=repeats,
        concurrency=concurrency,
        mode=mode,
        floor=floor,
    )
    return run_ask(ask, ledger_mode=LedgerMode(ledger_mode), on_progress=on_progress)


def run_ask(ask: Ask, *, ledger_mode: LedgerMode = LedgerMode.CACHE, on_progress: Listener | None = None) -> RunResult:
    """Do what is asked and wait for it, with or without a running event loop.

    Raises UserError before anything is written when it could not even start, and what :func:`.perform.perform` raises.
    """

    def work() -> RunResult:
        check_ready(ask, replay=ledger_mode is LedgerMode.REPLAY)
        return asyncio.run(perform(ask, ledger_mode=ledger_mode, on_progress=on_progress))

    return _run_here(work)


def _run_here(work: Callable[[], RunResult]) -> RunResult:
    """Run it; in a thread of its own where this one has a running loop already (notebooks)."""
    if not _in_a_loop():
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _listed(names: str | Iterable[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _sources(reports: Given | Sequence[Given] | Systems) -> tuple[Source, ...]:
    if isinstance(reports, Mapping):
        return tuple(Source(given, system) for system, some in reports.items() for given in _several(some))
    return tuple(Source(given) for given in _several(reports))


def _several(given: Given | Sequence[Given]) -> Sequence[Given]:
    return [given] if isinstance(given, (str, Path)) or not isinstance(given, Sequence) else given


def _protocols(given: GivenProtocol | Sequence[GivenProtocol] | None) -> tuple[Protocol, ...]:
    many = () if given is None else [given] if isinstance(given, (str, Path, Protocol)) else given
    found: list[Protocol] = []
    for one in many:
        if isinstance(one, Protocol):
            found.append(one)
        else:
            found += [load_protocol(path) for path in _files(Path(one))]
    return tuple(found)


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.json")) if path.is_dir() else [path]


def _rubrics(given: GivenRubric | Sequence[GivenRubric] | None) -> tuple[Rubric, ...]:
    many = () if given is None else [given] if isinstance(given, (str, Path, Rubric)) else given
    return tuple(rubric for one in many for rubric in ((one,) if isinstance(one, Rubric) else load_criteria(one)))


def _fitting(rubrics: tuple[Rubric, ...], cases: Sequence[CaseRef]) -> tuple[Rubric, ...]:
    """Those on a query of this run (a file holds those of a whole bench). Raises UserError when none is."""
    prompts = {" ".join(case.task.prompt.split()) for case in cases}
    found = tuple(rubric for rubric in rubrics if " ".join(rubric.task.prompt.split()) in prompts)
    if rubrics and not found:
        raise UserError("none of the rubrics is about a query of this run: leave them out, or give those that are")
    return found


def _references(wanted: str | None, cases: Sequence[CaseRef], sources: Sources) -> tuple[Sources, tuple[CaseRef, ...]]:
    """Where the reference's own reports are read; nothing where it is one of the systems. Raises UserError."""
    if not wanted or any(case.system == wanted for case in cases):
        return Sources(()), ()
    if not Path(wanted).exists():
        known = ", ".join(dict.fromkeys(case.system for case in cases))
        raise UserError(f"--reference {wanted}: neither a system of this run ({known}) nor a file")
    tasks = list({case.task.id: case.task for case in cases}.values())
    found = Sources((Source(Path(wanted), "reference"),), sources.clean, sources.ledger)
    one = tasks[0] if len(tasks) == 1 else None
    return found, gather(found, task=one, tasks=None if one else tasks)
