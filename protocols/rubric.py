"""A rubric: the dimensions and weighted criteria by which point-wise quality and RACE score reports on one task.

Like a protocol it is made once a task, sealed with a digest, and shared by all systems and judges that are compared.
Weights are kept so that they sum to 1: the weights of the dimensions, and those of the criteria of each dimension.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from ..core import Frozen, Json, Task
from ..errors import InputError
from .files import check_version, read_json, sha256, write_text
from .lint import Problem, same_question

RUBRIC_VERSION = 1

Kind = Literal["dre_quality", "race"]
"""The metric that a rubric is for."""

GENERAL: dict[Kind, dict[str, str]] = {
    "dre_quality": {
        "coverage": "breadth: how much of what the task needs is dealt with",
        "insight": "depth: analysis, causes and consequences, judgement of one's own",
        "instruction_following": "does what was asked: scope, constraints, form of the answer",
        "clarity": "order, wording and presentation",
    },
    "race": {
        "comprehensiveness": "breadth, depth and relevance of what is covered",
        "insight": "depth, originality, logic and value of the analysis",
        "instruction_following": "does what was asked: scope, constraints, every part of the question",
        "readability": "order, wording, presentation of data, layout",
    },
}
"""The dimensions that every rubric of a kind has, with what they mean [names: paper, meaning: ours]."""

SPECIFIC = range(1, 4)
"""Task-specific dimensions of a rubric for point-wise quality [paper]."""
CRITERIA = range(2, 13)
"""Criteria of a dimension that a rubric should have."""
TAKEN = ("general", "specific", "specific_share")
"""What a result calls its parts beside the dimensions; no dimension may be called so."""
CLOSE = 1e-9
"""Weights that miss 1 by less are left as they are: a rubric that is read again keeps its digest."""

Weight = Field(gt=0, allow_inf_nan=False)


class Criterion(Frozen):
    """One thing to score, 0–10."""

    id: str
    """``c1`` … through the whole rubric."""
    text: str = Field(min_length=1)
    explanation: str = ""
    weight: float = Weight
    """Share of its dimension."""


class Dimension(Frozen):
    """One side of quality."""

    name: str = Field(min_length=1)
    definition: str = ""
    weight: float = Weight
    """Share of the whole."""
    specific: bool = False
    """Made for this task."""
    criteria: tuple[Criterion, ...] = Field(min_length=1)


class Rubric(Frozen):
    """One rubric file."""

    schema_version: int = RUBRIC_VERSION
    kind: Kind
    task: Task
    created_at: dt.datetime
    """UTC; not part of the digest."""
    maker: str
    """Name of the judge, or of the file it was read from."""
    prompt_version: int = 0
    """Version of the prompts it was made with; 0: it was read."""
    dimensions: tuple[Dimension, ...] = Field(min_length=1)
    flags: tuple[str, ...] = ()
    """``edited``: changed by hand after it was sealed."""
    digest: str = ""
    """SHA-256 over kind, query and dimensions."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """All criteria, in order."""
        return tuple(criterion for dimension in self.dimensions for criterion in dimension.criteria)

    @property
    def specific_weight(self) -> float:
        """Share of the weight on task-specific dimensions, 0–1."""
        return math.fsum(dimension.weight for dimension in self.dimensions if dimension.specific)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Rubric:
        for what, names in (
            ("dimension", [dimension.name.casefold() for dimension in self.dimensions]),
            ("criterion", [criterion.id for criterion in self.criteria]),
        ):
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise ValueError(f"the {what} {twice!r} is there twice")
        if taken := next((d.name for d in self.dimensions if d.name.casefold() in TAKEN), None):
            raise ValueError(f"{taken!r} is a name of its own in results: call the dimension otherwise")
        general = [dimension.name for dimension in self.dimensions if not dimension.specific]
        if sorted(general) != sorted(GENERAL[self.kind]):
            raise ValueError(
                f"the general dimensions are {', '.join(GENERAL[self.kind])}, not {', '.join(general) or 'none'}"
            )
        if self.kind == "race" and len(general) < len(self.dimensions):
            raise ValueError("a rubric for race has no task-specific dimension")
        return self


def rubric_digest(rubric: Rubric) -> str:
    """SHA-256 (64 hex digits) over kind, the query and the dimensions; not over the task's name or the maker."""
    kept = rubric.model_dump(mode="json", include={"kind", "dimensions"})
    return sha256(kept | {"prompt": rubric.task.prompt})


def seal_rubric(rubric: Rubric) -> Rubric:
    """The rubric with weights that sum to 1 and its digest filled in."""
    dimensions = tuple(
        dimension.model_copy(update={"weight": weight, "criteria": _criteria(dimension)})
        for dimension, weight in zip(rubric.dimensions, shares([d.weight for d in rubric.dimensions]), strict=True)
    )
    even = rubric.model_copy(update={"dimensions": dimensions})
    return even.model_copy(update={"digest": rubric_digest(even)})


def _criteria(dimension: Dimension) -> tuple[Criterion, ...]:
    weights = shares([criterion.weight for criterion in dimension.criteria])
    return tuple(
        criterion.model_copy(update={"weight": weight})
        for criterion, weight in zip(dimension.criteria, weights, strict=True)
    )


def shares(weights: Sequence[float]) -> list[float]:
    """The weights divided by their sum; as they are where they sum to 1 already."""
    total = math.fsum(weights)
    return list(weights) if abs(total - 1) < CLOSE else [weight / total for weight in weights]


# --- files -----------------------------------------------------------------------------------------------------------


def save_rubric(rubric: Rubric, path: Path | str) -> Path:
    """Write the sealed rubric so that a reader sees the old file or the new one, never half of one."""
    return write_text(path, seal_rubric(rubric).model_dump_json(indent=2) + "\n")


def load_rubric(path: Path | str) -> Rubric:
    """Read a rubric file. One that was changed by hand is sealed anew and gets the flag ``edited``.

    Raises InputError (with the field) for anything that is not a rubric of a known version.
    """
    path = Path(path)
    raw = read_json(path)
    if not is_rubric(raw) or not isinstance(raw, dict):
        raise InputError("not a rubric: the file has no dimensions", path=path)
    check_version(raw.get("schema_version"), path, known=RUBRIC_VERSION)
    rubric = _validated(raw, path)
    sealed = seal_rubric(rubric)
    if rubric.digest == sealed.digest or "edited" in rubric.flags:
        return sealed
    return sealed.model_copy(update={"flags": (*sealed.flags, "edited")})


def is_rubric(raw: Json) -> bool:
    """Whether the content of a JSON file is meant to be a rubric (and not a protocol)."""
    return isinstance(raw, dict) and "dimensions" in raw and "kind" in raw


def _validated(raw: Json, path: Path, line: int | None = None) -> Rubric:
    try:
        return Rubric.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        raise InputError(message, path=path, line=line, field=field or None) from None


def rubric_for(task: Task, kind: Kind, rubrics: Iterable[Rubric]) -> Rubric | None:
    """The rubric made for this query. Found by the query's text: ids of different sets of tasks overlap."""
    wanted = " ".join(task.prompt.split())
    return next((one for one in rubrics if one.kind == kind and " ".join(one.task.prompt.split()) == wanted), None)


# --- lint ------------------------------------------------------------------------------------------------------------


def lint_rubric(rubric: Rubric) -> list[Problem]:
    """What is wrong with a rubric's form, found without a model; empty when nothing is."""
    return [*_counts(rubric), *_weights(rubric), *_duplicates(rubric)]


def _counts(rubric: Rubric) -> Iterator[Problem]:
    specific = sum(dimension.specific for dimension in rubric.dimensions)
    if rubric.kind == "dre_quality" and specific not in SPECIFIC:
        message = f"{specific} task-specific dimensions; wanted are {SPECIFIC.start} to {SPECIFIC.stop - 1}"
        yield Problem(rule="specific_dimensions", item=None, message=message)
    for dimension in rubric.dimensions:
        if (count := len(dimension.criteria)) not in CRITERIA:
            message = f"{count} criteria; wanted are {CRITERIA.start} to {CRITERIA.stop - 1}"
            yield Problem(rule="criteria_count", item=dimension.name, message=message)


def _weights(rubric: Rubric) -> Iterator[Problem]:
    if len({dimension.weight for dimension in rubric.dimensions}) == 1 < len(rubric.dimensions):
        yield Problem(rule="equal_weights", item=None, message="all dimensions weigh the same: nothing was weighed")
    if rubric.specific_weight > 0.5:
        share = f"{100 * rubric.specific_weight:.0f} %"
        yield Problem(
            rule="specific_weight", item=None, message=f"{share} of the weight is on task-specific dimensions"
        )
    for dimension in rubric.dimensions:
        if dimension.weight > 0.6:
            message = f"has {100 * dimension.weight:.0f} % of the weight"
            yield Problem(rule="one_dimension_decides", item=dimension.name, message=message)


def _duplicates(rubric: Rubric) -> Iterator[Problem]:
    criteria = rubric.criteria
    for index, criterion in enumerate(criteria):
        twin = next((other for other in criteria[:index] if same_question(criterion.text, other.text)), None)
        if twin is not None:
            yield Problem(rule="duplicate_criterion", item=criterion.id, message=f"scores the same as {twin.id}")
