"""The built-in agent with the embedded model, for real: a report on the demo's task, judged beside the demo's three."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dream_eval.reports import load_reports
from dream_eval.runs.data import UnitResult

pytestmark = [pytest.mark.judge, pytest.mark.timeout(900)]

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]
DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"
SEARCH = ("--search", f"corpus:{DEMO / 'corpus'}")


def dream(*words: Any) -> str:
    done = subprocess.run([*DREAM, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def collected(embedded_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of its one report."""
    folder = tmp_path_factory.mktemp("odr")
    told = dream(
        *("collect", "--system", "ours", "--tasks", DEMO / "task.jsonl", "--builtin", "smolagents-open-dr"),
        *("--model", "local", *SEARCH, "--out", folder / "ours.jsonl", "--ledger", folder / "ledger.sqlite"),
    )
    print(told)
    return folder / "ours.jsonl"


def test_it_cites_pages_of_the_corpus_that_it_read(collected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (report,) = load_reports(collected)
    trace = json.loads(collected.read_text())["trace"]
    corpus = dict(_page(path) for path in (DEMO / "corpus").glob("*.md"))
    lines = trace["lines"]
    worded = {by: sum(line["worded_by"] == by for line in lines) for by in ("model", "page", "code")}
    with capsys.disabled():
        print(f"\n{report.text}\n    sentences worded by: {worded}")
    assert trace["mode"] == "guided"
    assert len(lines) >= 3
    assert worded["code"] < len(lines)  # the model chose, and did not only fail
    assert len(report.sources) >= 2
    assert all(mark.sources for mark in report.marks)
    assert {source.url for source in report.sources} <= set(trace["pages"]) & set(corpus)
    assert all(_plain(line["rests_on"]) in corpus[line["url"]] for line in lines)


def _page(path: Path) -> tuple[str, str]:
    text = path.read_text()
    address = re.search(r"(?m)^url: (\S+)", text)
    assert address
    return address[1], _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split())


def test_its_report_is_judged_beside_the_demos_three(collected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = collected.parent
    told = dream(
        *("evaluate", collected, *(DEMO / f"{name}.md" for name in ("sound", "flawed", "uncited"))),
        *("--task", DEMO / "task.jsonl", "--judge", "local", "--metrics", "wq,ci", "--max-claims", 4, *SEARCH),
        *("--out", folder / "run", "--ledger", folder / "ledger.sqlite"),
    )
    with capsys.disabled():
        print(f"\n{told}")
    rows = (folder / "run" / "results.jsonl").read_text().splitlines()
    results = [UnitResult.model_validate_json(row) for row in rows]
    assert {unit.report for unit in results} == {"ours", "sound", "flawed", "uncited"}
    assert len(results) == 8
    assert all(unit.settled for unit in results)
    cited = {unit.report: unit.result.score for unit in results if unit.metric == "ci"}
    assert cited["ours"] is not None
    assert cited["ours"] > (cited["uncited"] or 0.0)
