"""Reports that exist already, taken as the reports of a system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dream_eval.agents.research import ReportsFile
from dream_eval.agents.research.importing import import_reports
from dream_eval.core import Task
from dream_eval.errors import InputError
from dream_eval.reports import load_reports, load_tasks
from servers.web import article, pdf

TASKS = [Task(id="t1", prompt="What about heat pumps?"), Task(id="t2", prompt="What about tides?")]


def taken(tmp_path: Path, source: Path, tasks: list[Task] = TASKS, system: str = "mine") -> Any:
    return import_reports(source, system, ReportsFile(tmp_path / "out.jsonl", system), tasks)


def test_an_export_of_langsmith(tmp_path: Path) -> None:
    runs = [
        {
            "inputs": {"inputs": {"id": "t1", "prompt": "What about heat pumps?"}},
            "outputs": {"output": {"final_report": "# Pumps\n\nThey work [1].\n\n[1] https://a.org/1"}},
            "metadata": {"id": "t1"},
        },
    ]
    source = tmp_path / "runs.jsonl"
    source.write_text("".join(json.dumps(run) + "\n" for run in runs))
    done = taken(tmp_path, source)
    assert (done.made, done.missing) == (1, ("t2",))
    (report,) = load_reports(tmp_path / "out.jsonl")
    assert (report.task_id, report.prompt) == ("t1", TASKS[0].prompt)
    assert report.sources[0].url == "https://a.org/1"


def test_a_raw_data_folder(tmp_path: Path) -> None:
    folder = tmp_path / "raw_data"
    folder.mkdir()
    for system in ("alpha", "beta"):
        lines = [{"id": n, "prompt": TASKS[n - 1].prompt, "article": f"{system} on {n}."} for n in (1, 2)]
        (folder / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert taken(tmp_path, folder, [], "beta").made == 2
    assert [report.text.strip() for report in load_reports(tmp_path / "out.jsonl")] == ["beta on 1.", "beta on 2."]
    with pytest.raises(InputError, match="alpha, beta"):
        taken(tmp_path, folder, [], "gamma")


@pytest.mark.parametrize("name", ["page.html", "page.pdf"])
def test_a_saved_page_is_the_report_on_the_one_task(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    text = "Heat pumps give three units of heat for one unit of power in most old houses."
    source.write_bytes(pdf([text]) if name.endswith("pdf") else article("Pumps", text, text).encode())
    assert taken(tmp_path, source, TASKS[:1]).made == 1
    (report,) = load_reports(tmp_path / "out.jsonl")
    assert "three units of heat" in report.text
    assert report.task_id == "t1"


def test_pages_named_by_their_tasks(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for task in TASKS:
        (folder / f"{task.id}.html").write_text(article("Page", f"A report on {task.id} with enough words in it."))
    assert taken(tmp_path, folder).missing == ()


def test_listed_sources_stay(tmp_path: Path) -> None:
    source = tmp_path / "x.json"
    panel = [{"url": "https://a.org/1", "title": "A"}, {"url": "https://b.org/2"}]
    source.write_text(json.dumps({"id": "t1", "article": "One [2]. Two [1].", "sources": panel}))
    taken(tmp_path, source)
    (before,), (after,) = load_reports(source), load_reports(tmp_path / "out.jsonl")
    assert after.sources == before.sources
    assert after.marks == before.marks
    assert after.digest == before.digest


def test_taken_twice_is_there_once(tmp_path: Path) -> None:
    source = tmp_path / "x.json"
    source.write_text(json.dumps({"id": "t1", "article": "One."}))
    assert taken(tmp_path, source).made == 1
    again = taken(tmp_path, source)
    assert (again.made, again.kept) == (0, 1)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1


def test_nothing_says_which_task(tmp_path: Path) -> None:
    source = tmp_path / "report.md"
    source.write_text("# A report\n")
    with pytest.raises(InputError, match="give --tasks"):
        taken(tmp_path, source, [])
    with pytest.raises(InputError, match="fits none"):
        taken(tmp_path, source, TASKS)


def test_public_raw_data(tmp_path: Path, shared_data: Path) -> None:
    """Every system of the benchmark's own folder, read as it is and the same when read back."""
    tasks = load_tasks(shared_data / "drb" / "query.jsonl")
    for source in sorted((shared_data / "drb" / "raw_data").glob("*.jsonl")):
        path = tmp_path / source.name
        done = import_reports(source, source.stem, ReportsFile(path, source.stem), tasks)
        before, after = load_reports(source), load_reports(path)
        assert done.made == len(before)
        assert [report.digest for report in after] == [report.digest for report in before]
