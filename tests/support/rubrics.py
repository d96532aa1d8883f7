"""Small rubrics for tests, and judges that score by them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from typing import Any

from dream_eval.core import Task
from dream_eval.protocols.rubric import GENERAL, Criterion, Dimension, Kind, Rubric, seal_rubric
from evaluating import QUERY
from servers.chat import Body, prompt

CRITERION = re.compile(r"^(c\d+): (.*)$", re.MULTILINE)


def rubric(kind: Kind, table: Mapping[str, tuple[float, Mapping[str, float]]], *, task: str = QUERY) -> Rubric:
    """``{dimension: (weight, {criterion's text: weight})}``; dimensions that are not general are task-specific."""
    dimensions, count = [], 0
    for name, (weight, criteria) in table.items():
        made = []
        for text, share in criteria.items():
            count += 1
            made.append(Criterion(id=f"c{count}", text=text, weight=share))
        dimensions.append(Dimension(name=name, weight=weight, specific=name not in GENERAL[kind], criteria=tuple(made)))
    return seal_rubric(
        Rubric(
            kind=kind,
            task=Task(id="t", prompt=task),
            created_at=dt.datetime(2025, 6, 30, tzinfo=dt.UTC),
            maker="by hand",
            dimensions=tuple(dimensions),
        )
    )


def asked(body: Body) -> dict[str, str]:
    """Ids and texts of the criteria in a prompt."""
    return dict(CRITERION.findall(prompt(body)))


def is_scoring(body: Body) -> bool:
    """A question on criteria of one report."""
    return "Score the report on each criterion" in prompt(body)


def is_comparing(body: Body) -> bool:
    """A question on criteria of two articles."""
    return "Score both articles on each criterion" in prompt(body)


def scores(given: Mapping[str, float], **more: Any) -> Callable[[Body], dict[str, Any]]:
    """A judge that gives each criterion the score that belongs to its text; those without one are left out."""

    def answer(body: Body) -> dict[str, Any]:
        return {
            id: {"why": "It is so.", "score": given[text], "sentences": [1]} | more
            for id, text in asked(body).items()
            if text in given
        }

    return answer
