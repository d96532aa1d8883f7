"""The demo's planted faults, and which of them a run named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from .data import UnitResult
from .findings import Worst, worst_of


class Fault(BaseModel):
    """A fault planted in one report of the demo (``faults.json``; its README says how findings are matched)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: str
    text: str
    named_by: tuple[str, ...]
    """``contradicted``, or names of reasoning flaws."""
    keywords: tuple[tuple[str, ...], ...]
    """Groups of words; a finding that holds all words of one group is about this fault."""


def demo_folder() -> Path:
    """Where the demo's files are, in a checkout and in an installed package alike."""
    return Path(__file__).resolve().parents[1] / "examples" / "demo"


def load_faults(folder: Path | None = None) -> tuple[Fault, ...]:
    """The planted faults."""
    raw = json.loads(((folder or demo_folder()) / "faults.json").read_text(encoding="utf-8"))
    return tuple(Fault.model_validate(fault) for fault in raw["faults"])


def named_faults(faults: Sequence[Fault], lines: Iterable[UnitResult], *, report: str = "flawed") -> set[str]:
    """Ids of the faults that the findings on ``report`` name."""
    found = [worst for line in lines if line.report == report for worst in worst_of(line.result)]
    return {fault.id for fault in faults if any(_names(fault, worst) for worst in found)}


def finding_count(lines: Iterable[UnitResult], report: str) -> int:
    """Findings on a report that could name a fault: contradicted claims and reasoning flaws."""
    found = (worst for line in lines if line.report == report for worst in worst_of(line.result))
    return sum(worst.kind in ("contradicted claim", "reasoning flaw") for worst in found)


def _names(fault: Fault, worst: Worst) -> bool:
    kind = "contradicted" if worst.kind == "contradicted claim" else worst.flaw
    if kind not in fault.named_by:
        return False
    text = worst.text.casefold()
    return any(all(word in text for word in group) for group in fault.keywords)
