"""Packages import from lower layers only."""

from __future__ import annotations

from pathlib import Path

import pytest
from tree import NAME, ROOT, imports_of, product_modules

LAYERS = {
    "core": 0,
    "errors": 0,
    "ledger": 1,
    "protocols": 1,
    "reports": 1,
    "stats": 1,
    "models": 2,
    "tools": 2,
    "agents": 3,
    "evaluators": 4,
    "runs": 5,
    "tasks": 5,
    "studies": 6,
    "viewer": 7,
    "cli": 8,
}
SAME_LAYER = {("core", "errors")}
"""(importer, imported) pairs of one layer that are allowed."""


def breaches(path: Path, source: str) -> list[str]:
    """What a module imports although it lies at its own height or above."""
    here = path.parts[0].removesuffix(".py")
    found = []
    for line, name in imports_of(path, source):
        parts = name.split(".")
        if parts[0] != NAME or len(parts) < 2 or parts[1] == here:
            continue
        there = parts[1]
        if there not in LAYERS:
            known = there in ("__version__",)
            found += [] if known else [f"{path}:{line}: `{name}` is in no layer"]
        elif LAYERS[there] > LAYERS[here] or (LAYERS[there] == LAYERS[here] and (here, there) not in SAME_LAYER):
            found.append(f"{path}:{line}: {here} ({LAYERS[here]}) imports {there} ({LAYERS[there]})")
    return found


def test_imports_go_down() -> None:
    modules = [path for path in product_modules() if path != Path("__init__.py")]  # the facade re-exports lazily
    assert len(modules) >= 10
    found = [line for path in modules for line in breaches(path, (ROOT / path).read_text())]
    assert not found, "\n".join(found)


def test_every_package_has_a_layer() -> None:
    tops = {path.parts[0].removesuffix(".py") for path in product_modules()} - {"__init__"}
    assert tops <= set(LAYERS)


@pytest.mark.parametrize(
    ("path", "source", "ok"),
    [
        ("agents/x.py", "from ..models import ask", True),
        ("agents/x.py", "from . import y", True),
        ("agents/research/x.py", "from ..executor import y", True),
        ("agents/research/x.py", "from ...cli import y", False),
        ("reports/x.py", "def f():\n    from ..stats import wilson", False),
        ("models/x.py", "import dream_eval.runs.engine", False),
        ("models/x.py", "from .. import runs", False),
        ("models/__init__.py", "from ..runs import plan", False),
        ("models/__init__.py", "from .local import serve_embedded", True),
        ("cli/x.py", "from .. import __version__", True),
        ("cli/x.py", "from ..nowhere import x", False),
        ("core.py", "from .errors import DreamError", True),
        ("core.py", "from .stats import wilson", False),
        ("models/x.py", "import tools", True),  # somebody else's distribution
    ],
)
def test_the_rule_itself(path: str, source: str, ok: bool) -> None:
    assert (not breaches(Path(path), source)) == ok
