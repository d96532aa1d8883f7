"""The stability study as tables."""

from __future__ import annotations

from .output import Table
from .stability import REPEATS, Components, Stability
from .tables import titled


def stability_tables(found: Stability) -> list[Table]:
    """Where the noise comes from, and what it takes to see through it."""
    rows = tuple(_split(one) for one in found.metrics)
    sizes = {(one.makings, one.repeats, one.judges, one.tasks) for one in found.metrics}
    most = [max(size[place] for size in sizes) for place in range(4)]
    words = "makings (protocols or claim lists) of a report", "repeats of a making", "judges", "tasks"
    design = "Design: at most " + ", ".join(f"{n} {word}" for n, word in zip(most, words, strict=True)) + "."
    split = Table(
        "Where the noise comes from (standard deviations, points)",
        ("metric", "repeat", "making", "judge", "task", "scores"),
        rows,
        (
            design,
            "repeat: the same judge asked again; making: another protocol (kic, rq), claim list (factuality, ci) or "
            "rubric; judge: one is harsher; task: tasks differ (a comparison on the same tasks takes it out). – : this "
            "design cannot tell.",
        ),
    )
    needs = Table(
        "What can be seen through it (points)",
        ("metric", "floor 1", "floor all", "least", "tasks", f"×{REPEATS}"),
        tuple(_need(one) for one in found.metrics),
        (
            "floor 1: scores of one report differ by less than this by chance alone, in 95 of 100 cases; floor all: "
            "the same of a mean over the tasks of these runs. least: least true difference of two systems that these "
            f"tasks show (80 % power). tasks: how many show {found.difference:g} points; ×{REPEATS}: with every unit "
            f"judged {REPEATS} times. – : needs two systems that do not always differ by the same, or repeats.",
        ),
    )
    return [split, needs]


def _split(one: Components) -> tuple[str, ...]:
    parts = (one.repeat_sd, one.making_sd, one.judge_sd, one.task_sd)
    return (titled(one.metric), *map(_points, parts), str(one.values))


def _need(one: Components) -> tuple[str, ...]:
    parts = (one.report_noise, one.system_noise, one.detectable)
    return (titled(one.metric), *map(_points, parts), _number(one.tasks_needed), _number(one.tasks_with_repeats))


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _number(value: int | None) -> str:
    return "–" if value is None else str(value)
