"""Answers that point at sentences: how they are read, and the one time that a judge is asked again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypeVar

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


class Answers(BaseModel):
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
