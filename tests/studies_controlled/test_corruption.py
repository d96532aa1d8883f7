"""The corruption study: a perfect judge draws the ideal line, a constant one is called useless."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run as dream
from dream_eval.core import Task
from dream_eval.errors import InputError, UserError
from dream_eval.studies import corruption
from dream_eval.studies.harness import open_bench
from dream_eval.studies.twins import changes, load_twins, twins_of
from evaluating import each, is_page, is_passage, lines_of, reads_figures, verdict_on
from hypothesis import given
from hypothesis import strategies as st
from servers.chat import prompt

TASK = Task(id="works", prompt="What did the works make?")
RATES = (0, 0.25, 0.5, 0.75, 1)


def reads_page(body: dict[str, Any]) -> dict[str, Any]:
    """A careful reader of a cited page."""
    text = prompt(body)
    listed = text.partition("Claims that cite this page:\n")[2].split("\n\n")[0]
    claims = dict(line.split(": ", 1) for line in listed.splitlines())
    return {id: verdict_on(claim, lines_of(text)) for id, claim in claims.items()}


def reads_statements(body: dict[str, Any]) -> dict[str, Any]:
    """A careful reader of several cited pages."""
    text = prompt(body)
    listed = text.partition("Each statement cites one page.")[2]
    statements = dict(re.findall(r"^(s\d+)\b.*?(The \w+ works made [\d,]+ cells)", listed, re.MULTILINE))
    return {id: verdict_on(statement, lines_of(text)) for id, statement in statements.items()}


async def study(setup: Any, data: Any, out: Path, metrics: tuple[str, ...] = ("factuality", "ci")) -> Any:
    batches = corruption.batches(data, RATES)
    async with open_bench(setup, "study") as bench:
        return await corruption.run(bench, data, batches, metrics, out)


def column(sheet: Any, name: str) -> list[Any]:
    table = sheet.tables[0]
    return [row[table.header.index(name)] for row in table.rows]


async def test_a_perfect_judge_gives_the_ideal_line(chat, works, setup_for, tmp_path):
    claims, pages = works
    chat.on(is_page, reads_page).on(is_passage, reads_figures)
    chat.on(lambda body: "Each statement cites one page." in prompt(body), reads_statements)
    data = load_twins(claims, TASK, seed=0)
    sheet = await study(setup_for(chat, pages), data, tmp_path / "out", ("factuality", "fact", "ci"))
    assert column(sheet, "Factuality") == [100, 75, 50, 25, 0] == column(sheet, "ideal")
    assert column(sheet, "FACT") == column(sheet, "CF (of CI)") == [100] * 5  # claims agree with the pages they cite
    assert "slope -100.0 points" in sheet.findings[0]
    assert "[-100.0, -100.0]" in sheet.findings[0]
    assert "0.0 points from the ideal line" in sheet.findings[0]
    assert "does not see them" in sheet.findings[1]
    assert sheet.useless is False
    assert [known.ours[:12] for known in sheet.known] == ["slope -100.0", "slope +0.0 ["]
    assert all(row[3] == "8/8" for row in sheet.tables[0].rows)
    asked = len(chat.requests)
    again = await study(setup_for(chat, pages), data, tmp_path / "again", ("factuality", "fact", "ci"))
    assert len(chat.requests) == asked  # all of it stands in the ledger
    assert again.tables == sheet.tables


@pytest.mark.parametrize(
    "says",
    [each("supported", 1), each("not_enough_evidence")],
    ids=["yes to everything", "never decides"],
)
async def test_a_constant_judge_is_called_useless(says, chat, works, setup_for, tmp_path):
    claims, pages = works
    chat.on(is_passage, says)
    sheet = await study(setup_for(chat, pages), load_twins(claims, TASK, seed=0), tmp_path / "out", ("factuality",))
    assert sheet.useless is True
    assert "useless here" in sheet.findings[0]
    assert "useless here" in (tmp_path / "out" / "study.md").read_text()


async def test_what_is_written_can_be_read_and_run_again(chat, works, setup_for, tmp_path):
    claims, pages = works
    chat.on(is_passage, reads_figures)
    data = load_twins(claims, TASK, seed=3)
    sheet = await study(setup_for(chat, pages), data, tmp_path / "out", ("factuality",))
    assert load_twins(tmp_path / "out" / "data" / "claims.json", None, seed=0) == data
    assert json.loads((tmp_path / "out" / "results.json").read_text())["data"] == data.digest == sheet.data
    units = [json.loads(line) for line in (tmp_path / "out" / "units.jsonl").read_text().splitlines()]
    assert [unit["name"] for unit in units] == [f"r={rate:g}/factuality" for rate in RATES]
    assert all(len(line) <= 80 for line in sheet.lines())


def test_the_slope_needs_two_rates_with_a_value():
    assert corruption.least_squares([(0.0, 100.0)]) is None
    assert corruption.least_squares([(0.5, 1.0), (0.5, 3.0)]) is None
    assert corruption.least_squares([(0.0, 90.0), (0.5, 60.0), (1.0, 30.0)]) == pytest.approx(-60)


def test_rates_nest_and_are_shares(works):
    data = load_twins(works[0], TASK, seed=0)
    sets = [batch.false for batch in corruption.batches(data, RATES)]
    assert [len(one) for one in sets] == [0, 2, 4, 6, 8]
    assert all(small <= large for small, large in itertools.pairwise(sets))
    with pytest.raises(UserError, match=r"share between 0 and 1, not 2"):
        corruption.batches(data, (0, 2))
    with pytest.raises(UserError, match=r"0,0\.5,1"):
        corruption.read_rates("0,half")


def test_every_claim_cites_a_page_that_says_it(works, tmp_path):
    data = load_twins(works[0], TASK, seed=0)
    pages = corruption.write_data(data, tmp_path)
    texts = {row["url"]: row["text"] for row in map(json.loads, pages.read_text().splitlines())}
    for batch in corruption.batches(data, (0, 1)):
        sources = {source.id: source.target for source in batch.report.sources}
        for claim in batch.claims.claims:
            (url,) = [sources[id] for id in claim.sources]
            assert claim.text in texts[url]


# --- twins -----------------------------------------------------------------------------------------------------------


def test_the_demos_twins_differ_in_one_place_and_are_the_same_every_time():
    data, again, other = (corruption.demo_twins(seed=seed) for seed in (0, 0, 1))
    assert data == again
    assert data.digest != other.digest
    assert len(data.twins) >= 15
    assert len({twin.change for twin in data.twins}) >= 3
    for twin in data.twins:
        assert twin.true != twin.false
        if "->" in twin.what:
            old, new = twin.what.split(" -> ")
            assert twin.true.replace(old, new, 1) == twin.false or twin.true.count(old) > 1


@given(st.integers(0, 10_000))
def test_no_twin_gives_itself_away(seed):
    """Amounts in names stay, bounds are left alone, what is past stays past."""
    text = (
        "By 2024 NIST published FIPS 203 with 38 percent of OpenSSL 3.5, fewer than 2 million RSA-2048 in March 2025."
    )
    today = dt.date(2025, 6, 30)
    for kind, false, what in changes(text, ("NIST", "NSA"), random.Random(seed), today=today):
        assert false != text
        assert all(word in false for word in ("FIPS 203", "OpenSSL 3.5", "fewer than 2 million", "RSA-2048"))
        if kind == "date":
            new = what.split(" -> ")[1]
            assert new.isdigit() is False or int(new) <= 2025
            assert new not in ("July", "August", "September", "October", "November", "December")


def test_a_fact_without_anything_to_change_is_left_out():
    facts = [{"id": "a", "fact": "Cells are made here."}, {"id": "b", "fact": "It has 40 rooms."}]
    data = twins_of(facts, TASK, seed=0)
    assert data.left_out == ("a",)
    assert [twin.id for twin in data.twins] == ["b"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"true": "a"}\n', "claims.jsonl:1: false: field required"),
        ('{"true": "a", "false": "b"}\nnope\n', "claims.jsonl:2: not a JSON object"),
        ("[1]\n", "claims.jsonl:1: not a JSON object"),
        ('{"id": "x", "true": "a", "false": "b"}\n{"id": "x", "true": "a", "false": "b"}\n', "the same id"),
    ],
)
def test_a_broken_data_set_names_its_line(text, says, tmp_path):
    path = tmp_path / "claims.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        load_twins(path, TASK, seed=0)
    path.write_text('{"true": "a", "false": "b"}\n')
    with pytest.raises(UserError, match="--query"):
        load_twins(path, None, seed=0)


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_plan_asks_nobody_and_writes_the_data(chat, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = dream(["study", "corruption", "--plan", "--judge", chat.judge, "--max-claims", "6", "--out", "out"])
    text = capsys.readouterr().out
    assert code == 0
    assert "expected (from defaults" in text
    assert len(json.loads((tmp_path / "out/data/claims.json").read_text())["twins"]) == 6
    assert not chat.requests


def test_the_command_prints_slope_ideal_and_the_papers_figure(chat, works, tmp_path, monkeypatch, capsys):
    claims, pages = works
    chat.on(is_page, reads_page).on(is_passage, reads_figures).always({"verdict": "unsupported"})
    monkeypatch.chdir(tmp_path)
    wishes = ["--data", str(claims), "--query", "works", "--search", f"corpus:{pages}", "--judge", chat.judge]
    more = ["--metrics", "factuality", "--ledger", "l.sqlite", "--out", "out", "--as-of", "2025-12-31"]
    assert dream(["study", "corruption", *wishes, *more]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "slope -100.0 points" in text
    assert "paper falls about linearly with r [A]; here slope -100.0" in text
    assert "The ideal slope is -100." in text


def test_wrong_wishes_say_what_to_change(chat, capsys):
    assert dream(["study", "corruption", "--data", "none.jsonl", "--query", "x"]) == 2
    assert "no such file" in capsys.readouterr().err
    assert dream(["study", "corruption", "--metrics", "taste"]) == 2
    assert "there is no metric 'taste'" in capsys.readouterr().err


def test_what_is_missing_is_said_before_anything_is_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert dream(["study", "corruption", "--judge", "openai/gpt-5-mini", "--out", "out"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert dream(["study", "time", "--judge", "openai/gpt-5-mini", "--search", "corpus:nowhere", "--out", "out"]) == 2
    assert "no such corpus" in capsys.readouterr().err


def test_a_budget_that_is_reached_ends_the_study_and_the_same_command_goes_on(
    chat, works, tmp_path, monkeypatch, capsys
):
    claims, pages = works
    chat.on(is_passage, reads_figures)
    monkeypatch.chdir(tmp_path)
    wishes = ["--data", str(claims), "--query", "works", "--search", f"corpus:{pages}", "--judge", chat.judge]
    wishes += ["--metrics", "factuality", "--ledger", "l.sqlite", "--out", "out", "--as-of", "2025-12-31"]
    assert dream(["study", "corruption", *wishes, "--budget-tokens", "3000"]) == 4
    assert "to continue: " in capsys.readouterr().err
    asked = len(chat.requests)
    assert asked > 0
    assert dream(["study", "corruption", *wishes]) == 0
    assert "slope -100.0" in capsys.readouterr().out
    assert len(chat.requests) > asked
    assert len({prompt(body) for body in chat.requests}) == len(chat.requests)  # nothing is asked twice
