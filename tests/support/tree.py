"""The source tree as the project's own tests see it: product modules, their names, their imports."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "dream_eval"
NOT_PRODUCT = {"tests", "docs", "examples", "benchmarks", "build", "dist"}


def product_modules(root: Path = ROOT) -> Iterator[Path]:
    """Each product `.py` file, relative to the root: all that is not tests, docs, examples or benchmarks."""
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        if relative.parts[0] not in NOT_PRODUCT and not any(part.startswith(".") for part in relative.parts):
            yield relative


def module_name(path: Path) -> str:
    """`models/local.py` -> `dream_eval.models.local`; a package's `__init__.py` is the package."""
    parts = path.with_suffix("").parts
    return ".".join((NAME, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def imports_of(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of everything imported anywhere in a module, functions included."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = [*base, *(node.module.split(".") if node.module else [])]
            yield from ((node.lineno, ".".join([*stem, alias.name])) for alias in node.names)


def packages_listed() -> list[str]:
    """The packages that pyproject.toml names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return list(settings["tool"]["setuptools"]["packages"])


def functions_of(source: str) -> Iterator[tuple[str, int]]:
    """(name, lines) of each function and method, decorators and docstring left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            doc = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            yield node.name, _lines(node) - (_lines(doc) if doc else 0)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
