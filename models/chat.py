"""One judge: a chat model behind the ledger, with limits, prices and patience."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..core import Json
from ..errors import AccountRefused, Overloaded
from ..ledger import Answer, Kind, Ledger, Record, Request, Reserve
from ..reports import scalar
from .counting import PER_MESSAGE, count_tokens
from .data import Completion, Limits, Message
from .dialect import Dialect
from .faults import Failed, Fault, Trouble, backoff
from .line import Line
from .prices import Price
from .prompts import without_tokens
from .reading import read_reply

R = TypeVar("R")


@dataclass(frozen=True)
class Card:
    """What is known of a judge before the first call."""

    name: str
    """``provider/model``, ``local``, or ``URL#model``."""
    endpoint: str
    """In ledger keys; ``local:<sha256>`` for the embedded judge."""
    model: str
    """As the endpoint knows it."""
    context: int
    """Tokens."""
    price: Price | None
    """None: unknown."""
    embedded: bool = False
    max_tokens_name: str = "max_tokens"


TRIES_TO_REACH = 3
"""An endpoint that was never reached in so many tries ends the run: it is misspelt, or there is no network."""


class ChatModel:
    """A judge that can be asked. Made by ``open_model``; belongs to the loop that opened it."""

    def __init__(self, card: Card, ledger: Ledger, line: Line | None, limits: Limits) -> None:
        self.card, self.ledger, self.limits = card, ledger, limits
        self._line = line
        self.loop = asyncio.get_running_loop()
        self._refused: AccountRefused | None = None
        self._draw = 0

    def draw(self, number: int) -> ChatModel:
        """The same judge, each of whose completions is the draw ``number`` of its prompt, asked for and recorded apart
        (0: the first, as without it)."""
        other = copy.copy(self)
        other._draw = number
        return other

    @property
    def name(self) -> str:
        """The judge's name, as stored in results."""
        return self.card.name

    @property
    def endpoint(self) -> str:
        """The endpoint in ledger keys; no port."""
        return self.card.endpoint

    @property
    def context(self) -> int:
        """Context in tokens, prompt and reply together."""
        return self.card.context

    @property
    def embedded(self) -> bool:
        """True for the embedded judge, which is weak."""
        return self.card.embedded

    def count(self, text: str) -> int:
        """Upper bound of the tokens of ``text``."""
        return count_tokens(text)

    def run_sync(self, work: Coroutine[Any, Any, R]) -> R:
        """Run ``work`` in the judge's loop from another thread and wait for it. RuntimeError inside the loop."""
        return submit(work, self.loop)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        schema: dict[str, Json] | None = None,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        sample: int = 0,
        top_logprobs: int = 0,
    ) -> Completion:
        """Ask for one reply of at most ``max_tokens`` tokens. ``schema``: a JSON schema the reply shall fit; how
        that is asked for depends on the endpoint, so read the reply tolerantly (``ask`` does). ``top_logprobs``: how
        many alternatives of the first token to report, 0 to 20.

        CallRefused, Overloaded, AccountRefused, BudgetReached, ReplayMiss.
        """
        body: dict[str, Json] = {
            "model": self.card.model,
            "messages": [{"role": m.role, "content": _content(m)} for m in messages],
            "max_tokens": max_tokens,
            "schema": schema,
            "stop": list(stop),
            "temperature": float(temperature),
            "top_logprobs": top_logprobs,
        }
        prompt = sum(count_tokens(m.content) + PER_MESSAGE for m in messages)
        price = self.card.price
        reserve = Reserve(prompt + max_tokens, price.cost(prompt, 0, max_tokens) if price else None)
        request = Request(Kind.COMPLETION, self.endpoint, body, self._draw + sample)
        return _completion(await self.ledger.call(request, lambda: self._send(body), reserve=reserve))

    async def _send(self, body: dict[str, Any]) -> Answer:
        """Try until it works or nothing helps; one ledger record, however many tries."""
        if self._refused is not None:
            raise self._refused
        waited, tries = 0.0, 0
        known = self._dialect()
        dialect = known.opening(body["schema"])  # which schemas it takes is known apart
        while True:
            sent = dialect.write(body)
            try:
                answer = await self._try(sent)
            except Failed as failed:
                trouble = failed.trouble
            else:
                learnt = dialect.learnt(body["schema"])
                if learnt != known:
                    self._open_line().dialects[self.card.model] = learnt
                return answer
            changed = dialect.after(trouble, sent, body["schema"] is not None)
            if changed is not None:
                dialect = changed
                continue
            tries += 1
            waited += await self._pause(trouble, tries, waited)

    async def _try(self, sent: dict[str, Any]) -> Answer:
        line = self._open_line()
        async with line.limiter.slot():
            try:
                data = await line.post(sent)
                answer = read_reply(data, sent, self.card.price)
            except Failed as failed:
                if failed.trouble.fault is Fault.RATE:
                    line.limiter.too_many()
                raise
        line.limiter.went_well()
        return answer

    async def _pause(self, trouble: Trouble, tries: int, waited: float) -> float:
        """Wait before the next try and return how long (unscaled), or raise for good."""
        if trouble.fault in (Fault.REFUSED, Fault.ACCOUNT):
            error = trouble.error(self.name)
            if isinstance(error, AccountRefused):
                self._refused = error
            raise error
        if trouble.unreachable and not self._open_line().reached and tries >= TRIES_TO_REACH:
            where = f"{self.name}: nobody answers there: look at the address and at the network ({trouble.message})"
            self._refused = AccountRefused(where, subject=self.name)
            raise self._refused
        seconds = backoff(tries, trouble, self.limits.wait_cap_s)
        if tries >= self.limits.attempts or waited + seconds > self.limits.total_wait_s:
            raise Overloaded(f"{self.name}: gave up after {tries} tries: {trouble.message}", subject=self.name)
        shown = seconds * self.limits.wait_scale
        await self.ledger.pause(self.name, shown, f"{trouble.fault}: {trouble.message}")
        return seconds

    def _dialect(self) -> Dialect:
        new = Dialect(max_tokens_name=self.card.max_tokens_name, grammar=self.embedded)
        return self._open_line().dialects.setdefault(self.card.model, new)

    def _open_line(self) -> Line:
        if self._line is None:
            raise RuntimeError("a replayed judge cannot be called")
        return self._line


def _content(message: Message) -> str:
    """What is sent: text that UTF-8 can carry, and outside the model's own turns nothing that steers a template."""
    text = scalar(message.content)
    return text if message.role == "assistant" else without_tokens(text)


def _completion(record: Record) -> Completion:
    body: Any = record.body
    return Completion(
        text=scalar(body["text"]),
        finish=body["finish"],
        usage=record.usage,
        key=record.key,
        record_id=record.id,
        usable=record.usable,
        logprobs=body.get("logprobs", {}),
    )


def submit(work: Coroutine[Any, Any, R], loop: asyncio.AbstractEventLoop) -> R:
    """Run ``work`` in ``loop`` from another thread and wait; the caller's context variables go with it."""
    try:
        running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is not None:
        work.close()
        raise RuntimeError("run_sync is for threads without an event loop; await the call instead")
    return asyncio.run_coroutine_threadsafe(work, loop).result()
