"""Joining the shards of a run, or runs over different tasks, into one finished run folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ..core import Task
from ..errors import InputError, UserError
from ..ledger import Ledger, Mode, join_runs
from .data import ReportRef, RunConfig, RunState, UnitPlace
from .files import short_digest, slug, write_atomic
from .labels import places_of
from .lock import no_place
from .measured import agreement_of
from .names import Place, names_of
from .reading import RunView, open_run
from .results import Spot, index_of, line_at, raw_at, raw_lines
from .store import SUBFOLDERS, RunFolder
from .summary import summarise

K = TypeVar("K")
V = TypeVar("V")
OWN = frozenset(
    {
        *("run", "version", "created_at", "as_of", "tasks", "reports", "references", "endpoints", "shard", "search"),
        *("protocols", "rubrics", "ledger", "budget_usd", "budget_tokens", "command"),
    }
)
"""Fields of a configuration that parts of one run may differ in; some of them are compared in their own way."""
LEDGER = "ledger.sqlite"
"""Name of the joined ledger in the merged folder."""


def merge(parts: Sequence[Path | str], out: Path | str) -> Path:
    """Make one run folder of several that asked the same thing of different tasks; returns it.

    It is a finished run like any other: its ``results.jsonl`` is that of a run that was never split, byte for byte, and
    its ledger, beside it, holds what all parts saw, so that it is replayed and exported by itself.

    Raises:
        UserError: a part is not finished, asked something else (the message says which field differs), overlaps with
            another result, or is missing; ``out`` is no new or empty folder.
        InputError: a folder holds no run, or a file of it is missing.
        OSError: disk full, no permission.
    """
    views, folder = [open_run(part) for part in parts], Path(out)
    if len(views) < 2:
        raise UserError("name at least two run folders to merge")
    _check_place(folder)
    _check_finished(views)
    _check_same(views)
    _check_shards(views)
    config = _config(views, folder)
    spots = _spots(views, config)
    _check_shared(spots)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=_parent(folder)) as scratch:
        draft = Path(scratch) / "run"
        _fill(draft, views, config, spots)
        if folder.exists():
            folder.rmdir()
        draft.replace(folder)
    return folder


# --- what must hold --------------------------------------------------------------------------------------------------


def _check_place(folder: Path) -> None:
    try:
        if folder.is_dir() and not any(folder.iterdir()):
            return
    except OSError as error:
        raise no_place(folder, error) from None
    if folder.exists() or folder.is_symlink():
        raise UserError(f"--out {folder}: exists already; name a new or an empty folder")


def _parent(folder: Path) -> Path:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise no_place(folder, error) from None
    return folder.parent


def _check_finished(views: Sequence[RunView]) -> None:
    for view in views:
        state = view.summary.state if view.summary else RunState.RUNNING
        if state is not RunState.FINISHED:
            raise UserError(f"{view.path}: is not finished ({state.value}): run its command again first")


def _check_same(views: Sequence[RunView]) -> None:
    """All asked the same. Raises UserError naming the first field that differs, with both values."""
    first = views[0]
    for view in views[1:]:
        for name in RunConfig.model_fields:
            left, right = _compared(first.config, name), _compared(view.config, name)
            if left != right:
                said = f"{_short(left)} in {first.path}, {_short(right)} in {view.path}"
                raise UserError(f"these runs did not ask the same thing: {name} is {said}{_hint(name)}")
        for name, place in view.config.endpoints.items():
            there = first.config.endpoints.get(name, place)
            if place != there:
                raise UserError(f"judge {name} is {there} in {first.path} and {place} in {view.path}")


def _compared(config: RunConfig, name: str) -> object:
    """The value by which configurations are compared; None for what they may differ in."""
    if name == "as_of":
        return config.as_of.day
    return None if name in OWN else getattr(config, name)


def _short(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def _hint(name: str) -> str:
    return "; give all shards the same --as-of" if name == "as_of" else ""


def _check_shards(views: Sequence[RunView]) -> None:
    """Each shard once, and none missing, where the runs are shards."""
    shards = [view.config.shard for view in views]
    given = [shard for shard in shards if shard is not None]
    if not given:
        return
    if len(given) < len(shards) or len({count for _, count in given}) > 1:
        said = ", ".join(f"{view.path}: {_shard(view.config.shard)}" for view in views)
        raise UserError(f"these are not the shards of one run ({said})")
    count, numbers = given[0][1], [number for number, _ in given]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise UserError(f"shard {twice[0]}/{count} is given twice")
    if missing := sorted(set(range(1, count + 1)) - set(numbers)):
        raise UserError(f"missing: shard {', '.join(f'{number}/{count}' for number in missing)}")


def _shard(shard: tuple[int, int] | None) -> str:
    return "no shard" if shard is None else f"{shard[0]}/{shard[1]}"


def _check_shared(spots: Mapping[UnitPlace, Spot]) -> None:
    """What is made once a task was made once: else systems would have been held against different questions."""
    made: dict[tuple[str, str, str], object] = {}
    for place, spot in spots.items():
        line = line_at(spot)
        for name, digest in (line.inputs if line else {}).items():
            if digest is None or name.partition(".")[0] not in ("protocol", "rubric", "reference"):
                continue
            about = (place[0], name, place[2] if name == "rubric" else "")
            if made.setdefault(about, digest) != digest:
                raise UserError(
                    f"task {place[0]}: its {name.partition('.')[0]} is not the same in all of these runs; "
                    "evaluate with the same one (--protocol) first"
                )


# --- the merged run --------------------------------------------------------------------------------------------------


def _config(views: Sequence[RunView], folder: Path) -> RunConfig:
    """What was asked in all, under a name of its own."""
    configs = [view.config for view in views]
    tasks: dict[str, Task] = {}
    reports: dict[Place, ReportRef] = {}
    references: dict[Place, ReportRef] = {}
    for view in views:
        for task in view.config.tasks:
            _add(tasks, task.id, task, f"task {task.id}", view)
        for ref in view.config.reports:
            _add(reports, (ref.task, ref.id), ref, f"report {ref.id} of task {ref.task}", view)
        for ref in view.config.references:
            _add(references, (ref.task, ref.id), ref, f"reference of task {ref.task}", view)
    return configs[0].model_copy(
        update={
            "run": f"{slug(folder.name)}-{short_digest(*(config.run for config in configs))}",
            "created_at": min(config.created_at for config in configs),
            "tasks": tuple(tasks.values()),
            "reports": tuple(reports.values()),
            "references": tuple(references.values()),
            "endpoints": {name: place for config in configs for name, place in config.endpoints.items()},
            "shard": None,
            "protocols": {task: digest for config in configs for task, digest in config.protocols.items()},
            "rubrics": {place: digest for config in configs for place, digest in config.rubrics.items()},
            "ledger": str((folder / LEDGER).resolve()),
            "budget_usd": None,
            "budget_tokens": None,
            "command": "",
        }
    )


def _add(known: dict[K, V], key: K, value: V, what: str, view: RunView) -> None:
    if known.setdefault(key, value) != value:
        raise UserError(f"{view.path}: {what} is not the same as in the others")


def _spots(views: Sequence[RunView], config: RunConfig) -> dict[UnitPlace, Spot]:
    """Where the result of each unit stands, in plan order."""
    found: dict[UnitPlace, Spot] = {}
    for view in views:
        for place, spot in index_of(view.path / "results.jsonl").last.items():
            if place in found and raw_at(found[place]) != raw_at(spot):
                task, system, metric, *_ = place
                other = found[place].path.parent
                raise UserError(
                    f"{system} {metric} of task {task} has one result in {other} and another in {view.path}"
                )
            found[place] = spot
    planned = list(places_of(config))
    if missing := [place for place in planned if place not in found]:
        task, system, metric, *_ = missing[0]
        raise UserError(
            f"{len(missing)} units have no result in any of these runs ({system} {metric} of task {task} …)"
        )
    return {place: found[place] for place in planned}


def _fill(draft: Path, views: Sequence[RunView], config: RunConfig, spots: Mapping[UnitPlace, Spot]) -> None:
    draft.mkdir()
    for view in views:
        for name in SUBFOLDERS:
            _copy(view.path / name, draft / name)
    join_runs(
        [(_ledger_of(view), view.config.run) for view in views], draft / LEDGER, config.run, scopes=_Scopes(views)
    )
    with Ledger.open(draft / LEDGER, run=config.run, mode=Mode.REPLAY) as ledger:
        totals = ledger.totals()
    write_atomic(draft / "results.jsonl", raw_lines(spots.values()))
    folder = RunFolder(draft)
    agreement = [row for judge in config.judges for row in agreement_of(judge, endpoint=config.endpoints.get(judge))]
    lines = (line for spot in spots.values() if (line := line_at(spot)) is not None)
    folder.save("summary.json", summarise(config, lines, totals, state=RunState.FINISHED, agreement=agreement))
    folder.save("run.json", config)


def _copy(source: Path, target: Path) -> None:
    """The files of a folder; of one that is there already the first counts, since digests were compared before."""
    target.mkdir(exist_ok=True)
    for path in sorted(source.glob("*.json")):
        if not (target / path.name).exists():
            shutil.copyfile(path, target / path.name)


def _ledger_of(view: RunView) -> Path:
    """The run's ledger, or the file of its name beside the run where that came from another machine."""
    path = Path(view.config.ledger)
    for place in (path, view.path / path.name, view.path / LEDGER):
        if place.is_file():
            return place
    raise InputError(f"the run's ledger {path} is not there: copy it into the run folder", path=view.path)


class _Scopes:
    """From a scope of a part to the one of the merged run: a report may need its task beside its name there."""

    def __init__(self, views: Sequence[RunView]) -> None:
        merged = names_of((ref.task, ref.id) for view in views for ref in view.config.reports)
        self._names = [
            {name: merged[place] for place, name in names_of((ref.task, ref.id) for ref in view.config.reports).items()}
            for view in views
        ]

    def __call__(self, part: int, scope: str) -> str:
        names, at = self._names[part], -1
        if scope.rpartition("/")[2].startswith(("protocol", "rubric")):  # a task's, which keeps its name
            return scope
        while (at := scope.find("/", at + 1)) >= 0:
            if (name := names.get(scope[:at])) is not None:
                return name + scope[at:]
        return scope
