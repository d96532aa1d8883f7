"""Resamples as matrices, made once for each size and seed: a bootstrap or a permutation test is then one product."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

DRAWS = 4000
"""Resamples of a bootstrap."""
FLIPS = 50_000
"""Random sign patterns of a permutation test that is not exact: enough for Holm's correction of a thousand tests."""
EXACT = 12
"""Up to so many pairs a permutation test goes through all sign patterns (4096)."""


@lru_cache(maxsize=32)
def resampled_counts(n: int, *, seed: int = 0, draws: int = DRAWS) -> np.ndarray:
    """How often each of ``n`` things occurs in each resample: shape (draws, n), each row sums to ``n``. Read only."""
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws).astype(float)
    counts.flags.writeable = False
    return counts


@lru_cache(maxsize=8)
def sign_patterns(n: int, *, seed: int = 0, flips: int = FLIPS) -> np.ndarray:
    """Signs ±1, shape (patterns, n): all 2^n up to :data:`EXACT`, else ``flips`` random ones. Read only."""
    if n <= EXACT:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        signs = 1.0 - 2.0 * bits
    else:
        bits = np.random.default_rng(seed).integers(0, 2, size=(flips, n), dtype=np.int8)
        signs = (1 - 2 * bits).astype(np.float32)
    signs.flags.writeable = False
    return signs
