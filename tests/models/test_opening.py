"""Replaying the embedded judge: nothing is fetched, started or asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from dream_eval.errors import UserError
from dream_eval.ledger import Ledger, Mode
from dream_eval.models import ChatModel, Completion, Limits, open_model, user
from dream_eval.models.grammar import grammar_of
from dream_eval.models.line import open_line
from dream_eval.models.local import CONTEXT, DEFAULT_SHA256
from dream_eval.models.opening import _local_card
from servers.chat import ScriptedChat

OTHER = "0123456789ab" + "c" * 52


@pytest.fixture(autouse=True)
def no_model_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DREAM_LOCAL_MODEL", str(tmp_path / "none.gguf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


async def record(path: Path, sha256: str, run: str) -> Completion:
    """One recorded reply of a judge with this model file, given by the scripted server."""
    with ScriptedChat() as chat, Ledger.open(path, run=run) as ledger:
        chat.always(f"from {sha256[:4]}")
        async with open_line(chat.url, None, Limits(), alone=True, own=True) as line:
            return await ChatModel(_local_card(sha256, CONTEXT), ledger, line, Limits()).complete(
                [user("hi")], max_tokens=3
            )


async def replay(path: Path, name: str, run: str) -> tuple[str, int, str]:
    with Ledger.open(path, run=run, mode=Mode.REPLAY) as ledger:
        async with open_model(name, ledger) as model:
            assert model.embedded
            reply = await model.complete([user("hi")], max_tokens=3)
            return model.name, model.context, reply.text


async def test_the_default_file_is_replayed_as_local(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    await record(path, DEFAULT_SHA256, "r")
    assert await replay(path, "local", "r") == ("local", CONTEXT, f"from {DEFAULT_SHA256[:4]}")


async def test_another_file_is_replayed_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    await record(path, OTHER, "other")
    wanted = ("local:0123456789ab", CONTEXT, "from 0123")
    assert await replay(path, "local:0123456789ab", "other") == wanted
    assert await replay(path, "local", "other") == wanted, "the only one there is"
    await record(path, DEFAULT_SHA256, "r")
    assert await replay(path, "local:0123456789ab", "other") == wanted
    assert (await replay(path, "local", "r"))[0] == "local"
    with pytest.raises(UserError, match="no such model file"):
        await replay(path, "local:ffff", "r")


async def test_the_embedded_judge_is_asked_one_at_a_time_and_by_a_grammar(tmp_path: Path) -> None:
    with ScriptedChat(delay_s=0.01) as chat, Ledger.open(None, run="r") as ledger:
        chat.always("{}")
        async with open_line(chat.url, None, Limits(), alone=True, own=True) as line:
            model = ChatModel(_local_card(OTHER, CONTEXT), ledger, line, Limits())
            schema = {"type": "object", "properties": {"note": {"type": "string", "maxLength": 9}}}
            await model.complete([user("hi")], max_tokens=3, schema=schema)
            assert line.limiter.most == 1
        assert chat.requests[0]["grammar"] == grammar_of(schema)
        assert "response_format" not in chat.requests[0]
