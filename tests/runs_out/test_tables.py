"""Tables out of a run: what stands in them, in each form, and that nothing in them is carried out."""

from __future__ import annotations

import csv
import datetime as dt
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import dream_eval
import pandas as pd
import pyarrow.parquet as pq
import pytest
from dream_eval.errors import InputError, UserError
from dream_eval.ledger import Kind, Ledger, iter_calls, list_calls
from dream_eval.ledger import show as ledger_show
from dream_eval.runs.export import export
from dream_eval.runs.export_files import cell
from dream_eval.runs.export_tables import TABLES
from dream_eval.runs.reading import open_run

CSV_LIMIT = 10_000_000


def csv_rows(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(CSV_LIMIT)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_holds_each_unit_item_and_call(finished: Path, tmp_path: Path) -> None:
    paths = export(finished, "csv", out=tmp_path / "out")
    assert [path.name for path in paths] == ["results.csv", "items.csv", "calls.csv"]
    results, items, calls = map(csv_rows, paths)
    lines = [json.loads(line) for line in (finished / "results.jsonl").read_text().splitlines()]
    assert len(results) == len(lines) == 24
    assert [row["unit"] for row in results] == [line["unit"] for line in lines]
    assert [float(row["score"]) if row["score"] else None for row in results] == [
        line["result"]["score"] for line in lines
    ]
    assert len(items) == sum(len(line["result"]["items"]) for line in lines)
    assert calls
    wrong = [row for row in items if row["outcome"] == "contradicted" and row["metric"] == "factuality"]
    assert {row["text"] for row in wrong} == {"The Lindow barrage has 14 turbines."}
    for row in wrong:
        assert row["evidence_stance"] == "refutes"
        assert "12 turbines" in row["evidence_quote"]
        assert row["evidence_url"].startswith("https://")
        assert json.loads(row["evidence"])[0].keys() >= {"url", "quote", "start", "end"}


def test_what_has_no_score_is_empty_and_never_zero(finished: Path, tmp_path: Path) -> None:
    rows = csv_rows(export(finished, "csv", out=tmp_path / "out")[0])
    none = [row for row in rows if row["status"] != "scored"]
    assert {(row["system"], row["metric"], row["score"], row["reason"]) for row in none} == {
        ("uncited", "da", "", "no_citations")
    }
    frame = dream_eval.frames(finished)["results"]
    assert frame[frame.status != "scored"].score.isna().all()
    assert frame.groupby("metric").score.mean()["da"] == pytest.approx(220 / 3)


def test_calls_that_are_not_reused_add_up_to_the_totals(finished: Path) -> None:
    calls = dream_eval.frames(finished)["calls"]
    own, totals = calls[~calls.reused], open_run(finished).summary.totals  # type: ignore[union-attr]
    assert len(own) < len(calls), "some call must have been used twice for this test to say anything"
    assert own.prompt_tokens.sum() == totals.prompt_tokens
    assert own.completion_tokens.sum() == totals.completion_tokens
    assert Counter(own.kind) == {kind.value: part.made for kind, part in totals.kinds.items()}
    assert set(calls.scope) >= {"cited#t1/factuality", "t1/protocol", "cited#t2/claims"}


def test_parquet_has_the_same_columns_and_types_whatever_is_in_the_run(finished: Path, tmp_path: Path) -> None:
    for path, table in zip(export(finished, "parquet", out=tmp_path / "out"), TABLES, strict=True):
        read = pq.read_table(path)
        assert read.schema.names == [column.name for column in table.columns]
        assert read.num_rows == len(list(table.rows(open_run(finished))))
    results = pq.read_table(tmp_path / "out" / "results.parquet")
    types = {name: str(results.schema.field(name).type) for name in ("score", "repeat", "as_of", "interval_kind")}
    assert types == {"score": "double", "repeat": "int64", "as_of": "date32[day]", "interval_kind": "string"}
    assert results.column("score").null_count == 2
    empty = tmp_path / "empty"
    shutil.copytree(finished, empty)
    (empty / "results.jsonl").write_text("")
    for path, table in zip(export(empty, "parquet"), TABLES, strict=True):
        full = pq.read_schema(tmp_path / "out" / path.name)
        assert pq.read_schema(path).equals(full), table.name


def test_pandas_reads_its_files_as_the_frames_are(finished: Path, tmp_path: Path) -> None:
    frames = dream_eval.frames(finished)
    for path in export(finished, "pandas", out=tmp_path / "out"):
        pd.testing.assert_frame_equal(pd.read_parquet(path), frames[path.stem])
    assert frames["results"].dtypes["decided"] == "Int64"
    assert str(frames["calls"].dtypes["at"]) == "datetime64[us, UTC]"


def test_a_run_from_a_result_and_with_another_ledger(finished: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.sqlite"
    shutil.copyfile(finished.parent / "ledger.sqlite", moved)
    copy = tmp_path / "run"
    shutil.copytree(finished, copy)
    config = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(config | {"ledger": str(tmp_path / "gone.sqlite")}))
    with pytest.raises(InputError, match=r"gone\.sqlite.*--ledger"):
        export(copy, "csv")
    assert len(dream_eval.frames(copy, ledger=moved)["calls"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =cmd|' /C calc'!A0", "'  =cmd|' /C calc'!A0"),
        ("\t=1", "'\t=1"),
        ("\n@x", "'\n@x"),
        ("＝1", "'＝1"),
        ("\x00=1", "'=1"),
        ("a=1", "a=1"),
        ("über 5 %", "über 5 %"),
        ("one\x1b[31mtwo", "one[31mtwo"),
        (-1.5, "-1.5"),
        (None, ""),
        (True, "true"),
        (dt.date(2026, 5, 1), "2026-05-01"),
    ],
)
def test_no_cell_is_a_formula(text: Any, shown: str) -> None:
    assert cell(text) == shown


async def test_hostile_text_stays_text_in_every_form(runs: Any, tmp_path: Path) -> None:
    evil = "=HYPERLINK(0) The Lindow barrage has 13 turbines, \x1b[31m says who"
    report = runs.folder / "evil.md"
    report.write_text(f"# Evil\n\n{evil}.\n")
    from dream_eval.runs.api import prepare
    from dream_eval.runs.perform import perform

    ask = prepare(
        [report],
        query="=1+1 Is it finished?",
        judge=runs.chat.judge,
        metrics="factuality",
        search=f"corpus:{runs.folder / 'corpus'}",
        as_of="2025-12-31",
        out=tmp_path / "run",
        ledger=tmp_path / "ledger.sqlite",
    )
    await perform(ask)
    paths = export(tmp_path / "run", "csv")
    for path in paths:
        for row in csv_rows(path):
            assert not [value for value in row.values() if value[:1] in ("=", "+", "@", "\t")], path
    (item,) = csv_rows(paths[1])
    assert item["text"].startswith("'=HYPERLINK(0) The Lindow")
    assert pq.read_table(export(tmp_path / "run", "parquet")[1]).column("text")[0].as_py().startswith("=HYPERLINK")


def test_nothing_is_overwritten_but_an_earlier_export_of_the_run(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(finished, copy)
    first = [path.read_bytes() for path in export(copy, "csv")]
    assert [path.read_bytes() for path in export(copy, "csv")] == first
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.csv").write_text("mine")
    with pytest.raises(UserError, match=r"mine\.csv.*--out"):
        export(copy, "csv", out=other)
    with pytest.raises(UserError, match="is a file"):
        export(copy, "csv", out=other / "mine.csv")
    assert [path.name for path in other.iterdir()] == ["mine.csv"]


def test_calls_are_read_in_pages(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = open_run(finished).config
    whole = list_calls(Path(config.ledger), config.run)
    monkeypatch.setattr(ledger_show, "PAGE", 7)
    assert list(iter_calls(Path(config.ledger), config.run)) == whole
    assert len(whole) > 14
    with Ledger.open(config.ledger, run=config.run, mode="replay") as ledger:  # type: ignore[arg-type]
        assert sum(call.kind is Kind.PAGE for call in whole) >= ledger.totals().kinds[Kind.PAGE].made


@pytest.mark.parametrize(("form", "package"), [("parquet", "pyarrow"), ("pandas", "pandas"), ("inspect", "inspect_ai")])
def test_a_missing_extra_is_one_line_that_says_how_to_install_it(
    finished: Path, tmp_path: Path, form: str, package: str
) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from dream_eval.cli import run; sys.exit(run())"
    args = [sys.executable, "-c", code, "export", str(finished), "--to", form, "--out", str(tmp_path / "out")]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"pip install 'dream-eval[{form}]'" in done.stderr
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True


def test_a_line_that_cannot_be_read_is_said(finished: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(finished, damaged)
    lines = (damaged / "results.jsonl").read_bytes().splitlines(keepends=True)
    (damaged / "results.jsonl").write_bytes(b"".join([lines[0].replace(b'"score":', b'"score":"x', 1), *lines[1:]]))
    with pytest.raises(InputError, match=f"1 of its {len(lines)} lines cannot be read"):
        list(open_run(damaged).results())
