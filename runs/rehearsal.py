"""What the ledger would answer of a run, found by doing the run in replay mode on a copy: nothing is called."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UserError
from ..ledger import Mode as LedgerMode
from .ask import Ask, default_ledger
from .data import UnitPlace
from .perform import Outside, perform
from .progress import Notice, Progress
from .store import SUBFOLDERS

PATIENCE_S = 20.0
"""A rehearsal that takes longer is ended; what it found until then counts."""
COPIED = ("run.json", "results.jsonl", "superseded.jsonl", *SUBFOLDERS)


@dataclass(frozen=True)
class Rehearsal:
    """Units that need no call."""

    answered: frozenset[UnitPlace] = frozenset()
    """Not done yet, and answered by the ledger as a whole."""
    made: frozenset[str] = frozenset()
    """Protocols, rubrics and claim lists that it answers too, by their names in the run folder."""
    whole: bool = True
    """False: time was up, and there may be more."""


def rehearse(ask: Ask, *, patience_s: float = PATIENCE_S) -> Rehearsal:
    """Find how many of the units left the ledger answers as a whole. Needs no key, no network and no judge."""
    if not Path(ask.ledger or default_ledger()).is_file():
        return Rehearsal()
    with tempfile.TemporaryDirectory(prefix="dream-plan-") as scratch:
        out = Path(scratch) / ask.folder.name
        _copy(ask.folder, out)
        again = replace(ask, out=out, budget_usd=None, budget_tokens=None)
        answered, whole = asyncio.run(_rehearse(again, patience_s))
        return Rehearsal(answered, frozenset(_made(out)), whole)


async def _rehearse(ask: Ask, patience_s: float) -> tuple[frozenset[UnitPlace], bool]:
    answered: set[UnitPlace] = set()

    def listen(_: Progress, notice: Notice | None) -> None:
        if notice is not None and notice.line is not None and not notice.reused and notice.line.settled:
            answered.add(notice.line.place)

    work = perform(ask, ledger_mode=LedgerMode.REPLAY, on_progress=listen, outside=Outside(rehearsal=True))
    try:
        await asyncio.wait_for(work, patience_s)
    except (TimeoutError, UserError):  # the latter: of a model file the ledger knows two versions, say
        return frozenset(answered), False
    return frozenset(answered), True


def _made(folder: Path) -> list[str]:
    return [f"{name}/{path.name}" for name in SUBFOLDERS for path in (folder / name).glob("*.json")]


def _copy(folder: Path, out: Path) -> None:
    out.mkdir(parents=True)
    for name in COPIED:
        with suppress(FileNotFoundError):
            if (folder / name).is_dir():
                shutil.copytree(folder / name, out / name)
            else:
                shutil.copyfile(folder / name, out / name)
