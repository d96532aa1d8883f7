"""The built-in agent with the embedded judge, for real."""

from __future__ import annotations

from pathlib import Path

import pytest
from dream_eval.agents.research import perform, read_profiles
from dream_eval.core import Task
from dream_eval.reports import load_reports
from world import AS_OF, PAGES, QUERY, write_world

pytestmark = [pytest.mark.judge, pytest.mark.timeout(900)]


async def test_a_short_report_with_citations_of_pages_that_were_read(tmp_path: Path) -> None:
    write_world(tmp_path)
    asked = perform.Wish(
        *("ours", (Task(id="t1", prompt=QUERY, as_of=AS_OF),), tmp_path / "ours.jsonl", tmp_path / "ledger.sqlite"),  # type: ignore[arg-type]
        builtin="smolagents-open-dr",
        model="local",
        search=(f"corpus:{tmp_path / 'corpus'}",),
    )
    done, _ = await perform.perform(asked)
    assert done.missing == (), done.states
    (report,) = load_reports(asked.out)
    assert report.marks
    assert all(mark.sources for mark in report.marks)
    assert {source.url for source in report.sources} <= {page[0] for page in PAGES.values()}
    assert "2021" in report.text
    assert (read_profiles(asked.out)["t1"].completion_tokens or 0) > 0
