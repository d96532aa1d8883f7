"""Intervals of scores: pure functions on the 0–100 scale."""

from __future__ import annotations

from .intervals import (
    DRAWS,
    FEWEST,
    bootstrap,
    bootstrap_mean,
    items_interval,
    mean,
    quantile,
    score_range,
    wilson,
)

__all__ = [
    "DRAWS",
    "FEWEST",
    "bootstrap",
    "bootstrap_mean",
    "items_interval",
    "mean",
    "quantile",
    "score_range",
    "wilson",
]
