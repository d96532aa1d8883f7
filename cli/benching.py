"""A benchmark from the command line: collect, run, compare, show, each step the verb of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..agents.research import read_profiles
from ..agents.research.benches import Bench, Footprint, footprint, open_bench, reports_on, select
from ..agents.research.perform import Wish
from ..agents.research.process import Limits
from ..core import Task
from ..errors import UserError
from ..ledger import Budget
from ..protocols.catalogue import GROUPS
from ..reports import Report
from ..runs.api import Systems, prepare
from ..runs.ask import Ask, default_ledger
from ..runs.data import Exit
from ..runs.files import short_digest, slug
from ..runs.plan import plan_of
from .bench_estimate import judging_line, stand_ins, system_lines
from .collecting import carry_out, upstream_of, usual_seconds
from .comparing import compare_and_show
from .evaluating import Manner, evaluate_and_show, make_console, resume_command
from .expect import go_on
from .printing import say

_GO_ON = {Exit.DONE, Exit.COVERAGE}
"""Collections after which what is there is judged."""


@dataclass(frozen=True)
class Entry:
    """A system on the benchmark, and where its reports are, or how it writes them."""

    name: str
    path: Path
    command: str | None = None
    endpoint: str | None = None

    @property
    def collects(self) -> bool:
        """Whether its reports are made here."""
        return bool(self.command or self.endpoint)


def bench_and_show(kind: str, **wishes: Any) -> int:
    """Do all of it and print it; returns the exit code. Raises UserError."""
    console, bench = make_console(), open_bench(kind, Path(wishes["data"]))
    tasks = select(bench.tasks, wishes["selection"])
    out = Path(wishes["out"] or f"dream-bench/{kind}")
    entries = entries_of(bench, out, wishes["systems"], wishes["commands"], wishes["endpoints"])
    codes = _collect(console, bench, entries, tasks, wishes)
    if codes is None or codes - _GO_ON:
        return Exit.INTERRUPTED if codes is None else Exit.first(codes)
    reports = {entry.name: _reports(entry, bench, tasks) for entry in entries}
    folder = out / "runs" / _run_name(wishes, reports)
    code = Exit(evaluate_and_show(_ask(bench, tasks, reports, folder, wishes), Manner(yes=wishes["yes"])))
    if code in _GO_ON and len(entries) > 1:
        say(console, "")
        _compare(folder)
    show_footprints(console, [footprint(e.name, reports[e.name], _profiles(e)) for e in entries])
    return Exit.first({code, *codes})


def entries_of(bench: Bench, out: Path, systems: str, commands: Sequence[str], endpoints: Sequence[str]) -> list[Entry]:
    """The systems that take part. UserError for one that has no reports and no way to write them."""
    names = list(dict.fromkeys(part.strip() for part in systems.split(",") if part.strip()))
    ways = {"command": _named("--command", commands), "endpoint": _named("--endpoint", endpoints)}
    stray = (ways["command"].keys() | ways["endpoint"].keys()) - set(names)
    if stray or not names:
        raise UserError(f"--systems {systems}: name there what --command and --endpoint are for ({', '.join(stray)})")
    found: list[Entry] = []
    for name in names:
        way = {kind: given[name] for kind, given in ways.items() if name in given}
        path = out / "reports" / f"{name}.jsonl" if way else bench.reports(name)
        if path is None:
            known = f"its systems: {', '.join(bench.systems()[:12]) or 'none'}"
            raise UserError(f"no reports of {name!r} in {bench.folder} ({known}); or say --command {name}=COMMAND")
        found.append(Entry(name, path, **way))
    return found


def _named(option: str, given: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    if not all(name.strip() and value.strip() for name, _, value in pairs):
        raise UserError(f"{option}: write NAME=VALUE, such as {option} mine='…'")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _collect(
    console: Console, bench: Bench, entries: Sequence[Entry], tasks: Sequence[Task], wishes: dict[str, Any]
) -> set[Exit] | None:
    """Have systems write what is missing; the codes of the collections, None when the user said no."""
    todo = [(entry, missing) for entry in entries if entry.collects and (missing := _missing(entry, tasks))]
    for line in _estimate(bench, todo, tasks, wishes) if todo else ():
        say(console, line)
    if todo and not (wishes["yes"] or go_on(ask=True)):
        return None
    codes: set[Exit] = set()
    for entry, _ in todo:
        codes.add(Exit(carry_out(_wish(entry, tasks, wishes))))
        say(console, "")
        if codes - _GO_ON:
            break
    return codes


def _estimate(
    bench: Bench, todo: Sequence[tuple[Entry, list[Task]]], tasks: Sequence[Task], wishes: dict[str, Any]
) -> Iterator[str]:
    """By system what is known of writing, then what judging would take. Raises UserError for a run that cannot be."""
    for entry, missing in todo:
        wish = _wish(entry, tasks, wishes)
        yield from system_lines(
            *(entry.name, entry.command or entry.endpoint or "", len(missing), len(tasks)),
            earlier=[path for path in (entry.path, Path("reports") / entry.path.name) if path.exists()],
            seconds=wish.limits.seconds,
            jobs=wish.jobs,
            seen=wish.command is None or wish.upstream is not None,
        )
    to_come = {entry.name: stand_ins(missing) for entry, missing in todo}
    yield judging_line(plan_of(_ask(bench, tasks, to_come, Path(wishes["out"] or "dream-bench") / "none-yet", wishes)))


def _missing(entry: Entry, tasks: Sequence[Task]) -> list[Task]:
    """The tasks whose reports are still to be written."""
    from ..agents.research.files import written

    done = written(entry.path)
    return [task for task in tasks if task.id not in done]


def _wish(entry: Entry, tasks: Sequence[Task], wishes: dict[str, Any]) -> Wish:
    return Wish(
        system=entry.name,
        tasks=tuple(tasks),
        out=entry.path,
        ledger=Path(wishes["ledger"] or default_ledger()),
        command=entry.command,
        endpoint=entry.endpoint,
        jobs=wishes["jobs"],
        limits=Limits(wishes["timeout"] or usual_seconds(entry.endpoint)),
        upstream=upstream_of(wishes["upstream"]) if entry.command else None,
        budget=Budget(wishes["budget_usd"], wishes["budget_tokens"]),
    )


def _reports(entry: Entry, bench: Bench, tasks: Sequence[Task]) -> list[Report]:
    if not entry.path.exists():
        raise UserError(f"{entry.name} has written no report; see {entry.path.with_suffix('.log')}")
    return reports_on(entry.path, bench.tasks, tasks)


def _run_name(wishes: dict[str, Any], reports: dict[str, list[Report]]) -> str:
    """Of the run's folder: another one for other tasks, systems, judges or metrics."""
    asked = (sorted(reports), wishes["judges"], wishes["metrics"], wishes["max_claims"])
    return f"{slug(wishes['selection'] or 'all')}-{short_digest(*asked)[:6]}"


def _ask(
    bench: Bench, tasks: Sequence[Task], reports: dict[str, list[Report]], folder: Path, wishes: dict[str, Any]
) -> Ask:
    """The run over all of it."""
    given: Systems = dict(reports)
    return prepare(
        given,
        tasks=list(tasks),
        judge=wishes["judges"] or None,
        metrics=wishes["metrics"] or GROUPS[bench.kind],
        rubric=bench.criteria,
        reference=wishes["reference"] or (str(bench.reference) if bench.reference else None),
        search=wishes["search"] or None,
        as_of=wishes["as_of"],
        max_claims=wishes["max_claims"],
        out=folder,
        ledger=wishes["ledger"],
        budget_usd=wishes["budget_usd"],
        budget_tokens=wishes["budget_tokens"],
        command=resume_command(),
    )


def _compare(folder: Path) -> None:
    compare_and_show(
        [str(folder)],
        by="system",
        judge=None,
        floor=None,
        with_thin=False,
        slices=(),
        vendors=(),
        to=None,
        plots=None,
    )


def _profiles(entry: Entry) -> dict[str, Any]:
    return dict(read_profiles(entry.path)) if entry.path.suffix == ".jsonl" else {}


def show_footprints(console: Console, found: Sequence[Footprint]) -> None:
    """Length, time and cost of each system."""
    table = Table(title=None, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("system", overflow="fold")
    for name in ("reports", "words", "citations", "time", "tokens", "US$"):
        table.add_column(name, justify="right")
    for one in found:
        cells = [f"{one.reports}", _shown(one.words), _shown(one.marks), _time(one.seconds), _shown(one.tokens)]
        table.add_row(Text(one.system), *cells, "?" if one.cost_usd is None else f"{one.cost_usd:.3f}")
    say(console, "")
    console.print(table)
    say(console, "Medians a report; ? is not known: reports of elsewhere, and systems whose model calls nobody saw.")


def _shown(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
