"""The grammar is regular where it knows the schema, so it is checked as a regular expression; that llama.cpp takes it
is checked with a real model elsewhere."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any

import pytest
from dream_eval.core import Frozen
from dream_eval.models import schema_of
from dream_eval.models.grammar import grammar_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z]+(?:-\d+-\d+)?|\{\d+(?:,\d*)?\}|[()|*?]')


def as_regex(grammar: str) -> re.Pattern[str]:
    """The root rule as a regular expression; ValueError when it needs ``value``, which is recursive."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if line)

    def expand(text: str) -> str:
        parts = []
        assert TOKEN.sub("", text).strip() == "", f"unknown words in {text}"
        for token in TOKEN.findall(text):
            if token[0] == '"':
                literal = token[1:-1].replace("\\n", "\n").replace("\\r", "\r")
                parts.append(re.escape(re.sub(r"\\(.)", r"\1", literal)))
            elif token[0].isalpha():
                if token in ("value", "object", "array"):
                    raise ValueError(token)
                parts.append(f"(?:{expand(rules[token])})")
            else:
                parts.append("(?:" if token == "(" else token)
        return "".join(parts)

    return re.compile(expand(rules["root"]), re.DOTALL)


class Word(StrEnum):
    YES = "yes"
    QUOTED = 'said "no"\\'


class Inner(Frozen):
    text: str = Field(min_length=1, max_length=12)
    numbers: tuple[int, ...] = Field(min_length=1, max_length=3)
    rank: int = Field(ge=1, le=3)


class Outer(Frozen):
    word: Word
    maybe: Word | None
    free: str
    many: tuple[Inner, ...] = Field(max_length=2)
    ok: bool
    share: float
    count: int = Field(ge=0)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


texts = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
inners = st.builds(
    Inner, text=texts, numbers=st.lists(st.integers(-999, 999), min_size=1, max_size=3), rank=st.integers(1, 3)
)
outers = st.builds(
    Outer,
    word=st.sampled_from(Word),
    maybe=st.none() | st.sampled_from(Word),
    free=st.text(max_size=20),
    many=st.lists(inners, max_size=2),
    ok=st.booleans(),
    share=st.integers(0, 100).map(lambda n: n / 100),
    count=st.integers(0, 10**9),
)
GRAMMAR = as_regex(grammar_of(schema_of(Outer)))
GOOD: dict[str, Any] = {
    "word": "yes",
    "maybe": None,
    "free": 'a "b" \\ c\n',
    "many": [{"text": "x", "numbers": [1, -20], "rank": 2}],
    "ok": True,
    "share": 0.5,
    "count": 7,
}


@given(outers)
def test_every_compact_value_of_the_type_fits(value: Outer) -> None:
    text = compact(value.model_dump(mode="json"))
    assert GRAMMAR.fullmatch(text.replace("\x7f", ""))


def test_nothing_else_fits() -> None:
    assert GRAMMAR.fullmatch(compact(GOOD))
    inner = GOOD["many"][0]
    wrong = [
        {**GOOD, "word": "no"},
        {**GOOD, "maybe": "none"},
        {**GOOD, "free": 3},
        {**GOOD, "many": [inner] * 3},
        {**GOOD, "many": [{**inner, "text": ""}]},
        {**GOOD, "many": [{**inner, "text": "x" * 13}]},
        {**GOOD, "many": [{**inner, "numbers": []}]},
        {**GOOD, "many": [{**inner, "numbers": [1, 2, 3, 4]}]},
        {**GOOD, "many": [{**inner, "rank": 4}]},
        {**GOOD, "ok": 1},
        {**GOOD, "count": -1},
        {**GOOD, "count": 1.5},
        {**GOOD, "more": 1},
        {name: GOOD[name] for name in reversed(GOOD)},
        {name: GOOD[name] for name in list(GOOD)[:-1]},
    ]
    for value in wrong:
        assert not GRAMMAR.fullmatch(compact(value)), value
    assert not GRAMMAR.fullmatch(json.dumps(GOOD)), "no white space between tokens"
    assert not GRAMMAR.fullmatch(json.dumps(GOOD, indent=2))


@pytest.mark.parametrize("schema", [{}, None, {"type": "object"}, {"type": "array"}, {"not": {}}])
def test_what_it_does_not_know_is_any_json(schema: Any) -> None:
    grammar = grammar_of(schema)
    with pytest.raises(ValueError, match=r"value|object|array"):
        as_regex(grammar)
    assert "value ::= object | array | string | number | boolean | null" in grammar


def test_long_bounds_and_small_shapes() -> None:
    assert grammar_of({"type": "string", "maxLength": 5000}).startswith("root ::= string")
    assert 'root ::= "\\"" char{3,}' in grammar_of({"type": "string", "minLength": 3, "maxLength": 5000})
    assert grammar_of({"type": "array", "maxItems": 0}).startswith('root ::= "[]"')
    assert as_regex(grammar_of({"type": "object", "properties": {}})).fullmatch("{}")
    wide = as_regex(grammar_of({"type": "integer", "minimum": 0, "maximum": 999}))
    assert wide.fullmatch("999")
    assert not wide.fullmatch("1000")
    assert as_regex(grammar_of({"type": ["string", "null"]})).fullmatch("null")
