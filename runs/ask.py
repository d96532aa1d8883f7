"""What somebody asks of an evaluation, checked and completed, before anything is opened."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path

from ..models.describing import is_local
from ..protocols.rubric import Rubric
from ..protocols.schema import Mode, Protocol
from .cases import CaseRef, Sources
from .data import DEFAULT_FLOOR
from .files import short_digest, slug
from .shards import dealt

DEFAULT_QUESTIONS = 10
DEFAULT_REASONING = 3
MOST_REPEATS = 100
"""More than anybody needs to know the noise of a score; a slip of the finger is more likely."""
RUNS = Path("dream-runs")
"""Where runs go when nobody says where."""


@dataclass(frozen=True)
class Ask:
    """An evaluation as asked for."""

    sources: Sources
    cases: tuple[CaseRef, ...]
    judges: tuple[str, ...]
    """As named by the user; the first one is the maker."""
    metrics: tuple[str, ...]
    search: tuple[str, ...]
    mode: Mode
    as_of: dt.date | None = None
    exclude_hosts: tuple[str, ...] = ()
    """In the spelling of ``tools.host_entry``, sorted."""
    protocols: tuple[Protocol, ...] = ()
    rubrics: tuple[Rubric, ...] = ()
    reference: str = ""
    """The system, or the file, whose reports the others are held against; empty: none."""
    references: Sources = field(default_factory=Sources)
    """The file, where ``reference`` is one."""
    reference_cases: tuple[CaseRef, ...] = ()
    """One a task."""
    out: Path | None = None
    ledger: Path | None = None
    questions: int = DEFAULT_QUESTIONS
    reasoning: int = DEFAULT_REASONING
    max_claims: int | None = None
    repeats: int = 1
    budget_usd: float | None = None
    budget_tokens: int | None = None
    concurrency: int | None = None
    """Calls at the same time to one endpoint, at most; None: the default of :class:`..models.Limits`."""
    floor: float = DEFAULT_FLOOR
    shard: tuple[int, int] | None = None
    """(i, n): only part i of n is done; ``cases`` are those of the whole run."""
    command: str = ""
    """The command as it was typed, if it was one."""

    @property
    def maker(self) -> str:
        """The judge that makes protocols, rubrics and claim lists."""
        return self.judges[0]

    @property
    def mine(self) -> tuple[CaseRef, ...]:
        """The reports of the part that is asked for: all of them, but for a shard."""
        part = dealt((case.task.id for case in self.cases), self.shard)
        return tuple(case for case in self.cases if case.task.id in part)

    @property
    def embedded(self) -> bool:
        """Whether the embedded judge is the maker."""
        return is_local(self.maker)

    @property
    def units(self) -> int:
        """How many units are asked for."""
        return len(self.mine) * len(self.metrics) * len(self.judges) * self.repeats

    @property
    def folder(self) -> Path:
        """The run folder: as given, else one named by what is asked, so that the same command finds it again."""
        if self.out is not None:
            return self.out
        names = [(case.task.id, case.task.prompt, case.system) for case in self.cases]
        where = [*self.search, *(f"-{host}" for host in self.exclude_hosts)]
        given = [*(one.digest for one in self.protocols), *(one.digest for one in self.rubrics)]
        judges = self.judges[0] if len(self.judges) == 1 else " ".join(self.judges)
        stamp = short_digest(names, judges, where, self.mode.value, str(self.as_of), given)
        return RUNS / f"{slug(self.cases[0].task.prompt, limit=32)}-{stamp}"


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
