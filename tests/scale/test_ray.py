"""A run on a Ray cluster of several nodes on this machine: the same results, and what a lost node costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
@pytest.mark.timeout(300)
def test_a_lost_node_costs_the_calls_in_flight_and_the_results_are_those_of_one_process(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    script = [sys.executable, str(SUPPORT / "ray_world.py"), str(tmp_path)]
    said = subprocess.run(script, stdout=subprocess.PIPE, text=True, timeout=280, check=True).stdout
    found = json.loads(said.splitlines()[-1])
    assert found["codes"] == [0, 0, 0]
    assert found["moved"], "no worker was lost"
    assert found["same"]
    far, near, again = found["asked"]
    assert near <= far <= near + CONCURRENCY
    assert again == 0


def test_wishes_that_no_cluster_can_meet(tmp_path: Path) -> None:
    write_world(tmp_path)
    ask = prepare(str(tmp_path / "cited.md"), query=QUERY, judge="local", search=f"corpus:{tmp_path / 'corpus'}")
    with pytest.raises(UserError, match="one machine"):
        check_cluster(ask)
    with pytest.raises(UserError, match="--engine ray"):
        cluster("asyncio", "auto")
    assert cluster("ray", None) == Cluster()
