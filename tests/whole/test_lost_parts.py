"""Parts lost to failed calls: the score is of what is left, coverage says so, and the same command mends it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dream_eval.core import Status
from servers.chat import error, last_user
from world import SCORES


def outcomes(world: Any) -> dict[tuple[str, str], Any]:
    lines = [json.loads(line) for line in (world.out / "results.jsonl").read_text().splitlines()]
    return {(line["report"], line["metric"]): line["result"] for line in lines}


def refuse(world: Any, needle: str) -> list[bool]:
    """From now on the judge refuses prompts that hold ``needle``, until the list is emptied."""
    on = [True]
    world.chat.on(lambda body: bool(on) and needle in last_user(body), error(400), first=True)
    return on


@pytest.mark.parametrize(
    ("needle", "metric"),
    [("Claim: The Lindow barrage has 14 turbines", "factuality"), ("Domain: coastal-post.co.uk", "da")],
)
async def test_the_same_command_asks_again_for_what_was_lost(world: Any, needle: str, metric: str) -> None:
    on = refuse(world, needle)
    first = await world.run()
    lost = outcomes(world)["cited", metric]
    assert lost["coverage"]["decided"] < lost["coverage"]["checked"]
    assert any("call_failed" in item["flags"] for item in lost["items"])
    assert lost["score"] != pytest.approx(SCORES["cited", metric])
    on.clear()
    asked = len(world.chat.requests)
    again = await world.run()
    assert 1 <= len(world.chat.requests) - asked <= 6
    assert {place: result["score"] for place, result in outcomes(world).items()} == {
        place: None if value is None else pytest.approx(value) for place, value in SCORES.items()
    }
    assert first.summary != again.summary


async def test_nothing_decided_and_something_lost_is_a_failure(world: Any) -> None:
    refuse(world, "Is the claim supported by the evidence")
    await world.run(metrics="factuality")
    result = outcomes(world)["cited", "factuality"]
    assert (result["status"], result["score"]) == (Status.FAILED, None)
    assert result["reason"].startswith("evidence_unavailable (call_refused")
