"""The file itself, without a browser: what is in it, what can never be in it, how large it gets."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import InputError, UserError
from dream_eval.viewer import open_bundle, write, write_view
from dream_eval.viewer.page import block, packed
from dream_eval.viewer.parts import BARE, FULL, LEAN
from viewing import ATTACKS, make_run

INDEX = re.compile(r'<script type="application/json" id="index">([^<>&]*)</script>')
SCRIPT = re.compile(r'<script type="text/plain" id="([^"]+)">([^<]*)</script>')


def parts_of(page: Path) -> dict[str, Any]:
    """Every part of a page, unpacked."""
    text = page.read_text(encoding="utf-8")
    (index,) = INDEX.findall(text)
    packed = {name: gzip.decompress(base64.b64decode(data)) for name, data in SCRIPT.findall(text)}
    return {"index": json.loads(index), **{name: json.loads(data) for name, data in packed.items()}}


def test_a_page_holds_all_of_a_run(run_folder: Path, tmp_path: Path) -> None:
    page = write_view(run_folder, tmp_path / "page.html")
    parts = parts_of(page)
    assert set(parts) == {
        "index",
        "0.protocol.0",
        *(f"0.{kind}.{number}" for kind in ("report", "pages", "calls") for number in (0, 1)),
    }
    index = parts["index"]
    assert index["kind"] == "run"
    assert index["runs"][0]["reports"] == [["task-0", "alpha"], ["task-0", "beta"]]
    cells = index["runs"][0]["cells"]
    results = list(open_bundle([run_folder]).runs[0].view.results())
    assert sum(map(len, cells)) == len(results) == 12
    for line in results:
        report = [ref[1] for ref in index["runs"][0]["reports"]].index(line.report)
        metric = index["runs"][0]["metrics"].index(line.metric)
        shown = next(cell for cell in cells[report] if cell[0] == metric)
        assert shown[4] == line.result.score
    unit = parts["0.report.0"]["units"][3]
    assert (unit["metric"], len(unit["items"])) == ("factuality", 8)
    (stored,) = parts["0.pages.0"].values()
    ((start, text),) = stored["text"]
    ((quote, ((begin, end),)),) = stored["quotes"]
    assert start == 0
    assert text[begin:end] == quote == "Subject 0 has 3 parts."
    calls = parts["0.calls.0"]
    kinds = [calls["calls"][key]["kind"] for key in calls["units"]["factuality|judge/one|0"]]
    assert kinds == ["page", "search", "completion"]
    assert parts["0.protocol.0"]["lint"] == []
    assert len(parts["0.protocol.0"]["calls"]["units"]["protocol"]) == 3


def test_the_same_run_gives_the_same_page(run_folder: Path, tmp_path: Path) -> None:
    one, other = (write_view(run_folder, tmp_path / name).read_bytes() for name in ("one.html", "other.html"))
    assert one == other


def test_nothing_from_outside_is_markup(hostile: Path, tmp_path: Path) -> None:
    text = write_view(hostile, tmp_path / "page.html").read_text(encoding="utf-8")
    body = INDEX.sub("", SCRIPT.sub("", text))
    for attack in ("hacked", "evil.example", "onerror=", "<iframe", "</script><script>"):
        assert attack not in body.replace(page_script(text), "")
    assert text.count("<script") == len(SCRIPT.findall(text)) + 2
    index = parts_of(tmp_path / "page.html")["index"]
    assert [system for _, system in index["runs"][0]["reports"]][1:3] == ["beta\\u202etxt", "beta\\u202dtxt"]


def page_script(text: str) -> str:
    return text.partition("<script>")[2].partition("</script>")[0]


def test_the_policy_allows_these_two_and_nothing_else(run_folder: Path, tmp_path: Path) -> None:
    text = write_view(run_folder, tmp_path / "page.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    style = text.partition("<style>")[2].partition("</style>")[0]
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (page_script(text), style)]
    assert policy[1].replace("&#x27;", "'").split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{digests[0]}'",
        f"style-src 'sha256-{digests[1]}'",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert "unsafe" not in policy[1]
    assert text.index("Content-Security-Policy") < text.index("<style>") < text.index("<script>")


@pytest.mark.parametrize("text", [*ATTACKS, "\\u0000", "\\\\u001f \x00", "a\u0000b\tc\nd", "\ud800"])
def test_hidden_characters_become_a_sign_one_for_one(text: str) -> None:
    value = json.loads(gzip.decompress(packed({"x": text, text: [text]})))
    shown = value["x"]
    assert value == {"x": shown, shown: [shown]}
    assert len(shown) == len(text)
    assert not re.search(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]", shown
    )
    same = [(a, b) for a, b in zip(text, shown, strict=True) if a != b]
    assert all(b in "\ufffd?" for _, b in same)


def test_a_large_run_keeps_its_size(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", tasks=3)
    free = write([folder], tmp_path / "free.html")
    assert (free.detail, free.left_out) == ("full", 0)
    bundle = open_bundle([folder])
    sizes = [
        sum(len(block(name, packed(bundle.part(name, detail)))) for name in bundle.names())
        for detail in (FULL, LEAN, BARE)
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    base = free.size - sizes[0]
    for detail, size in zip(("lean", "bare"), sizes[1:], strict=True):
        largest = base + size + 100
        written = write([folder], tmp_path / f"{detail}.html", largest=largest)
        assert (written.detail, written.left_out) == (detail, 0)
        assert written.size <= largest
    tight = write([folder], tmp_path / "tight.html", largest=base + sizes[2] // 2)
    assert tight.left_out > 0
    assert tight.size <= base + sizes[2] // 2
    assert len(parts_of(tight.path)["index"]["runs"][0]["cells"]) == 6  # every score is there all the same


def test_without_its_ledger_a_run_is_shown_all_the_same(run_folder: Path, tmp_path: Path) -> None:
    parts = parts_of(write_view(run_folder, tmp_path / "page.html", ledger=tmp_path / "gone.sqlite"))
    assert "no ledger gone.sqlite" in parts["index"]["runs"][0]["no_ledger"]
    assert parts["0.pages.0"] == {}
    assert parts["0.report.0"]["units"][3]["items"][0]["evidence"][0]["quote"] == "Subject 0 has 3 parts."
    assert not (tmp_path / "gone.sqlite").exists()


def test_means_are_those_of_the_summary(many: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(many, folder)
    summary = open_bundle([folder]).runs[0].view.summary
    assert summary is not None
    first = summary.systems[0].model_copy(update={"score": None, "interval": None, "scored": 0, "thin_score": 12.3})
    changed = summary.model_copy(update={"systems": (first, *summary.systems[1:])})
    (folder / "summary.json").write_text(changed.model_dump_json())
    rows = parts_of(write_view(folder))["index"]["runs"][0]["means"]
    assert rows[0] == [first.system, first.metric, first.judge, 12.3, None, None, "b", 0]
    for row, system in zip(rows[1:], summary.systems[1:], strict=True):
        assert row[:3] == [system.system, system.metric, system.judge]
        assert row[3] == pytest.approx(system.score, abs=0.01)
        assert system.interval is not None
        assert row[4:6] == [pytest.approx(end, abs=0.01) for end in (system.interval.low, system.interval.high)]


def test_a_run_folder_with_holes(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "holes"
    shutil.copytree(run_folder, folder)
    next((folder / "reports").iterdir()).unlink()
    (folder / "summary.json").write_text("{}")
    parts = parts_of(write_view(folder))
    assert sum(name.startswith("0.report.") for name in parts) == 1
    assert parts["index"]["runs"][0]["totals"] is None
    assert len(parts["index"]["runs"][0]["cells"]) == 2
    (folder / "results.jsonl").unlink()
    assert parts_of(write_view(folder))["index"]["runs"][0]["cells"] == [[], []]


def test_half_a_page_is_never_left(run_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("the old one")
    folder = tmp_path / "broken"
    shutil.copytree(run_folder, folder)
    (folder / "protocols" / "task-0.json").write_text("{")
    with pytest.raises(InputError):
        write_view(folder, page)
    assert page.read_text() == "the old one"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_cannot_be_shown_is_said(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such run folder"):
        write([tmp_path / "nothing"])
    with pytest.raises(InputError, match=r"no run here"):
        write([tmp_path])
    with pytest.raises(UserError, match="two run folders"):
        write([run_folder] * 3)
    with pytest.raises(UserError, match="dream protocol diff"):
        write([run_folder / "protocols" / "task-0.json"] * 2)


def test_two_runs_and_a_protocol(run_folder: Path, many: Path, tmp_path: Path) -> None:
    two = parts_of(write([run_folder, many], tmp_path / "two.html").path)
    assert two["index"]["kind"] == "compare"
    assert [run["name"] for run in two["index"]["runs"]] == ["plain", "many"]
    assert {"0.report.0", "1.report.23"} <= set(two)
    ledger = run_folder.parent / "plain.sqlite"
    alone = parts_of(write([run_folder / "protocols" / "task-0.json"], tmp_path / "one.html", ledger=ledger).path)
    assert set(alone) == {"index", "0.protocol.0"}
    assert alone["index"]["kind"] == "protocol"
    assert len(alone["0.protocol.0"]["calls"]["units"]["protocol"]) == 3
    assert alone["0.protocol.0"]["pages"]


def test_a_rubric_is_shown_like_a_protocol(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", metrics=("dre_quality", "wq"))
    part = parts_of(write_view(folder))["0.protocol.0"]
    assert part["protocol"] is None
    (rubric,) = part["rubrics"].values()
    assert [dimension["name"] for dimension in rubric["dimensions"]][-1] == "subject 0"
    assert part["task"]["prompt"] == "What is known about subject 0?"


def test_differences_are_those_of_the_statistics(many: Path) -> None:
    from dream_eval.stats.paired import holm, paired_difference

    bundle = open_bundle([many])
    rows = bundle.index()["differences"]
    columns = bundle.runs[0].columns
    pair = [row for row in rows if row[:3] == ["system", "alpha", "gamma"] and row[4] == "judge/one"]
    expected = []
    for metric in ("wq", "kic", "rq", "factuality", "ci", "da"):
        one, other = (columns.by_task(system, metric, "judge/one") for system in ("alpha", "gamma"))
        tasks = [task for task in one if task in other]
        found = paired_difference([one[task] for task in tasks], [other[task] for task in tasks])
        expected += [(metric, found)] if found else []
    assert [row[3] for row in pair] == [metric for metric, _ in expected]
    adjusted = holm([found.p for _, found in expected])
    for row, (_, found), p in zip(pair, expected, adjusted, strict=True):
        assert row[5:] == [
            found.n,
            pytest.approx(found.mean, abs=0.01),
            pytest.approx(found.low, abs=0.01),
            pytest.approx(found.high, abs=0.01),
            pytest.approx(p, abs=1e-4),
            pytest.approx(found.detectable, abs=0.01),
        ]
    judges = [row for row in rows if row[0] == "judge"]
    assert {(row[1], row[2], row[5]) for row in judges} == {("judge/one", "judge/two", 8)}
