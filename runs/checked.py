"""Checks of single wishes: each returns what is meant, or raises UserError that says what to change."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from ..errors import UserError
from ..protocols.catalogue import METRICS
from ..protocols.schema import Mode, Protocol
from .ask import DEFAULT_SEARCH
from .cases import Case


def metrics(wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Names in the order of the catalogue; none: all. Lists may be split by commas. Raises UserError."""
    if not wanted:
        return tuple(METRICS)
    names = [name.strip().lower() for part in wanted for name in part.split(",") if name.strip()]
    for name in names:
        if name not in METRICS:
            raise UserError(f"there is no metric {name!r}: choose among {', '.join(METRICS)}")
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
    """A date, or ``YYYY-MM-DD``. Raises UserError."""
    if value is None or isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(value)
    except ValueError:
        raise UserError(f"the as-of date {value!r} is no date: write YYYY-MM-DD") from None


def common_date(cases: Sequence[Case], protocols: Sequence[Protocol]) -> dt.date | None:
    """The one day that tasks and protocols name, or None. Raises UserError."""
    dates = {task.as_of for task, _ in cases if task.as_of is not None}
    dates |= {protocol.as_of.day for protocol in protocols if protocol.as_of.given}
    if len(dates) > 1:
        known = ", ".join(sorted(str(day) for day in dates))
        raise UserError(f"tasks and protocols are of different days ({known}): say which one counts with --as-of")
    return dates.pop() if dates else None


def protocols_fit(cases: Sequence[Case], protocols: Sequence[Protocol]) -> None:
    """Every protocol must be about a query of this run. Raises UserError."""
    prompts = {task.prompt.strip() for task, _ in cases}
    for protocol in protocols:
        if protocol.task.prompt.strip() not in prompts:
            raise UserError(
                f"the protocol asks about another query ({protocol.task.prompt[:60]!r}): evaluate reports on that one"
            )


def positive(**values: float | None) -> None:
    """No value may be zero or below; the names are those of options. Raises UserError."""
    for name, value in values.items():
        if value is not None and value <= 0:
            raise UserError(f"--{name.replace('_', '-')} must be above 0, not {value}")
