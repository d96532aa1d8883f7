"""The answers that are asked for: what a model is held to, and what is taken from it."""

from __future__ import annotations

from functools import cache
from typing import Any, Generic, Literal, TypeVar, cast

from pydantic import BaseModel, Field, create_model, field_validator

from ..reports import scalar
from .data import Grade, Necessity, Qualification, Sure

D = TypeVar("D", bound=BaseModel)


def _text(limit: int) -> Any:
    """Text that the embedded judge is cut off at; others may write more."""
    return Field(json_schema_extra={"maxLength": limit})


def _few() -> Any:
    return Field(default=(), json_schema_extra={"minItems": 1, "maxItems": 5})


class Clean(BaseModel):
    """Base: white space of all text folded, half characters replaced."""

    @field_validator("*", mode="before")
    @classmethod
    def _clean(cls, value: object) -> object:
        if isinstance(value, str):
            return " ".join(scalar(value).split())
        if isinstance(value, list):
            return [" ".join(scalar(one).split()) if isinstance(one, str) else one for one in value]
        return value


class PersonDraft(Clean):
    """A persona as written."""

    name: str = _text(40)
    role: str = _text(80)
    affiliation: str = _text(80)
    subfield: str = _text(80)
    background: str = _text(400)


class Written(Clean):
    """Base of tasks as written."""

    prompt: str = _text(360)


class Lead(Clean):
    """What the embedded judge is to settle before it writes a task: else it writes "two countries"."""

    subject: str = _text(60)
    places: tuple[str, ...] = Field(json_schema_extra={"minItems": 2, "maxItems": 2})


class PlainDraft(Written, Lead):
    """A task as the embedded judge writes it."""


class Draft(Written):
    """A task as written."""

    challenges: str = ""
    angles: tuple[str, ...] = _few()
    sources: tuple[str, ...] = _few()


class Listed(BaseModel, Generic[D]):
    """Several of a kind."""

    items: list[D]


@cache
def listed(one: type[D], count: int) -> type[Listed[D]]:
    """The type of an answer with ``count`` of ``one``; a model is held to that number, more or fewer are taken too."""
    wanted = Field(json_schema_extra={"minItems": count, "maxItems": count})
    form: Any = create_model("Listed", __base__=Listed[one], items=(list[one], wanted))  # type: ignore[valid-type]
    return cast(type[Listed[D]], form)


class Reasoned(Clean):
    """Begins with a reason, so that the verdict follows it."""

    reason: str = ""


class Qualified(Reasoned):
    """The first filter's answer."""

    current: Sure
    sources: Sure
    depth: Sure
    fits: Sure

    def verdict(self) -> Qualification:
        """As it is kept."""
        return Qualification(**self.model_dump())


class PlainQualified(BaseModel):
    """The first filter's answer, as the embedded judge gives it: asked for four statements it says no to all."""

    takes: Literal["textbook", "page", "research"]

    def verdict(self) -> Qualification:
        """As it is kept. Whether the task fits the person stays open."""
        sure = {"textbook": Sure.NO, "page": Sure.UNLIKELY, "research": Sure.LIKELY}[self.takes]
        return Qualification(current=sure, sources=sure, depth=sure, fits=None)


class Graded(Reasoned):
    """The second filter's answer."""

    accuracy: Grade
    depth: Grade
    timeliness: Grade
    professionalism: Grade
    structure: Grade

    def verdict(self) -> Necessity:
        """As it is kept."""
        return Necessity(**self.model_dump())


class PlainGraded(BaseModel):
    """The second filter's answer, as the embedded judge gives it: asked for five grades it says good to all."""

    before: Literal["nothing", "search"]

    def verdict(self) -> Necessity:
        """As it is kept; what it was not asked stays open."""
        grade = Grade.GOOD if self.before == "nothing" else Grade.WEAK
        return Necessity(accuracy=grade, timeliness=grade)
