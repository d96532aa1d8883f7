"""What goes into the ledger and what comes out of it: plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from ..core import Frozen, Json
from .canon import digest


class Kind(StrEnum):
    """What kind of outside call it is."""

    COMPLETION = "completion"
    SEARCH = "search"
    PAGE = "page"
    ARXIV = "arxiv"
    GITHUB = "github"


class Mode(StrEnum):
    """Where answers come from."""

    CACHE = "cache"
    """Reuse a usable recorded answer, else call and record."""
    REFRESH = "refresh"
    """Call and record, whatever was recorded before this process."""
    REPLAY = "replay"
    """Only what is recorded; nothing is called and nothing is written."""


class Usage(Frozen):
    """Tokens and money of one call. All zero for calls that cost nothing."""

    prompt_tokens: int = Field(default=0, ge=0)
    """All tokens of the prompt, cached ones included."""
    cached_tokens: int = Field(default=0, ge=0)
    """Those of them that a prefix cache served."""
    completion_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=0.0, ge=0)
    """US dollars; None when the price, or what was used, is unknown. Unknown is never 0."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together: what a token budget counts."""
        return self.prompt_tokens + self.completion_tokens


FREE = Usage()
"""Used nothing, cost nothing."""


@dataclass(frozen=True)
class Request:
    """One outside call, told in such a way that equal calls are equal.

    ``body`` holds no ids, file names, ports or clock. Searches, pages, arXiv and GitHub calls carry ``as_of``
    in it. ``sample`` numbers independent draws of the same request.
    """

    kind: Kind
    endpoint: str
    body: Mapping[str, Json]
    sample: int = 0

    @cached_property
    def key(self) -> str:
        """64 hex digits: SHA-256 of kind, endpoint, body and sample. ValueError for NaN and infinities."""
        return digest({"kind": self.kind, "endpoint": self.endpoint, "body": dict(self.body), "sample": self.sample})

    @property
    def subject(self) -> str:
        """What a person would call it: the query, the address, or the model."""
        for name in ("query", "url", "name", "id", "model"):
            value = self.body.get(name)
            if isinstance(value, str) and value:
                return value
        return self.endpoint


@dataclass(frozen=True)
class Answer:
    """What an outside call brought. ``usable`` False: recorded, and asked again by the next run."""

    body: Json
    blob: bytes | None = None
    """Raw bytes of a page, stored once by content."""
    usage: Usage = FREE
    usable: bool = True
    reason: str = ""
    """Why it is not usable."""


@dataclass(frozen=True)
class Record:
    """An answer as the ledger holds it: secrets masked, the same live and replayed."""

    id: int
    key: str
    body: Json
    blob: bytes | None
    usage: Usage
    usable: bool
    reason: str
    reused: bool
    """True when nothing was called for it just now."""
    elapsed_s: float
    """Seconds that the call took when it was made, waits included."""


@dataclass(frozen=True)
class Budget:
    """What a whole run may spend, resumed parts included. None: no limit."""

    usd: float | None = None
    tokens: int | None = None
    """Prompt and completion tokens."""


@dataclass(frozen=True)
class Reserve:
    """Upper bound of what one call can use. ``usd`` None: its price is unknown."""

    tokens: int = 0
    usd: float | None = 0.0


NO_LIMIT = Budget()
NOTHING = Reserve()


@dataclass(frozen=True)
class Event:
    """Told to listeners as it happens. ``phase``: start, done, reused, failed or wait."""

    phase: str
    kind: Kind | None
    scope: str
    subject: str
    seconds: float = 0.0
    """How long it took; for a wait, how long it will take."""
    usage: Usage = FREE
    reason: str = ""
    """Why it failed or waits."""
    endpoint: str = ""
    key: str = ""
    """Of a call: the key by which it is found in the ledger."""
    call: int = 0
    """Number of its record in this ledger file; 0 where there is none (start, wait)."""
    foreign: bool = False
    """Of a reused answer: another run called for it. What a run reuses of its own is not counted again."""
    content: Callable[[], tuple[Json, Json]] | None = field(default=None, compare=False, repr=False)
    """Reads request and answer as recorded, secrets masked; None where there is no record. Call it at once."""


class KindTotals(Frozen):
    """Calls of one kind in a run."""

    made: int = 0
    """Answers that this run called for."""
    reused: int = 0
    """Answers of other runs that it used."""
    failed: int = 0
    """Calls of this run that failed for good."""
    seconds: float = 0.0
    """Time spent in calls that this run made; calls at the same time add up."""


class Totals(Frozen):
    """Sums over the records of a run; what other runs paid for is counted apart and costs nothing here."""

    kinds: dict[Kind, KindTotals] = Field(default_factory=dict)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    known_usd: float = 0.0
    """Sum of the known costs, US dollars."""
    unpriced: tuple[str, ...] = ()
    """Endpoints with a call of unknown cost."""
    cut_short: int = 0
    """Calls that were cancelled while they ran (counted among the failed); they may have been paid for."""
    cut_short_usd: float = 0.0
    """At most this much was paid for them, US dollars; not in ``known_usd``."""

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None when the cost of any call is unknown (``unpriced`` names the endpoints)."""
        return None if self.unpriced else self.known_usd

    @property
    def made(self) -> int:
        """Calls of this run that were answered."""
        return sum(k.made for k in self.kinds.values())

    @property
    def reused(self) -> int:
        """Answers of other runs that were used."""
        return sum(k.reused for k in self.kinds.values())

    @property
    def failed(self) -> int:
        """Calls of this run that failed for good."""
        return sum(k.failed for k in self.kinds.values())

    @property
    def seconds(self) -> float:
        """Time spent in calls; calls at the same time add up."""
        return sum(k.seconds for k in self.kinds.values())
