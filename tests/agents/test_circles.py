"""Circular reasoning that form alone shows."""

from __future__ import annotations

import pytest
from dream_eval.agents.circles import circles
from dream_eval.reports import load_reports, read_report

HEAD = "# Plan\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "The old pump must go, because a new pump saves power. A new pump saves power, because the old pump must go.",
        "Since a new pump saves power, the old pump must go. A new pump saves power because the old pump must go.",
        "A new pump saves power, so the old pump must go. A new pump saves power since the old pump must go.",
        "因为新水泵节省大量电力，所以旧水泵必须更换。新水泵节省大量电力，因为旧水泵必须更换。",
    ],
)
def test_two_sentences_that_give_each_other_as_the_reason(text: str) -> None:
    report = read_report(HEAD + text, id="r")
    found = circles(report)
    assert len(found) == 1
    one, other = (report.sentences[number - 1].text for number in found[0])
    assert one != other
    assert "save" in one or "节省" in one


@pytest.mark.parametrize(
    "text",
    [
        "The old pump must go, because a new pump saves power. A new pump saves power, because its motor is small.",
        "The old pump must go, because a new pump saves power. The old pump must go, because a new pump saves power.",
        "The old pump must go, because a new pump saves power. A new pump saves power. The old pump must go.",
        "It works, because we know. We know, because it works.",
        "Since 2020 the share of heat pumps in Norway rose. The share of heat pumps in Norway rose since 2020.",
    ],
)
def test_what_is_no_circle(text: str) -> None:
    assert circles(read_report(HEAD + text, id="r")) == []


def test_far_apart_is_a_summary() -> None:
    between = " ".join(f"Fact {n} stands here alone." for n in range(20))
    one, other = (
        "The old pump must go, because a new pump saves power.",
        "A new pump saves power, because the old pump must go.",
    )
    assert circles(read_report(f"{HEAD}{one} {between} {other}", id="r")) == []


def test_none_in_real_reports(shared_data) -> None:
    reports = [one for path in sorted((shared_data / "drb" / "raw_data").glob("*.jsonl")) for one in load_reports(path)]
    assert len(reports) == 30
    assert [report.task_id for report in reports if circles(report)] == []
