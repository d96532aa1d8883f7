"""Sizes, exported names, start-up cost."""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from tree import ROOT, functions_of, module_name, packages_listed, product_modules

HEAVY = ("openai", "smolagents", "trafilatura", "ddgs", "arxiv", "github", "pypdf", "xllamacpp", "pydantic_monty")
MAX_MODULE_LINES = 500


def test_no_module_is_long() -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in product_modules()}
    assert not {path: lines for path, lines in lengths.items() if lines > MAX_MODULE_LINES}


def test_functions_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = sorted(
        (lines, f"{path}: {name}")
        for path in product_modules()
        for name, lines in functions_of((ROOT / path).read_text())
    )
    lengths = [lines for lines, _ in sizes]
    median, ninth = statistics.median(lengths), lengths[int(len(lengths) * 0.9)]
    with capsys.disabled():
        print(f"\n{len(lengths)} functions: median {median:g} lines, 90 % within {ninth}, longest", *sizes[-1][::-1])
    assert median < 12
    assert ninth < 40


@pytest.mark.parametrize("name", packages_listed())
def test_exported_names(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", None)
    if exported is None:
        public = [key for key, value in vars(module).items() if not key.startswith("_") and _is_ours(value, name)]
        assert not public, f"{name} re-exports names and has no __all__"
        return
    assert len(set(exported)) == len(exported)
    for key in exported:
        getattr(module, key)


def _is_ours(value: object, package: str) -> bool:
    module = getattr(value, "__module__", "") or ""
    return isinstance(value, type) and module.startswith(package)


@pytest.mark.parametrize("path", [path for path in product_modules() if path.name != "__main__.py"], ids=str)
def test_every_module_can_be_imported(path: Path) -> None:
    importlib.import_module(module_name(path))


def test_importing_the_packages_is_light() -> None:
    code = f"import sys, importlib\nfor n in {packages_listed()!r}: importlib.import_module(n)\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in HEAVY if name in loaded]


def test_help_loads_nothing_heavy() -> None:
    if not hasattr(importlib.import_module("dream_eval.cli"), "main"):
        pytest.skip("the command line is not written yet")
    code = (
        "import sys\nsys.argv = ['dream', '--help']\nfrom dream_eval.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.partition("LOADED")[2].split()
    assert loaded
    assert not [name for name in (*HEAVY, "httpx", "rapidfuzz", "tldextract") if name in loaded]


def test_collection_works_from_the_root() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/project/test_layers.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
