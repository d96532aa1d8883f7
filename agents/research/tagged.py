"""A judge whose code always stands in tags: small models often leave them out around their last call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ..model import CODE_TAGS

if TYPE_CHECKING:
    from ...models import ChatModel, Completion

_CALL = re.compile(r"\bfinal[ _]answer\s*(?=\()", re.IGNORECASE)
_BARE = re.compile(r"\s*(?:<code>)?\s*(\{\s*[\"'](?:findings|report)[\"']\s*:.*\})\s*(?:</code>)?\s*\Z", re.DOTALL)


class _Tagged:
    """Delegates to a model; only the text of its replies is mended."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def complete(self, *args: Any, **options: Any) -> Completion:
        """The model's reply, its last call in tags."""
        reply = await self._model.complete(*args, **options)
        return reply.model_copy(update={"text": in_tags(reply.text)})


def tagged(model: ChatModel) -> ChatModel:
    """The same model with mended replies. What the ledger holds stays as the model sent it."""
    return cast("ChatModel", _Tagged(model))


def in_tags(text: str) -> str:
    """The text with its call of ``final_answer`` as code; other texts, and those with a code block, as they are.

    ``Final answer({…})`` without tags, and an answer that is a dict alone, are meant as the call.
    """
    bare = _BARE.match(text)
    if bare:
        return f"{CODE_TAGS[0]}\nfinal_answer({bare[1]})\n{CODE_TAGS[1]}"
    call = _CALL.search(text)
    if call is None or CODE_TAGS[0] in text or "```" in text:
        return text
    code = text[call.end() :].partition(CODE_TAGS[1])[0].rstrip()
    return f"{text[: call.start()]}{CODE_TAGS[0]}\nfinal_answer{code}\n{CODE_TAGS[1]}"
