from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from dream_eval.core import Frozen
from dream_eval.errors import BadReply, CallRefused
from dream_eval.ledger import Ledger, Mode, list_calls
from dream_eval.models import ChatModel, Limits, ask, open_model, schema_of, system, user
from pydantic import Field
from servers.chat import ScriptedChat, error, last_user, say, schema_sent

QUICK = Limits(wait_scale=0)
QUESTION = [system("Judge."), user("Is it so?")]


class Word(StrEnum):
    YES = "yes"
    NO = "no"


class Verdict(Frozen):
    verdict: Word
    sentences: tuple[int, ...] = ()


GOOD = '{"verdict": "yes", "sentences": [3]}'
VERDICT = Verdict(verdict=Word.YES, sentences=(3,))
BAD = {
    "empty": "",
    "blank": "\n",
    "words": "Yes, I believe so.",
    "refusal in words": "I'm sorry, I cannot help with that.",
    "bare value": '"yes"',
    "bare list": "[3]",
    "null": "null",
    "number": "42",
    "unclosed": '{"verdict": "yes", "sentences": [3]',
    "unclosed string": '{"verdict": "yes',
    "unclosed fence": '```json\n{"verdict": ',
    "wrong enum": '{"verdict": "probably", "sentences": []}',
    "upper case enum": '{"verdict": "YES"}',
    "missing field": '{"sentences": [3]}',
    "wrong type": '{"verdict": "yes", "sentences": "3 and 4"}',
    "null field": '{"verdict": null}',
    "text for a number": '{"verdict": "yes", "sentences": ["three"]}',
    "fraction": '{"verdict": "yes", "sentences": [3.5]}',
    "not a number": '{"verdict": "yes", "sentences": [NaN]}',
    "two answers": '{"verdict": "yes"} {"verdict": "no"}',
    "schema echoed": '{"properties": {"verdict": {"enum": ["yes", "no"]}}, "type": "object"}',
    "xml": "<verdict>yes</verdict>",
    "yaml": "verdict: yes\nsentences:\n  - 3",
    "keys without quotes": "{verdict: yes}",
    "brackets only": "{}",
    "mismatched": '{"verdict": "yes"]',
    "control characters": "\x00\x01{\x02",
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_a_bad_reply_is_repaired_once(chat: ScriptedChat, model: ChatModel, bad: str) -> None:
    chat.queue(bad, GOOD)
    asked = await ask(model, QUESTION, Verdict, max_tokens=50)
    assert (asked.value, asked.repaired, len(set(asked.calls))) == (VERDICT, True, 2)
    first, second = chat.requests
    assert second["messages"][: len(first["messages"])] == first["messages"], "the prefix stays"
    assert [m["role"] for m in second["messages"]] == ["system", "user", "assistant", "user"]
    shown, wish = second["messages"][-2:]
    assert shown["content"] == (bad.strip() or "(nothing)")
    assert wish["content"].startswith("That cannot be used: ")
    assert second["max_tokens"] == 50


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_two_bad_replies_are_a_failure_with_the_raw_reply(chat: ScriptedChat, tmp_path: Path, bad: str) -> None:
    chat.queue("first was bad", bad)
    path = tmp_path / "l.sqlite"
    with Ledger.open(path, run="r") as ledger:
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            for _ in range(2):  # the second time from memory: nothing is sent
                with pytest.raises(BadReply) as caught:
                    await ask(model, QUESTION, Verdict, max_tokens=50)
                assert (caught.value.raw, caught.value.subject) == (bad, model.name)
    assert len(chat.requests) == 2
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            with pytest.raises(BadReply) as again:
                await ask(model, QUESTION, Verdict, max_tokens=50)
    assert (str(again.value), again.value.raw) == (str(caught.value), bad)
    assert [call.state for call in list_calls(path, "r")] == ["unusable", "unusable"]
    chat.always(GOOD)
    with Ledger.open(path, run="r") as ledger:  # spoiled: the next run asks again
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            assert (await ask(model, QUESTION, Verdict, max_tokens=50)).value == VERDICT
    assert len(chat.requests) == 3


async def test_a_good_reply_takes_one_call(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(GOOD)
    asked = await ask(model, QUESTION, Verdict, max_tokens=50)
    assert (asked.value, asked.repaired, len(asked.calls)) == (VERDICT, False, 1)
    (request,) = chat.requests
    assert request["response_format"]["json_schema"]["strict"] is True
    assert schema_sent(request) == {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": ["yes", "no"]},
            "sentences": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["verdict", "sentences"],
        "additionalProperties": False,
    }


async def test_a_repaired_answer_is_reused_by_the_next_run(chat: ScriptedChat, tmp_path: Path) -> None:
    chat.queue("bad", GOOD)
    for mode in (Mode.CACHE, Mode.CACHE, Mode.REPLAY):
        with Ledger.open(tmp_path / "l.sqlite", run="r", mode=mode) as ledger:
            async with open_model(chat.judge, ledger, limits=QUICK) as model:
                assert (await ask(model, QUESTION, Verdict, max_tokens=50)).repaired
    assert len(chat.requests) == 2


async def test_what_was_cut_off_is_asked_again_with_more_room(chat: ScriptedChat, model: ChatModel) -> None:
    chat.queue(say(GOOD, finish="length"), GOOD)
    asked = await ask(model, QUESTION, Verdict, max_tokens=50)
    assert (asked.value, asked.repaired) == (VERDICT, True)
    first, second = chat.requests
    assert second["max_tokens"] == 200
    assert [m["role"] for m in second["messages"]] == ["system", "user"]
    assert last_user(second).startswith(last_user(first))


async def test_cut_off_twice_is_a_failure(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(say(GOOD, finish="length"))
    with pytest.raises(BadReply, match="cut off"):
        await ask(model, QUESTION, Verdict, max_tokens=50)


async def test_more_room_stays_within_the_context(chat: ScriptedChat, ledger: Ledger) -> None:
    chat.queue(say("x", finish="length"), GOOD)
    async with open_model(chat.judge, ledger, limits=Limits(wait_scale=0, context=120)) as model:
        await ask(model, QUESTION, Verdict, max_tokens=50)
    assert 50 <= chat.requests[1]["max_tokens"] < 120


FORMS = {
    "schema": ((), ["json_schema"]),
    "json mode": (("json_schema",), ["json_schema", "json_object"]),
    "plain": (("json_schema", "response_format"), ["json_schema", "json_object", None]),
}


@pytest.mark.parametrize(("refuse", "forms"), FORMS.values(), ids=FORMS.keys())
async def test_structured_output_steps_down_and_remembers(
    ledger: Ledger, refuse: tuple[str, ...], forms: list[str | None]
) -> None:
    with ScriptedChat(refuse=refuse) as chat:
        chat.always(GOOD)
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            assert (await ask(model, QUESTION, Verdict, max_tokens=50)).value == VERDICT
            assert sent_forms(chat) == forms
            assert (await ask(model, [user("And this?")], Verdict, max_tokens=50)).value == VERDICT
            assert sent_forms(chat) == [*forms, forms[-1]], "what works is remembered"
            assert ledger.totals().made == 2
            assert ledger.totals().failed == 0
        told = last_user(chat.requests[-1])
        assert (json.dumps(schema_of(Verdict)) in told) == (forms[-1] != "json_schema")
        assert told.startswith("And this?")


def sent_forms(chat: ScriptedChat) -> list[str | None]:
    return [(body.get("response_format") or {}).get("type") for body in chat.requests]


class Odd(Frozen):
    """Whose schema is refused."""

    name: str
    parts: tuple[str, ...]


class Odder(Odd):
    more: tuple[int, ...]


class Oddest(Odder):
    most: tuple[int, ...]


class Simple(Frozen):
    answer: Word


ANSWERS: dict[type[Frozen], Any] = {
    Verdict: GOOD,
    Odd: {"name": "a", "parts": ["b"]},
    Odder: {"name": "a", "parts": ["b"], "more": [1]},
    Oddest: {"name": "a", "parts": ["b"], "more": [1], "most": [2]},
    Simple: {"answer": "yes"},
}


def refuse(chat: ScriptedChat, *refused: type[Frozen]) -> None:
    """Refuse these schemas, take all others, and answer what is asked for."""
    fields = [set(kind.model_fields) for kind in refused]
    odd = error(400, "Invalid schema for response_format 'answer': it is too complex")
    chat.on(lambda body: set((schema_sent(body) or {}).get("properties", {})) in fields, odd)
    for kind, answer in ANSWERS.items():
        chat.on(kind.__name__ + "?", answer)


async def asked_for(model: ChatModel, *kinds: type[Frozen]) -> None:
    for number, kind in enumerate(kinds):
        await ask(model, [user(f"{number}: {kind.__name__}?")], kind, max_tokens=50)


async def test_one_odd_schema_says_nothing_of_the_others(chat: ScriptedChat, model: ChatModel) -> None:
    refuse(chat, Odd)
    await asked_for(model, Odd, Verdict, Odd, Simple, Verdict)
    assert sent_forms(chat) == [
        "json_schema",
        "json_object",
        "json_schema",
        "json_object",
        "json_schema",
        "json_schema",
    ]


async def test_odd_schemas_with_good_ones_between_are_remembered_one_by_one(
    chat: ScriptedChat, model: ChatModel
) -> None:
    refuse(chat, Odd, Odder, Oddest)
    await asked_for(model, Odd, Odder, Verdict, Oddest, Verdict, Odder)
    twice = ["json_schema", "json_object"]
    assert sent_forms(chat) == [*twice, *twice, "json_schema", *twice, "json_schema", "json_object"]


async def test_three_different_schemas_refused_in_a_row_are_enough(chat: ScriptedChat, model: ChatModel) -> None:
    refuse(chat, Odd, Odder, Oddest)
    await asked_for(model, Odd, Odd, Odder, Oddest, Verdict)
    twice = ["json_schema", "json_object"]
    assert sent_forms(chat) == [*twice, "json_object", *twice, *twice, "json_object"]


async def test_who_refuses_the_plainest_schema_takes_none(chat: ScriptedChat, model: ChatModel) -> None:
    refuse(chat, Simple)
    await asked_for(model, Simple, Verdict)
    assert sent_forms(chat) == ["json_schema", "json_object", "json_object"]


async def test_the_form_is_not_part_of_the_key(tmp_path: Path) -> None:
    """So a replay finds its answers in whatever order the calls are made."""
    keys = []
    for number, refuse in enumerate([(), ("json_schema",), ("json_schema", "temperature")]):
        with ScriptedChat(refuse=refuse) as chat, Ledger.open(tmp_path / f"{number}", run="r") as ledger:
            chat.always(GOOD)
            async with open_model(chat.judge, ledger, limits=QUICK) as model:
                keys.append((await ask(model, QUESTION, Verdict, max_tokens=50)).calls)
    assert len(set(keys)) == 1


async def test_a_proxy_that_refuses_without_a_reason(chat: ScriptedChat, model: ChatModel) -> None:
    chat.on(lambda body: "response_format" in body, error(400, "Bad request"))
    chat.always(GOOD)
    assert (await ask(model, QUESTION, Verdict, max_tokens=50)).value == VERDICT
    assert sent_forms(chat) == ["json_schema", "json_object", None]


async def test_a_context_that_is_too_long_is_not_mistaken_for_a_form(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(error(400, "maximum context length is 10 tokens; reduce max_tokens", code="context_length_exceeded"))
    with pytest.raises(CallRefused, match="context length"):
        await ask(model, QUESTION, Verdict, max_tokens=50)
    assert len(chat.requests) == 1


PARAMETERS = {
    "temperature": ("temperature", {"temperature": 0.0}),
    "stop": ("stop", {"stop": ["\n"]}),
    "logprobs": ("logprobs", {"top_logprobs": 3}),
}


@pytest.mark.parametrize(("name", "options"), PARAMETERS.values(), ids=PARAMETERS.keys())
async def test_a_refused_parameter_is_dropped_once_and_remembered(
    ledger: Ledger, name: str, options: dict[str, Any]
) -> None:
    with ScriptedChat(refuse=[name]) as chat:
        chat.always("ok")
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            for text in ("one", "two"):
                assert (await model.complete([user(text)], max_tokens=3, **options)).text == "ok"
        assert [name in body for body in chat.requests] == [True, False, False]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_the_output_limit_has_two_names(ledger: Ledger, name: str) -> None:
    with ScriptedChat(refuse=[name]) as chat:
        chat.always("ok")
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            await model.complete([user("one")], max_tokens=3)
            await model.complete([user("two")], max_tokens=3)
        sent = [{"max_tokens", "max_completion_tokens"} & set(body) for body in chat.requests]
        assert sent[-1] == {"max_tokens", "max_completion_tokens"} - {name}
        assert len(sent) == (3 if name == "max_tokens" else 2)


async def test_all_refusals_at_once(ledger: Ledger) -> None:
    refuse = ["json_schema", "response_format", "temperature", "max_tokens", "stop", "logprobs"]
    with ScriptedChat(refuse=refuse) as chat:
        chat.always(GOOD)
        async with open_model(chat.judge, ledger, limits=QUICK) as model:
            await model.complete([user("x")], max_tokens=3, schema=schema_of(Verdict), stop=["\n"], top_logprobs=2)
            assert set(chat.requests[-1]) == {"model", "messages", "max_completion_tokens"}
            count = len(chat.requests)
            await model.complete([user("y")], max_tokens=3, schema=schema_of(Verdict), stop=["\n"], top_logprobs=2)
            assert len(chat.requests) == count + 1


async def test_what_is_refused_whatever_we_leave_out_is_refused(chat: ScriptedChat, model: ChatModel) -> None:
    chat.always(error(400, "unsupported everything: temperature, stop, logprobs, max_tokens, response_format"))
    with pytest.raises(CallRefused):
        await model.complete([user("x")], max_tokens=3, schema=schema_of(Verdict), stop=["\n"], top_logprobs=2)
    assert len(chat.requests) == 7
    chat.queue("fine")
    await model.complete([user("y")], max_tokens=3)
    assert "temperature" in chat.requests[-1], "what did not help is not remembered"


class Inner(Frozen):
    name: str = Field(min_length=1, max_length=40, description="who")
    kind: Word | None = None


class Outer(Frozen):
    one: Inner
    many: tuple[Inner, ...] = Field(max_length=5)
    title: str = "x"


async def test_schemas_are_simple_and_strict(chat: ScriptedChat, model: ChatModel) -> None:
    schema = json.dumps(schema_of(Outer))
    for word in ("$ref", "$defs", '"default"', '"title": "'):
        assert word not in schema
    assert schema.count('"additionalProperties": false') == 3
    found: Any = schema_of(Outer)
    assert found["required"] == ["one", "many", "title"]
    assert found["properties"]["many"]["maxItems"] == 5
    assert found["properties"]["one"]["properties"]["name"]["maxLength"] == 40
    chat.always('{"one": {"name": "a", "kind": null}, "many": [], "title": "t"}')
    await ask(model, QUESTION, Outer, max_tokens=9)
    sent: Any = schema_sent(chat.requests[0])
    assert "maxLength" not in json.dumps(sent), "hosted strict modes refuse it"
    assert sent["properties"]["one"]["properties"]["name"]["description"] == "who (at most 40 characters)"
    assert sent["properties"]["many"]["maxItems"] == 5
    assert set(sent["properties"]) == {"one", "many", "title"}


class Tree(Frozen):
    children: tuple[Tree, ...] = ()


def test_a_type_that_contains_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="contains itself"):
        schema_of(Tree)
