"""Asking for an answer of a type: schema, tolerant reading, one repair try."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BadReply
from .chat import ChatModel
from .data import Asked, Completion, Message, T, user
from .parsing import Unreadable, parse_reply
from .schemas import schema_of

_SHOWN = 6000
"""Characters of a bad reply that are shown to the model again."""
_LONGER = 4
"""How much longer the second try may be when the first was cut off."""


async def ask(
    model: ChatModel, messages: Sequence[Message], answer: type[T], *, max_tokens: int, sample: int = 0
) -> Asked[T]:
    """Ask ``model`` for an ``answer``. A reply that does not fit is shown to the model once, with what is wrong;
    a reply that was cut off is asked again with four times the room.

    BadReply when the second one does not fit either: it keeps the raw reply, and both are marked in the ledger so
    that the next run asks again. Otherwise as ``ChatModel.complete``.
    """
    schema = schema_of(answer)
    first = await model.complete(messages, max_tokens=max_tokens, schema=schema, sample=sample)
    value, fault = _read(first, answer)
    if value is not None:
        return Asked(value, (first.key,), repaired=False)
    repair, room = _repair(messages, first, fault), max_tokens
    if first.finish == "length":
        room = max(max_tokens, min(max_tokens * _LONGER, model.context - sum(model.count(m.content) for m in repair)))
    second = await model.complete(repair, max_tokens=room, schema=schema, sample=sample)
    value, again = _read(second, answer)
    if value is not None:
        return Asked(value, (first.key, second.key), repaired=True)
    model.ledger.spoil(first.record_id, fault)
    model.ledger.spoil(second.record_id, again)
    raise BadReply(f"{model.name}: the reply is not what was asked for: {again}", subject=model.name, raw=second.text)


def _read(reply: Completion, answer: type[T]) -> tuple[T | None, str]:
    """The value, or what is wrong with the reply."""
    if reply.finish == "length":
        return None, "it was cut off at the output limit"
    try:
        return parse_reply(reply.text, answer), ""
    except Unreadable as error:
        return None, str(error)


def _repair(messages: Sequence[Message], reply: Completion, fault: str) -> list[Message]:
    if reply.finish == "length":
        last = messages[-1]
        brief = f"{last.content}\n\nAnswer briefly: only the JSON object, no other text."
        return [*messages[:-1], Message(role=last.role, content=brief)]
    shown = Message(role="assistant", content=reply.text[:_SHOWN].strip() or "(nothing)")
    wish = f"That cannot be used: {fault}. Send the corrected JSON object, complete, and nothing else."
    return [*messages, shown, user(wish)]
