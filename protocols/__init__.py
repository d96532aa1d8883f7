"""The evaluation protocol as data: schema, metric catalogue, lint, diff, files."""

from .catalogue import METRICS, Ability, Metric, Vertical
from .diff import Change, Diff, diff
from .files import digest_of, items_digest, load_protocol, save_protocol, seal
from .language import compound, time_bound, yes_no
from .lint import Problem, has_outside_step, lint, same_question
from .schema import (
    SCHEMA_VERSION,
    KeyQuestion,
    Maker,
    Mode,
    Plan,
    Protocol,
    Provenance,
    ReasoningQuestion,
)

__all__ = [
    "METRICS",
    "SCHEMA_VERSION",
    "Ability",
    "Change",
    "Diff",
    "KeyQuestion",
    "Maker",
    "Metric",
    "Mode",
    "Plan",
    "Problem",
    "Protocol",
    "Provenance",
    "ReasoningQuestion",
    "Vertical",
    "compound",
    "diff",
    "digest_of",
    "has_outside_step",
    "items_digest",
    "lint",
    "load_protocol",
    "same_question",
    "save_protocol",
    "seal",
    "time_bound",
    "yes_no",
]
