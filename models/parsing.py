"""Finding the JSON in a reply, tolerantly, and never by guessing: what is taken has to fit the type."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..reports import scalar_json

T = TypeVar("T", bound=BaseModel)

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n?(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMMENT = re.compile(r"(?m)(?:^|(?<=[\s,{\[]))//[^\n]*$|/\*.*?\*/", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_BEGINS_JSON = re.compile(r"\{|\[\s*[\[{\"]")
_MARK = re.compile(r'[{}\[\]"]')
_PAIRS = {"{": "}", "[": "]"}
_MOST = 64
"""Candidates looked at in one reply."""


class Unreadable(Exception):
    """No part of the reply fits the type. The message can be shown to the model."""


def parse_reply(text: str, answer: type[T]) -> T:
    """Read a reply into ``answer``: plain JSON, or JSON in a fence or among words, with small slips mended.

    Every candidate is tried against the type. Unreadable when none fits, or when several fit and differ.
    """
    fitting: list[T] = []
    errors: list[str] = []
    for group in _groups(_THINKING.sub("", text)):
        for value in group:
            try:
                found = _fit(value, answer)
            except ValidationError as error:
                errors.append(explain(error))
                continue
            if found not in fitting:
                fitting.append(found)
        if fitting:
            break
    if len(fitting) > 1:
        raise Unreadable(f"it holds {len(fitting)} different answers; give one")
    if not fitting:
        raise Unreadable(errors[0] if errors else _nothing(text))
    return fitting[0]


def _nothing(text: str) -> str:
    if not text.strip():
        return "it is empty"
    return "its JSON is not closed" if re.search(r"[{\[]", text) else "it holds no JSON"


def _groups(text: str) -> Iterator[list[Any]]:
    """Candidate values, the surest group first: the whole text, fenced blocks, balanced spans, parts of these."""
    text = text.strip().lstrip("\ufeff")
    yield _loaded([text])
    yield _loaded(_FENCE.findall(text)[:_MOST])
    spans = _loaded(balanced(text))
    yield spans
    yield [part for value in spans for part in _parts(value)][:_MOST]


def _parts(value: Any) -> list[Any]:
    """The inner values of a wrapper such as ``{"result": {...}}`` or ``[{...}]``."""
    if isinstance(value, dict):
        return [part for part in value.values() if isinstance(part, dict)]
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) and len(value) == 1 else []


def _loaded(texts: list[str]) -> list[Any]:
    values = (load(text) for text in texts)
    return [value for value in values if isinstance(value, dict | list)]


def balanced(text: str) -> list[str]:
    """The outermost spans of ``text`` that begin with a bracket and end with its partner, strings respected.

    Where JSON was begun and not ended, the search ends: what stands inside is only a part of an answer.
    """
    spans: list[str] = []
    start = 0
    for _ in range(_MOST):
        opening = _OPENING.search(text, start)
        if opening is None:
            break
        end = _closing(text, opening.start())
        if end is not None and end > 0:
            spans.append(text[opening.start() : end])
        elif end is None and _BEGINS_JSON.match(text, opening.start()):
            break
        start = end or opening.end()
    return spans


def _closing(text: str, start: int) -> int | None:
    """One past the partner of the bracket at ``start``; 0 when another bracket closes it, None when none does."""
    stack: list[str] = []
    position = start
    while mark := _MARK.search(text, position):
        position, char = mark.end(), mark[0]
        if char == '"':
            string = _STRING.match(text, mark.start())
            if string is None:
                return None
            position = string.end()
        elif char in _PAIRS:
            stack.append(_PAIRS[char])
        elif stack.pop() != char:
            return 0
        if not stack:
            return position
    return None


def load(text: str) -> Any:
    """The value of a JSON text, with small slips mended: comments, trailing commas, Python spelling, raw line
    breaks in strings. None when it is no JSON even so; NaN and infinities are no JSON.
    Lone surrogates, which cannot be stored, become U+FFFD."""
    for candidate in (text, _mend(text)):
        try:
            return scalar_json(json.loads(candidate, strict=False, parse_constant=_refuse))
        except (ValueError, RecursionError):
            continue
    try:
        value = ast.literal_eval(text.strip())
        json.dumps(value, allow_nan=False)
        return scalar_json(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _mend(text: str) -> str:
    """Take comments and trailing commas out, but not out of strings."""
    parts: list[str] = []
    end = 0
    for string in _STRING.finditer(text):
        parts += [text[end : string.start()], string[0]]
        end = string.end()
    parts.append(text[end:])
    outside = "\0".join(_COMMENT.sub("", part) for part in parts[::2])
    pieces = _TRAILING_COMMA.sub(r"\1", outside).split("\0")
    strings = parts[1::2]
    return "".join(piece + (strings[i] if i < len(strings) else "") for i, piece in enumerate(pieces))


def _fit(value: Any, answer: type[T]) -> T:
    """The value as the type; unknown fields are dropped, a bare list becomes the type's only field."""
    fields = list(answer.model_fields)
    if isinstance(value, list) and len(fields) == 1:
        value = {fields[0]: value}
    try:
        return answer.model_validate(value)
    except ValidationError as error:
        extra = [e["loc"] for e in error.errors(include_url=False) if e["type"] == "extra_forbidden"]
        if not extra:
            raise
        return answer.model_validate(_without(value, extra))


def _without(value: Any, places: list[tuple[int | str, ...]]) -> Any:
    copy = json.loads(json.dumps(value))
    for place in places:
        inner = copy
        for step in place[:-1]:
            try:
                inner = inner[step]
            except (KeyError, IndexError, TypeError):  # a step that names a union's branch, not a place
                break
        if isinstance(inner, dict):
            inner.pop(place[-1], None)
    return copy


def explain(error: ValidationError) -> str:
    """The first three faults of a value, in words that a model can act on."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False)[:3]:
        place = ".".join(str(step) for step in fault["loc"]) or "the whole"
        lines.append(f"{place}: {fault['msg']}")
    return "; ".join(lines)
