"""What ``dream run`` and ``dream evaluate`` call: from options to what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..runs import checked
from ..runs.ask import RUNS
from ..runs.files import slug
from ..runs.wishes import FILE, Wishes, load_wishes
from .evaluating import Manner, evaluate_and_show, read_gates, resume_command

MANNER = ("ledger_mode", "plan", "yes", "junit", "log_json", "otel")
"""Options that say how it is done, not what."""


def evaluate_reports(reports: Sequence[str], **options: Any) -> int:
    """Evaluate reports named on the command line; returns the exit code. Raises UserError."""
    manner = {name: options.pop(name) for name in MANNER}
    wishes = Wishes().changed(_meant(options))
    ask = wishes.ask(reports, command=resume_command())
    return evaluate_and_show(ask, Manner(**manner, gates=wishes.fail_under))


def run_and_show(
    file: str | None,
    *,
    name: str | None,
    systems: Sequence[str],
    shard: str | None,
    engine: str,
    ray_address: str | None,
    **options: Any,
) -> int:
    """Do what a file and options ask; returns the exit code. Raises UserError."""
    manner = {name: options.pop(name) for name in MANNER}
    wishes, base = _wishes(file, any_system=bool(systems))
    changes = _meant(options) | {"systems": _systems(systems)}
    if name is not None and options["out"] is None:
        changes["out"] = str(base / RUNS / slug(name))
    wishes = wishes.changed(changes)
    ask = wishes.ask(shard=checked.shard(shard), command=resume_command())
    ray = checked.cluster(engine, ray_address)
    return evaluate_and_show(ask, Manner(**manner, gates=wishes.fail_under, ray=ray, file=_file(file)))


def _wishes(file: str | None, *, any_system: bool) -> tuple[Wishes, Path]:
    if file is None and not Path(FILE).exists():
        if not any_system:
            raise UserError(f"there is no {FILE} here: dream run init writes one to start from")
        return Wishes().located(Path(), default=Path.cwd().name), Path()
    path = Path(file or FILE)
    return load_wishes(path), path.parent


def _file(file: str | None) -> str | None:
    return file or (FILE if Path(FILE).exists() else None)


def _meant(options: dict[str, Any]) -> dict[str, Any]:
    """Options as values of the keys they are named after."""
    gates = read_gates(options["fail_under"])
    return {**options, "fail_under": gates, "as_of": checked.date(options["as_of"])}


def _systems(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one in given:
        name, sign, file = one.partition("=")
        if not (name.strip() and sign and file.strip()):
            raise UserError(f"--system {one!r}: write NAME=FILE, such as ours=reports/ours.jsonl")
        found[name.strip()] = (*found.get(name.strip(), ()), file.strip())
    return found
