"""A run as Inspect AI logs: one ``.eval`` file a system and judge, written by Inspect's own classes.

Inspect compares models, and a log holds one of them: here the system under test is the model, a task is a sample, a
repeat an epoch, a metric a scorer, and the judge stands in the role ``grader``. A metric that gave no score (failed,
not applicable, not reached) is not among a sample's scores, and no mean counts it; why stands in the sample's metadata.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from ..core import Json, Task
from .data import RunState, UnitPlace, UnitResult
from .export_files import importing
from .export_tables import deciding
from .findings import worst_of
from .reading import RunView
from .results import Spot, index_of, line_at

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalSpec
    from inspect_ai.scorer import Score

NEED_INSPECT = "Inspect logs need the extra `inspect`: pip install 'dream-eval[inspect]'"
TASK = "dream-eval"
"""Inspect's name of the task."""
SAID = 5
"""Findings in the explanation of a score."""


def write_inspect(view: RunView, folder: Path) -> list[Path]:
    """Write the logs of a run; returns their paths. Read them with ``inspect view`` or ``inspect_ai.log``.

    One log is in memory at a time. Raises UserError without the extra ``inspect``, InputError (a report's copy is
    missing), OSError.
    """
    with importing(NEED_INSPECT):
        from inspect_ai.log import write_eval_log
    last = index_of(view.path / "results.jsonl").last
    paths = []
    folder.mkdir(parents=True, exist_ok=True)
    for system in dict.fromkeys(ref.id for ref in view.config.mine):
        for judge in view.config.judges:
            log = _log(view, last, system, judge)
            path = folder / f"{log.eval.created.replace(':', '-')}_{TASK}_{log.eval.task_id}.eval"
            write_eval_log(log, str(path), format="eval")
            paths.append(path)
    return paths


def _log(view: RunView, last: dict[UnitPlace, Spot], system: str, judge: str) -> EvalLog:
    from inspect_ai.log import EvalError, EvalLog

    tasks = [view.task(ref.task) for ref in view.config.mine if ref.id == system]
    samples = [
        _sample(view, task, system, judge, repeat, list(_lines(view, last, task, system, judge, repeat)))
        for task in tasks
        for repeat in range(view.config.repeats)
    ]
    summary = view.summary
    state = summary.state if summary else RunState.RUNNING
    failed = state in (RunState.BUDGET, RunState.REFUSED)
    error = EvalError(message=summary.reason, traceback="", traceback_ansi="") if failed and summary else None
    return EvalLog(
        status="success" if state is RunState.FINISHED else "error" if failed else "cancelled",
        eval=_spec(view, tasks, system, judge),
        results=_results(view, samples),
        error=error,
        samples=samples,
    )


def _lines(
    view: RunView,
    last: dict[UnitPlace, Spot],
    task: Task,
    system: str,
    judge: str,
    repeat: int,
) -> Iterator[UnitResult]:
    for metric in view.config.metrics:
        spot = last.get((task.id, system, metric, judge, repeat))
        line = line_at(spot) if spot else None
        if line is not None:
            yield line


def _spec(view: RunView, tasks: list[Task], system: str, judge: str) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import ModelConfig

    config = view.config
    about: dict[str, Json] = {
        "run": config.run,
        "as_of": config.as_of.day.isoformat(),
        "judge": judge,
        "maker": config.maker,
        "metrics": list(config.metrics),
        "mode": config.mode.value,
        "search": list(config.search),
    }
    return EvalSpec(
        run_id=_id(config.run),
        eval_id=_id(config.run, system, judge, "eval"),
        task_id=_id(config.run, system, judge),
        created=config.created_at.isoformat(),
        task=TASK,
        dataset=EvalDataset(name=config.run, samples=len(tasks), sample_ids=[task.id for task in tasks]),
        model=system,
        model_roles={"grader": ModelConfig(model=judge, base_url=config.endpoints.get(judge))},
        config=EvalConfig(epochs=config.repeats),
        packages={"dream-eval": config.version},
        metadata=about,
    )


def _sample(view: RunView, task: Task, system: str, judge: str, repeat: int, lines: list[UnitResult]) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ChatMessageUser, ModelOutput

    mark = _id(view.config.run, system, judge, task.id, str(repeat))  # ids of ours, else they would be random
    asked = ChatMessageUser(id=f"{mark}-query", content=task.prompt)
    text = view.report(task.id, system).text
    written = ChatMessageAssistant(id=f"{mark}-report", content=text, model=system, source="generate")
    output = ModelOutput(model=system, choices=[ChatCompletionChoice(message=written, stop_reason="stop")])
    reached = {line.metric: line for line in lines}
    unscored: dict[str, Json] = {}
    for metric in view.config.metrics:
        line = reached.get(metric)
        if line is None:
            unscored[metric] = {"status": "not_reached", "reason": "the run stopped before it"}
        elif line.result.score is None:
            unscored[metric] = {"status": line.result.status.value, "reason": line.result.reason}
    return EvalSample(
        id=task.id,
        epoch=repeat + 1,
        uuid=mark,
        input=task.prompt,
        target="",
        messages=[asked, written],
        output=output,
        scores={line.metric: _score(line) for line in lines if line.result.score is not None},
        metadata={"language": task.language, "topic": task.topic, "not_scored": unscored},
    )


def _score(line: UnitResult) -> Score:
    from inspect_ai.scorer import Score

    result = line.result
    return Score(value=result.score or 0.0, explanation=_explained(line), metadata=_details(line))


def _explained(line: UnitResult) -> str:
    """What is behind a score, in a few lines."""
    result, lines = line.result, []
    if result.interval is not None:
        lines.append(f"interval {result.interval.low:.1f}–{result.interval.high:.1f} ({result.interval.kind})")
    if result.coverage is not None:
        lines.append(f"{result.coverage.decided} of {result.coverage.checked} items decided")
    found = worst_of(result)
    for worst in found[:SAID]:
        against = f" – “{worst.quote}”" if worst.quote else ""
        lines.append(f"{worst.kind}: {worst.text}{against}{f' ({worst.url})' if worst.url else ''}")
    if len(found) > SAID:
        lines.append(f"and {len(found) - SAID} more")
    return "\n".join(lines)


def _details(line: UnitResult) -> dict[str, Json]:
    result = line.result
    items: list[Json] = []
    for item in result.items:
        found = deciding(item)
        about: dict[str, Json] = {
            "id": item.id,
            "text": item.text,
            "outcome": item.outcome.value if item.outcome else None,
            "value": item.value,
            "reason": item.reason,
            "flags": list(item.flags),
            "quote": found.quote if found else None,
            "url": found.url if found else None,
        }
        items.append({name: value for name, value in about.items() if value not in (None, "", [])})
    return {
        "unit": line.unit,
        "version": result.version,
        "interval": result.interval.model_dump(mode="json") if result.interval else None,
        "coverage": result.coverage.model_dump(mode="json") if result.coverage else None,
        "flags": list(result.flags),
        "parts": dict(result.parts),
        "counts": dict(result.counts),
        "items": items,
    }


def _results(view: RunView, samples: list[EvalSample]) -> EvalResults:
    """Means over the samples that have a score; repeats of a sample are averaged first, as Inspect does."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    scores = []
    for metric in view.config.metrics:
        values: dict[str | int, list[float]] = {}
        for sample in samples:
            if sample.scores and metric in sample.scores:
                values.setdefault(sample.id, []).append(sample.scores[metric].as_float())
        means = [fmean(several) for several in values.values()]
        metrics = {"mean": EvalMetric(name="mean", value=fmean(means))} if means else {}
        if len(means) > 1:
            metrics["stderr"] = EvalMetric(name="stderr", value=stdev(means) / sqrt(len(means)))
        missing = len({sample.id for sample in samples}) - len(means)
        scores.append(
            EvalScore(
                name=metric,
                scorer=metric,
                reducer="mean",
                scored_samples=len(means),
                unscored_samples=missing,
                metrics=metrics,
            )
        )
    return EvalResults(total_samples=len(samples), completed_samples=len(samples), scores=scores)


def _id(*parts: str) -> str:
    """22 letters and digits that stand for these parts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:22]
