"""The final answer of an agent: checked inside its loop, so that the model itself repairs what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from smolagents.default_tools import FinalAnswerTool

from .plain import Refusal

T = TypeVar("T", bound=BaseModel)
Check = Callable[[T, int], Sequence[str]]
"""Gets the answer and the number of this attempt (from 1); gives what is wrong with it, in words for the model."""
_SHOWN = 6
"""Problems named in one refusal."""


class TypedAnswer(FinalAnswerTool, Generic[T]):  # type: ignore[misc]  # smolagents is untyped
    """``final_answer``: takes a dict, validates it, keeps it as typed data in ``value``."""

    def __init__(self, kind: type[T], check: Check[T]) -> None:
        super().__init__()
        self.value: T | None = None
        self.attempts = 0
        self._kind, self._check = kind, check

    def forward(self, answer: Any) -> Any:
        """Accept the answer or raise Refusal (a ValueError) that says how to repair it."""
        self.attempts += 1
        value = self._read(answer)
        problems = list(self._check(value, self.attempts))
        if problems:
            raise _refusal(problems)
        self.value = value
        return "accepted"

    def _read(self, answer: Any) -> T:
        if isinstance(answer, str):
            try:
                answer = json.loads(answer)
            except (json.JSONDecodeError, RecursionError):
                raise Refusal("final_answer takes a dict, not a text. Call it again with a dict.") from None
        try:
            return self._kind.model_validate(answer)
        except ValidationError as error:
            raise _refusal([_worded(problem) for problem in error.errors()]) from None


def _refusal(problems: Sequence[str]) -> Refusal:
    shown = "; ".join(f"{number}) {problem}" for number, problem in enumerate(problems[:_SHOWN], 1))
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return Refusal(f"The answer was not accepted: {shown}{more}. Repair it and call final_answer again.")


def _worded(problem: Any) -> str:
    """A validation error without the value that caused it: that may be text from outside."""
    place = ".".join(str(part)[:40] for part in problem["loc"] if str(part).isidentifier() or isinstance(part, int))
    message = "is missing" if problem["type"] == "missing" else str(problem["msg"])
    return f"{place or 'the answer'}: {message}"
