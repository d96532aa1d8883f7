"""What may cross between sandbox and host: plain JSON of bounded size, and text without traces of the machine."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from ..core import Json

MAX_NODES = 20_000
"""Values in one argument or answer, containers included."""
MAX_DEPTH = 40
"""Containers within containers."""
MAX_TEXT = 400_000
"""Characters of all strings of one value together."""
MAX_INTEGER_BITS = 256

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_PATH = re.compile(r"(?<![\w:/.])/(?:[\w.@+~-]+/)+[\w.@+~-]*")
_MEASURE = re.compile(r"(?<=exceeded): [^\n]*")


class Refusal(ValueError):
    """The host refuses what the agent's code asks for. The text is ours alone: no word of it is from outside."""


def plain(value: object) -> Json:
    """The value as JSON: tuples and sets become lists, all else must be JSON already. Raises Refusal."""
    return _Crossing().copy(value, 0)


class _Crossing:
    """One value on its way across, with what is left of its allowance."""

    def __init__(self) -> None:
        self.nodes = MAX_NODES
        self.text = MAX_TEXT

    def copy(self, value: object, depth: int) -> Json:
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_DEPTH:
            raise Refusal("the value is too large or nested too deeply")
        if isinstance(value, Mapping):
            return {self._key(key): self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.copy(item, depth + 1) for item in value]
        return self._scalar(value)

    def _key(self, key: object) -> str:
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise Refusal("keys of a dict must be strings")
        return str(self._scalar(key))

    def _scalar(self, value: object) -> Json:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, int):
            if value.bit_length() > MAX_INTEGER_BITS:
                raise Refusal("the number is too large")
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                raise Refusal("NaN and infinity cannot be passed")
            return value
        raise Refusal(f"a value of type {type(value).__name__} cannot be passed; use strings, numbers, lists and dicts")

    def _string(self, value: str) -> str:
        self.text -= len(value)
        if self.text < 0:
            raise Refusal("the text is too long")
        # A lone surrogate cannot be written as UTF-8, and all that crosses ends up in a request or a file.
        return value.encode("utf-8", "replace").decode("utf-8")


def shown(value: object, limit: int = 2_000) -> str:
    """How a step's last value is shown to the model: JSON where it is plain, else its type's name."""
    if value is None:
        return ""
    try:
        text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
    except Refusal:
        text = f"<{type(value).__name__}>"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """At most ``limit`` characters, with a note of how many are missing."""
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text) - limit} more characters]"


def without_addresses(text: str) -> str:
    """The text without memory addresses, which differ from run to run."""
    return _ADDRESS.sub("0x…", text)


def scrubbed(message: str) -> str:
    """An error's text without measured values, addresses and paths, so that a replay sees the same one."""
    return without_addresses(_PATH.sub("…", _MEASURE.sub("", message)))
