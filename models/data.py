"""Messages, completions, limits: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from ..core import Frozen
from ..ledger import Usage

T = TypeVar("T", bound=BaseModel)


class Message(Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


def system(content: str) -> Message:
    """A system message."""
    return Message(role="system", content=content)


def user(content: str) -> Message:
    """A user message."""
    return Message(role="user", content=content)


class Completion(Frozen):
    """A model's reply, with what it used and where the ledger keeps it."""

    text: str
    finish: str
    """``stop``, or ``length`` when the reply was cut off; other words as the endpoint sent them."""
    usage: Usage
    key: str
    """Ledger key."""
    record_id: int
    usable: bool = True
    """False when an earlier reader of this very reply marked it as spoiled."""
    logprobs: dict[str, float] = Field(default_factory=dict)
    """Natural-log probabilities of the likeliest first tokens; empty unless asked for and sent."""


@dataclass(frozen=True)
class Asked(Generic[T]):
    """A reply that was read into its type."""

    value: T
    calls: tuple[str, ...]
    """Ledger keys of the calls it took: one, or two with a repair try."""
    repaired: bool


@dataclass(frozen=True)
class Limits:
    """How patient and how parallel calls to one endpoint are."""

    attempts: int = 6
    """Tries a call, the first included."""
    wait_cap_s: float = 60.0
    """Longest single wait, ``Retry-After`` included, seconds."""
    total_wait_s: float = 300.0
    """All waits of one call together, seconds; beyond it the call fails as overloaded."""
    connect_s: float = 10.0
    timeout_s: float = 300.0
    """One try, seconds (the embedded judge gets four times as long: it reads slowly)."""
    concurrency: int = 16
    """Calls at the same time to one endpoint and key, at most; starts at 4 and adapts. 1 for the embedded judge."""
    context: int | None = None
    """Tokens of the model's context, where the table does not know better."""
    wait_scale: float = 1.0
    """Multiplies every wait between tries; 0 in tests."""
