"""Findings in the terminal: worst first, with quote and address, in 80 columns, and nothing that steers it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.core import Outcome
from dream_eval.evaluators.results import Item
from dream_eval.runs.listing import badness, is_good

Dream = Callable[..., tuple[int, str, str]]


def section(text: str, metric: str) -> list[str]:
    """The lines of one metric."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if f"({metric})" in line)
    return [line.strip() for line in lines[start : lines.index("", start)]]


def test_what_is_wrong_stands_first_with_its_evidence(finished: Path, dream: Dream) -> None:
    code, out, err = dream("show", str(finished), "--report", "cited#t1")
    assert (code, err) == (0, "")
    lines = section(out, "factuality")
    assert lines[0] == "Factuality (factuality) 75.0 [0–100] 4 of 5 decided"
    assert lines[1] == "• contradicted: The Lindow barrage has 14 turbines."
    quote = next(number for number, line in enumerate(lines) if line.startswith("“"))
    assert "12 turbines" in lines[quote]
    assert lines[quote + 1].startswith("https://")
    assert any(line.startswith("• undecided: Fewer than 2 percent") for line in lines)
    assert not any(line.startswith("• supported") for line in lines)
    assert lines[-1] == "and 3 more, with --all"
    assert "https://tidal-authority.gov.uk/register" in " ".join(section(out, "kic")), "where the missing fact stands"
    assert "– unsupported claim: no reason is given" in section(out, "rq")


def test_everything(finished: Path, dream: Dream) -> None:
    _, out, _ = dream("show", str(finished), "--report", "cited#t1", "--metric", "factuality", "--all")
    words = [line.strip().split(":")[0] for line in out.splitlines() if line.strip().startswith("• ")]
    assert words == ["• contradicted", "• undecided", "• supported", "• supported", "• supported"]
    assert "with --all" not in out
    assert "(kic)" not in out
    assert "refutes" in out


def test_reports_and_metrics_are_chosen_by_name(finished: Path, dream: Dream) -> None:
    heads = ("cited#t1", "cited#t2", "uncited#t1", "uncited#t2")
    for name, shown in (("cited", heads[:2]), ("t2", heads[1::2]), ("uncited#t1", heads[2:3])):
        lines = dream("show", str(finished), "--report", name, "--metric", "wq,kic")[1].splitlines()
        assert tuple(head for head in heads if head in lines) == shown
    code, out, err = dream("show", str(finished), "--report", "nobody")
    assert (code, out) == (2, "")
    assert err == "dream: no report 'nobody' in this run; there are: cited#t1, cited#t2, uncited#t1, uncited#t2\n"
    code, _, err = dream("show", str(finished), "--metric", "speed")
    assert code == 2
    assert "there are: wq, kic, rq, factuality, ci, da" in err


def test_what_has_no_score_says_why(finished: Path, dream: Dream) -> None:
    _, out, _ = dream("show", str(finished), "--report", "uncited#t1", "--metric", "da")
    assert "Domain authoritativeness (da) not applicable\n  no_citations\n" in out


def test_text_of_others_steers_nothing(finished: Path, tmp_path: Path, dream: Dream) -> None:
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "results.jsonl"
    evil = json.dumps("\x1b]0;owned\x07\x1b[2J\u202e" + "has 14 turbines")[1:-1]
    path.write_text(path.read_text().replace("has 14 turbines", evil))
    _, out, _ = dream("show", str(tmp_path / "run"), "--all")
    assert "has 14 turbines" in out
    assert not [c for c in out if (ord(c) < 32 and c != "\n") or c in "\x9b\u202e"]


def test_on_a_terminal_it_is_wrapped_at_its_width(finished: Path) -> None:
    import io

    from dream_eval.cli.listed import _unit
    from dream_eval.runs.listing import listing
    from dream_eval.runs.reading import open_run
    from rich.console import Console

    view, file = open_run(finished), io.StringIO()
    console = Console(file=file, width=60, force_terminal=True, no_color=True)
    for listed in listing(view, report="cited", metrics=["factuality", "kic"]):
        _unit(console, view, listed, everything=True)
    import re

    lines = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines()
    assert max(len(line.rstrip()) for line in lines if "http" not in line) <= 60
    assert len(lines) > 30


def item(outcome: Outcome | None = None, **rest: Any) -> Item:
    return Item(id="x", text="x", outcome=outcome, **rest)


def test_the_order_of_badness() -> None:
    worst_first = [
        item(Outcome.CONTRADICTED),
        item(detail={"flaws": [{"name": "n"}]}, value=14.0),
        item(Outcome.NO),
        item(Outcome.CONFLICTING),
        item(Outcome.UNDECIDED),
        item(Outcome.NOT_CHECKED),
        item(Outcome.PARTLY),
        item(value=3.0),
        item(value=5.0),
        item(Outcome.SUPPORTED),
        item(Outcome.YES),
    ]
    assert sorted([*worst_first[5:], *worst_first[:5]], key=badness) == worst_first


@pytest.mark.parametrize(("one", "good"), [(item(Outcome.YES), True), (item(Outcome.YES, flags=("outdated",)), False)])
def test_what_is_flagged_is_shown(one: Item, good: bool) -> None:
    assert is_good(one) is good
