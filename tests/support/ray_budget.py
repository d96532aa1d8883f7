"""A dollar budget on a Ray cluster of two nodes, and the command at a cluster that runs already. Prints JSON.

A process of its own, as in ``ray_world``. Our own server stands in for a judge with a list price.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray
from dream_eval.models import Limits
from dream_eval.models.providers import PROVIDERS
from dream_eval.runs.api import prepare
from dream_eval.runs.perform import Outside, RunResult, perform
from dream_eval.runs.shards import Cluster
from ray.cluster_utils import Cluster as Nodes
from servers.chat import Body, ScriptedChat, last_user
from world import AS_OF, CITED, QUERY, WRITING, judge_of_world, write_world

REPORTS = 12
PART = 0.75
BOTH = 3
"""Reports at once that take both nodes: each has room for two."""
DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


def priced(url: str) -> Callable[[], None]:
    """What leads ``openai/…`` to our server, in whatever process runs it."""

    def lead() -> None:
        from dream_eval.models.providers import PROVIDERS

        PROVIDERS["openai"] = replace(PROVIDERS["openai"], base_url=url)

    return lead


async def run(folder: Path, out: str, *, budget: float | None = None, cluster: Cluster | None = None) -> RunResult:
    """Long reports, so that what is asked costs more than what may be answered."""
    ask = prepare(
        [str(folder / f"r{number}.md") for number in range(REPORTS)],
        query=QUERY,
        judge="openai/gpt-4.1",
        metrics=["wq"],
        search=f"corpus:{folder / 'corpus'}",
        as_of=AS_OF,
        out=folder / out,
        ledger=folder / f"{out}.sqlite",
        budget_usd=budget,
    )
    return await perform(ask, outside=Outside(limits=Limits(wait_scale=0)), ray=cluster)


def write_reports(folder: Path) -> None:
    """Reports of some 8,000 words, no two the same."""
    write_world(folder)
    for number in range(REPORTS):
        padding = f"Much is told elsewhere of what report {number} leaves out. " * 800
        (folder / f"r{number}.md").write_text(CITED.replace("## Sources", f"{padding}\n\n## Sources"), encoding="utf-8")


def meet(chat: ScriptedChat, calls: int) -> None:
    """The next calls are answered when so many are under way together (or after minutes)."""
    barrier = threading.Barrier(calls, timeout=200)

    def answer(_: Body) -> dict[str, Any]:
        with suppress(threading.BrokenBarrierError):
            barrier.wait()
        return WRITING

    chat.on(lambda body: "Score the writing of the report" in last_user(body), answer, times=calls, first=True)


def spent(chat: ScriptedChat, folder: Path) -> dict[str, Any]:
    """A whole run here, one with a part of its cost as budget on the nodes, and that one with more."""
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    ray.init(
        nodes.address, namespace="dream-eval", log_to_driver=False,
        runtime_env={"worker_process_setup_hook": priced(chat.url)},
    )  # fmt: skip
    whole = asyncio.run(run(folder, "whole")).summary.totals.cost_usd
    asked = len(chat.requests)
    chat.peak = 0
    meet(chat, BOTH)
    part = asyncio.run(run(folder, "far", budget=PART * whole, cluster=Cluster(nodes.address)))
    asked_part, peak = len(chat.requests) - asked, chat.peak
    more = asyncio.run(run(folder, "far", budget=2 * whole, cluster=Cluster(nodes.address)))
    found = {
        "whole_usd": whole,
        "part_usd": part.summary.totals.cost_usd,
        "more_usd": more.summary.totals.cost_usd,
        "states": [part.state, more.state],
        "asked": [asked, asked_part, len(chat.requests) - asked],
        "peak": peak,
    }
    ray.shutdown()
    nodes.shutdown()
    return found


def commanded(chat: ScriptedChat, folder: Path) -> dict[str, Any]:
    """``dream run --engine ray --ray-address`` in a process of its own, twice, at nodes that were there before."""
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    command = [*DREAM, "run", "--system", f"one={folder / 'cited.md'}", "--query", QUERY, "--judge", chat.judge]
    command += ["--metrics", "wq", "--search", f"corpus:{folder / 'corpus'}", "--as-of", str(AS_OF), "--yes"]
    command += ["--out", str(folder / "out"), "--ledger", str(folder / "out.sqlite")]
    command += ["--engine", "ray", "--ray-address", nodes.address]
    codes = [subprocess.run(command, stdout=subprocess.DEVNULL, timeout=250, check=False).returncode for _ in range(2)]
    ray.init(nodes.address, log_to_driver=False)
    alive = len([node for node in ray.nodes() if node["Alive"]])
    ray.shutdown()
    nodes.shutdown()
    return {"codes": codes, "asked": len(chat.requests), "alive": alive}


def main(what: str, folder: Path) -> dict[str, Any]:
    """``spent`` or ``commanded``."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "OPENAI_API_KEY": "sk-made-up-for-a-test"}
    write_reports(folder)
    with judge_of_world(delay_s=0.2) as chat:
        priced(chat.url)()
        assert PROVIDERS["openai"].base_url == chat.url
        return {"spent": spent, "commanded": commanded}[what](chat, folder)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
