"""What the peers' metrics cost us, beside what their own tools were measured to spend on the same reports.

    python benchmarks/peers.py [--metrics fact,dre_facts,dre_quality,race] [--all] [DATA]

The ten sample reports of DeepResearch Bench by claude-3-7-sonnet (``--all``: three systems), links rewritten to a page
server, a scripted judge: work, not quality. DATA: folder of the public samples [default: ../shared/data]. Counted are
model calls and prompt tokens (messages and schemas) a report, claim lists and rubrics included, all calls of this
process; tokens are o200k_base where ``bpe-openai`` is installed, as they were for the peers, else our upper bound.

The agent of dre_facts makes as many searches and page reads a claim as the scripted agent of the peer did, several a
step. The figures of the peers are of the same reports: DeepResearch Bench at its release of June 2025, DeepResearchEval
at its newest commit then, all as shipped.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from peer_work import SYSTEMS, Work, measure  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
PEERS = {
    "fact": {10: (25.5, 47_351), 30: (34.1, 67_599)},
    "dre_facts": {10: (59.1, 371_781)},
    "dre_quality": {10: (16.0, 43_970), 30: (10.0, 41_492)},
    "race": {10: (2.0, 17_171), 30: (2.0, 16_955)},
}
"""Model calls and prompt tokens a report, by the number of reports."""


def counter() -> tuple[Callable[[str], int], str]:
    """How tokens are counted, and its name."""
    try:
        import bpe_openai
    except ImportError:
        from dream_eval.models import count_tokens

        return count_tokens, "upper bound"
    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text)), "o200k_base"


def row(metric: str, done: list[Work], seconds: float) -> str:
    """One line of the table."""
    reports = len(done)
    calls, tokens, pages, searches, items = (
        sum(getattr(one, name) for one in done) / reports
        for name in ("calls", "prompt_tokens", "pages", "searches", "items")
    )
    theirs = PEERS[metric].get(10 if reports <= 10 else 30)
    beside = (
        "" if theirs is None else f"{theirs[0]:6.1f} {theirs[1]:8,} {calls / theirs[0]:5.2f} {tokens / theirs[1]:5.2f}"
    )
    return f"{metric:12} {calls:6.1f} {tokens:8,.0f} {pages:6.1f} {searches:6.1f} {items:6.1f} {seconds:6.1f}  {beside}"


def main() -> None:
    """Measure and print."""
    wishes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wishes.add_argument("data", nargs="?", type=Path, default=DATA)
    wishes.add_argument("--metrics", default="fact,dre_facts,dre_quality,race")
    wishes.add_argument("--all", action="store_true", help="all three systems")
    given = wishes.parse_args()
    count, name = counter()
    systems = SYSTEMS if given.all else SYSTEMS[:1]
    print(f"{10 * len(systems)} reports (race: but for the reference), tokens by {name}, a report:\n")
    print(f"{'metric':12} {'calls':>6} {'tokens':>8} {'pages':>6} {'search':>6} {'items':>6} {'wall s':>6}  ", end="")
    print(f"{'their':>6} {'tokens':>8} {'ratio':>5} {'ratio':>5}")
    for metric in given.metrics.split(","):
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            done = asyncio.run(measure(given.data, Path(folder), metric, systems, count))
        print(row(metric, done, time.monotonic() - began), flush=True)
        if bad := [one for one in done if one.result.score is None]:
            print(f"  without a score: {', '.join(f'{one.report} ({one.result.reason})' for one in bad)}")


if __name__ == "__main__":
    main()
