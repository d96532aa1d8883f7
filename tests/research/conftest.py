"""What tests of collections share: tasks, systems as little programs, and a proxy before a scripted endpoint."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dream_eval.core import Task

Program = Callable[[str], str]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Writes a Python program and gives the command that runs it. ``task`` is read in it already."""

    def write(source: str, name: str = "agent") -> str:
        path = tmp_path / f"{name}.py"
        path.write_text(f"import json, os, sys, time\ntask = json.load(sys.stdin)\n{source}\n")
        return f"{sys.executable} -I -S {path}"

    return write


@pytest.fixture
def tasks() -> list[Task]:
    return [Task(id=f"t{number}", prompt=f"What about {number}?") for number in range(1, 4)]
