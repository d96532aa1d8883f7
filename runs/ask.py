"""What somebody asks of an evaluation, checked and completed, before anything is opened."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from ..models.describing import is_local
from ..protocols.schema import Mode, Protocol
from .cases import Case
from .data import DEFAULT_FLOOR
from .files import short_digest, slug

DEFAULT_QUESTIONS = 10
DEFAULT_REASONING = 3
RUNS = Path("dream-runs")
"""Where runs go when nobody says where."""


@dataclass(frozen=True)
class Ask:
    """An evaluation as asked for."""

    cases: tuple[Case, ...]
    judge: str
    metrics: tuple[str, ...]
    search: tuple[str, ...]
    mode: Mode
    as_of: dt.date | None = None
    exclude_hosts: tuple[str, ...] = ()
    """In the spelling of ``tools.host_entry``, sorted."""
    protocols: tuple[Protocol, ...] = ()
    out: Path | None = None
    ledger: Path | None = None
    questions: int = DEFAULT_QUESTIONS
    reasoning: int = DEFAULT_REASONING
    max_claims: int | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    floor: float = DEFAULT_FLOOR

    @property
    def embedded(self) -> bool:
        """Whether the embedded judge is asked for."""
        return is_local(self.judge)

    @property
    def folder(self) -> Path:
        """The run folder: as given, else one named by what is asked, so that the same command finds it again."""
        if self.out is not None:
            return self.out
        names = [(task.id, task.prompt, report.id) for task, report in self.cases]
        where = [*self.search, *(f"-{host}" for host in self.exclude_hosts)]
        stamp = short_digest(
            names, self.judge, where, self.mode.value, str(self.as_of), [p.digest for p in self.protocols]
        )
        return RUNS / f"{slug(self.cases[0][0].prompt, limit=32)}-{stamp}"


def default_ledger() -> Path:
    """The user's one ledger file."""
    import platformdirs

    return platformdirs.user_data_path("dream-eval", appauthor=False) / "ledger.sqlite"


def search_identity(entry: str) -> str:
    """A search back end as results depend on it: a corpus counts by its content, not by its path.

    Raises UserError when a corpus is not there.
    """
    kind, _, place = entry.partition(":")
    if kind != "corpus":
        return entry
    from ..tools import corpus_digest

    return f"corpus:{corpus_digest(Path(place))}"
