"""From a study against people to a calibration record, which is shown wherever the judge's scores are."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from ..runs.calibrated import Calibration, Figure, file_digest, prompts_digest, records_folder
from ..runs.files import short_digest, slug, write_atomic
from .human import HumanStudy

WHAT = {
    "passage": "a passage supports or refutes a claim, or neither",
    "page": "a cited page supports a claim, a part of it, or not",
    "preference": "which of two answers is better",
}


def calibration_of(study: HumanStudy, labels: Path, *, today: dt.date | None = None) -> Calibration:
    """The record of a study. Raises ValueError where ours answered nothing, OSError when the labels are gone."""
    ours = study.method("ours")
    if ours is None:
        raise ValueError("nothing was answered")
    constant = study.method("constant")
    figures = [Figure(measure="balanced accuracy", guessing=study.guessing, **_interval(ours.balanced))]
    usual = constant.accuracy.value if constant else None
    figures.append(Figure(measure="accuracy", guessing=usual, **_interval(ours.accuracy)))
    if ours.kappa is not None:
        figures.append(Figure(measure="Cohen's kappa", guessing=0.0, **_interval(ours.kappa)))
    figures += [Figure(measure=f"F1 of {label}", **_interval(one)) for label, one in ours.f1.items()]
    return Calibration(
        judge=study.judge,
        endpoint=study.endpoint,
        what=WHAT[study.kind],
        kind=study.kind,
        data=study.data,
        data_file=str(labels.resolve()),
        data_digest=file_digest(labels),
        sample_digest=study.digest,
        sampled=study.sampled,
        prompts=prompts_digest(study.kind),
        n=ours.n,
        figures=tuple(figures),
        date=today or dt.datetime.now(dt.UTC).date(),
    ).sealed()


def save_calibration(record: Calibration, folder: Path | None = None) -> Path:
    """Write a record; one judge, set and sample has one file. Raises OSError."""
    place = folder or records_folder()
    place.mkdir(parents=True, exist_ok=True)
    name = f"{slug(record.judge)}-{slug(record.data)}-{short_digest(record.endpoint, record.data, record.sampled)}.json"
    write_atomic(place / name, record.model_dump_json(indent=2) + "\n")
    return place / name


def _interval(estimate: object) -> dict[str, float | None]:
    return {name: getattr(estimate, name) for name in ("value", "low", "high")}
