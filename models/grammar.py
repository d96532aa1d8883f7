"""A JSON schema as a grammar for llama.cpp (GBNF), without any white space between tokens.

llama.cpp makes a grammar of a schema by itself, but that one lets the model indent, and the embedded judge spends a
third to a half of its new tokens on doing so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..core import Json

_RULES = r"""
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,14})
number ::= integer ("." [0-9]{1,12})?
boolean ::= "true" | "false"
null ::= "null"
value ::= object | array | string | number | boolean | null
member ::= string ":" value
object ::= "{" (member ("," member)*)? "}"
array ::= "[" (value ("," value)*)? "]"
"""
_MOST_REPEATS = 1000
"""Longer bounds are left to pydantic: llama.cpp refuses very long repetitions."""
_BOUNDED = re.compile(r"\btext-(\d+)-(\d+)\b")
"""The name of the rule of a string of that many characters. It must be a rule of its own: llama.cpp multiplies nested
repetitions and refuses a list of ten objects with strings of up to 400 characters, but counts a rule's name as one."""
_MOST_NUMBERS = 64
"""Ranges of integers up to this size are spelled out."""


def grammar_of(schema: Json) -> str:
    """The grammar whose texts are the compact JSON values that ``schema`` describes, properties in their order.

    Knows what ``schema_of`` makes: objects, arrays with bounds, strings with lengths, integers with bounds, numbers,
    booleans, null, enums and alternatives. What it does not know allows any JSON; pydantic has the last word.
    """
    root = _rule(schema)
    bounds = sorted(set(_BOUNDED.findall(root)))
    texts = [f'text-{low}-{high} ::= "\\"" char{{{low},{high}}} "\\""' for low, high in bounds]
    return "\n".join([f"root ::= {root}", *texts]) + _RULES


def _rule(schema: Json) -> str:
    if not isinstance(schema, dict):
        return "value"
    choices = schema.get("enum")
    if isinstance(choices, list):
        return _either([_literal(json.dumps(choice, ensure_ascii=False)) for choice in choices])
    options = schema.get("anyOf")
    if isinstance(options, list):
        return _either([_rule(option) for option in options])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either([_rule({**schema, "type": one}) for one in kind])
    makers = {"object": _object, "array": _array, "string": _string, "integer": _integer}
    if kind in makers:
        return makers[str(kind)](schema)
    return str(kind) if kind in ("number", "boolean", "null") else "value"


def _either(options: Sequence[str]) -> str:
    return options[0] if len(options) == 1 else f"({' | '.join(options)})"


def _literal(text: str) -> str:
    """A terminal of the grammar; JSON's escapes are the grammar's escapes too."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _object(schema: dict[str, Json]) -> str:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return "object"
    members = [
        f"{_literal(json.dumps(name, ensure_ascii=False) + ':')} {_rule(part)}" for name, part in properties.items()
    ]
    return " ".join(['"{"', ' "," '.join(members), '"}"']) if members else '"{}"'


def _array(schema: dict[str, Json]) -> str:
    item = _rule(schema.get("items"))
    low, high = _bound(schema, "minItems") or 0, _bound(schema, "maxItems")
    if high == 0:
        return '"[]"'
    more = f'("," {item}){_times(max(0, low - 1), None if high is None else high - 1)}'
    some = f"{item} {more}"
    return f'"[" {some} "]"' if low else f'"[" ({some})? "]"'


def _string(schema: dict[str, Json]) -> str:
    low, high = _bound(schema, "minLength") or 0, _bound(schema, "maxLength")
    if high is None or high > _MOST_REPEATS:
        return f'"\\"" char{_times(low, None)} "\\""' if low else "string"
    return f"text-{low}-{high}"


def _integer(schema: dict[str, Json]) -> str:
    low, high = _bound(schema, "minimum"), _bound(schema, "maximum")
    if low is not None and high is not None and 0 <= high - low < _MOST_NUMBERS:
        return _either([f'"{number}"' for number in range(low, high + 1)])
    if low is not None and low >= 0:
        digits = len(str(high)) - 1 if high is not None else 14
        return f'("0" | [1-9] [0-9]{{0,{max(0, digits)}}})'
    return "integer"


def _bound(schema: dict[str, Json], name: str) -> int | None:
    value = schema.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _times(low: int, high: int | None) -> str:
    if high is None or high > _MOST_REPEATS:
        return f"{{{low},}}" if low else "*"
    return f"{{{low},{high}}}"
