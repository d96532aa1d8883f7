"""A dozen easy questions of support to the embedded judge, through the real verdict code. Printed; at least K right.

It is a weak judge: this shows that prompt, schema, pointers and number rule work with a real model, not that its
verdicts can be trusted (``docs/metrics.md`` has its measured agreement on harder text).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dream_eval.evaluators.stances import Stance
from dream_eval.evaluators.verdicts import label_passage
from dream_eval.ledger import Ledger
from dream_eval.models import open_model

S, R = Stance.SUPPORTS, Stance.REFUTES

EASY: list[tuple[Stance, str, tuple[str, ...]]] = [
    (
        S,
        "The Harlow bridge was opened in 1962.",
        (
            "The Harlow bridge crosses the river Tane.",
            "It was opened to traffic in 1962.",
            "Tolls ended ten years later.",
        ),
    ),
    (
        R,
        "The Harlow bridge was opened in 1962.",
        (
            "The Harlow bridge crosses the river Tane.",
            "It was opened to traffic in 1971.",
            "Tolls ended ten years later.",
        ),
    ),
    (
        S,
        "Brennor Steel employs about 4,000 people.",
        (
            "Brennor Steel makes rails.",
            "The company employs about 4,000 people at two sites.",
            "It was founded in 1899.",
        ),
    ),
    (
        R,
        "Brennor Steel employs about 4,000 people.",
        ("Brennor Steel makes rails.", "The company employs about 900 people at two sites.", "It was founded in 1899."),
    ),
    (
        S,
        "The vaccine was approved for adults over 60.",
        (
            "The agency met in May.",
            "It approved the vaccine for adults over 60.",
            "A decision on children is to follow.",
        ),
    ),
    (
        R,
        "The vaccine was approved for adults over 60.",
        ("The agency met in May.", "It rejected the vaccine for adults over 60.", "The maker will try again."),
    ),
    (
        S,
        "Exports of copper rose in 2023.",
        ("The ministry published its figures.", "Exports of copper rose in 2023.", "Imports of grain fell."),
    ),
    (
        R,
        "Exports of copper rose in 2023.",
        ("The ministry published its figures.", "Exports of copper fell in 2023.", "Imports of grain rose."),
    ),
    (
        S,
        "The capital of the province is Odra.",
        ("The province has nine districts.", "Its capital is Odra.", "The largest port is Lumo."),
    ),
    (
        R,
        "The capital of the province is Odra.",
        ("The province has nine districts.", "Its capital is Lumo.", "Odra is a small town in the north."),
    ),
    (
        S,
        "The telescope was built by an Italian company.",
        ("The telescope stands in Chile.", "An Italian company built it.", "First light was in 2019."),
    ),
    (
        R,
        "The telescope was built by an Italian company.",
        ("The telescope stands in Chile.", "A Japanese company built it.", "First light was in 2019."),
    ),
]

K = 9
"""At least so many of twelve (measured: see the printed line in the notes of a run)."""


@pytest.mark.judge
@pytest.mark.timeout(600)
async def test_easy_verdicts(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", run="judge")
    right, lines = 0, []
    try:
        async with open_model("local", ledger) as judge:
            for expected, claim, sentences in EASY:
                label = await label_passage(claim, sentences, judge)
                # Supported or not: that it also sees what refutes a claim is not asked of it.
                good = (label.stance is S) == (expected is S)
                right += good
                lines.append(f"{'ok ' if good else 'no '} {expected:9} {label.stance:9} {claim}")
        totals = ledger.totals()
    finally:
        ledger.close()
    print(f"\neasy verdicts by the embedded judge: {right} of {len(EASY)}\n" + "\n".join(lines))
    print(totals)
    assert right >= K
