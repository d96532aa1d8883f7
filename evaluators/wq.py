"""Writing quality: a fixed rubric of six criteria, 1–5 each (METRICS 3). No tools, one call a window.

``WQ = 100 · mean((s - 1) / 4)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from ..models import ChatModel, ask, report_prompt
from ..reports import numbered
from ..stats import mean, score_range
from ..tools import Toolbox
from .base import FAILURES, Case, Results, Settings, flags_of, quotes, reason_of, together, windows
from .results import Item, MetricResult

VERSION = 1
RESULTS = Results("wq", VERSION)

CRITERIA = {
    "organisation": "order of sections and paragraphs",
    "clarity": "how easily each sentence is understood",
    "coherence": "how sentences and sections follow from one another",
    "concision": "no repetition, no padding",
    "format": "use of headings, tables, figures and lists",
    "language": "tone and grammar",
}
"""Name and meaning, in the order of the answer."""

# Five levels with words, the same for all criteria: a scale without words drifts from report to report. "Writing only":
# otherwise judges mark down reports whose content they doubt, which other metrics measure.
QUESTION = """\
Score the writing of the report, and only the writing, not whether its content is true. Criteria:
{criteria}
Levels: 1 hinders the reader throughout; 2 weak, often hinders; 3 acceptable, some clear faults; 4 good, few small \
faults; 5 excellent, nothing to improve.
Give a score for each criterion{faults}."""

FAULTS = ", then up to three sentences that show a fault: criterion and sentence number"
"""Not asked of the embedded judge, which pointed at the first three sentences of every report."""

Level = Literal[1, 2, 3, 4, 5]


class Pointer(BaseModel):
    """A sentence that shows a fault."""

    criterion: Literal["organisation", "clarity", "coherence", "concision", "format", "language"]
    sentence: int


class PlainScores(BaseModel):
    """The embedded judge's answer on one window."""

    organisation: Level
    clarity: Level
    coherence: Level
    concision: Level
    format: Level
    language: Level


class Scores(PlainScores):
    """The judge's answer on one window."""

    faults: Annotated[
        tuple[Pointer, ...],
        Field(max_length=3),
        BeforeValidator(lambda value: value[:3] if isinstance(value, list) else value),
    ] = ()


@dataclass(frozen=True)
class Window:
    """One stretch of the report with its scores."""

    numbers: tuple[int, ...]
    length: int
    """Characters; the weight of the window."""
    scores: PlainScores
    calls: tuple[str, ...]


async def writing_quality(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Score the report's writing. Fails when a window could not be judged: the rest would be another text."""
    del toolbox, settings
    parts = windows(case.report, case.task, judge)
    if not parts[0]:
        return RESULTS.not_applicable("empty_report")
    try:
        judged = await together(_window(numbers, case, judge) for numbers in parts)
    except FAILURES as error:
        return RESULTS.failed(reason_of(error))
    return score(judged, case)


async def _window(numbers: tuple[int, ...], case: Case, judge: ChatModel) -> Window:
    text = numbered(case.report, numbers)
    criteria = "\n".join(f"{name}: {meaning}" for name, meaning in CRITERIA.items())
    form, faults = (PlainScores, "") if judge.embedded else (Scores, FAULTS)
    messages = report_prompt(case.task.prompt, text, QUESTION.format(criteria=criteria, faults=faults))
    asked = await ask(judge, messages, form, max_tokens=160)
    return Window(numbers, len(text), asked.value, asked.calls)


def score(judged: Sequence[Window], case: Case) -> MetricResult:
    """The result: each criterion's mean by length, then the mean of the criteria."""
    total = sum(window.length for window in judged)
    items, wrong = [], 0
    for name, meaning in CRITERIA.items():
        value = sum(getattr(window.scores, name) * window.length for window in judged) / total
        good = [n for w in judged for n in _pointed(w, name) if n in w.numbers]
        wrong += sum(n not in w.numbers for w in judged for n in _pointed(w, name))
        calls = tuple(call for window in judged for call in window.calls)
        items.append(Item(id=name, text=meaning, value=value, evidence=quotes(case.report, good), calls=calls))
    values = [25 * (item.value - 1) for item in items if item.value is not None]
    return RESULTS.scored(
        mean(values),
        interval=score_range(values),
        flags=flags_of(None, "windowed" if len(judged) > 1 else None),
        parts={item.id: value for item, value in zip(items, values, strict=True)},
        counts={"wrong_pointers": wrong, "windows": len(judged)},
        items=tuple(items),
    )


def _pointed(window: Window, criterion: str) -> list[int]:
    faults = window.scores.faults if isinstance(window.scores, Scores) else ()
    return [fault.sentence for fault in faults if fault.criterion == criterion]
