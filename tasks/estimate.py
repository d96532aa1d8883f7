"""What making tasks will take, from stated defaults: said before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from .filters import ANSWER_WORDS, PLAIN_ANSWER_WORDS
from .order import Order
from .sentinels import sentinels_of


@dataclass(frozen=True)
class Stage:
    """Calls of one stage and the tokens of one call."""

    name: str
    calls: int
    prompt: int
    new: int

    @property
    def tokens(self) -> int:
        """Prompt and new tokens of all calls."""
        return self.calls * (self.prompt + self.new)


@dataclass(frozen=True)
class Plan:
    """All stages, if no candidate is rejected on the way: an upper bound, but for second askings."""

    stages: tuple[Stage, ...]

    @property
    def calls(self) -> int:
        """Judge calls."""
        return sum(stage.calls for stage in self.stages)

    @property
    def prompt(self) -> int:
        """Prompt tokens."""
        return sum(stage.calls * stage.prompt for stage in self.stages)

    @property
    def new(self) -> int:
        """New tokens."""
        return sum(stage.calls * stage.new for stage in self.stages)


def plan(order: Order, *, embedded: bool) -> Plan:
    """What an order will take. Hosted figures are assumptions, those of the embedded judge as measured."""
    sentinels = sum(len(sentinels_of(tag, order.as_of.day)) for tag in order.languages)
    people, each = order.personas, order.candidates
    words = PLAIN_ANSWER_WORDS if embedded else ANSWER_WORDS
    answer = round(words * 1.4)
    filtered = order.expected
    return Plan(
        (
            Stage("sentinels: qualification", sentinels, 330, 30 if embedded else 70),
            Stage("sentinels: answer", sentinels, 130, answer),
            Stage("sentinels: search necessity", sentinels, 300 + answer, 35 if embedded else 75),
            Stage("personas", len(order.cells), 200, people * (110 if embedded else 150)),
            Stage("candidates", len(order.cells) * people, 420, each * (60 if embedded else 150)),
            Stage("qualification", filtered, 380, 30 if embedded else 70),
            Stage("no-search answer", filtered, 130, answer),
            Stage("search necessity", filtered, 300 + answer, 35 if embedded else 75),
        )
    )
