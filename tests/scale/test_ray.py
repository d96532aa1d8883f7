"""A run on a Ray cluster of several nodes on this machine: the same results, and what a lost node costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import UserError
from dream_eval.runs.api import prepare
from dream_eval.runs.checked import cluster
from dream_eval.runs.ready import check_cluster
from dream_eval.runs.shards import Cluster
from world import QUERY, write_world

SUPPORT = Path(__file__).resolve().parents[1] / "support"
CONCURRENCY = 4


@pytest.mark.cluster
@pytest.mark.timeout(600)
def test_a_lost_node_costs_the_calls_in_flight_and_the_results_are_those_of_one_process(tmp_path: Path) -> None:
    found = _told("ray_world.py", str(tmp_path))
    assert found["codes"] == [0, 0, 0]
    assert found["moved"], "no worker was lost"
    assert found["same"]
    far, near, again = found["asked"]
    assert near <= far <= near + CONCURRENCY
    assert again == 0


def _told(script: str, *arguments: str) -> Any:
    pytest.importorskip("ray")
    command = [sys.executable, str(SUPPORT / script), *arguments]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=560, check=True).stdout
    return json.loads(said.splitlines()[-1])


@pytest.mark.cluster
@pytest.mark.timeout(600)
def test_two_nodes_together_never_exceed_a_dollar_budget(tmp_path: Path) -> None:
    found = _told("ray_budget.py", "spent", str(tmp_path))
    assert found["states"] == ["budget", "finished"]
    assert found["peak"] >= 3, "one node was enough"
    assert 0.2 * found["whole_usd"] < found["part_usd"] <= 0.75 * found["whole_usd"]
    assert found["more_usd"] == pytest.approx(found["whole_usd"])
    whole, part, all_far = found["asked"]
    assert part < whole == all_far


@pytest.mark.cluster
@pytest.mark.timeout(600)
def test_the_command_works_on_a_cluster_that_runs_already_and_leaves_it_running(tmp_path: Path) -> None:
    found = _told("ray_budget.py", "commanded", str(tmp_path))
    assert found == {"codes": [0, 0], "asked": 1, "alive": 1}


def test_wishes_that_no_cluster_can_meet(tmp_path: Path) -> None:
    write_world(tmp_path)
    ask = prepare(str(tmp_path / "cited.md"), query=QUERY, judge="local", search=f"corpus:{tmp_path / 'corpus'}")
    with pytest.raises(UserError, match="one machine"):
        check_cluster(ask)
    with pytest.raises(UserError, match="--engine ray"):
        cluster("asyncio", "auto")
    with pytest.raises(UserError, match="start the run on a node of the cluster"):
        cluster("ray", "ray://10.0.0.1:10001")
    assert cluster("ray", None) == Cluster()
