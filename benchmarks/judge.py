"""How well a judge's verdicts agree with people, through the product's own verdict code.

    python benchmarks/judge.py DATA_FOLDER [--judge local] [--part test] [--limit 120] [--seconds 600]

``DATA_FOLDER`` holds the public labelled samples ``factcheck_bench_sample.jsonl`` (claims with retrieved passages and a
stance each, by people) and ``wice_dev_sample.jsonl`` (claims with the page that is cited for them). They are split by a
digest of the claim into two halves, ``dev`` for building and ``test`` for measuring, so that no claim is in both. The
weights of the embedded judge in ``evaluators/small_judge.py`` were fitted on 126 of the Factcheck-Bench pairs, of both
halves, and its bound for "partly" was chosen on these samples, so its figures here flatter it: ``judge_head.py`` has
cross-validated ones. Prints accuracy, balanced accuracy, kappa and the confusion counts with their n, beside what
always giving the commonest label would reach.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from dream_eval.evaluators.base import Settings
from dream_eval.evaluators.verdicts import Label, Stance, label_claims, label_passage
from dream_eval.ledger import Ledger
from dream_eval.models import ChatModel, open_model
from dream_eval.reports import split_sentences
from dream_eval.tools import best_passages
from dream_eval.tools.data import Page

FACTCHECK = {
    "completely-support": Stance.SUPPORTS,
    "refute": Stance.REFUTES,
    "irrelevant": Stance.NEITHER,
    "partially-support": Stance.PARTLY,
}
WICE = {
    "supported": Stance.SUPPORTS,
    "partially_supported": Stance.PARTLY,
    "not_supported": Stance.NEITHER,
}


@dataclass(frozen=True)
class Pair:
    """A claim, a text, and what people said of the two."""

    claim: str
    sentences: tuple[str, ...]
    people: Stance


def half(claim: str) -> str:
    """``dev`` or ``test``: which half a claim belongs to."""
    return "test" if sha256(claim.encode()).digest()[0] % 2 else "dev"


def nearest(text: str, claim: str, window: int) -> tuple[str, ...]:
    """The sentences of a text nearest to a claim, as the product chooses them."""
    page = Page.model_validate(
        {"url": "https://a.test/", "final_url": "https://a.test/", "state": "ok", "text": text, "key": ""}
    )
    found = best_passages(claim, [page], limit=1, window=window)
    return found[0].sentences if found else tuple(text[s.start : s.end] for s in split_sentences(text))[:window]


def factcheck(folder: Path) -> Iterator[Pair]:
    """Claims with retrieved passages (Factcheck-Bench)."""
    for line in (folder / "factcheck_bench_sample.jsonl").read_text().splitlines():
        for sentence in json.loads(line)["sentences"].values():
            stances = sentence.get("stance_claim_autoEvid") or []
            for claim, texts, labels in zip(sentence["claims"], sentence["auto_evidence"], stances, strict=False):
                for text, label in zip(texts, labels, strict=False):
                    if label in FACTCHECK:
                        yield Pair(claim, nearest(text, claim, Settings().window), FACTCHECK[label])


def wice(folder: Path) -> Iterator[Pair]:
    """Claims with the page cited for them (WiCE)."""
    for line in (folder / "wice_dev_sample.jsonl").read_text().splitlines():
        row = json.loads(line)
        sentences = nearest("\n".join(row["evidence"]), row["claim"], 8)
        yield Pair(row["claim"], sentences, WICE[row["label"]])


def chosen(pairs: Sequence[Pair], part: str, limit: int) -> list[Pair]:
    """So many pairs of one half, the labels mixed evenly as far as they go; the same ones every time."""
    mixed = [pair for pair in pairs if part in ("all", half(pair.claim))]
    random.Random(7).shuffle(mixed)
    seen: Counter[Stance] = Counter()
    ranked = []
    for pair in mixed:
        seen[pair.people] += 1
        ranked.append((seen[pair.people], pair))
    return [pair for _, pair in sorted(ranked, key=lambda entry: entry[0])][:limit]


async def judged(
    pairs: Sequence[Pair], judge: ChatModel, *, cited: bool, seconds: float
) -> list[tuple[Stance, Stance]]:
    """(people, judge) for each pair that the judge could be asked about in the time."""
    until = time.monotonic() + seconds
    done: list[tuple[Stance, Stance]] = []
    for pair in pairs:
        if time.monotonic() > until:
            break
        label: Label | None
        if cited:
            label = (await label_claims({"c1": pair.claim}, pair.sentences, judge))["c1"]
        else:
            label = await label_passage(pair.claim, pair.sentences, judge)
        if label is not None:
            done.append((pair.people, label.stance))
    return done


def merged(pairs: Sequence[tuple[Stance, Stance]], fold: dict[Stance, Stance]) -> list[tuple[Stance, Stance]]:
    """The same with labels put together."""
    return [(fold.get(a, a), fold.get(b, b)) for a, b in pairs]


def report(name: str, pairs: Sequence[tuple[Stance, Stance]]) -> None:
    """Print the figures."""
    if not pairs:
        print(f"{name}: nothing was judged")
        return
    labels = [stance for stance in Stance if any(stance in pair for pair in pairs)]
    people, given = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    right = sum(a == b for a, b in pairs) / len(pairs)
    recalls = [sum(a == b == one for a, b in pairs) / people[one] for one in labels if people[one]]
    chance = sum(people[one] * given[one] for one in labels) / len(pairs) ** 2
    kappa = (right - chance) / (1 - chance) if chance < 1 else float("nan")
    print(
        f"{name}: n = {len(pairs)}, accuracy {right:.2f} "
        f"(always the commonest: {max(people.values()) / len(pairs):.2f}), "
        f"balanced accuracy {sum(recalls) / len(recalls):.2f} (guessing: {1 / len(recalls):.2f}), kappa {kappa:.2f}"
    )
    for one in labels:
        row = ", ".join(f"{other} {sum(a == one and b == other for a, b in pairs)}" for other in labels)
        print(f"  people say {one:9} → {row}")


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judge", default="local")
    parser.add_argument("--part", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=600)
    asked = parser.parse_args()
    fold = {Stance.PARTLY: Stance.NEITHER}
    with Ledger.open(None, run="judge-benchmark") as ledger:
        async with open_model(asked.judge, ledger) as judge:
            passages = [pair for pair in factcheck(asked.folder) if pair.people is not Stance.PARTLY]
            began = time.monotonic()
            some = chosen(passages, asked.part, asked.limit)
            done = await judged(some, judge, cited=False, seconds=asked.seconds / 2)
            report("passages, supports / refutes / neither (Factcheck-Bench)", merged(done, fold))
            pages = await judged(
                chosen(list(wice(asked.folder)), asked.part, asked.limit), judge, cited=True, seconds=asked.seconds / 2
            )
            report("cited pages, supports / partly / neither (WiCE)", merged(pages, {Stance.REFUTES: Stance.NEITHER}))
            both = {Stance.PARTLY: Stance.SUPPORTS, Stance.REFUTES: Stance.NEITHER}
            report("cited pages, at least partly or not (WiCE)", merged(pages, both))
            calls = ledger.totals()
            took = time.monotonic() - began
            print(f"{took:.0f} s, {calls.prompt_tokens:,} prompt and {calls.completion_tokens:,} new tokens")


if __name__ == "__main__":
    asyncio.run(main())
