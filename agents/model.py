"""smolagents' ``Model`` over our ``ChatModel``: ledger, limiter and budget hold for agents too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.monitoring import TokenUsage

from ..models import Completion, Message
from .host import Host
from .plain import cut

if TYPE_CHECKING:
    from ..models import ChatModel

CODE_TAGS = ("<code>", "</code>")
_BLOCK = re.compile(r"<code>.*?</code>|```(?:python|py)\s.*?\n```", re.DOTALL)
_KEPT = 400
"""Characters of an old observation that stay when the conversation no longer fits."""
_ROLES: dict[MessageRole, str] = {
    MessageRole.SYSTEM: "system",
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.TOOL_RESPONSE: "user",
}


class BridgeModel(Model):  # type: ignore[misc]  # smolagents is untyped
    """One job's view of a judge. ``completions`` keeps the records of all steps, in order.

    A failed call raises CallFailed, which smolagents turns into the end of the run; a host stop or replay miss
    leaves its loop at once.
    """

    def __init__(self, model: ChatModel, host: Host, *, max_tokens: int, sample: int = 0) -> None:
        super().__init__(model_id=model.name)
        self.completions: list[Completion] = []
        self._model, self._host = model, host
        self._max_tokens, self._sample = max_tokens, sample

    def generate(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Any] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """One completion, cut behind its first code block. Raises CallFailed, ``errors.Stop``, Escape."""
        del response_format, tools_to_call_from, kwargs  # never used by a CodeAgent without structured outputs
        ours = fitting(conversation(messages), self._model, self._max_tokens)
        call = self._model.complete(
            ours, max_tokens=self._max_tokens, stop=tuple(stop_sequences or ()), sample=self._sample
        )
        completion = self._host.insist(call)
        self.completions.append(completion)
        usage = TokenUsage(completion.usage.prompt_tokens, completion.usage.completion_tokens)
        text = first_block(completion.text, stop_sequences or ())
        return ChatMessage(role=MessageRole.ASSISTANT, content=text, token_usage=usage)


def conversation(messages: Sequence[ChatMessage]) -> list[Message]:
    """smolagents' memory as a chat: tool calls (a copy of the code just written) left out, turns of one role joined."""
    turns: list[Message] = []
    for message in messages:
        role = _ROLES.get(MessageRole(message.role))
        text = _text(message)
        if role is None or not text:
            continue
        if turns and turns[-1].role == role:
            text = f"{turns.pop().content}\n{text}"
        turns.append(Message.model_validate({"role": role, "content": text}))
    return turns


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part["text"] for part in message.content or [] if part.get("type") == "text")


def fitting(turns: list[Message], model: ChatModel, max_tokens: int) -> list[Message]:
    """The turns, with the oldest observations shortened as far as the model's context asks for.

    The first two turns (rules and task) and the last two (what was just done and seen) stay whole.
    """
    kept = list(turns)
    for index in range(2, len(kept) - 2):
        if sum(model.count(turn.content) for turn in kept) + max_tokens <= model.context:
            break
        kept[index] = kept[index].model_copy(update={"content": cut(kept[index].content, _KEPT)})
    return kept


def first_block(text: str, stop_sequences: Sequence[str]) -> str:
    """The reply up to the end of its first code block: what follows it is a made-up observation."""
    block = _BLOCK.search(text)
    if block:
        return text[: block.end()]
    ends = [at for stop in stop_sequences if (at := text.find(stop)) > 0]
    return text[: min(ends)] if ends else text
