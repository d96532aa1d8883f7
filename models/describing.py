"""What is known of a judge before it is opened: for estimates and ``doctor``. Needs no network and no SDK."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .data import Limits
from .prices import FREE, Price, list_context, list_price
from .providers import LOCAL, Judge, parse_judge


@dataclass(frozen=True)
class Described:
    """A judge's provider and what is configured for it; never a key's value."""

    name: str
    provider: str
    model: str
    base_url: str | None
    """None for the embedded judge: its address is known once it runs."""
    key_variable: str | None
    key_set: bool
    key_needed: bool
    context: int | None
    """Tokens; None for the embedded judge before it runs."""
    price: Price | None
    """US dollars per million tokens; None: unknown."""


def is_local(name: str) -> bool:
    """True for the embedded judge: ``local``, or ``local:`` and the first hex digits of a file's SHA-256."""
    return name == LOCAL or name.startswith(f"{LOCAL}:")


def judge_price(judge: Judge) -> Price | None:
    """The price of a judge that is not the embedded one."""
    return FREE if judge.provider.free else list_price(judge.provider.name, judge.model)


def judge_context(judge: Judge, limits: Limits) -> int:
    """The context in tokens: as asked for, else as listed, else the provider's cautious value."""
    return limits.context or list_context(judge.provider.name, judge.model) or judge.provider.context


def price_of(name: str) -> Price | None:
    """The price of the judge ``name``, 0 for the user's own servers; None when unknown. UserError for a bad name."""
    return FREE if is_local(name) else judge_price(parse_judge(name))


def describe(name: str) -> Described:
    """What is known of the judge ``name``. UserError for a bad name."""
    if is_local(name):
        return Described(name, LOCAL, name, None, None, False, False, None, FREE)
    judge = parse_judge(name)
    provider, variable = judge.provider, judge.provider.key_variable
    return Described(
        name=judge.name,
        provider=provider.name,
        model=judge.model,
        base_url=provider.base_url,
        key_variable=variable,
        key_set=bool(variable and os.environ.get(variable)),
        key_needed=provider.key_needed,
        context=judge_context(judge, Limits()),
        price=judge_price(judge),
    )
