"""Checks of single wishes: each returns what is meant, or raises UserError that says what to change."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Sequence

from ..errors import UserError
from ..models.providers import default_judge
from ..protocols.catalogue import DREAM, GROUPS, METRICS
from ..protocols.rubric import Rubric
from ..protocols.schema import Mode, Protocol
from ..tools import DEFAULT_SEARCH
from .cases import CaseRef
from .shards import Cluster, Shard


def judge(wanted: str | None) -> str:
    """None: the default one. Raises UserError for an empty name, which is never the embedded judge by itself."""
    if wanted is None:
        return default_judge()
    if not wanted.strip():
        raise UserError("--judge is empty: name one (provider/model, URL#model, local), or leave the option out")
    return wanted.strip()


def judges(wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """One judge or several, each once; None: the default one. Raises UserError."""
    if wanted is not None and (not isinstance(wanted, Sequence) or not all(isinstance(one, str) for one in wanted)):
        raise UserError(f"judge: a name or several names are wanted, not {wanted!r}")
    names = [judge(wanted)] if wanted is None or isinstance(wanted, str) else [judge(one) for one in wanted]
    if not names:
        return (judge(None),)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"the judge {twice!r} is named twice: --repeats says how often each is asked")
    return tuple(names)


def metrics(wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Names in the order of the catalogue; none: DREAM's. Lists may be split by commas and name whole groups.

    Raises UserError.
    """
    if not wanted:
        return DREAM
    given = [name.strip().lower() for part in wanted for name in part.split(",") if name.strip()]
    names = [name for one in given for name in GROUPS.get(one, (one,))]
    for name in names:
        if name not in METRICS:
            groups = f"or a group ({', '.join(GROUPS)})"
            raise UserError(f"there is no metric {name!r}: choose among {', '.join(METRICS)}, {groups}")
    if not names:
        raise UserError(f"no metric is named: choose among {', '.join(METRICS)}")
    return tuple(name for name in METRICS if name in names)


def search(wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """Back ends; none: the default one. Raises UserError."""
    if wanted is None or not wanted:
        return DEFAULT_SEARCH
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)


def hosts(wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """Hosts in one spelling, in order, each once. Lists may be split by commas. Raises UserError."""
    from ..tools import host_entry

    given = [wanted] if isinstance(wanted, str) else wanted or ()
    return tuple(sorted({host_entry(name) for part in given for name in part.split(",") if name.strip()}))


def mode(wanted: Mode | str | None, *, embedded: bool) -> Mode:
    """None: ``agent``, and ``guided`` for the embedded judge. Raises UserError."""
    if wanted is None:
        return Mode.GUIDED if embedded else Mode.AGENT
    try:
        return Mode(wanted)
    except ValueError:
        raise UserError(f"there is no mode {wanted!r}: choose among {', '.join(Mode)}") from None


def date(value: dt.date | str | None) -> dt.date | None:
    """A date, or ``YYYY-MM-DD``, that is not in the future. Raises UserError."""
    if value is None:
        return None
    if isinstance(value, dt.datetime):
        value = value.date()
    try:
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(value)
    except ValueError:
        raise UserError(f"the as-of date {value!r} is no date: write YYYY-MM-DD") from None
    if day > today():
        raise UserError(f"the as-of date {day} lies in the future (today is {today()}): nobody can judge as of then")
    return day


def today() -> dt.date:
    """The day it is in UTC or here, whichever is later."""
    now = dt.datetime.now(dt.UTC)
    return max(now.date(), now.astimezone().date())


def protocols_in_time(day: dt.date, protocols: Sequence[Protocol]) -> None:
    """No protocol may be of a later day than the one as of which is judged. Raises UserError."""
    for protocol in protocols:
        if protocol.as_of.day > day:
            raise UserError(
                f"the protocol is as of {protocol.as_of.day} and knows what came after {day}, as of which reports are "
                f"judged: give --as-of {protocol.as_of.day} or later, or another protocol"
            )


def common_date(cases: Sequence[CaseRef], protocols: Sequence[Protocol]) -> dt.date | None:
    """The one day that tasks and protocols name, or None. Raises UserError."""
    dates = {case.task.as_of for case in cases if case.task.as_of is not None}
    dates |= {protocol.as_of.day for protocol in protocols if protocol.as_of.given}
    if len(dates) > 1:
        known = ", ".join(sorted(str(day) for day in dates))
        raise UserError(f"tasks and protocols are of different days ({known}): say which one counts with --as-of")
    return dates.pop() if dates else None


def protocols_fit(cases: Sequence[CaseRef], protocols: Sequence[Protocol | Rubric]) -> None:
    """Every protocol and rubric must be about a query of this run. Raises UserError."""
    prompts = {" ".join(case.task.prompt.split()) for case in cases}
    for protocol in protocols:
        if " ".join(protocol.task.prompt.split()) not in prompts:
            kind = "rubric" if isinstance(protocol, Rubric) else "protocol"
            raise UserError(
                f"the {kind} asks about another query ({protocol.task.prompt[:60]!r}): evaluate reports on that one"
            )


def positive(**values: float | None) -> None:
    """Each value must be a finite number above zero; the names are those of options. Raises UserError."""
    for name, value in values.items():
        if value is not None and not 0 < value < math.inf:
            raise UserError(f"--{name.replace('_', '-')} must be above 0, and a number, not {value}")


def share(**values: float) -> None:
    """Each value must lie in [0, 1]; the names are those of options. Raises UserError."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise UserError(f"--{name.replace('_', '-')} must lie between 0 and 1, not {value}")


def shard(wanted: Shard | str | None) -> Shard | None:
    """``i/n`` with 1 ≤ i ≤ n. Raises UserError."""
    if wanted is None:
        return None
    try:
        number, parts = map(int, wanted.split("/")) if isinstance(wanted, str) else wanted
    except ValueError:
        raise UserError(f"--shard {wanted!r}: write I/N, such as 1/4") from None
    if not 1 <= number <= parts:
        raise UserError(f"--shard {number}/{parts}: the first number must lie between 1 and the second")
    return (number, parts)


def same_part(wanted: Shard | None, there: Shard | None) -> None:
    """A folder holds one part of a run, or all of it. Raises UserError."""
    if wanted != there:
        holds = "all of a run" if there is None else f"part {there[0]}/{there[1]} of a run"
        raise UserError(f"the run folder holds {holds}: give another --out for another part")


def cluster(engine: str, address: str | None) -> Cluster | None:
    """Where a run is done: None for this process. Raises UserError for an address without ``--engine ray``, and for
    Ray Client: ledger and run folder lie here, so that this machine has to be one of the nodes."""
    if engine == "ray":
        if (address or "").startswith("ray://"):
            raise UserError(
                f"--ray-address {address}: Ray Client cannot keep the ledger: start the run on a node of the cluster, "
                f"with --ray-address auto or HOST:6379"
            )
        return Cluster(address)
    if address is not None:
        raise UserError("--ray-address needs --engine ray")
    return None


def gates_fit(given: Collection[str], metrics: Sequence[str]) -> None:
    """A gate must be about a metric of the run. Raises UserError."""
    if other := next((name for name in given if name not in metrics), None):
        raise UserError(f"--fail-under {other}: is not among the metrics of this run ({', '.join(metrics)})")


def gates(given: Sequence[str], names: Collection[str], *, example: str, bare: str = "") -> dict[str, float]:
    """``NAME=VALUE`` pairs with values from 0 to 100; a value alone is about ``bare``. Raises UserError."""
    found: dict[str, float] = {}
    for gate in given:
        name, _, text = gate.rpartition("=")
        name = name.strip().lower() or bare
        try:
            value = float(text)
        except ValueError:
            raise UserError(f"--fail-under {gate!r}: write {example}") from None
        if not name:
            raise UserError(f"--fail-under {gate!r}: write {example}")
        if name not in names:
            raise UserError(f"--fail-under: there is no {name!r}: choose among {', '.join(names)}")
        if not 0 <= value <= 100:
            raise UserError(f"--fail-under {gate!r}: the value must lie between 0 and 100")
        found[name] = value
    return found
