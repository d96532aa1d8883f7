"""A run on a Ray cluster that loses its node, held against the same run in one process. Prints what it found as JSON.

A process of its own: Ray wants the main thread, and to know the machine's address.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import ray
from dream_eval.models import Limits
from dream_eval.runs.api import prepare
from dream_eval.runs.perform import Outside, perform
from dream_eval.runs.progress import Notice, Progress
from dream_eval.runs.shards import Cluster
from ray.cluster_utils import Cluster as Nodes
from servers.chat import ScriptedChat
from world import AS_OF, QUERY, judge_of_world, write_world

CONCURRENCY = 4


def ask_of(folder: Path, chat: ScriptedChat, out: str) -> Any:
    """Two reports by six metrics."""
    return prepare(
        [str(folder / "cited.md"), str(folder / "uncited.md")],
        query=QUERY,
        judge=chat.judge,
        search=f"corpus:{folder / 'corpus'}",
        as_of=AS_OF,
        out=folder / out,
        ledger=folder / f"{out}.sqlite",
        questions=4,
        reasoning=2,
        concurrency=CONCURRENCY,
    )


def main(folder: Path) -> dict[str, Any]:
    """What was called and what came of it."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    write_world(folder)
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    worker, told = nodes.add_node(num_cpus=1), []
    patient = Outside(limits=Limits(wait_scale=0, context=32_000))

    def heard(_: Progress, notice: Notice | None) -> None:
        lost = "lost" in told
        told.append("" if notice is None else notice.text)
        if notice is not None and notice.kind == "unit" and not lost:
            told.append("lost")
            nodes.remove_node(worker, allow_graceful=False)
            nodes.add_node(num_cpus=1)

    with judge_of_world(delay_s=0.3) as chat:
        asked, codes = [], []
        for out, cluster in (("far", Cluster(nodes.address)), ("near", None), ("far", Cluster(nodes.address))):
            before = len(chat.requests)
            listener = heard if not asked else None
            done = perform(ask_of(folder, chat, out), outside=patient, on_progress=listener, ray=cluster)
            codes.append(int(asyncio.run(done).exit_code))
            asked.append(len(chat.requests) - before)
    ray.shutdown()
    nodes.shutdown()
    one, other = ((folder / name / "results.jsonl").read_bytes() for name in ("far", "near"))
    moved = any("a worker was lost" in text for text in told)
    return {"codes": codes, "asked": asked, "same": one == other, "moved": moved}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
