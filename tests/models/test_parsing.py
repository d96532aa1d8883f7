from __future__ import annotations

import enum
import gc
import json
import time
from contextlib import suppress
from typing import Any

import pytest
from dream_eval.core import Frozen
from dream_eval.models import Unreadable, parse_reply
from dream_eval.models.parsing import balanced, load
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Verdict(Frozen):
    verdict: Word
    sentences: tuple[int, ...] = ()
    note: str = ""


class Verdicts(Frozen):
    items: tuple[Verdict, ...]


WANTED = Verdict(verdict=Word.YES, sentences=(1, 2), note="a {b} [c]")
PLAIN = '{"verdict": "yes", "sentences": [1, 2], "note": "a {b} [c]"}'
READABLE = {
    "plain": PLAIN,
    "spaces around": f"\n\n  {PLAIN}\n",
    "byte order mark": f"\ufeff{PLAIN}",
    "fence": f"```json\n{PLAIN}\n```",
    "fence without a language": f"```\n{PLAIN}\n```",
    "fence on one line": f"```{PLAIN}```",
    "words and fence": f"Here is the answer:\n```json\n{PLAIN}\n```\nHope it helps {{smile}}!",
    "words before": f"Sure! The answer is {PLAIN}",
    "words after": f"{PLAIN}\nThis is because [1] and [2] say so.",
    "bracket before": f"Considering [1] and {{the rest}}: {PLAIN}",
    "another object before": f'{{"thought": "hm"}} {PLAIN}',
    "thinking before": f'<think>maybe {{"verdict": "no"}}</think>{PLAIN}',
    "trailing comma": '{"verdict": "yes", "sentences": [1, 2,], "note": "a {b} [c]",}',
    "comments": '{"verdict": "yes", // sure\n "sentences": [1, 2], /* both */ "note": "a {b} [c]"}',
    "single quotes": "{'verdict': 'yes', 'sentences': [1, 2], 'note': 'a {b} [c]'}",
    "python words within words": "My answer: {'verdict': 'yes', 'sentences': (1, 2), 'note': 'a {b} [c]'}",
    "wrapped": f'{{"answer": {PLAIN}}}',
    "wrapped in a list": f"[{PLAIN}]",
    "unknown field": PLAIN[:-1] + ', "confidence": 0.9}',
    "twice the same": f"{PLAIN}\n{PLAIN}",
    "numbers as text": '{"verdict": "yes", "sentences": ["1", "2"], "note": "a {b} [c]"}',
    "unclosed bracket before": f"Look at [1: {PLAIN}",
    "quote before": f'He said "yes: {PLAIN}',
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE.keys())
def test_readable(text: str) -> None:
    assert parse_reply(text, Verdict) == WANTED


UNREADABLE = {
    "nothing": ("", "empty"),
    "blank": (" \n ", "empty"),
    "words": ("I would say yes.", "no JSON"),
    "cut off": (PLAIN[:-5], "not closed"),
    "cut off in a fence": ("```json\n" + PLAIN[:20], "not closed"),
    "wrong word": ('{"verdict": "perhaps"}', "verdict: Input should be 'yes' or 'no'"),
    "missing field": ('{"sentences": [1]}', "verdict: Field required"),
    "wrong type": ('{"verdict": "yes", "sentences": "all"}', "sentences"),
    "not a number": ('{"verdict": "yes", "sentences": [NaN]}', "no JSON|not closed|sentences"),
    "a list of other things": ("[1, 2, 3]", "the whole"),
    "a bare value": ('"yes"', "no JSON"),
    "two different answers": ('{"verdict": "yes"} or {"verdict": "no"}', "2 different answers"),
    "null": ("null", "no JSON"),
    "the schema itself": ('{"type": "object", "properties": {"verdict": {"enum": ["yes"]}}}', "verdict"),
    "endless brackets": ("[" * 50_000, "not closed"),
    "deep nesting": ('{"a":' * 50_000 + "1" + "}" * 50_000, "."),
}


@pytest.mark.parametrize(("text", "why"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unreadable_and_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parse_reply(text, Verdict)


def test_lists_and_nested_slips() -> None:
    wanted = Verdicts(items=(Verdict(verdict=Word.NO), Verdict(verdict=Word.YES)))
    for text in (
        '[{"verdict": "no"}, {"verdict": "yes"}]',
        '{"items": [{"verdict": "no", "why": "x"}, {"verdict": "yes"}], "extra": 1}',
        '{"items": [{"verdict": "no",}, {"verdict": "yes"},]}',
    ):
        assert parse_reply(text, Verdicts) == wanted


def test_what_stands_in_strings_is_not_mended() -> None:
    text = '{"verdict": "yes", "note": "see // [1,] /* x */ http://a.b/,}",}'
    assert parse_reply(text, Verdict).note == "see // [1,] /* x */ http://a.b/,}"
    assert parse_reply('{"verdict": "yes", "note": "two\nlines"}', Verdict).note == "two\nlines"


def test_braces_in_strings_do_not_end_a_span() -> None:
    assert balanced('x {"a": "}"} y [1] {"b": "\\"}"}') == ['{"a": "}"}', "[1]", '{"b": "\\"}"}']
    assert balanced("{[}] [1]") == ["[1]"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class Anything(Frozen):
    value: Any = Field(default=None)
    key: str


@settings(max_examples=60)
@given(json_values, st.text(max_size=20), st.text(alphabet=" \nabc.,:;!?", max_size=20))
def test_any_value_is_found_among_words(value: Any, key: str, words: str) -> None:
    text = json.dumps({"value": value, "key": key})
    assert parse_reply(f"{words}{text}{words}", Anything) == Anything(value=value, key=key)
    assert load(text) == {"value": value, "key": key}


@settings(max_examples=60)
@given(st.text(alphabet="{}[]\",:\\/*ab1 \n'`", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(Unreadable):
        assert isinstance(parse_reply(text, Verdict), Verdict)


def test_a_part_of_an_unfinished_answer_is_no_answer() -> None:
    for text in (
        '[{"verdict": "no"}, {"verdict": "yes"',
        '{"items": [{"verdict": "no"}, {"verdict": ',
        '["a", {"verdict": "no"}',
    ):
        with pytest.raises(Unreadable, match="not closed"):
            parse_reply(text, Verdict)


def seconds(text: str) -> float:
    """Processor time of this thread to refuse a text."""
    gc.disable()  # it looks through all that other tests have left
    began = time.thread_time()
    with pytest.raises(Unreadable):
        parse_reply(text, Verdict)
    took = time.thread_time() - began
    gc.enable()
    return took


@pytest.mark.parametrize("unit", ["[1: ", "{ ] ", "[", '{"a": "', "'"])
def test_hostile_lengths_take_time_in_proportion(unit: str) -> None:
    small, large = unit * (40_000 // len(unit)), unit * (160_000 // len(unit))
    fast, slow = seconds(small), seconds(large)
    if slow >= 8 * max(fast, 0.002):  # something else took the processor: once more
        fast, slow = min(fast, seconds(small), seconds(small)), min(slow, seconds(large), seconds(large))
    assert slow < 12 * max(fast, 0.002), "sixteen times would be quadratic"


@pytest.mark.parametrize("text", [r'{"verdict": "yes", "note": "a\ud800b"}', r"{'verdict': 'yes', 'note': 'a\ud800b'}"])
def test_lone_surrogates_in_a_reply_are_replaced(text: str) -> None:
    found = parse_reply(text, Verdict)
    assert found.note == "a\ufffdb"
    found.model_dump_json()


def test_pairs_of_surrogates_stay_what_they_are() -> None:
    assert parse_reply(r'{"verdict": "yes", "note": "\ud83d\ude00"}', Verdict).note == "\U0001f600"
