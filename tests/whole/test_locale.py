"""The task's language goes along with every search: of the creator, the plan verifier and the fact check."""

from __future__ import annotations

from typing import Any

from dream_eval.core import Task
from dream_eval.runs.data import RunState
from servers.search import query_of, searxng_reply
from servers.web import web_server
from world import QUERY


async def test_every_search_is_told_the_tasks_language(world: Any) -> None:
    async with web_server({"/search": searxng_reply([])}) as server:
        done = await world.run(
            query=None,
            task=Task(id="t", prompt=QUERY, language="en-GB"),
            metrics="kic,rq,factuality",
            search=[f"searxng:{server.url}", f"corpus:{world.folder / 'corpus'}"],
        )
        asked = [query_of(seen) for seen in server.seen]
    assert done.state is RunState.FINISHED
    assert done.summary.failed == 0
    assert {one["language"] for one in asked} == {"en-GB"}
    queries = {one["q"] for one in asked}
    assert "Lindow barrage cost" in queries, "the plan verifier searched"
    assert len(queries) > 6
