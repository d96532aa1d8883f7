"""Fits the weights with which the embedded judge's first tokens are read (``HEAD`` in ``evaluators/small_judge.py``).

    python benchmarks/judge_head.py LABELS [LABELS …] [--ledger FILE] [--most 120] [--judge local]

``LABELS``: labelled pairs of passages in any format that ``dream study human`` reads, one set a file. Every pair is
asked the product's own two questions; with ``--ledger`` answers are kept, and a second run asks nothing. A multinomial
logistic regression with a strong L2 penalty is fitted on standardised log-odds; labels of one set weigh the same, sets
weigh by the root of their size. Prints balanced accuracy (guessing: 0.33) by 5-fold cross-validation over groups that
belong together, and with one set left out of the fit at a time, then the table to copy. Code's rules in front take no
part.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from dream_eval.evaluators.base import Settings
from dream_eval.evaluators.small_judge import LEAD, odds_of
from dream_eval.evaluators.stances import Stance
from dream_eval.ledger import Ledger
from dream_eval.models import ChatModel, open_model
from dream_eval.studies.human import nearest
from dream_eval.studies.labels import LabelSet, Pair, load_labels, sample
from scipy.optimize import minimize

STANCES = (Stance.SUPPORTS, Stance.REFUTES, Stance.NEITHER)
PENALTY = 3.0
FOLDS, ROUNDS = 5, 10

Array = np.ndarray[Any, Any]


async def measured(labels: LabelSet, judge: ChatModel) -> list[tuple[tuple[float, ...], int, str]]:
    """(log-odds, place of the label in ``STANCES``, group) of each pair with one of the three labels."""
    window, found = Settings().fit(judge).window, []
    for pair in labels.examples:
        if isinstance(pair, Pair) and pair.label in STANCES:
            odds, _ = await odds_of(pair.claim, nearest(pair, window), judge)
            found.append((astuple(odds), STANCES.index(Stance(pair.label)), pair.group))
    return found


def weights_of(labels: Array, sets: Array) -> Array:
    """Weights with mean 1: labels of one set are even, a set counts by the root of its size."""
    weights = np.zeros(len(labels))
    for name in np.unique(sets):
        for label in range(len(STANCES)):
            these = (sets == name) & (labels == label)
            weights[these] = np.sqrt((sets == name).sum()) / max(1, these.sum())
    return weights * len(labels) / weights.sum()


def fitted(odds: Array, labels: Array, sets: Array) -> Array:
    """Rows of (constant, weights) by stance, less those of *neither*, for log-odds as they are."""
    mean, spread = odds.mean(0), odds.std(0) + 1e-6
    inputs = np.hstack([np.ones((len(odds), 1)), (odds - mean) / spread])
    wanted, weights = np.eye(len(STANCES))[labels], weights_of(labels, sets)

    def loss(flat: Array) -> tuple[float, Array]:
        table = flat.reshape(len(STANCES), -1)
        sums = inputs @ table.T
        chances = np.exp(sums - sums.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        slopes = table.copy()
        slopes[:, 0] = 0
        value = -(weights * np.log((chances * wanted).sum(1))).sum() + PENALTY / 2 * (slopes**2).sum()
        return float(value), ((chances - wanted) * weights[:, None]).T.dot(inputs).ravel() + PENALTY * slopes.ravel()

    table = minimize(loss, np.zeros(inputs.shape[1] * len(STANCES)), jac=True).x.reshape(len(STANCES), -1)
    table[:, 1:] /= spread
    table[:, 0] -= table[:, 1:] @ mean
    return table - table[STANCES.index(Stance.NEITHER)]


def said(table: Array, odds: Array) -> Array:
    """The label with the highest sum; *refutes* must lead, as in the product."""
    lead = np.array([LEAD if stance is Stance.REFUTES else 0.0 for stance in STANCES])
    return np.argmax(table[:, 0] + odds @ table[:, 1:].T - lead, axis=1)


def balanced(labels: Array, given: Array) -> float:
    """Mean recall over labels that occur."""
    return float(np.mean([(given[labels == one] == one).mean() for one in np.unique(labels)]))


def cross_validated(odds: Array, labels: Array, sets: Array, groups: Array) -> dict[str, list[float]]:
    """Set to balanced accuracy, one value a round."""
    found: dict[str, list[float]] = {str(name): [] for name in np.unique(sets)}
    names = np.unique(groups)
    for round_ in range(ROUNDS):
        folds = dict(zip(names, np.random.default_rng(round_).permutation(len(names)) % FOLDS, strict=True))
        fold = np.array([folds[group] for group in groups])
        given = np.zeros(len(labels), int)
        for one in range(FOLDS):
            out = fold == one
            given[out] = said(fitted(odds[~out], labels[~out], sets[~out]), odds[out])
        for name in found:
            found[name].append(balanced(labels[sets == name], given[sets == name]))
    return found


def report(odds: Array, labels: Array, sets: Array, groups: Array) -> None:
    """Print the figures and the table."""
    rounds = cross_validated(odds, labels, sets, groups)
    for name in np.unique(sets):
        own = sets == name
        counts = ", ".join(f"{stance} {(labels[own] == place).sum()}" for place, stance in enumerate(STANCES))
        others = (
            balanced(labels[own], said(fitted(odds[~own], labels[~own], sets[~own]), odds[own])) if any(~own) else 0
        )
        print(f"{name}: {counts}; cross-validated {np.mean(rounds[str(name)]):.3f}, fitted on the others {others:.3f}")
    for stance, row in zip(STANCES, fitted(odds, labels, sets), strict=True):
        print(f"{stance}: ({', '.join(f'{value:.2f}' for value in row)})")


async def main() -> None:
    """Ask, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="+")
    parser.add_argument("--judge", default="local")
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("--most", type=int, default=120)
    asked = parser.parse_args()
    rows: list[tuple[tuple[float, ...], int, str, str]] = []
    with Ledger.open(asked.ledger, run="judge-head") as ledger:
        async with open_model(asked.judge, ledger) as judge:
            for path in asked.labels:
                labels = sample(load_labels(path, kind="passage"), most=asked.most)
                rows += [(*row, path.name) for row in await measured(labels, judge)]
    odds, labels, groups, sets = (np.array(column) for column in zip(*rows, strict=True))
    report(odds, labels, sets, np.char.add(np.char.add(sets, ":"), groups))


if __name__ == "__main__":
    asyncio.run(main())
