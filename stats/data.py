"""What the statistics give back."""

from __future__ import annotations

from ..core import Frozen


class Estimate(Frozen):
    """A figure with its 95 % interval. The unit is that of what was measured."""

    value: float
    low: float | None = None
    """None: too little data for an interval that means anything."""
    high: float | None = None
    n: int
    """Independent observations (tasks, labelled pairs) that it rests on."""
