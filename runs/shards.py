"""Where a run is done: which part of it here (whole tasks, dealt evenly and the same everywhere), or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster to run on."""

    address: str | None = None
    """As Ray has it (``auto``, ``HOST:6379``); None: one on this machine."""


Shard = tuple[int, int]
"""(i, n) with 1 ≤ i ≤ n: part i of n."""


def dealt(tasks: Iterable[str], shard: Shard | None) -> frozenset[str]:
    """The ids of the tasks that belong to a part; None: all of them.

    Ids are sorted by their SHA-256 and dealt in turn, so that parts differ by one task at most and never overlap,
    whatever order the tasks come in.
    """
    distinct = set(tasks)
    if shard is None:
        return frozenset(distinct)
    number, parts = shard
    ordered = sorted(distinct, key=lambda task: (sha256(task.encode()).digest(), task))
    return frozenset(ordered[number - 1 :: parts])
