"""A rubric on the terminal, and whether a file holds one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..protocols import lint_rubric, load_rubric
from ..protocols.files import read_json
from ..protocols.lint import Problem
from ..protocols.rubric import Dimension, Rubric, is_rubric
from .text import one_line


def shown_rubric(console: Console, file: str) -> bool:
    """Print the file where it is a rubric; False where it is something else. Raises InputError."""
    if not is_rubric(read_json(Path(file))):
        return False
    for line, style in rubric_lines(load_rubric(file)):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        console.print(Text(f"{indent}{one_line(line)}", style=style), soft_wrap=True)
    return True


def rubric_problems(file: str) -> list[Problem] | None:
    """What is wrong with the file's rubric; None where it is no rubric. Raises InputError."""
    return lint_rubric(load_rubric(file)) if is_rubric(read_json(Path(file))) else None


def rubric_lines(rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Lines with their style: the query, who made it, then dimensions and criteria with their weights in per cent."""
    yield f"Query: {rubric.task.prompt}", "bold"
    yield f"rubric for {rubric.kind} · made by {rubric.maker} · {rubric.digest[:12]}", ""
    if rubric.flags:
        yield f"flags: {', '.join(rubric.flags)}", "yellow"
    if specific := rubric.specific_weight:
        yield f"{100 * specific:.0f} % of the weight is on task-specific dimensions", ""
    for dimension in rubric.dimensions:
        yield "", ""
        yield from _dimension(dimension)


def _dimension(dimension: Dimension) -> Iterator[tuple[str, str]]:
    meaning = f": {dimension.definition}" if dimension.definition else ""
    mark = " (task-specific)" if dimension.specific else ""
    yield f"{100 * dimension.weight:.0f} % {dimension.name}{mark}{meaning}", "bold"
    for criterion in dimension.criteria:
        yield f"    {100 * criterion.weight:.0f} % {criterion.id} {criterion.text}", ""
        if criterion.explanation:
            yield f"        {criterion.explanation}", "dim"
