"""Fits the weights with which the embedded judge's first tokens are read (``HEAD`` in ``evaluators/small_judge.py``).

    python benchmarks/judge_head.py LABELS [LABELS …] [--plain] [--ledger FILE] [--most 120] [--judge local]

``LABELS``: labelled pairs of passages in any format that ``dream study human`` reads, one set a file. Every pair is
asked the product's own two questions; with ``--ledger`` answers are kept, and a second run asks nothing. A multinomial
logistic regression with a strong L2 penalty is fitted on standardised log-odds; labels of one set weigh the same, sets
weigh by the root of their size. Prints balanced accuracy (guessing: 0.33) by 5-fold cross-validation over groups that
belong together, and with one set left out of the fit at a time, then the table to copy. Code's rules in front take no
part. ``--plain`` asks the plain prompt of ``dream study human`` as well, and prints by how much both ways of fitting
lead it on the same pairs: 95 % intervals of a bootstrap over groups that draws both together.
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
from dream_eval.stats.resampling import resampled_counts
from dream_eval.studies.human import nearest, plain_answer
from dream_eval.studies.labels import LabelSet, Pair, load_labels, sample
from scipy.optimize import minimize

STANCES = (Stance.SUPPORTS, Stance.REFUTES, Stance.NEITHER)
PENALTY = 3.0
FOLDS, ROUNDS = 5, 10

Array = np.ndarray[Any, Any]


Row = tuple[tuple[float, ...], int, str, int]


async def measured(labels: LabelSet, judge: ChatModel, *, plain: bool) -> list[Row]:
    """(log-odds, place of the label in ``STANCES``, group, place of what the plain prompt says) of each pair with one
    of the three labels."""
    window, found = Settings().fit(judge).window, []
    for pair in labels.examples:
        if isinstance(pair, Pair) and pair.label in STANCES:
            odds, _ = await odds_of(pair.claim, nearest(pair, window), judge)
            simple = (await plain_answer(pair, labels, judge)).label if plain else pair.label
            found.append((astuple(odds), _place(pair.label), pair.group, _place(simple)))
    return found


def _place(label: str) -> int:
    return STANCES.index(Stance(label))


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


def cross_validated(odds: Array, labels: Array, sets: Array, groups: Array) -> Array:
    """What is said of each pair by a fit without its fold; a row a round."""
    names = np.unique(groups)
    given = np.zeros((ROUNDS, len(labels)), int)
    for round_ in range(ROUNDS):
        folds = dict(zip(names, np.random.default_rng(round_).permutation(len(names)) % FOLDS, strict=True))
        fold = np.array([folds[group] for group in groups])
        for out in (fold == one for one in range(FOLDS)):
            given[round_, out] = said(fitted(odds[~out], labels[~out], sets[~out]), odds[out])
    return given


def left_out(odds: Array, labels: Array, sets: Array) -> Array:
    """What is said of each pair by a fit on the other sets; one row."""
    given = np.zeros((1, len(labels)), int)
    for out in (sets == name for name in np.unique(sets)):
        given[0, out] = said(fitted(odds[~out], labels[~out], sets[~out]), odds[out])
    return given


def drawn(labels: Array, given: Array, groups: Array) -> Array:
    """Balanced accuracy in each resample of the groups; the same resamples for the same groups."""
    names, place = np.unique(groups, return_inverse=True)
    weights, recalls = resampled_counts(len(names)), []
    for one in np.unique(labels):
        there, right = (
            np.bincount(place, mask, len(names)) for mask in (labels == one, (labels == one) & (given == one))
        )
        there, right = weights @ there, weights @ right
        recalls.append(np.divide(right, there, out=np.full(len(there), np.nan), where=there > 0))
    return np.asarray(np.nanmean(recalls, axis=0))


def gain(labels: Array, given: Array, simple: Array, groups: Array) -> str:
    """By how much the rows of ``given`` lead the plain prompt in the mean, in points."""
    value = np.mean([balanced(labels, row) for row in given]) - balanced(labels, simple)
    draws = np.mean([drawn(labels, row, groups) for row in given], axis=0) - drawn(labels, simple, groups)
    low, high = np.nanquantile(draws, (0.025, 0.975))
    return f"{100 * value:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"


def report(odds: Array, labels: Array, sets: Array, groups: Array, simple: Array | None = None) -> None:
    """Print the figures and the table; ``simple``: what the plain prompt says."""
    ways = {"cross-validated": cross_validated(odds, labels, sets, groups)}
    if len(np.unique(sets)) > 1:
        ways["fitted on the others"] = left_out(odds, labels, sets)
    for name in (*np.unique(sets), "together"):
        own = (sets == name) | (name == "together")
        counts = ", ".join(f"{stance} {(labels[own] == place).sum()}" for place, stance in enumerate(STANCES))
        print(f"{name}: {counts}")
        if simple is not None:
            print(f"  plain prompt {balanced(labels[own], simple[own]):.3f}")
        for way, given in ways.items():
            lead = "" if simple is None else f", {gain(labels[own], given[:, own], simple[own], groups[own])}"
            print(f"  {way} {np.mean([balanced(labels[own], row[own]) for row in given]):.3f}{lead}")
    for stance, row in zip(STANCES, fitted(odds, labels, sets), strict=True):
        print(f"{stance}: ({', '.join(f'{value:.2f}' for value in row)})")


async def main() -> None:
    """Ask, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="+")
    parser.add_argument("--judge", default="local")
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("--most", type=int, default=120)
    parser.add_argument("--plain", action="store_true")
    asked = parser.parse_args()
    rows: list[tuple[*Row, str]] = []
    with Ledger.open(asked.ledger, run="judge-head") as ledger:
        async with open_model(asked.judge, ledger) as judge:
            for path in asked.labels:
                labels = sample(load_labels(path, kind="passage"), most=asked.most)
                rows += [(*row, path.name) for row in await measured(labels, judge, plain=asked.plain)]
    odds, places, groups, simple, sets = (np.array(column) for column in zip(*rows, strict=True))
    groups = np.char.add(np.char.add(sets, ":"), groups)
    report(odds, places, sets, groups, simple if asked.plain else None)


if __name__ == "__main__":
    asyncio.run(main())
