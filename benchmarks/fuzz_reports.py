"""Coverage-guided fuzzing of the report reader: what the property tests claim must hold for whatever atheris finds.

pip install atheris; python benchmarks/fuzz_reports.py -max_total_time=120 [FOLDER]

The first half of an input chooses pieces of Markdown, the second half is text as it comes. Ends with a traceback and a
``crash-…`` file when something does not hold.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dream_eval.reports"]):
    from dream_eval.reports import lint_json, read_report, split_sentences, uncut
    from dream_eval.reports.decoding import decode
    from dream_eval.reports.loaders import load_bytes

from dream_eval.errors import InputError

TESTS = Path(__file__).resolve().parents[1] / "tests" / "reports"


def _load(name: str):
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROPERTIES, HOSTILE = _load("test_properties"), _load("test_hostile")
PIECES = [
    *HOSTILE.UNITS,
    "## References\n\n",
    "[1] One. https://a.org/1\n",
    "It grew [1]. ",
    "| a [2] |\n|---|\n| b |\n\n",
]
SUFFIXES = ("", ".md", ".html", ".json", ".jsonl", ".pdf", ".docx")


def one(data: bytes) -> None:
    """One input: as a document, and as the bytes of a file."""
    provider = atheris.FuzzedDataProvider(data)
    count = provider.ConsumeIntInRange(0, 60)
    chosen = [PIECES[provider.ConsumeIntInRange(0, len(PIECES) - 1)] for _ in range(count)]
    text = "".join(chosen) + provider.ConsumeUnicodeNoSurrogates(2000)
    report = read_report(text, id="r")
    PROPERTIES.check(report)
    assert uncut(report) == text
    found = lint_json(report)
    for mark in found["marks"]:
        assert 0 <= mark["start"] < mark["end"] <= len(text)
    for span in split_sentences(text):
        assert text[span.start : span.end].strip()
    try:
        decode(data, path="x")
        load_bytes(data, f"x{SUFFIXES[len(data) % len(SUFFIXES)]}")
    except InputError:
        pass


def main() -> None:
    """Fuzz until told to stop."""
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
