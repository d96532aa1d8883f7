"""Calibration records: how well a judge agrees with people, as its user measured it with ``dream study human``.

One JSON file a record, in the user's data folder. A record names the judge, the prompts and rules that were measured
and the labelled data; where any of the three has changed since, the record is stale and says so wherever it is shown.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from ..core import Frozen
from ..ledger import digest

EVALUATORS = Path(__file__).parents[1] / "evaluators"
MODULES = {
    "passage": ("verdicts", "small_judge", "stances", "asking"),
    "page": ("verdicts", "small_judge", "stances", "asking", "citations"),
    "preference": ("race", "weighing", "rubrics", "asking"),
}
"""What is measured to the modules whose prompts and rules it rests on."""


class Figure(Frozen):
    """One measure with its 95 % interval."""

    measure: str
    value: float
    low: float | None = None
    high: float | None = None
    guessing: float | None = None
    """What a constant answer reaches."""


class Calibration(Frozen):
    """One record."""

    judge: str
    endpoint: str
    what: str
    """In words: ``a passage supports or refutes a claim, or neither`` …"""
    kind: str
    """A key of :data:`MODULES`."""
    data: str
    data_file: str
    """Where the labels were read."""
    data_digest: str
    """SHA-256 of that file."""
    sample_digest: str
    """SHA-256 of the examples that were asked."""
    sampled: str = ""
    prompts: str
    """Digest of the prompts and rules measured."""
    n: int = Field(gt=0)
    figures: tuple[Figure, ...] = Field(min_length=1)
    """The first one is shown beside scores."""
    date: dt.date
    seal: str = ""
    """Digest of all other fields."""

    def sealed(self) -> Calibration:
        """The record with its seal."""
        return self.model_copy(update={"seal": self._own_digest()})

    def _own_digest(self) -> str:
        return digest(self.model_dump(mode="json", exclude={"seal"}))

    def stale(self) -> str:
        """What has changed since it was measured; empty: nothing."""
        if self.seal != self._own_digest():
            return "the record was edited"
        if self.prompts != prompts_digest(self.kind):
            return "the prompts or rules have changed since"
        labels = Path(self.data_file)
        if labels.is_file() and file_digest(labels) != self.data_digest:
            return "the labels have changed since"
        return ""


def prompts_digest(kind: str) -> str:
    """SHA-256 over the source of the modules that hold the prompts and rules. KeyError for an unknown kind."""
    hashed = hashlib.sha256()
    for name in MODULES[kind]:
        hashed.update((EVALUATORS / f"{name}.py").read_bytes())
    return hashed.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file. Raises OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def records_folder() -> Path:
    """Where the user's records are kept."""
    import platformdirs

    return platformdirs.user_data_path("dream-eval", appauthor=False) / "calibration"


def calibrations(judge: str, endpoint: str | None = None, *, folder: Path | None = None) -> Iterator[Calibration]:
    """The user's records on a judge, newest first, stale ones too. Files that are no records are skipped."""
    found = []
    for path in sorted((folder or records_folder()).glob("*.json")):
        try:
            record = Calibration.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            continue
        if record.endpoint == endpoint if endpoint else record.judge == judge:
            found.append(record)
    yield from sorted(found, key=lambda record: record.date, reverse=True)
