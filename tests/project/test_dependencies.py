"""What product code imports is declared, and what is declared is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

from tree import NAME, ROOT, product_modules

IMPORTED_AS = {
    "pygithub": "github",
    "pydantic-monty": "pydantic_monty",
    "charset-normalizer": "charset_normalizer",
    "inspect-ai": "inspect_ai",
    "opentelemetry-sdk": "opentelemetry",
    "opentelemetry-exporter-otlp-proto-http": "opentelemetry",
}
NOT_IMPORTED = {"lxml-html-clean", "pip"}
"""Needed at run time and not imported by us: by trafilatura, and as a command."""


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines]
    lines = [*project["dependencies"], *extras]
    return {re.split(r"[<>=!~;\[ ]", line, maxsplit=1)[0].lower().replace("_", "-") for line in lines}


def imported() -> set[str]:
    names = set()
    for path in product_modules():
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {NAME}


def test_imports_are_declared_and_declarations_imported() -> None:
    wanted = {IMPORTED_AS.get(name, name) for name in declared() - NOT_IMPORTED}
    assert imported() == wanted


def test_each_has_its_reason() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text().lower().replace("_", "-")
    assert not [name for name in declared() if f"`{name}`" not in text]
