"""``--exclude-host``: never evidence, written down, and part of what a result depends on."""

from __future__ import annotations

import json
from typing import Any

from dream_eval.runs.data import RunState
from dream_eval.runs.replay import replay

HOST = "tidal-authority.gov.uk"


def lines_of(world: Any) -> dict[tuple[str, str], dict[str, Any]]:
    lines = [json.loads(line) for line in (world.out / "results.jsonl").read_text().splitlines()]
    return {(line["report"], line["metric"]): line for line in lines}


async def test_an_excluded_host_is_no_evidence_and_the_run_says_so(world: Any) -> None:
    wishes = {"metrics": "wq,factuality,ci"}
    await world.run(**wishes)
    before = lines_of(world)
    judged = [item for item in before["cited", "factuality"]["result"]["items"] if HOST in json.dumps(item)]
    assert judged, "the host is evidence as long as nobody excludes it"
    done = await world.run(**wishes, exclude_hosts=[f"https://www.{HOST}/"])
    after = lines_of(world)
    assert done.state is RunState.FINISHED
    assert json.loads((world.out / "run.json").read_text())["exclude_hosts"] == [HOST]
    changed = {place for place in before if before[place]["unit"] != after[place]["unit"]}
    assert {metric for _, metric in changed} == {"factuality", "ci"}
    assert HOST not in json.dumps(after["cited", "factuality"]["result"])
    pair = next(i for i in after["cited", "ci"]["result"]["items"] if HOST in json.dumps(i["detail"]))
    assert pair["outcome"] == "could_not_check"
    assert (await replay(world.out)).difference is None
