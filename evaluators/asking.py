"""Answers that point at sentences: how they are read, and the one time that a judge is asked again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, create_model, model_validator

from ..errors import BadReply
from ..models import ChatModel, Message, ask, fence, user, without_tokens
from ..reports import scalar

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
    complete: ClassVar[bool] = False
    """Whether an answer that leaves one of them out is no answer."""

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
        if cls.complete and len(known) < len(ids):
            raise ValueError(f"left out: {', '.join(id for id in ids if id not in known)}")
        return {"answers": list(known.values())}

    def on(self, id: str) -> Any:
        """The answer on one of them; None where it was left out."""
        return next((row for row in getattr(self, "answers", ()) if row.id == id), None)


@lru_cache(maxsize=64)
def rows_of(ids: tuple[str, ...], one: type[BaseModel], *, complete: bool = False) -> type[Rows]:
    """The type of an answer with one ``one`` an id, as a list of rows; the schema asks for all of them.

    ``complete``: an answer without one of them does not fit.
    """
    named: dict[str, Any] = {"id": (str, Field(json_schema_extra={"enum": list(ids)}))}
    row = create_model("Row", __base__=(one, create_model("Named", **named)))  # the id comes first
    every: dict[str, Any] = {
        "answers": (list[row], Field(json_schema_extra={"minItems": len(ids), "maxItems": len(ids)}))
    }
    made = create_model("Rows", __base__=Rows, **every)
    made.wanted, made.complete = ids, complete
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


@dataclass(frozen=True)
class Answered(Generic[M]):
    """What came of asking about several things."""

    rows: dict[str, M]
    """The answers by id; without those that the judge left out, or pointed wrongly for, and did not mend."""
    calls: tuple[str, ...]
    """Ledger keys."""
    fault: BadReply | None = None
    """Why some are missing."""


async def ask_rows(
    judge: ChatModel,
    messages: Sequence[Message],
    ids: tuple[str, ...],
    one: type[M],
    good: Callable[[str, M], bool],
    once_more: Callable[[Sequence[str]], str],
    *,
    max_tokens: int,
) -> Answered[M]:
    """Ask about several things, then once more about those alone that were left out or are not ``good``.

    ``good``: whether an answer's pointers are right; ``once_more``: what is said of the ids that are asked about again.
    An answer that points wrongly twice is returned as it is. What is left out twice is not in the ledger as answered,
    so that the next start asks again. CallFailed as ``ask``, where not one answer came or the judge cannot be reached.
    """
    asked = await ask(judge, messages, rows_of(ids, one), max_tokens=max_tokens)
    rows: dict[str, M] = {id: row for id in ids if (row := asked.value.on(id)) is not None}
    open_ = tuple(id for id in ids if id not in rows or not good(id, rows[id]))
    if not open_:
        return Answered(rows, asked.calls)
    said = Message(role="assistant", content=asked.value.model_dump_json())
    form = rows_of(open_, one, complete=True)
    try:
        again = await ask(judge, [*messages, said, user(once_more(open_))], form, max_tokens=max_tokens)
    except BadReply as fault:
        return Answered({id: row for id, row in rows.items() if id not in open_}, asked.calls, fault)
    return Answered(rows | {id: again.value.on(id) for id in open_}, asked.calls + again.calls)


# --- texts of others -------------------------------------------------------------------------------------------------


def shown(sentences: Sequence[str]) -> str:
    """Sentences with their numbers, fenced."""
    return fence(lines(sentences))


def lines(sentences: Sequence[str], first: int = 1) -> str:
    """One sentence a line, with its number."""
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(sentences, first))


def fences(texts: Mapping[str, str]) -> str:
    """Marks with an id around each of several texts of different authors.

    As ``models.fence``, but all marks carry the digest of all the texts together. With a digest of its own text in each
    mark, an author who knows another page could write that page's marks into his own, with other words between them.
    """
    safe = {id: without_tokens(scalar(text)) for id, text in texts.items()}
    token = sha256("\n\0".join(safe.values()).encode()).hexdigest()[:16]
    return "\n".join(f"<evidence {id} {token}>\n{text}\n</evidence {id} {token}>" for id, text in safe.items())
