"""How a run stands, from its folder and its ledger: reads only, also while another process works on it."""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..core import Frozen, Status
from ..errors import InputError, UserError
from ..ledger import Ledger, Mode, Totals
from .data import RunConfig, RunState
from .labels import places_of
from .lock import held_here
from .reading import RunView, open_run

State = Literal["running", "finished", "interrupted", "budget", "refused", "died"]
"""``died``: its process is gone, and it did not come to say why."""


class Owner(Frozen):
    """The process that works on a run, or the last one that did not end cleanly."""

    pid: int
    host: str
    started: dt.datetime
    alive: bool | None
    """None: it is on another machine, from where this one cannot tell."""


class CellStatus(Frozen):
    """How the units of one system and metric stand."""

    system: str
    metric: str
    planned: int
    done: int
    """Scored or not applicable."""
    failed: int
    left: int
    """Not reached yet."""


class RunStatus(Frozen):
    """How a run stands."""

    run: str
    folder: str
    state: State
    reason: str
    """Why it stopped, where it did."""
    owner: Owner | None
    planned: int
    done: int
    failed: int
    left: int
    cells: tuple[CellStatus, ...]
    totals: Totals | None
    """What it used so far; None: the ledger is not there."""
    advice: str
    """How to go on; empty when there is nothing to do."""


def status_of(folder: Path | str) -> RunStatus:
    """Look at a run. Raises InputError when there is none, or it cannot be read."""
    view = open_run(folder)
    config, owner = view.config, owner_of(view.path)
    planned = Counter((system, metric) for _, system, metric, _, _ in places_of(config))
    done, failed = _ended(view)
    cells = tuple(
        CellStatus(
            system=place[0],
            metric=place[1],
            planned=count,
            done=done[place],
            failed=failed[place],
            left=count - done[place] - failed[place],
        )
        for place, count in planned.items()
    )
    left = sum(cell.left for cell in cells)
    state = _state(view, owner, left)
    return RunStatus(
        run=config.run,
        folder=str(folder),
        state=state,
        reason=view.summary.reason if view.summary and state == view.summary.state.value else "",
        owner=owner,
        planned=sum(cell.planned for cell in cells),
        done=done.total(),
        failed=failed.total(),
        left=left,
        cells=cells,
        totals=_totals(config),
        advice=_advice(config, state, failed.total()),
    )


def newest_run(root: Path) -> Path:
    """The run folder below ``root`` that was begun last. Raises UserError when there is none."""
    found = [path.parent for path in root.glob("*/run.json")]
    if not found:
        raise UserError(f"{root}: no run in it; name a run folder")
    return max(found, key=lambda path: (path / "run.json").stat().st_mtime)


def owner_of(folder: Path) -> Owner | None:
    """Who works on a run folder, or did when it died; None when nobody does and the last one ended cleanly."""
    here, now = socket.gethostname(), dt.datetime.now(dt.UTC)
    if held_here(folder):
        return Owner(pid=os.getpid(), host=here, started=now, alive=True)
    try:
        said = json.loads((folder / "lock").read_text())
        pid, host, started = int(said["pid"]), str(said["host"]), dt.datetime.fromisoformat(said["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Owner(pid=pid, host=host, started=started, alive=_locked(folder / "lock", pid) if host == here else None)


def _locked(path: Path, pid: int) -> bool:
    """Whether a live process holds the lock, asked without taking it; not to be called by its holder."""
    if sys.platform == "linux":
        import fcntl
        import struct

        layout = "hhqqi4x"  # struct flock: type, whence, start, length, pid
        with suppress(OSError), path.open("rb") as file:
            asked = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            answer = struct.unpack(layout, fcntl.fcntl(file, fcntl.F_GETLK, asked))
            return bool(answer[0] != fcntl.F_UNLCK)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and another user's
        return True
    return True


def _ended(view: RunView) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    done: Counter[tuple[str, str]] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    for line in view.results():
        (failed if line.result.status is Status.FAILED else done)[line.report, line.metric] += 1
    return done, failed


def _state(view: RunView, owner: Owner | None, left: int) -> State:
    if owner is not None and owner.alive is not False:
        return "running"
    summary = None
    with suppress(InputError):
        summary = view.summary
    if owner is not None or summary is None or summary.state is RunState.RUNNING:
        return "died"
    if summary.state is RunState.FINISHED and left:  # the plan has grown since
        return "died"
    return _STATES[summary.state]


_STATES: dict[RunState, State] = {
    RunState.FINISHED: "finished",
    RunState.INTERRUPTED: "interrupted",
    RunState.BUDGET: "budget",
    RunState.REFUSED: "refused",
}


def _totals(config: RunConfig) -> Totals | None:
    try:
        with Ledger.open(config.ledger, run=config.run, mode=Mode.REPLAY) as ledger:
            return ledger.totals()
    except UserError:
        return None


def _advice(config: RunConfig, state: State, failed: int) -> str:
    again = config.command or "run the same command again"
    if state == "finished":
        return f"to try what failed again: {again}" if failed else ""
    if state == "running":
        return ""
    if state == "budget":
        return f"raise the budget and go on: {again}"
    if state == "refused":
        return f"see to the account (dream doctor says which), then go on: {again}"
    return f"to go on: {again}"
