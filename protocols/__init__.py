"""The evaluation protocol and the rubric as data: schema, metric catalogue, lint, diff, files."""

from .catalogue import DREAM, GROUPS, METRICS, Ability, Metric, Vertical
from .criteria import load_criteria
from .diff import Change, Diff, diff
from .files import digest_of, items_digest, load_protocol, save_protocol, seal
from .language import compound, time_bound, yes_no
from .lint import Problem, has_outside_step, lint, same_question
from .rubric import Criterion, Dimension, Rubric, lint_rubric, load_rubric, rubric_for, save_rubric, seal_rubric
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
    "DREAM",
    "GROUPS",
    "METRICS",
    "SCHEMA_VERSION",
    "Ability",
    "Change",
    "Criterion",
    "Diff",
    "Dimension",
    "KeyQuestion",
    "Maker",
    "Metric",
    "Mode",
    "Plan",
    "Problem",
    "Protocol",
    "Provenance",
    "ReasoningQuestion",
    "Rubric",
    "Vertical",
    "compound",
    "diff",
    "digest_of",
    "has_outside_step",
    "items_digest",
    "lint",
    "lint_rubric",
    "load_criteria",
    "load_protocol",
    "load_rubric",
    "rubric_for",
    "same_question",
    "save_protocol",
    "save_rubric",
    "seal",
    "seal_rubric",
    "time_bound",
    "yes_no",
]
