"""Answers that point at sentences: how they are read, and the one time that a judge is asked again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, create_model, model_validator

from ..models import ChatModel, Message, ask, fence

M = TypeVar("M", bound=BaseModel)

MOST_POINTERS = 3
"""Sentences that one answer may point at; more only cost."""


def _first_few(value: object, most: int = MOST_POINTERS) -> object:
    """Take ``3``, ``"[3]"`` and lists that are too long for what they mean; anything else goes to pydantic."""
    items = value if isinstance(value, list | tuple) else [value]
    plain = [int(found[0]) if isinstance(x, str) and (found := re.findall(r"\d+", x)) else x for x in items]
    return plain[:most]


Pointers = Annotated[tuple[int, ...], Field(max_length=MOST_POINTERS), BeforeValidator(lambda value: _first_few(value))]
"""Sentence numbers as a judge gives them."""

Pointer = Annotated[tuple[int, ...], Field(max_length=1), BeforeValidator(lambda value: _first_few(value, 1))]
"""The same, one of them: for the embedded judge, whose tokens are slow."""


class Given(BaseModel):
    """Base of an answer on several things, each with an id."""

    def on(self, id: str) -> Any:
        """The answer on one of them; None where it was left out."""
        return getattr(self, id, None)


class Answers(Given):
    """Base of an answer with ids as keys. Some ids may be missing; an object without any of them is no answer.

    The schema that a model is held to asks for all of them: a small model that may say null says nothing else.
    """

    @model_validator(mode="before")
    @classmethod
    def _some_of_it(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        given = {id: one for id, one in value.items() if one is not None and id in cls.model_fields}
        if not given:
            raise ValueError(f"none of {', '.join(cls.model_fields)} is in it")
        return given


@lru_cache(maxsize=64)
def answers_to(ids: tuple[str, ...], one: type[Any]) -> type[Answers]:
    """The type of an answer with one ``one`` an id: an object with the ids as keys, so that none can come twice."""
    fields: dict[str, Any] = dict.fromkeys(ids, (one, None))
    return create_model("Answers", __base__=Answers, **fields)


class Rows(Given):
    """Base of an answer as a list of rows, each with an id. Some may be missing; none may say two things.

    For many ids: a schema with ids as keys repeats itself for each of them, which is paid for as part of the prompt.
    """

    wanted: ClassVar[tuple[str, ...]] = ()
    """The ids that were asked for."""

    @model_validator(mode="before")
    @classmethod
    def _known_rows(cls, value: object) -> object:
        """Rows with ids that were asked for; an object with ids as keys is understood too."""
        if not isinstance(value, dict):
            return value
        ids = cls.wanted
        rows = value.get("answers")
        if rows is None:
            rows = [{"id": id, **one} for id, one in value.items() if isinstance(one, dict)]
        if not isinstance(rows, list):
            return value
        known: dict[str, object] = {}
        for row in rows:
            id = row.get("id") if isinstance(row, dict) else None
            if id in ids and known.setdefault(id, row) != row:
                raise ValueError(f"{id} is there twice")
        if not known:
            raise ValueError(f"none of {', '.join(ids)} is in it")
        return {"answers": list(known.values())}

    def on(self, id: str) -> Any:
        """The answer on one of them; None where it was left out."""
        return next((row for row in getattr(self, "answers", ()) if row.id == id), None)


@lru_cache(maxsize=64)
def rows_of(ids: tuple[str, ...], one: type[BaseModel]) -> type[Rows]:
    """The type of an answer with one ``one`` an id, as a list of rows; the schema asks for all of them."""
    named: dict[str, Any] = {"id": (str, Field(json_schema_extra={"enum": list(ids)}))}
    row = create_model("Row", __base__=(one, create_model("Named", **named)))  # the id comes first
    every: dict[str, Any] = {
        "answers": (list[row], Field(json_schema_extra={"minItems": len(ids), "maxItems": len(ids)}))
    }
    made = create_model("Rows", __base__=Rows, **every)
    made.wanted = ids
    return made


async def ask_pointed(
    judge: ChatModel, messages: Sequence[Message], form: type[M], wrong: Callable[[M], str], *, max_tokens: int
) -> tuple[M, tuple[str, ...]]:
    """Ask; where ``wrong`` has something to say about the answer's pointers, say it and ask once more.

    Returns the last answer, right or not, and the ledger keys of the calls. CallFailed as ``ask``.
    """
    asked = await ask(judge, messages, form, max_tokens=max_tokens)
    complaint = wrong(asked.value)
    if not complaint:
        return asked.value, asked.calls
    said = Message(role="assistant", content=asked.value.model_dump_json())
    again = await ask(judge, [*messages, said, Message(role="user", content=complaint)], form, max_tokens=max_tokens)
    return again.value, asked.calls + again.calls


def shown(sentences: Sequence[str]) -> str:
    """Sentences with their numbers, fenced."""
    return fence("\n".join(f"[{number}] {text}" for number, text in enumerate(sentences, 1)))
