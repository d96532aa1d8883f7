"""Which part of a run a machine does: whole tasks, dealt evenly and the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

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
