"""The router, and the LLM, agent and workflow evaluators: one file a metric.

From claim to verdict: :mod:`.claims` makes the list, :mod:`.evidence` looks, :mod:`.verdicts` asks what a text says
about a claim, :mod:`.factuality` (``verdict_of``) and :mod:`.citations` (``pair_outcome``) decide.
"""

from __future__ import annotations

from .base import Case, Settings
from .claims import CLAIMS_VERSION, make_claims
from .queries import neutral_queries
from .results import Evidence, Item, MetricResult
from .router import VERSIONS, Route, evaluate_metric, route
from .rubrics import RUBRICS_VERSION, make_rubric

__all__ = [
    "CLAIMS_VERSION",
    "RUBRICS_VERSION",
    "VERSIONS",
    "Case",
    "Evidence",
    "Item",
    "MetricResult",
    "Route",
    "Settings",
    "evaluate_metric",
    "make_claims",
    "make_rubric",
    "neutral_queries",
    "route",
]
