"""Running a finished run again from its ledger, without a network, and comparing what comes out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, UserError
from ..evaluators import VERSIONS
from ..ledger import Mode as LedgerMode
from ..protocols import load_protocol, load_rubric
from ..reports.data import Report
from .ask import Ask
from .cases import CaseRef, Source, Sources, Stored, ref_of
from .data import ReportRef, RunConfig, RunState
from .perform import RunResult, perform
from .progress import Listener
from .store import RunFolder
from .summary import Summary


@dataclass(frozen=True)
class Replayed:
    """What a replay showed."""

    units: int
    difference: str | None
    """The first difference, in a line; None: byte for byte the same."""


async def replay(
    folder: Path | str, *, ledger: Path | str | None = None, on_progress: Listener | None = None
) -> Replayed:
    """Run a finished run again from its ledger (or the exported one given) and compare ``results.jsonl``.

    Nothing is called and the run folder is not touched. Raises InputError (no run there), UserError (not finished),
    ReplayMiss (the ledger lacks a call).
    """
    stored = RunFolder(folder)
    config = finished_config(stored)
    with tempfile.TemporaryDirectory(prefix="dream-replay-") as scratch:
        place = config if ledger is None else config.model_copy(update={"ledger": str(Path(ledger).resolve())})
        if not Path(place.ledger).is_file():
            raise InputError("no such ledger: name the exported one with --ledger", path=place.ledger)
        ask = ask_again(stored, place, out=Path(scratch) / "run")
        result = await perform(ask, ledger_mode=LedgerMode.REPLAY, on_progress=on_progress, replayed=place)
        return Replayed(len(result.keys), _compare(stored, result))


def finished_config(folder: RunFolder) -> RunConfig:
    """What was asked in a finished run. Raises InputError, UserError."""
    config = folder.config()
    if config is None:
        raise InputError("no run here (there is no run.json)", path=folder.path)
    summary = folder.load("summary.json", Summary)
    if summary is None or summary.state is not RunState.FINISHED:
        raise UserError(f"{folder.path}: the run is not finished; run its command again first")
    if not folder.results_path.is_file():
        raise InputError("the run's results are missing: its own command makes them again", path=folder.results_path)
    if other := [name for name in config.metrics if config.versions.get(name) != VERSIONS[name]]:
        made = f"dream-eval {config.version} made it with other prompts for {', '.join(other)}"
        raise UserError(f"{folder.path}: cannot be replayed by this version: {made}")
    return config


def ask_again(folder: RunFolder, config: RunConfig, *, out: Path) -> Ask:
    """The evaluation that a run folder holds, asked once more. Raises InputError when a file of it is missing."""
    sources, cases = _copies(folder, config, config.reports)
    references, reference_cases = _copies(folder, config, config.references)
    protocols = [f"protocols/given-{digest[:12]}.json" for digest in dict.fromkeys(config.protocols.values())]
    rubrics = [f"rubrics/given-{digest[:12]}.json" for digest in dict.fromkeys(config.rubrics.values())]
    return Ask(
        sources=sources,
        cases=cases,
        judges=config.judges,
        metrics=config.metrics,
        search=config.search,
        exclude_hosts=config.exclude_hosts,
        mode=config.mode,
        as_of=config.as_of.day,
        protocols=tuple(load_protocol(folder.path / name) for name in protocols),
        rubrics=tuple(load_rubric(folder.path / name) for name in rubrics),
        reference=config.reference,
        references=references,
        reference_cases=reference_cases,
        out=out,
        ledger=Path(config.ledger),
        questions=config.questions,
        reasoning=config.reasoning,
        max_claims=config.max_claims,
        repeats=config.repeats,
        floor=config.floor,
        shard=config.shard,
    )


def _copies(folder: RunFolder, config: RunConfig, refs: Sequence[ReportRef]) -> tuple[Sources, tuple[CaseRef, ...]]:
    """The reports as the run's folder keeps them."""
    tasks = {task.id: task for task in config.tasks}
    sources, cases = [], []
    for ref in refs:
        path = folder.path / "reports" / ref.file
        report = folder.load(f"reports/{ref.file}", Report)
        if report is None:
            raise InputError("the run's copy of this report is missing", path=path)
        sources.append(Source(Stored(path), ref.id))
        cases.append(ref_of(tasks[ref.task], report, ref.id))
    return Sources(tuple(sources)), tuple(cases)


def _compare(stored: RunFolder, result: RunResult) -> str | None:
    before = stored.results_path.read_bytes()
    after = RunFolder(result.folder).results_path.read_bytes()
    if before == after:
        return None
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    for number, (old, new) in enumerate(pairs, start=1):
        if old != new:
            return f"line {number}: {_where(old, new)}"
    return f"{len(before.splitlines())} lines before, {len(after.splitlines())} now"


def _where(old: bytes, new: bytes) -> str:
    try:
        was, now = json.loads(old), json.loads(new)
    except ValueError:
        return "not JSON"
    unit = f"{was.get('report')}/{was.get('metric')}"
    path, left, right = _first(was, now, "")
    return f"{unit} at {path or 'the whole line'}: {json.dumps(left)[:120]} before, {json.dumps(right)[:120]} now"


def _first(was: object, now: object, path: str) -> tuple[str, object, object]:
    """Path of the first difference with both values, depth first."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted(was.keys() | now.keys()):
            if was.get(name) != now.get(name):
                return _first(was.get(name), now.get(name), f"{path}.{name}".lstrip("."))
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (left, right) in enumerate(zip(was, now, strict=True)):
            if left != right:
                return _first(left, right, f"{path}[{index}]")
    return path, was, now
