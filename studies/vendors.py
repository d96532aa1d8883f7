"""Does a judge favour systems that run on a model of its own vendor?

A judge may simply be softer, and its vendor's system simply better. Both fall out of a difference of differences: how
much farther this judge puts the vendor's systems above the others than another judge does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pydantic import Field

from ..core import Frozen
from ..stats.paired import ALPHA, FEWEST_TASKS, Difference, holm, paired_difference
from .pool import Pool

NAMES = {
    "openai": r"openai|gpt|chatgpt|o[134](?:-|\b)",
    "anthropic": r"anthropic|claude",
    "google": r"google|gemini|gemma",
    "alibaba": r"qwen|alibaba|tongyi|qwq",
    "mistral": r"mistral|mixtral|magistral",
    "deepseek": r"deepseek",
    "xai": r"grok|\bx-?ai\b",
    "perplexity": r"perplexity|sonar",
    "meta": r"llama|\bmeta\b",
    "moonshot": r"kimi|moonshot",
}
"""Vendor to what its models are called."""


class Vendors(Frozen):
    """Whose model each judge and system runs on; missing where nobody said so."""

    judges: dict[str, str] = Field(default_factory=dict)
    systems: dict[str, str] = Field(default_factory=dict)


class SelfPreference(Frozen):
    """One judge against another one, on its vendor's systems."""

    metric: str
    judge: str
    vendor: str
    against: str
    """The judge it is compared with, of another vendor."""
    own: tuple[str, ...]
    """Systems of the judge's vendor."""
    others: tuple[str, ...]
    preference: Difference | None = None
    """Points by which the judge favours its vendor's systems more than the other judge does; None: too few tasks."""
    rivals_own: tuple[str, ...] = ()
    """Systems of the other judge's vendor; among ``others`` only where there are no neutral ones."""
    p_adjusted: float | None = None
    """Holm over all metrics and judges."""
    tasks: int
    verdict: str


def vendor_of(name: str) -> str | None:
    """The vendor of a model or system, by its name; None where it does not tell, or tells of two.

    The embedded judge is a Qwen model.
    """
    if name == "local" or name.startswith("local:"):
        return "alibaba"
    found = [vendor for vendor, words in NAMES.items() if re.search(rf"(?<![a-z])(?:{words})", name.lower())]
    models = [
        vendor for vendor in found if re.search(rf"(?<![a-z])(?:{NAMES[vendor]})", name.lower().rpartition("/")[2])
    ]
    best = models or found
    return best[0] if len(best) == 1 else None


def vendors_of(pool: Pool, given: Mapping[str, str]) -> Vendors:
    """Vendors of all judges and systems; what is given comes before what names tell."""
    return Vendors(
        judges={judge: vendor for judge in pool.judges if (vendor := given.get(judge) or vendor_of(judge))},
        systems={system: vendor for system in pool.systems if (vendor := given.get(system) or vendor_of(system))},
    )


Table = Mapping[tuple[str, str], float]
"""(task, system) to score."""


def self_preference(
    scores: Mapping[str, Mapping[str, Table]],
    vendors: Vendors,
    *,
    alike: Callable[[tuple[str, str], str, str, str], bool] = lambda *_: True,
    seed: int = 0,
) -> tuple[SelfPreference, ...]:
    """For every judge with a system of its vendor, and every judge of another vendor.

    ``scores``: metric to judge to (task, system) to score. ``alike``: whether a (task, system) was judged by the same
    protocol and claim list under this metric by these two judges; others do not count.
    """
    found = []
    for metric, judges in scores.items():
        for judge, table in judges.items():
            vendor = vendors.judges.get(judge)
            own = tuple(system for system, name in vendors.systems.items() if name == vendor)
            if vendor is None:
                continue
            rivals = [name for name in judges if name != judge and vendors.judges.get(name) not in (None, vendor)]
            for rival in rivals if own else ():
                others = _others(table, own, vendors, vendors.judges[rival])
                units = {unit for unit in table if alike(unit, metric, judge, rival)}
                gaps = [_gaps({u: one[u] for u in one if u in units}, own, others) for one in (table, judges[rival])]
                rivals_own = tuple(s for s, name in vendors.systems.items() if name == vendors.judges[rival])
                if others:
                    found.append(_preference((metric, judge, vendor, rival), own, others, rivals_own, gaps, seed))
    return _corrected(found)


def _others(table: Table, own: tuple[str, ...], vendors: Vendors, rival: str) -> tuple[str, ...]:
    """The systems to compare with: of neither judge's vendor, where there are such."""
    rest = [system for system in dict.fromkeys(system for _, system in table) if system not in own]
    neutral = [system for system in rest if vendors.systems.get(system) != rival]
    return tuple(neutral or rest)


def _corrected(found: list[SelfPreference]) -> tuple[SelfPreference, ...]:
    adjusted = iter(holm([one.preference.p for one in found if one.preference is not None]))
    return tuple(
        one if one.preference is None else one.model_copy(update=_said(one, one.preference, next(adjusted)))
        for one in found
    )


def _said(one: SelfPreference, found: Difference, p: float) -> dict[str, object]:
    does = "favours" if found.mean > 0 else "disfavours"
    words = f"{one.judge} {does} {one.vendor}'s systems"
    if any(system in one.others for system in one.rivals_own):
        words += f", or {one.against} does the reverse"
    return {"p_adjusted": p, "verdict": "within noise" if p > ALPHA else words}


def _gaps(table: Table, own: tuple[str, ...], others: tuple[str, ...]) -> dict[str, float]:
    """Task to (mean of own systems - mean of others), on tasks where all of them have a score."""
    tasks = dict.fromkeys(task for task, _ in table)
    whole = [task for task in tasks if all((task, system) in table for system in (*own, *others))]

    def mean(task: str, systems: tuple[str, ...]) -> float:
        return sum(table[task, system] for system in systems) / len(systems)

    return {task: mean(task, own) - mean(task, others) for task in whole}


def _preference(
    names: tuple[str, str, str, str],
    own: tuple[str, ...],
    others: tuple[str, ...],
    rivals_own: tuple[str, ...],
    gaps: list[dict[str, float]],
    seed: int,
) -> SelfPreference:
    metric, judge, vendor, rival = names
    tasks = [task for task in gaps[0] if task in gaps[1]]
    found = paired_difference([gaps[1][task] for task in tasks], [gaps[0][task] for task in tasks], seed=seed)
    return SelfPreference(
        metric=metric,
        judge=judge,
        vendor=vendor,
        against=rival,
        own=own,
        others=others,
        rivals_own=rivals_own,
        preference=found,
        tasks=len(tasks),
        verdict="" if found else f"too few tasks for a test ({len(tasks)} of at least {FEWEST_TASKS})",
    )
