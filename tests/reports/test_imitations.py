"""Short reports in the manner of many products, each mark put in ``⟦…⟧{keys}`` by hand with where it leads.

The first lines of a file name its sources, ``key address``. They were written before the reader was tried on them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dream_eval.reports import read_report

FOLDER = Path(__file__).with_name("imitations")
MARK = re.compile(r"⟦(.*?)⟧\{([^}]*)\}", re.DOTALL)
Marks = list[tuple[int, int, list[str]]]


def given(path: Path) -> tuple[str, Marks]:
    """The report as an agent left it, and what a person finds in it."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    urls = dict(line.rstrip("/").split(" ", 1) for line in head.splitlines())
    text, marks, at = "", [], 0
    for match in MARK.finditer(body):
        text += body[at : match.start()]
        marks.append((len(text), len(text) + len(match[1]), [urls[key] for key in match[2].split()]))
        text += match[1]
        at = match.end()
    return text + body[at:], marks


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_every_mark_and_where_it_leads(path: Path) -> None:
    text, wanted = given(path)
    report = read_report(text, id="r", clean=False)
    targets = {source.id: (source.target or "").rstrip("/") for source in report.sources}
    found = [(mark.span.start, mark.span.end, [targets[id] for id in mark.sources]) for mark in report.marks]
    assert _shown(text, found) == _shown(text, wanted)


def _shown(text: str, marks: Marks) -> list[tuple[int, str, list[str]]]:
    return [(start, text[start:end], leads) for start, end, leads in marks]
