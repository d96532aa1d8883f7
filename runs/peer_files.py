"""A run's results in the files of DeepResearchEval and DeepResearch Bench, so that their own summaries read them.

::

    deepresearcheval/outputs/pointwise_evaluation_results.json     scores, criteria and weights, averages a system
    deepresearcheval/results/SYSTEM/task_ID.json                   statement, verification, evidence, reasoning
    deep_research_bench/results/race/SYSTEM/raw_results.jsonl      a task a line, 0–1; a failed one with its error
    deep_research_bench/results/race/SYSTEM/race_result.txt        means over the tasks
    deep_research_bench/results/fact/SYSTEM/validated.jsonl        citations by URL with verdicts
    deep_research_bench/results/fact/SYSTEM/fact_result.txt        the bench's three figures
    figures.json                                                   ours: what the others leave out, with definitions

The peers know one judge and no repeats: the files are of one judge and one repeat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..core import Json, Status
from ..errors import UserError
from ..evaluators.dre_facts import WORDS
from ..evaluators.results import Item
from ..protocols.catalogue import GROUPS
from ..protocols.rubric import GENERAL, Rubric
from ..stats import mean
from .data import UnitResult
from .files import short_digest, write_atomic
from .pooled import FactFigures, fact_figures, ratio_figures, units_of
from .reading import RunView

DRE, DRB = Path("deepresearcheval"), Path("deep_research_bench") / "results"
RACE_DIMENSIONS = tuple(GENERAL["race"])

File = tuple[Path, str]


def write_peers(view: RunView, out: Path | str, *, judge: str | None = None, repeat: int = 0) -> list[Path]:
    """Write all files that the run has results for below ``out``; returns them in order.

    ``judge``: None is the first one. Raises UserError for a judge or repeat that the run does not have, or a run with
    none of the peers' metrics; InputError when a report or rubric of the run is missing.
    """
    config, out = view.config, Path(out)
    judge = judge or config.maker
    if judge not in config.judges:
        raise UserError(f"the run has no judge {judge!r}: there are {', '.join(config.judges)}")
    if not 0 <= repeat < config.repeats:
        raise UserError(f"the run has no repeat {repeat}: there are 0 to {config.repeats - 1}")
    if not set(config.metrics) & {*GROUPS["dre"], *GROUPS["drb"]}:
        raise UserError("the run has none of the peers' metrics: evaluate with --metrics dre,drb")
    written = []
    for path, text in peer_files(view, judge=judge, repeat=repeat):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out / path, text)
        written.append(out / path)
    return written


def peer_files(view: RunView, *, judge: str, repeat: int = 0) -> Iterator[File]:
    """The files as (path, text), one after another."""
    names = _file_names(view.config.systems)

    def units(metric: str) -> list[UnitResult]:
        return units_of(view, metric, judge=judge, repeat=repeat)

    if quality := units("dre_quality"):
        yield DRE / "outputs" / "pointwise_evaluation_results.json", _dump(_pointwise(view, quality))
    for line in units("dre_facts"):
        if line.result.status is Status.SCORED:
            path = DRE / "results" / names[line.report] / f"task_{_safe(line.task)}.json"
            yield path, _dump([_statement(item) for item in line.result.items if item.outcome in WORDS])
    for system, lines in _by_system(view, units("race")):
        yield from _race(view, lines, DRB / "race" / names[system])
    figures = {one.system: one for one in fact_figures(view, judge=judge, repeat=repeat)}
    for system, lines in _by_system(view, units("fact")):
        yield from _fact(view, lines, figures[system], DRB / "fact" / names[system])
    ratios = ratio_figures(view, judge=judge, repeat=repeat)
    ours: dict[str, Json] = {
        "run": view.config.run,
        "judge": judge,
        "repeat": repeat,
        "fact": [one.model_dump(mode="json") for one in figures.values()],
        "dre_facts": [one.model_dump(mode="json") for one in ratios],
    }
    yield Path("figures.json"), _dump(ours)


def _by_system(view: RunView, lines: Sequence[UnitResult]) -> Iterator[tuple[str, list[UnitResult]]]:
    for system in view.config.systems:
        own = sorted((line for line in lines if line.report == system), key=lambda line: _order(line.task))
        if own:
            yield system, own


def _order(task: str) -> tuple[bool, int, str]:
    return (not task.isdecimal(), int(task) if task.isdecimal() else 0, task)


def _id(task: str) -> Json:
    """The peers' ids are whole numbers."""
    return int(task) if task.isdecimal() else task


def _safe(text: str) -> str:
    """A name from outside as a file's name."""
    plain = re.sub(r"[^\w.-]+", "_", text).strip("._")[:80]
    return plain if plain == text else f"{plain or 'x'}-{short_digest(text)}"


def _file_names(systems: Sequence[str]) -> dict[str, str]:
    return {system: _safe(system) for system in systems}


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _lines(values: Sequence[Json]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


# --- DeepResearchEval ------------------------------------------------------------------------------------------------


def _statement(item: Item) -> Json:
    assert item.outcome is not None
    return {
        "statement": item.text,
        "verification": str(WORDS[item.outcome]).capitalize(),
        "evidence": [{"source": one.url or "", "excerpt": one.quote} for one in item.evidence],
        "reasoning": item.reason,
    }


def _key(name: str) -> str:
    """A dimension's name as the peer spells keys."""
    return name.lower().replace(" ", "_").replace("-", "_")


def _pointwise(view: RunView, lines: Sequence[UnitResult]) -> Json:
    config = view.config
    queries: dict[str, Json] = {}
    for task in sorted({line.task for line in lines}, key=_order):
        scored = [line for line in lines if line.task == task and line.result.status is Status.SCORED]
        if scored and (rubric := view.rubric(scored[0])) is not None:
            queries[task] = _query(view, task, rubric, scored)
    chosen: list[Json] = [_id(task) for task in queries]
    return {
        "timestamp": config.created_at.isoformat(),
        "model_names": list(config.systems),
        "query_results": queries,
        "summary": {"models": {system: _averages(system, lines) for system in config.systems}},
        "selected_query_count": len(chosen),
        "total_query_count": len(config.tasks),
        "selected_query_ids": chosen,
    }


def _query(view: RunView, task: str, rubric: Rubric, lines: Sequence[UnitResult]) -> Json:
    meanings = GENERAL["dre_quality"]
    return {
        "query_id": _id(task),
        "query_prompt": view.task(task).prompt,
        "all_dims_with_definition": {_key(d.name): d.definition or meanings.get(d.name, "") for d in rubric.dimensions},
        "additional_dimensions": [
            {"meta_dimension_name": d.name, "definition": d.definition} for d in rubric.dimensions if d.specific
        ],
        "dimension_weights": {_key(d.name): d.weight for d in rubric.dimensions},
        "all_criteria": {
            _key(d.name): [{"criterion": c.text, "explanation": c.explanation, "weight": c.weight} for c in d.criteria]
            for d in rubric.dimensions
        },
        "model_results": {line.report: _model_result(view, rubric, line) for line in lines},
    }


def _model_result(view: RunView, rubric: Rubric, line: UnitResult) -> Json:
    given = {item.id: item for item in line.result.items if item.value is not None}
    raw: dict[str, Json] = {
        _key(d.name): [_raw(given[c.id]) for c in d.criteria if c.id in given] for d in rubric.dimensions
    }
    return {
        "raw_scores": raw,
        "final_scores": _finals(line, [d.name for d in rubric.dimensions]),
        "report_text": view.report(line.task, line.report).text,
    }


def _raw(item: Item) -> Json:
    return {"criterion": item.text, "analysis": item.reason, "report_score_0_to_10": item.value}


def _finals(line: UnitResult, names: Sequence[str]) -> dict[str, Json]:
    """On the peer's scale, 0–10."""
    parts, score = line.result.parts, line.result.score
    finals: dict[str, Json] = {
        f"{_key(name)}_score": value / 10 for name in names if (value := parts.get(name)) is not None
    }
    return finals | {"total_weighted_score": None if score is None else score / 10}


def _averages(system: str, lines: Sequence[UnitResult]) -> Json:
    """Over the tasks with a score. The peer leaves out totals of 0; nothing but a failed unit is left out here."""
    scored = [line for line in lines if line.report == system and line.result.score is not None]
    names = {str(item.detail.get("dimension")) for line in scored for item in line.result.items}
    values = {name: [v for line in scored if (v := line.result.parts.get(name)) is not None] for name in sorted(names)}
    return {
        "average_total_score": mean([line.result.score or 0.0 for line in scored]) / 10 if scored else None,
        "total_queries": len(scored),
        "expected_queries": sum(line.report == system for line in lines),
        "dimension_averages": {f"{_key(name)}_score": mean(found) / 10 for name, found in values.items() if found},
    }


# --- DeepResearch Bench ----------------------------------------------------------------------------------------------


def _race(view: RunView, lines: Sequence[UnitResult], folder: Path) -> Iterator[File]:
    rows: list[Json] = []
    scored: list[dict[str, float]] = []
    for line in lines:
        head: dict[str, Json] = {"id": _id(line.task), "prompt": view.task(line.task).prompt}
        if line.result.status is Status.FAILED:
            rows.append(head | {"error": line.result.reason})
        elif line.result.score is not None:
            values = {name: (line.result.parts.get(name) or 0.0) / 100 for name in RACE_DIMENSIONS}
            scored.append(values | {"overall_score": line.result.score / 100})
            rows.append(head | dict(scored[-1]))
    if rows:
        yield folder / "raw_results.jsonl", _lines(rows)
    if scored:
        names = {**{name: name for name in RACE_DIMENSIONS}, "overall_score": "overall"}
        means = {shown: mean([one[name] for one in scored]) for name, shown in names.items()}
        yield folder / "race_result.txt", "".join(f"{k.capitalize()}: {v:.4f}\n" for k, v in means.items())


def _fact(view: RunView, lines: Sequence[UnitResult], figures: FactFigures, folder: Path) -> Iterator[File]:
    known = [line for line in lines if line.result.status is not Status.FAILED]
    if known:
        yield folder / "validated.jsonl", _lines([_validated(view, line) for line in known])
    if figures.cited:
        per = figures.cited
        text = (
            f"total_citations: {(figures.supported + figures.not_supported) / per}\n"
            f"total_valid_citations: {figures.supported / per}\n"
            f"valid_rate: {(figures.accuracy or 0.0) / 100}\n"
        )
        yield folder / "fact_result.txt", text


def _validated(view: RunView, line: UnitResult) -> Json:
    report = view.report(line.task, line.report)
    pages: dict[str, list[Item]] = {}
    for item in line.result.items:
        pages.setdefault(str(item.detail["url"]), []).append(item)
    citations: list[Json] = [
        {"fact": item.text, "ref_idx": number, "url": url}
        for number, (url, items) in enumerate(pages.items(), 1)
        for item in items
    ]
    deduped: dict[str, Json] = {
        url: {
            "facts": [item.text for item in items],
            "url_content": None,
            "validate_res": [{"idx": n, "result": _word(item)} for n, item in enumerate(items)],
            "validate_error": None,
        }
        for url, items in pages.items()
    }
    return {
        "id": _id(line.task),
        "prompt": view.task(line.task).prompt,
        "article": report.text,
        "citations": citations,
        "citations_deduped": deduped,
    }


def _word(item: Item) -> str:
    if item.value is None:
        return "unknown"
    return "supported" if item.value == 100 else "unsupported"
