"""Small hand-made reports in the shapes that agents leave, each with what a person finds in it (``expected.json``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dream_eval.reports import Report, SourceKind, lint_report, load_reports

GOLDEN = Path(__file__).with_name("golden")
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))


def seen(report: Report) -> dict[str, object]:
    """What a person would write down: sentences, marks with where they lead, entries, what was cut."""
    sources = {source.id: source for source in report.sources}
    return {
        "task": report.task_id,
        "prompt": report.prompt,
        "cut": [cut.rule for cut in report.cuts],
        "sentences": [sentence.text for sentence in report.sentences],
        "marks": [
            {
                "text": report.text[mark.span.start : mark.span.end],
                "sentence": mark.sentence,
                "leads to": [sources[id].target for id in mark.sources],
            }
            for mark in report.marks
        ],
        "references": [
            [source.label, source.title, source.target]
            for source in report.sources
            if source.kind is not SourceKind.INLINE
        ],
        "lints": [finding.rule for finding in lint_report(report)],
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_golden(name: str) -> None:
    assert [seen(report) for report in load_reports(GOLDEN / name)] == EXPECTED[name]


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in GOLDEN.iterdir()} - {"expected.json"} == set(EXPECTED)
