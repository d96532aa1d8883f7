"""Real reports of DeepResearch Bench against a page server: at most a third of what the peers' own tools asked for.

benchmarks/peers.py has all of them; the limits here are a third of the peers' averages over ten reports (calls, and
prompt tokens, of which ours are an upper bound).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dream_eval.core import Status
from dream_eval.models import count_tokens
from peer_work import SYSTEMS, measure


@pytest.mark.parametrize(
    ("metric", "calls", "tokens"), [("fact", 25.5, 47_351), ("dre_facts", 59.1, 371_781), ("dre_quality", 16, 43_970)]
)
async def test_at_most_a_third_of_calls_and_tokens(
    shared_data: Path, tmp_path: Path, metric: str, calls: float, tokens: int
) -> None:
    done = await measure(shared_data, tmp_path, metric, SYSTEMS[:1], count_tokens, tasks=("5", "52"))
    assert [one.result.status for one in done] == [Status.SCORED] * 2
    assert sum(one.items for one in done) >= 10
    assert sum(one.calls for one in done) / len(done) <= calls / 3
    assert sum(one.prompt_tokens for one in done) / len(done) <= tokens / 3
    assert all("call_failed" not in item.flags for one in done for item in one.result.items)
