"""Broken reasoning and age: what code does to a report, and what the studies say of judges that see it and do not."""

from __future__ import annotations

import datetime as dt
import json
import random
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run as dream
from dream_eval.core import Task
from dream_eval.errors import InputError, UserError
from dream_eval.reports import load_reports, read_report
from dream_eval.runs.faults import demo_folder
from dream_eval.studies import aging, reasoning
from dream_eval.studies.harness import open_bench
from rubrics import asked, is_comparing
from servers.chat import ScriptedChat, last_user
from world import CITED

TASK = Task(id="t", prompt="What is known about the Lindow barrage?")
GOOD = """\
# Report

The plant is sound [1]. It should be kept, because repairs are cheap [1]. The cost may rise, however. Staff is trained.

[1] https://www.lindow-energy.com/barrage
"""
SCALES = ("organisation", "clarity", "coherence", "concision", "format", "language")


def demo_report(name: str) -> Any:
    return load_reports(demo_folder() / name)[0]


def writing(level: int) -> dict[str, Any]:
    return dict.fromkeys(SCALES, level) | {"faults": []}


def sees_circles(body: dict[str, Any]) -> dict[str, Any]:
    """A judge that finds fault with what code adds."""
    marks = ("is sound, because", "nothing else is possible", "should be kept. ", "cheap, because", "rise because")
    return writing(2 if any(mark in last_user(body) for mark in marks) else 5)


# --- reasoning -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flaw", sorted(reasoning.FLAWS))
@pytest.mark.parametrize("name", ["sound.md", "uncited.md"])
def test_a_flaw_breaks_few_places_and_leaves_the_rest(name, flaw):
    report = demo_report(name)
    text, done = reasoning.FLAWS[flaw](report, random.Random(0))
    again, _ = reasoning.FLAWS[flaw](report, random.Random(0))
    assert text == again != report.text
    assert done
    before, after = {s.text for s in report.sentences}, {s.text for s in read_report(text, id="x").sentences}
    assert len(before & after) >= 0.7 * len(before)
    if flaw != "selective":
        assert len(done) == reasoning.PLACES


def test_what_each_flaw_does():
    report = read_report(GOOD, id="good")
    circle, _ = reasoning.circular(report, random.Random(0))
    assert "It should be kept, because repairs are cheap. Repairs are cheap, because it should be kept." in circle
    cut, done = reasoning.selective(report, random.Random(0))
    assert "however" not in cut
    assert any(line.endswith(": cut") for line in done)
    bare, _ = reasoning.unsupported(report, random.Random(0))
    assert bare.count("[1]") == 1  # the list of sources
    assert any(phrase in bare for phrase in reasoning._BOLD)


def test_a_report_without_a_place_for_a_flaw_is_said():
    with pytest.raises(UserError, match="no report has a place"):
        reasoning.pairs_of([(TASK, read_report("# Title\n", id="empty"))], ["selective"], seed=0)
    with pytest.raises(UserError, match="choose among unsupported, circular, selective"):
        reasoning.pairs_of([(TASK, read_report(GOOD, id="good"))], ["lies"], seed=0)


async def measured(setup: Any, out: Path, reports: list[str]) -> Any:
    cases = [(TASK, read_report(GOOD.replace("plant", name), id=name)) for name in reports]
    pairs = reasoning.pairs_of(cases, ["circular"], seed=0)
    async with open_bench(setup, "study") as bench:
        return await reasoning.run(bench, pairs, ("wq",), out, protocols={})


def test_reports_of_one_system_on_several_tasks_keep_names_of_their_own():
    cases = [(Task(id=f"t{n}", prompt=f"Query {n}?"), read_report(GOOD + f"\n{n}", id="system")) for n in (1, 2)]
    pairs = reasoning.pairs_of(cases, ["circular", "selective"], seed=0)
    assert len({name for pair in pairs for name, _ in pair.twins}) == 2 + 4


NAMES = ["alder", "birch", "cedar", "dogwood", "elder", "fir"]


async def test_a_judge_that_sees_the_flaws(chat, works, setup_for, tmp_path):
    chat.always(sees_circles)
    sheet = await measured(setup_for(chat, works[1]), tmp_path / "out", NAMES)
    assert [row[3:] for row in sheet.tables[0].rows] == [(100.0, 25.0, -75.0)] * 6
    assert "lower in 6 of 6 pairs" in sheet.findings[0]
    assert "mean change -75.0 [-75.0, -75.0], p = 0.031" in sheet.findings[0]
    assert "falls by more than noise" in sheet.findings[0]
    rows = json.loads((tmp_path / "out/data/pairs.json").read_text())
    for row in rows:
        assert (tmp_path / f"out/data/{row['id']}.md").read_text() != (tmp_path / "out/data/alder.md").read_text()


async def test_a_judge_that_sees_nothing_is_told_so(chat, works, setup_for, tmp_path):
    chat.always(writing(4))
    sheet = await measured(setup_for(chat, works[1]), tmp_path / "out", NAMES)
    assert "The interval contains 0: this judge does not see the flaws." in sheet.findings[0]
    few = await measured(setup_for(chat, works[1]), tmp_path / "few", NAMES[:2])
    assert "too few pairs for a test. This judge gives both twins the same score: useless here." in few.findings[0]


async def test_a_judge_that_fails_gives_no_number(chat, works, setup_for, tmp_path):
    chat.always("no JSON at all")
    sheet = await measured(setup_for(chat, works[1]), tmp_path / "out", NAMES[:1])
    assert sheet.tables[0].rows[0][3:] == (None, None, None)
    assert "nothing can be said" in sheet.findings[0]


async def test_a_rubric_that_cannot_be_made_ends_its_own_metric_only(chat, works, setup_for, tmp_path):
    """A weak judge repeats its criteria; what else it was asked for is still measured."""
    chat.on(lambda body: "concision" in json.dumps(body), writing(4))
    chat.always("no JSON at all")
    cases = [(TASK, read_report(GOOD, id="good"))]
    pairs = reasoning.pairs_of(cases, ["circular"], seed=0)
    other = read_report(GOOD.replace("sound", "old"), id="other")
    async with open_bench(setup_for(chat, works[1]), "study") as bench:
        sheet = await reasoning.run(bench, pairs, ("race", "wq"), tmp_path / "out", protocols={}, reference=other)
    assert [row[0] for row in sheet.tables[0].rows if row[3] is not None] == ["wq"]
    assert sheet.findings[0] == "RACE: no pair has two scores (rubric_failed: no rubric): nothing can be said."


async def test_rq_of_both_twins_by_an_agent(world: ScriptedChat, setup_for, tmp_path):
    report = load_reports(tmp_path / "cited.md")[0]
    pairs = reasoning.pairs_of([(TASK, report)], ["unsupported", "circular"], seed=0)
    async with open_bench(setup_for(world), "study") as bench:
        sheet = await reasoning.run(bench, pairs, ("rq",), tmp_path / "out", protocols={})
    assert [row[3:5] for row in sheet.tables[0].rows] == [(82.5, 82.5)] * 2  # the scripted verifier reads no report
    assert sheet.useless is True
    assert sheet.known[0].paper.startswith("about -40 %")


# --- time ------------------------------------------------------------------------------------------------------------

FACTS = {
    "cuts": ["2025-12-31", "2020-01-01"],
    "facts": [
        {
            "id": "turbines",
            "now": "The Lindow barrage was completed in 2021 [1].",
            "since": "2021-06-01",
            "older": [{"since": "2015-01-01", "until": "2021-06-01", "text": "The Lindow barrage is being built [1]."}],
        },
        {"id": "cost", "now": "The Lindow barrage cost 1.9 billion pounds [3].", "since": "2021-06-01"},
    ],
}


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    (tmp_path / "facts.json").write_text(json.dumps(FACTS))
    return tmp_path / "facts.json"


async def test_kic_falls_with_age_and_writing_does_not(world: ScriptedChat, setup_for, facts, tmp_path):
    report = load_reports(tmp_path / "cited.md")[0]
    versions = aging.versions_of(report, aging.load_ageing(facts), [])
    async with open_bench(setup_for(world), "study") as bench:
        sheet = await aging.run(bench, TASK, versions, ("kic", "wq"), tmp_path / "out")
    assert [row[3] for row in sheet.tables[0].rows] == [75.0, 25.0]  # completed in 2021 and cost are gone
    assert [row[2] for row in sheet.tables[0].rows] == [0, 2]
    assert sheet.tables[0].rows[0][5] == pytest.approx(100 * 19 / 24)
    assert "KIC: 75.0 (newest) to 25.0 (oldest, -67 %), falling with age" in sheet.findings[0]
    assert "WQ: 79.2 (newest) to 79.2 (oldest, +0 %), not falling" in sheet.findings[1]
    assert sheet.known[0].paper == "79.35, 44.80, 22.34"
    assert sheet.known[0].ours == "75.00, 25.00"
    assert (tmp_path / "out/data/2020-01-01.md").read_text().count("is being built") == 1


def test_the_newest_version_is_the_report_itself_and_ages_hold_the_values_of_their_day():
    report = demo_report("sound.md")
    ageing = aging.load_ageing(aging.DEMO)
    versions = aging.versions_of(report, ageing, [])
    assert versions[0].report.text == report.text
    assert not versions[0].changed
    old = versions[-1].report.text
    assert "drafts on 24 August 2023" in old
    assert "13 August 2024" not in old
    assert "38 percent" not in old
    assert len(versions[-1].changed) > len(versions[1].changed) > 0
    assert len(versions[-1].report.marks) < len(report.marks)


def test_every_fact_of_the_demo_stands_in_its_report_and_its_values_follow_one_another():
    report = demo_report("sound.md")
    for fact in aging.load_ageing(aging.DEMO).facts:
        assert fact.now in report.text
        assert all(old.since < old.until <= fact.since for old in fact.older)
        assert fact.on(fact.since) == fact.now != fact.on(fact.since - dt.timedelta(days=1))


def test_of_several_older_values_that_of_the_day_counts():
    older = [
        aging.Older(since=dt.date(2000, 1, 1), until=dt.date(2010, 1, 1), text="planned"),
        aging.Older(since=dt.date(2010, 1, 1), until=dt.date(2020, 1, 1), text="being built"),
    ]
    fact = aging.Dated(id="x", now="done", since=dt.date(2020, 1, 1), older=tuple(older))
    days = ("1999-12-31", "2009-12-31", "2010-01-01", "2019-12-31", "2020-01-01")
    assert [fact.on(dt.date.fromisoformat(day)) for day in days] == [
        "",
        "planned",
        "being built",
        "being built",
        "done",
    ]


def test_what_a_facts_file_gets_wrong_is_said(facts, tmp_path):
    report = load_reports(demo_folder() / "sound.md")[0]
    with pytest.raises(UserError, match="turbines does not stand in the report sound"):
        aging.versions_of(report, aging.load_ageing(facts), [])
    facts.write_text('{"facts": [{"id": "x", "now": "y", "since": "yesterday"}]}')
    with pytest.raises(InputError, match=r"facts\.json \(facts\.0\.since\)"):
        aging.load_ageing(facts)
    with pytest.raises(InputError, match="no such file"):
        aging.load_ageing(tmp_path / "none.json")
    with pytest.raises(UserError, match="at least two days"):
        aging.versions_of(report, aging.load_ageing(aging.DEMO), [dt.date(2025, 6, 30)])


def test_the_commands_plan_without_a_judge(chat, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for study, files in (("reasoning", 9), ("time", 3)):
        assert dream(["study", study, "--plan", "--judge", chat.judge, "--out", study]) == 0
        assert len(list((tmp_path / study / "data").iterdir())) == files
        assert "expected (from defaults" in capsys.readouterr().out
    assert not chat.requests
    assert dream(["study", "time", "--report", "2025-01-01"]) == 2
    assert "write DATE=FILE" in capsys.readouterr().err
    (tmp_path / "r.md").write_text(GOOD)
    assert dream(["study", "time", "--age", "r.md", "--query", "x"]) == 2
    assert "--facts" in capsys.readouterr().err
    assert dream(["study", "reasoning", "--reports", "r.md", "--query", "x", "--metrics", "race"]) == 2
    assert "race needs a reference report" in capsys.readouterr().err
    assert dream(["study", "reasoning", "--reports", "r.md"]) == 2
    assert "--query" in capsys.readouterr().err


async def test_race_by_one_rubric_against_another_report(chat, works, setup_for, facts, tmp_path):
    """A judge that counts nothing: both articles are alike to it, so RACE stays at 50 however old the report is."""
    dimensions = {"comprehensiveness": 3, "insight": 4, "instruction_following": 2, "readability": 1}
    criteria = {
        f"d{n}": [{"criterion": f"What the {word} cost.", "weight": 1}, {"criterion": f"Who owns {word}.", "weight": 1}]
        for n, word in enumerate(("copper lines", "village roofs", "old turbines", "winter storage"), 1)
    }
    chat.on(lambda body: "Give each dimension its weight" in last_user(body), {"weights": dimensions})
    chat.on(lambda body: "For each dimension give" in last_user(body), criteria)
    chat.on(is_comparing, lambda body: {id: {"why": "It is so.", "a": 6, "b": 6} for id in asked(body)})
    (tmp_path / "cited.md").write_text(CITED)
    report = load_reports(tmp_path / "cited.md")[0]
    versions = aging.versions_of(report, aging.load_ageing(facts), [])
    async with open_bench(setup_for(chat, works[1]), "study") as bench:
        other = read_report(GOOD, id="other")
        sheet = await aging.run(bench, TASK, versions, ("race",), tmp_path / "out", reference=other)
    assert [row[3] for row in sheet.tables[0].rows] == [50.0, 50.0]
    assert sheet.known[0].ours == "50.00, 50.00"
    assert sum("Give each dimension its weight" in last_user(body) for body in chat.requests) == 1
