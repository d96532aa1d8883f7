"""From what a user names (files, texts, a query) to tasks with their reports, which are read one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from ..core import Json, Task
from ..errors import InputError, UserError
from ..models.counting import count_tokens
from ..reports import iter_join, iter_reports, load_tasks, scalar
from ..reports.data import Report, SegmentKind
from .digests import digest
from .estimate import LIKELY, Shape, expected_claims
from .fetching import fetch_reports, is_address
from .files import short_digest


@dataclass(frozen=True)
class Stored:
    """A report as a run folder keeps it: parsed, as JSON."""

    path: Path

    def read(self) -> Report:
        """Raises InputError."""
        try:
            return Report.model_validate_json(self.path.read_bytes())
        except (OSError, ValidationError) as error:
            raise InputError(f"the run's copy of a report cannot be read ({error})", path=self.path) from None


Given = str | Path | Report | Stored
"""A path of a report file or folder, a web address of a report, a report read already, or a run's copy of one."""


@dataclass(frozen=True)
class Source:
    """Something given that holds reports."""

    given: Given
    system: str = ""
    """The system that wrote all of them; empty: each is named by its file."""

    @property
    def name(self) -> str:
        """In the user's own words."""
        if isinstance(self.given, Report):
            return self.given.id
        return str(self.given.path if isinstance(self.given, Stored) else self.given)


@dataclass(frozen=True)
class CaseRef:
    """A report with its task, as a run knows it while the text itself is not held."""

    task: Task
    system: str
    digest: str
    """Of the report."""
    citations: str
    """Digest of its sources and marks."""
    shape: Shape

    @property
    def place(self) -> tuple[str, str]:
        """(task, system)."""
        return (self.task.id, self.system)


@dataclass(frozen=True)
class Sources:
    """All that was given, and how it is read."""

    items: tuple[Source, ...] = ()
    clean: bool = True
    ledger: Path | str | None = None

    def read(self) -> Iterator[tuple[Source, Report]]:
        """Each report, in the order given. Raises InputError."""
        for source in self.items:
            for report in _read(source.given, self.clean, self.ledger):
                yield source, report

    def again(self, cases: Sequence[CaseRef]) -> Iterator[tuple[CaseRef, Report]]:
        """The reports once more, under the names of ``cases`` (what :func:`gather` made of them; some may be left out).

        Raises UserError when a file was changed in between.
        """
        wanted = iter(cases)
        case = next(wanted, None)
        for _, report in self.read():
            if case is not None and report.digest == case.digest:
                yield case, report.model_copy(update={"id": case.system})
                case = next(wanted, None)
        if case is not None:
            raise UserError(f"the report of {case.system} was changed while the run was starting: start it again")


def read_task(where: str) -> Task:
    """The task that ``FILE.jsonl#id`` names; ``#id`` may be left out when the file holds one task.

    Raises InputError.
    """
    name, _, wanted = where.partition("#")
    tasks = load_tasks(Path(name))
    chosen = [task for task in tasks if not wanted or task.id == wanted]
    if len(chosen) == 1:
        return chosen[0]
    if not wanted:
        raise InputError(
            f"holds {len(tasks)} tasks: say which one, as {name}#{tasks[0].id if tasks else 'ID'}", path=name
        )
    known = ", ".join(task.id for task in tasks[:5])
    raise InputError(f"no task {wanted!r} (there are: {known}{' …' if len(tasks) > 5 else ''})", path=name)


def read_query(text: str) -> str:
    """The query itself, or the content of the file that ``@FILE`` names. Raises InputError."""
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the query cannot be read ({error})", path=path) from None
    if not text.strip():
        raise UserError('the query is empty: give the question that the reports answer, as --query "…"')
    return scalar(text.strip())


def task_of(prompt: str) -> Task:
    """A task made of a bare query; its id comes from its text."""
    return Task(id=f"q-{short_digest(prompt)}", prompt=prompt)


def gather(
    sources: Sources, *, task: Task | None, tasks: Path | str | Sequence[Task] | None = None
) -> tuple[CaseRef, ...]:
    """Reports with their task: the given one, else one of ``tasks`` (or a file of them), else each report's own prompt.

    Each is read once and not held. Raises InputError for a file that cannot be read, UserError when there is no report,
    no query, or two reports of one name and task.
    """
    found: list[tuple[Source, CaseRef]] = []
    current: list[Source] = []

    def each() -> Iterator[Report]:
        for source, report in sources.read():
            current[:] = [source]
            yield report

    for its_task, report in _joined(each(), task, tasks):
        found.append((current[0], ref_of(its_task, report, current[0].system)))
    if not found:
        raise UserError("there is no report to evaluate: name at least one file")
    doubles = _doubles(found)
    found = [(source, _renamed(case, source) if case.place in doubles else case) for source, case in found]
    if left := _doubles(found):
        raise UserError(_told_twice(sorted(left)[0], found))
    return tuple(case for _, case in found)


def _joined(
    reports: Iterator[Report], task: Task | None, tasks: Path | str | Sequence[Task] | None
) -> Iterator[tuple[Task, Report]]:
    if tasks is None:
        return ((task or _own_task(report), report) for report in reports)
    known = load_tasks(Path(tasks)) if isinstance(tasks, (str, Path)) else tasks
    return iter_join(reports, known) if len(known) != 1 else (_only(report, known[0]) for report in reports)


def _only(report: Report, task: Task) -> tuple[Task, Report]:
    """The only task is that of a report that says nothing else. Raises InputError."""
    return (task, report) if report.task_id is None and not report.prompt else next(iter_join([report], [task]))


def ref_of(task: Task, report: Report, system: str = "") -> CaseRef:
    """What a run keeps in mind of a report; ``system``: its name, else the report's own."""
    cited: list[Json] = [value.model_dump(mode="json") for value in (*report.sources, *report.marks)]
    return CaseRef(task, system or report.id, report.digest, digest(cited), shape_of(report))


def shape_of(report: Report) -> Shape:
    """What counts of a report for an estimate."""
    sentences = [s for s in report.sentences if report.segments[s.segment].kind is not SegmentKind.REFERENCES]
    return Shape(
        tokens=round(LIKELY * count_tokens(report.text)),
        claims=expected_claims(len(sentences)),
        pages=len({source.target for source in report.sources if source.target}),
    )


def _read(given: Given, clean: bool, ledger: Path | str | None) -> Iterator[Report]:
    if isinstance(given, Report):
        yield given
    elif isinstance(given, Stored):
        yield given.read()
    elif isinstance(given, str) and is_address(given):
        yield from fetch_reports(given, ledger=ledger, clean=clean)
    else:
        path = Path(given)
        if not path.exists():
            raise InputError("no such file", path=path)
        yield from iter_reports(path, clean=clean)


def _own_task(report: Report) -> Task:
    if not report.prompt:
        raise UserError(f'{report.id}: nobody says what it answers: give the question, as --query "…"')
    return Task(id=report.task_id or task_of(report.prompt).id, prompt=report.prompt)


def _doubles(found: Sequence[tuple[Source, CaseRef]]) -> set[tuple[str, str]]:
    counts = Counter(case.place for _, case in found)
    return {place for place, n in counts.items() if n > 1}


def _told_twice(place: tuple[str, str], found: Sequence[tuple[Source, CaseRef]]) -> str:
    """Which of the things given hold two reports of one name and task, in the user's own words."""
    sources = [source for source, case in found if case.place == place]
    names = [source.name for source in sources]
    if sources[0].system:
        return f"the system {place[1]!r} has two reports on task {place[0]!r} ({' and '.join(dict.fromkeys(names))})"
    if len(set(names)) == 1 and not isinstance(sources[0].given, Report):
        return f"{names[0]} is given twice, or holds two reports of one name ({place[1]!r}) on one query: leave one out"
    return f"{' and '.join(dict.fromkeys(names))} have the same name ({place[1]!r}): rename one of them"


def _renamed(case: CaseRef, source: Source) -> CaseRef:
    """The report under a name that holds its folder too (``a/report.md`` and ``b/report.md``)."""
    if isinstance(source.given, (Report, Stored)) or source.system:
        return case
    return replace(case, system=f"{Path(source.given).resolve().parent.name}-{case.system}")
