"""The price table: a dated data file beside this module. What is not in it is unknown, never free."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_DATED = re.compile(r"-(20\d{2}-?\d{2}-?\d{2}|latest)$")
_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    cached: float
    output: float

    def cost(self, prompt: int, cached: int, completion: int) -> float:
        """US dollars of a call; ``prompt`` includes the ``cached`` tokens."""
        fresh = max(0, prompt - cached)
        return (fresh * self.input + cached * self.cached + completion * self.output) / _MILLION


FREE = Price(0.0, 0.0, 0.0)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "prices.toml").read_text(encoding="utf-8"))


def prices_as_of() -> dt.date:
    """The day on which the table was written."""
    return dt.date.fromisoformat(str(_table()["as_of"]))


def _entry(provider: str, model: str) -> dict[str, Any] | None:
    table = _table().get(provider)
    if not isinstance(table, dict):
        return None
    found = table.get(model) or table.get(_DATED.sub("", model))
    return found if isinstance(found, dict) else None


def list_price(provider: str, model: str) -> Price | None:
    """The list price of a model, a dated release (``gpt-5-mini-2025-08-07``) included; None when unknown."""
    found = _entry(provider, model)
    if found is None:
        return None
    return Price(float(found["input"]), float(found.get("cached", found["input"])), float(found["output"]))


def list_context(provider: str, model: str) -> int | None:
    """The context of a listed model in tokens, else None."""
    found = _entry(provider, model)
    return int(found["context"]) if found and "context" in found else None
