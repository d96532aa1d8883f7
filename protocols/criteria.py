"""Rubrics that somebody else made: DeepResearch Bench's ``criteria.jsonl``, rubric files, folders of them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..core import Task
from ..errors import InputError
from .rubric import GENERAL, Criterion, Dimension, Rubric, load_rubric, seal_rubric

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Criterion(BaseModel):
    criterion: str = Field(min_length=1)
    explanation: str = ""
    weight: Positive


class _Line(BaseModel):
    """One line of the file. Both tables must have the same keys: a wrong one would silently drop a dimension."""

    model_config = ConfigDict(extra="ignore")
    id: int | str
    prompt: str = Field(min_length=1)
    dimension_weight: dict[str, Positive] = Field(min_length=1)
    criterions: dict[str, Annotated[list[_Criterion], Field(min_length=1)]] = Field(min_length=1)


def load_criteria(path: Path | str) -> tuple[Rubric, ...]:
    """DeepResearch Bench's ``criteria.jsonl``, a rubric file, or a folder of rubric files.

    Raises InputError that names the file, the line and what is wrong.
    """
    path = Path(path)
    if path.is_dir():
        found = tuple(load_rubric(file) for file in sorted(path.glob("*.json")))
        if not found:
            raise InputError("holds no rubric (no .json file)", path=path)
        return found
    return (load_rubric(path),) if path.suffix.lower() == ".json" else bench_criteria(path)


def bench_criteria(path: Path) -> tuple[Rubric, ...]:
    """The rubrics of a ``criteria.jsonl``, in order. Raises InputError with line and field."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", path=path) from None
    found = [_rubric(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise InputError("holds no criteria", path=path)
    return tuple(found)


def _rubric(text: str, path: Path, number: int) -> Rubric:
    try:
        raw: Any = json.loads(text)
        line = _Line.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(first["msg"], path=path, line=number, field=field or None) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", path=path, line=number) from None
    _check(line, path, number)
    return seal_rubric(_built(line, path))


def _check(line: _Line, path: Path, number: int) -> None:
    for field, names in (("dimension_weight", set(line.dimension_weight)), ("criterions", set(line.criterions))):
        if wrong := sorted(names ^ set(GENERAL["race"])):
            message = f"must be about {', '.join(GENERAL['race'])}; wrong or missing: {', '.join(wrong)}"
            raise InputError(message, path=path, line=number, field=field)


def _built(line: _Line, path: Path) -> Rubric:
    dimensions, count = [], 0
    for name, meaning in GENERAL["race"].items():
        criteria = []
        for given in line.criterions[name]:
            count += 1
            criteria.append(
                Criterion(id=f"c{count}", text=given.criterion, explanation=given.explanation, weight=given.weight)
            )
        weight = line.dimension_weight[name]
        dimensions.append(Dimension(name=name, definition=meaning, weight=weight, criteria=tuple(criteria)))
    return Rubric(
        kind="race",
        task=Task(id=str(line.id), prompt=line.prompt),
        created_at=dt.datetime.fromtimestamp(0, dt.UTC),
        maker=path.name,
        dimensions=tuple(dimensions),
    )
