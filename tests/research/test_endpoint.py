"""Hosted research models as systems under test: chat and responses, background, citations, failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dream_eval.agents.research import Collected, State, perform, read_profiles
from dream_eval.agents.research.process import Limits
from dream_eval.core import Task
from dream_eval.errors import AccountRefused, BudgetReached, UserError
from dream_eval.ledger import Budget, Mode
from dream_eval.models import Limits as ModelLimits
from dream_eval.reports import load_reports
from servers.hosted import Hosted, Reply, completion, hosted, response

FAST = perform.Outside(limits=ModelLimits(wait_scale=0, attempts=3))
TASKS = (Task(id="t1", prompt="What about heat pumps?"),)


def wish(folder: Path, server: Hosted, **more: Any) -> perform.Wish:
    return perform.Wish(
        "odr", TASKS, folder / "odr.jsonl", folder / "ledger.sqlite", endpoint=f"{server.url}#m", **more
    )


async def run(asked: perform.Wish, **more: Any) -> Collected:
    return (await perform.perform(asked, outside=FAST, **more))[0]


def annotation(url: str, title: str) -> dict[str, Any]:
    return {"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 3}


async def test_chat_with_annotations(tmp_path: Path) -> None:
    found = [{"type": "url_citation", "url_citation": annotation("https://a.org/1", "A")}]
    async with hosted() as server:
        server.on("/chat/completions", completion("Pumps [1](https://a.org/1).", annotations=found))
        asked = wish(tmp_path, server, extra={"max_tokens": 900})
        assert (await run(asked)).missing == ()
        assert server.asked[0].body == {
            "model": "m",
            "messages": [{"role": "user", "content": "What about heat pumps?"}],
            "max_tokens": 900,
        }
    (report,) = load_reports(asked.out)
    assert [source.url for source in report.sources] == ["https://a.org/1"]
    profile = read_profiles(asked.out)["t1"]
    assert (profile.prompt_tokens, profile.completion_tokens, profile.measured) == (10, 5, "ledger")


async def test_chat_with_numbered_citations(tmp_path: Path) -> None:
    """Search models number their sources in a list beside the message."""
    reply = completion("Pumps [2]. Houses [1].") | {"citations": ["https://a.org/1", "https://b.org/2"]}
    async with hosted() as server:
        server.on("/chat/completions", reply)
        await run(wish(tmp_path, server))
    (report,) = load_reports(tmp_path / "odr.jsonl")
    assert [report.source(mark.sources[0]).url for mark in report.marks] == ["https://b.org/2", "https://a.org/1"]


async def test_background_response_is_polled(tmp_path: Path) -> None:
    states = iter(["queued", "in_progress"])
    done = response("# Pumps\n\nThey work ([A](https://a.org/1)).", [annotation("https://a.org/1", "A")])

    def look(_: Any) -> Any:
        state = next(states, None)
        return done if state is None else {"id": "r1", "status": state, "output": []}

    async with hosted() as server:
        server.on("/responses", {"id": "r1", "status": "queued", "output": []}).on("/responses/r1", look)
        asked = wish(tmp_path, server, api="responses")
        assert (await run(asked)).missing == ()
        assert server.asked[0].body == {"model": "m", "input": "What about heat pumps?", "background": True}
        assert [call.path for call in server.asked] == ["/responses", *["/responses/r1"] * 3]
        # The same again from the ledger alone.
        asked.out.unlink()
        calls = len(server.asked)
        assert (await run(asked, mode=Mode.REPLAY)).missing == ()
        assert len(server.asked) == calls
    (report,) = load_reports(asked.out)
    assert report.sources[0].url == "https://a.org/1"
    assert read_profiles(asked.out)["t1"].tokens == 150


async def test_a_killed_collection_polls_the_same_response(tmp_path: Path) -> None:
    """The first run dies between asking and the answer: the second asks for nothing new."""
    async with hosted() as server:
        server.on("/responses", {"id": "r1", "status": "queued", "output": []})
        server.on("/responses/r1", Reply({"error": {"message": "down"}}, 503))
        first = await run(wish(tmp_path, server, api="responses"))
        assert first.states["t1"].state is State.FAILED
        (tmp_path / "odr.log").unlink()  # as a kill leaves it: no attempt has ended
        server.on("/responses/r1", response("Pumps."))
        assert (await run(wish(tmp_path, server, api="responses"))).missing == ()
        assert [call.path for call in server.asked].count("/responses") == 1


async def test_deep_research_models_get_a_source_of_data(tmp_path: Path) -> None:
    async with hosted() as server:
        server.on("/responses", response("Pumps."))
        asked = perform.Wish(
            *("odr", TASKS, tmp_path / "odr.jsonl", tmp_path / "l.sqlite"),
            endpoint=f"{server.url}#o4-mini-deep-research",
            api="responses",
        )
        await run(asked)
    assert server.asked[0].body["tools"] == [{"type": "web_search_preview"}]


async def test_an_endpoint_without_background(tmp_path: Path) -> None:
    def answer(asked: Any) -> Any:
        if "background" in asked.body:
            return Reply({"error": {"message": "Unknown parameter: 'background'."}}, 400)
        return response("Pumps.")

    async with hosted() as server:
        server.on("/responses", answer)
        assert (await run(wish(tmp_path, server, api="responses"))).missing == ()


@pytest.mark.parametrize(
    ("reply", "state", "words"),
    [
        (Reply({"error": {"message": "filtered by policy"}}, 400), State.REFUSED, "filtered by policy"),
        (Reply({"error": {"message": "down"}}, 500), State.FAILED, "after 3 tries"),
        (completion("  "), State.EMPTY, "no text"),
        ({"choices": []}, State.EMPTY, "no text"),
        (
            completion("cut") | {"choices": [{"finish_reason": "length", "message": {"content": "cut"}}]},
            State.FAILED,
            "cut off",
        ),
        (response("x", status="failed", error={"message": "tool broke"}), State.FAILED, "failed: tool broke"),
        (
            response("x", status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            State.FAILED,
            "incomplete",
        ),
    ],
)
async def test_failures_are_states(tmp_path: Path, reply: Any, state: State, words: str) -> None:
    async with hosted() as server:
        server.on("/chat/completions", reply)
        done = await run(wish(tmp_path, server))
    assert done.states["t1"].state is state
    assert words in done.states["t1"].reason
    assert not (tmp_path / "odr.jsonl").exists()


async def test_a_slow_response_is_called_off(tmp_path: Path) -> None:
    async with hosted() as server:
        server.on("/responses", {"id": "r1", "status": "queued", "output": []})
        server.on("/responses/r1", {"id": "r1", "status": "in_progress", "output": []})
        server.on("/responses/r1/cancel", {"id": "r1", "status": "cancelled"})
        done = await run(wish(tmp_path, server, api="responses", limits=Limits(seconds=2)))
        assert server.asked[-1].path == "/responses/r1/cancel"
    assert "no report after 2 s" in done.states["t1"].reason


async def test_account_budget_and_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hosted() as server:
        server.on("/chat/completions", Reply({"error": {"message": "Incorrect API key provided"}}, 401))
        assert isinstance((await run(wish(tmp_path, server))).stopped, AccountRefused)
        done = await run(wish(tmp_path, server, budget=Budget(tokens=100)))
        assert isinstance(done.stopped, BudgetReached)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    paid = perform.Wish(
        "p", TASKS, tmp_path / "p.jsonl", tmp_path / "l.sqlite", endpoint="openai/no-such-model", budget=Budget(usd=1)
    )
    with pytest.raises(UserError, match="no price"):
        await run(paid)
