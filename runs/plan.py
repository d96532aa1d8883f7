"""What a run would take before it starts: what is left, calls by kind, tokens, a price range, and where that is from.

Nothing is called and nothing is written. A piece of work is a unit, or the making of a protocol, a rubric or a claim
list. What it takes is read from what the ledger has seen of like pieces (by the same judge, else by any), and where it
has seen too few, from the defaults in :mod:`.estimate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..ledger import Kind
from ..ledger.seen import Seen, seen_work
from ..models import Limits
from ..models.describing import is_local, price_of
from ..models.providers import parse_judge
from ..stats import mean, quantile
from .ask import Ask, default_ledger
from .configuring import configure, work_of
from .done import left_of
from .estimate import HOSTED_CALL_S, Load, Shape, embedded_seconds, piece_load
from .kept import Kept
from .labels import metric_of
from .rehearsal import Rehearsal
from .store import RunFolder
from .units import Unit
from .work import Work

FEW = 4
"""Like pieces in the ledger from which on it is believed."""
NOTHING = Shape(0, 0, 0)
DEFAULTS = "defaults"
LOW, HIGH = 0.5, 2.0
"""Ends of the range around a default, as factors."""


@dataclass(frozen=True)
class Span:
    """A value that is not known well."""

    low: float = 0.0
    mid: float = 0.0
    high: float = 0.0

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def times(self, factor: float) -> Span:
        """All of it so many times."""
        return Span(self.low * factor, self.mid * factor, self.high * factor)


@dataclass(frozen=True)
class Piece:
    """Pieces of work of one kind that one judge has to do."""

    what: str
    """A metric, ``protocol``, ``claims``, or a metric's rubric."""
    judge: str
    left: int
    calls: Mapping[Kind, float]
    """Of all of them, by kind."""
    prompt: Span
    """Tokens of the prompts, those that a prefix cache serves included."""
    new: Span
    """Tokens of the replies."""
    usd: Span | None
    """None: no price is known."""
    seconds: float
    """That the calls take one after another."""
    basis: str
    """Where it is from."""


@dataclass(frozen=True)
class Plan:
    """What is left to do, and what it would take."""

    units: int
    done: int
    pieces: tuple[Piece, ...]
    seconds: float
    """Until the end, about."""
    download: str | None = None
    """What must be fetched first, with its size; None: nothing."""

    @property
    def left(self) -> int:
        """Units to do."""
        return self.units - self.done

    @property
    def calls(self) -> Counter[Kind]:
        """Calls by kind, rounded."""
        total: dict[Kind, float] = {}
        for piece in self.pieces:
            for kind, n in piece.calls.items():
                total[kind] = total.get(kind, 0.0) + n
        return Counter({kind: round(n) for kind, n in total.items() if n})

    @property
    def tokens(self) -> Span:
        """Prompts and replies together."""
        return sum((piece.prompt + piece.new for piece in self.pieces), Span())

    @property
    def usd(self) -> Span | None:
        """US dollars; None when the price of some judge is not known."""
        prices = [piece.usd for piece in self.pieces]
        return None if None in prices else sum((usd for usd in prices if usd is not None), Span())


def plan_of(ask: Ask, rehearsal: Rehearsal | None = None) -> Plan:
    """What is left of what is asked, and what it would take; what the ledger answers (``rehearsal``) takes nothing.

    Needs no key. Raises UserError.
    """
    free = rehearsal or Rehearsal()
    folder = RunFolder(ask.folder)
    work = work_of(ask, configure(ask, folder.config(), folder.path.name))
    kept = Kept(work, folder)
    seen = Memory(seen_work(ask.ledger or default_ledger()))
    left = list(left_of(work, kept))
    to_ask = [unit for unit in left if unit.place not in free.answered]
    pieces = [*_made(ask, work, kept, seen, free.made), *_units(ask, work, to_ask, seen)]
    return Plan(
        units=work.size,
        done=work.size - len(left),
        pieces=tuple(pieces),
        seconds=_duration(ask, pieces),
        download=_download(ask),
    )


class Memory:
    """What the ledger has seen of pieces of work, by what they are."""

    def __init__(self, rows: Iterable[Seen]) -> None:
        self._pieces: dict[str, dict[tuple[int, str], list[Seen]]] = {}
        for row in rows:
            self._pieces.setdefault(metric_of(row.scope), {}).setdefault((row.run, row.scope), []).append(row)

    def like(self, what: str, judge: str) -> tuple[list[list[Seen]], str]:
        """Calls of each like piece, and what they have in common; empty where fewer than :data:`FEW` are known."""
        every = [rows for rows in self._pieces.get(what, {}).values() if any(r.prompt_tokens for r in rows)]
        own = [rows for rows in every if any(_by(row, judge) for row in rows)]
        if len(own) >= FEW:
            return own, f"{len(own)} by this judge"
        hosted = [rows for rows in every if not any(row.endpoint.startswith("local:") for row in rows)]
        if len(hosted) >= FEW and not is_local(judge):
            return hosted, f"{len(hosted)} by other judges"
        return [], ""


def _by(row: Seen, judge: str) -> bool:
    if row.kind is not Kind.COMPLETION:
        return False
    if is_local(judge):
        return row.endpoint.startswith("local:")
    known = parse_judge(judge)
    return (row.endpoint, row.model) == (known.endpoint, known.model)


def _made(ask: Ask, work: Work, kept: Kept, seen: Memory, free: frozenset[str]) -> Iterator[Piece]:
    """What must be made first, by the maker; ``free``: names of what the ledger answers."""
    tasks = {case.task.id: case.task for case in work.cases}.values()
    protocols = [
        task
        for task in tasks
        if work.any_needs("protocol") and kept.protocol(task) is None and kept.protocol_name(task) not in free
    ]
    yield from _piece("protocol", ask.maker, ask, [NOTHING] * len(protocols), seen)
    for metric in work.metrics:
        if work.needs(metric, "rubric"):
            rubrics = [
                task
                for task in tasks
                if kept.rubric(task, metric) is None and kept.rubric_name(task, metric) not in free
            ]
            yield from _piece(f"{metric} rubric", ask.maker, ask, [NOTHING] * len(rubrics), seen)
    if work.any_needs("claims"):
        cases = [c.shape for c in work.cases if not kept.has_claims(c) and kept.claims_name(c) not in free]
        yield from _piece("claims", ask.maker, ask, cases, seen)


def _units(ask: Ask, work: Work, left: Sequence[Unit], seen: Memory) -> Iterator[Piece]:
    names = dict(zip(work.judges, ask.judges, strict=True))
    for metric in work.metrics:
        for judge in work.judges:
            shapes = [unit.case.shape for unit in left if (unit.metric, unit.judge) == (metric, judge)]
            yield from _piece(metric, names[judge], ask, shapes, seen)


def _piece(what: str, judge: str, ask: Ask, shapes: Sequence[Shape], seen: Memory) -> Iterator[Piece]:
    """What so many pieces of one kind take together: nothing where there are none."""
    if not shapes:
        return
    like, basis = seen.like(what, judge)
    if like:
        yield _from_ledger(what, judge, len(shapes), like, basis)
        return
    load, embedded = Load(), is_local(judge)
    for shape in shapes:
        load += piece_load(
            what,
            shape.limited(ask.max_claims),
            ask.mode,
            questions=ask.questions,
            reasoning=ask.reasoning,
            embedded=embedded,
        )
    yield _from_defaults(what, judge, len(shapes), load)


def _from_ledger(what: str, judge: str, n: int, like: Sequence[Sequence[Seen]], basis: str) -> Piece:
    calls = {kind: n * mean([_sum(rows, "calls", kind) for rows in like]) for kind in Kind}
    prompt, new, cached = (
        _span(like, name).times(n) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    )
    if is_local(judge):
        seconds = embedded_seconds(prompt.mid - cached.mid, new.mid)
    else:
        seconds = calls[Kind.COMPLETION] * HOSTED_CALL_S
    return Piece(
        what,
        judge,
        n,
        {k: v for k, v in calls.items() if v},
        prompt,
        new,
        _usd(judge, prompt, new, cached),
        seconds,
        basis,
    )


def _from_defaults(what: str, judge: str, n: int, load: Load) -> Piece:
    prompt = Span(LOW * load.prompt, load.prompt, HIGH * load.prompt)
    new = Span(LOW * load.new, load.new, HIGH * load.new)
    calls = {Kind.COMPLETION: float(load.calls), Kind.PAGE: float(load.lookups)}
    seconds = load.sequential(embedded=is_local(judge))
    usd = _usd(judge, prompt, new, Span())
    return Piece(what, judge, n, {k: v for k, v in calls.items() if v}, prompt, new, usd, seconds, DEFAULTS)


def _sum(rows: Sequence[Seen], name: str, kind: Kind | None = None) -> float:
    return float(sum(getattr(row, name) for row in rows if kind in (None, row.kind)))


def _span(like: Sequence[Sequence[Seen]], name: str) -> Span:
    """Of one piece: the quartiles of what was seen, around the mean."""
    values = [_sum(rows, name) for rows in like]
    middle = mean(values)
    return Span(min(middle, quantile(values, 0.25)), middle, max(middle, quantile(values, 0.75)))


def _usd(judge: str, prompt: Span, new: Span, cached: Span) -> Span | None:
    """``cached``: prompt tokens that a prefix cache served before; the upper end counts on none."""
    price = price_of(judge)
    if price is None:
        return None

    def cost(p: float, c: float, n: float) -> float:
        return price.cost(round(p), round(min(p, c)), round(n))

    low, mid = cost(prompt.low, cached.low, new.low), cost(prompt.mid, cached.mid, new.mid)
    return Span(min(low, mid), mid, max(mid, cost(prompt.high, 0, new.high)))


def _duration(ask: Ask, pieces: Sequence[Piece]) -> float:
    """Judges work beside one another, each with so many calls at once; the embedded one with one."""
    together = ask.concurrency or Limits().concurrency
    spent: dict[str, float] = {}
    for piece in pieces:
        spent[piece.judge] = spent.get(piece.judge, 0.0) + piece.seconds / (1 if is_local(piece.judge) else together)
    return max(spent.values(), default=0.0)


def _download(ask: Ask) -> str | None:
    if not any(is_local(judge) for judge in ask.judges):
        return None
    from ..models.local import embedded_status

    status = embedded_status()
    if status.path is not None or not status.bytes_to_fetch:
        return None
    return f"the embedded judge is fetched ({status.bytes_to_fetch / 1e9:.2f} GB)"
