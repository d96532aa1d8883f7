"""``dream lint``: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run
from dream_eval.reports import lint_json, read_report

REPORT = """\
Here is the report:

# Tides

Tides move 3 million tons of water [1]. The moon does it [2].[9] Nobody knows why [the code](https://example.com/x).

## Costs

It costs 4 pounds. It costs 5 pounds. It costs 6 pounds. It costs 7 pounds.

## Sources

[1] Tide tables. https://www.tides.gov.uk/tables
[2] https://moon.org/a
[3] https://www.tides.gov.uk/tables
"""
Dream = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dream(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dream:
    (tmp_path / "tides.md").write_text(REPORT)
    monkeypatch.chdir(tmp_path)

    def call(*args: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(args)
        return code, *capsys.readouterr()

    return call


def test_counts_and_lints_with_their_places(dream: Dream) -> None:
    code, out, err = dream("lint", "tides.md")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "tides.md"
    facts = {line[:10].strip(): line[10:] for line in lines[1:9]}
    assert facts["sentences"] == "7, 3 (43%) cited"
    assert facts["citations"] == "4, 3 (75%) lead to a source"
    assert facts["entries"] == "3, 2 (67%) cited"
    assert facts["domains"].startswith("2: ")
    assert "tides.gov.uk 1" in facts["domains"]
    assert facts["cut"].startswith("21 characters")
    places = {tuple(line.split()[:2]) for line in lines if ":" in line.split()[0]}
    assert ("5:62", "number_without_entry") in places  # [9], in the text as given, with its first two lines
    assert ("15:1", "entry_never_cited") in places
    assert ("15:1", "duplicate_entry") in places
    assert ("9:1", "uncited_section") in places
    assert any(rule == "placeholder_url" for _, rule in places)


def test_the_place_is_where_the_words_stand(dream: Dream) -> None:
    given = REPORT.splitlines()
    lints = json.loads(dream("lint", "tides.md", "--json")[1])["lints"]
    missing = next(lint for lint in lints if lint["rule"] == "number_without_entry")
    assert given[missing["line"] - 1][missing["column"] - 1 :].startswith("[9]")
    assert REPORT[missing["start"] : missing["end"]] == "[9]"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_of_any_ending(dream: Dream, ending: str) -> None:
    text = REPORT.replace("\n", ending)
    lint = next(
        found
        for found in json.loads(dream("lint", "-", "--json", stdin=text.encode())[1])["lints"]
        if found["rule"] == "number_without_entry"
    )
    assert (lint["line"], lint["column"]) == (5, 62)
    assert text[lint["start"] : lint["end"]] == "[9]"


def test_json_of_a_file_and_of_standard_input_is_that_of_the_reports_package(dream: Dream) -> None:
    from_file = json.loads(dream("lint", "tides.md", "--json")[1])
    from_input = json.loads(dream("lint", "-", "--json", stdin=REPORT.encode())[1])
    assert from_file.pop("report") == "tides.md"
    assert from_input.pop("report") == "-"
    assert from_file == from_input
    bare: dict[str, Any] = lint_json(read_report(REPORT, id="x"))
    assert from_file["marks"] == bare["marks"]
    assert from_file["references"] == bare["references"]
    assert [REPORT[mark["start"] : mark["end"]] for mark in from_file["marks"]] == ["[1]", "[2]", "[9]", (
        "[the code](https://example.com/x)"
    )]  # fmt: skip
    assert from_file["marks"][0]["urls"] == ["https://www.tides.gov.uk/tables"]
    assert [entry["number"] for entry in from_file["references"]] == ["1", "2", "3"]
    assert from_file["domains"] == {"moon.org": 1, "tides.gov.uk": 1}


def test_cuts_are_shown_and_left_alone_when_asked(dream: Dream) -> None:
    out = dream("lint", "tides.md", "--show-cuts")[1]
    assert "  1:1  preamble (21 characters): Here is the report:" in out
    whole = dream("lint", "tides.md", "--no-clean", "--show-cuts")[1]
    assert "the cleaner cut nothing" in whole
    assert "sentences 8, " in whole


def test_several_reports_and_their_tasks(dream: Dream, tmp_path: Path) -> None:
    records = [{"id": n, "prompt": f"Question {n}?", "article": REPORT} for n in (1, 2)]
    (tmp_path / "system.jsonl").write_text("\n".join(map(json.dumps, records)))
    tasks = [{"id": n, "prompt": f"Question {n}?"} for n in (1, 2, 3)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    out = dream("lint", "system.jsonl", "--tasks", "tasks.jsonl")[1]
    assert [line for line in out.splitlines() if line.startswith("system")] == ["system.jsonl#1", "system.jsonl#2"]
    found = json.loads(dream("lint", "system.jsonl", "--json", "--tasks", "tasks.jsonl")[1])
    assert [(value["report"], value["task"]) for value in found] == [("system.jsonl#1", "1"), ("system.jsonl#2", "2")]
    tasks[1]["prompt"] = "Something else?"
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    code, _, err = dream("lint", "system.jsonl", "--tasks", "tasks.jsonl")
    assert code == 2
    assert "Question 2?" in err
    assert "Something else?" in err


def test_many_lints_of_a_kind_are_folded(dream: Dream) -> None:
    text = "# A\n\n" + " ".join(f"It is {n} [{n}]." for n in range(1, 15)) + "\n\n## Sources\n\n[99] https://a.org/x\n"
    short = dream("lint", "-", stdin=text.encode())[1]
    assert short.count("  number_without_entry  ") == 10
    assert "… and 4 more of number_without_entry (--all)" in short
    assert dream("lint", "-", "--all", stdin=text.encode())[1].count("  number_without_entry  ") == 14


@pytest.mark.parametrize(
    ("floors", "code", "said"),
    [
        (("cited=40",), 0, ""),
        (("cited=50",), 10, "tides.md: sentences with a citation: 43 %, wanted 50 %"),
        (("50",), 10, "sentences with a citation"),
        (("cited=40", "resolved=100"), 10, "citations that lead to a source: 75 %, wanted 100 %"),
        (("used=60",), 0, ""),
    ],
)
def test_floors(dream: Dream, floors: tuple[str, ...], code: int, said: str) -> None:
    args = [part for floor in floors for part in ("--fail-under", floor)]
    found, out, _ = dream("lint", "tides.md", *args)
    assert found == code
    assert said in out
    assert dream("lint", "tides.md", "--json", *args)[0] == code


def test_nothing_to_measure_is_under_every_floor(dream: Dream) -> None:
    code, out, _ = dream("lint", "-", "--fail-under", "resolved=1", stdin=b"# A\n\nNo citation here.\n")
    assert code == 10
    assert "citations that lead to a source: none, wanted 1 %" in out


def test_escape_sequences_do_not_reach_the_terminal(dream: Dream) -> None:
    text = (
        "# A\x1b[31m\n\nIt is \x1b]0;x\x07 so \x9b2J [7].\n\n## Sources\n\n[1] \x1b[31mT https://a.org/x\n"
        + "So it is. " * 99
    )
    for extra in ((), ("--json",), ("--show-cuts",)):
        code, out, err = dream("lint", "-", *extra, stdin=text.encode())
        assert (code, err) == (0, "")
        assert not set(out) & set("\x1b\x07\x9b"), extra


MISTAKES = [
    (("lint",), b"", "REPORT"),
    (("lint", "missing.md"), b"", "missing.md: no such file or folder"),
    (("lint", "-"), b"", "the file is empty"),
    (("lint", "-"), bytes(range(256)), "not a text file"),
    (("lint", "tides.md", "--fail-under", "x"), b"", "NAME=PERCENT"),
    (("lint", "tides.md", "--fail-under", "x=1"), b"", "choose among cited"),
    (("lint", "tides.md", "--tasks", "missing.jsonl"), b"", "missing.jsonl"),
    (("lint", "-"), b'[{"id": 1, "nothing": 2}]', "no report in this record"),
    (("lint", "http://127.0.0.1:9/report"), b"", "cannot be fetched: 127.0.0.1 is refused"),
]


@pytest.mark.parametrize(("args", "stdin", "said"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_2(dream: Dream, args: tuple[str, ...], stdin: bytes, said: str) -> None:
    code, out, err = dream(*args, stdin=stdin)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1
