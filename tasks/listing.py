"""Asking for several of a kind: what breaks a rule is asked for once more, then dropped and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from ..errors import CallFailed
from ..models import ChatModel, Message, ask
from .forms import D, listed
from .prompts import again
from .rules import Fault

Check = Callable[[D, Sequence[D]], Fault | None]
"""Says what is wrong with one, given those taken before it."""


@dataclass
class Taken(Generic[D]):
    """What came of it: ``good`` and ``bad`` together with ``missing`` are as many as were wanted."""

    good: list[tuple[D, bool]] = field(default_factory=list)
    """Each with whether it came at the second asking."""
    bad: list[tuple[D, Fault]] = field(default_factory=list)
    calls: tuple[str, ...] = ()
    missing: int = 0
    why: str = ""
    """Why some are missing."""
    asked_again: int = 0
    """How many were asked for a second time."""


async def ask_several(
    judge: ChatModel, messages: Sequence[Message], one: type[D], wanted: int, check: Check[D], *, tokens: int
) -> Taken[D]:
    """Ask for ``wanted`` of ``one``; those that ``check`` refuses, and those that are missing, are asked for once more.

    ``tokens``: output limit for one of them. Raises CallFailed when the first asking fails; when the second does, what
    the first brought stands.
    """
    form = listed(one, wanted)
    first = await ask(judge, messages, form, max_tokens=wanted * tokens)
    taken = Taken[D](calls=first.calls)
    refused = _take(taken, first.value.items[:wanted], check, second=False)
    left = wanted - len(taken.good)
    if left:
        taken.asked_again = left
        said = Message(role="assistant", content=first.value.model_dump_json())
        faults = [f"{number}: {fault.words}" for number, _, fault in refused]
        refused = await _once_more(
            taken, judge, [*messages, said, again(faults, left)], (one, left, check, tokens), refused
        )
    taken.bad = [(draft, fault) for _, draft, fault in refused]
    taken.missing = wanted - len(taken.good) - len(taken.bad)
    if taken.missing and not taken.why:
        taken.why = f"too_few: {judge.name} wrote fewer than it was asked for"
    return taken


Refused = list[tuple[int, D, Fault]]


async def _once_more(
    taken: Taken[D],
    judge: ChatModel,
    messages: Sequence[Message],
    wish: tuple[type[D], int, Check[D], int],
    refused: Refused[D],
) -> Refused[D]:
    """The second asking; returns those that are refused in the end."""
    one, left, check, tokens = wish
    try:
        second = await ask(judge, messages, listed(one, left), max_tokens=left * tokens)
    except CallFailed as error:
        taken.why = f"{error.code}: {error}"
        return refused
    taken.calls += second.calls
    return _take(taken, second.value.items[:left], check, second=True)


def _take(taken: Taken[D], drafts: Sequence[D], check: Check[D], *, second: bool) -> Refused[D]:
    refused = []
    for number, draft in enumerate(drafts, 1):
        fault = check(draft, [good for good, _ in taken.good])
        if fault is None:
            taken.good.append((draft, second))
        else:
            refused.append((number, draft, fault))
    return refused
