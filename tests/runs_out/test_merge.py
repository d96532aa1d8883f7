"""Shards joined: the same bytes as a run that was never split, one ledger, and every reason not to join."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dream_eval
import pytest
from dream_eval.errors import InputError, UserError
from dream_eval.ledger import Mode, export_run, list_runs
from dream_eval.models import Limits
from dream_eval.runs.merge import merge
from dream_eval.runs.perform import Outside, perform
from dream_eval.runs.reading import open_run
from dream_eval.runs.replay import replay
from servers.chat import last_user
from world import judge_of_world, write_world

pytestmark = pytest.mark.cluster

TASKS = ("t1", "t2", "t3", "t4")
METRICS = "kic,da"
OUTSIDE = Outside(limits=Limits(wait_scale=0, attempts=3))


async def shard(runs: Any, number: int, count: int, *, ledger: str | None = None, **wishes: Any) -> Path:
    """Part ``number`` of ``count`` as another machine would do it, with a ledger of its own."""
    name = f"shard-{number}"
    wishes = {"metrics": METRICS, "ledger": runs.folder / (ledger or f"{name}.sqlite"), **wishes}
    ask = replace(runs.ask(name, TASKS, **wishes), shard=(number, count))
    await perform(ask, ledger_mode=Mode.CACHE, outside=OUTSIDE)
    return Path(runs.folder / name)


@pytest.mark.parametrize("shared", [False, True], ids=["own ledgers", "one ledger"])
async def test_shards_make_the_very_run_that_was_never_split(runs: Any, shared: bool) -> None:
    whole = await runs.run("whole", TASKS, metrics=METRICS)
    ledger = "shared.sqlite" if shared else None
    parts = [await shard(runs, number, 3, ledger=ledger) for number in (1, 2, 3)]
    assert all((part / "results.jsonl").read_text() for part in parts)
    out = merge([parts[2], parts[0], parts[1]], runs.folder / "merged")
    assert (out / "results.jsonl").read_bytes() == (runs.folder / "whole" / "results.jsonl").read_bytes()
    view = open_run(out)
    assert (view.config.shard, view.config.command) == (None, "")
    assert view.summary is not None
    assert view.summary.reports == whole.summary.reports
    assert (view.summary.state, view.summary.expected) == ("finished", 16)


async def test_the_merged_run_stands_by_itself(runs: Any, dream: Callable[..., tuple[int, str, str]]) -> None:
    parts = [await shard(runs, number, 2) for number in (1, 2)]
    made = [open_run(part).summary.totals for part in parts]  # type: ignore[union-attr]
    out = merge(parts, runs.folder / "merged")
    for part in parts:
        shutil.rmtree(part)
        (runs.folder / f"{part.name}.sqlite").unlink()
    assert (await replay(out)).difference is None
    view = open_run(out)
    assert view.summary is not None
    totals = view.summary.totals
    assert totals.made == sum(one.made for one in made)
    assert totals.prompt_tokens == sum(one.prompt_tokens for one in made)
    assert [info.name for info in list_runs(out / "ledger.sqlite")] == [view.config.run]
    calls = dream_eval.frames(out)["calls"]
    assert (~calls.reused).sum() == totals.made
    exported = export_run(out / "ledger.sqlite", view.config.run, runs.folder / "handed-on.sqlite")
    assert (await replay(out, ledger=exported)).difference is None
    asked = len(runs.chat.requests)
    again = runs.ask("merged", TASKS, metrics=METRICS, ledger=out / "ledger.sqlite")
    result = await perform(again, outside=OUTSIDE)
    assert (result.state, len(runs.chat.requests)) == ("finished", asked), "a merged run is done, and knows it"
    assert dream("show", str(out))[0] == 0


async def test_what_two_parts_were_answered_differently_is_replayed_as_each_was(runs: Any) -> None:
    """The same question, in two ledgers, with two answers: a report keeps the one that it was judged by.

    The reports have other names in the merged run, since there a system has several tasks.
    """
    asked: list[int] = []

    def authority(body: Any) -> dict[str, Any]:
        asked.append(1)
        return {"kind": "company", "score": 5 if len(asked) <= 3 else 2}

    runs.chat._rules.insert(0, (lambda body: "Its kind and its score?" in last_user(body), authority, [-1]))
    for number in (1, 2):
        ledger = runs.folder / f"part-{number}.sqlite"
        await runs.run(f"part-{number}", (f"t{number}",), ("cited",), metrics="da,factuality", ledger=ledger)
    parts = [runs.folder / f"part-{number}" for number in (1, 2)]
    scores = [line.result.score for part in parts for line in open_run(part).results() if line.metric == "da"]
    assert scores[0] != scores[1]
    out = merge(parts, runs.folder / "merged")
    lines = list(open_run(out).results())
    assert [(line.task, line.metric) for line in lines] == [
        *(("t1", "factuality"), ("t1", "da")),
        *(("t2", "factuality"), ("t2", "da")),
    ]
    assert [line.result.score for line in lines if line.metric == "da"] == scores
    assert (await replay(out)).difference is None
    scopes = set(dream_eval.frames(out)["calls"].scope)
    assert {"cited#t1/da", "cited#t2/da", "cited#t1/claims"} <= scopes
    assert not {"cited/da", "cited/claims"} & scopes


def copied(source: Path, target: Path, **changes: Any) -> Path:
    """A run folder with another configuration."""
    shutil.copytree(source, target)
    config = json.loads((target / "run.json").read_text())
    (target / "run.json").write_text(json.dumps(config | changes))
    return target


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory, make_runs: Any) -> tuple[Path, Path]:
    """Two finished runs of different tasks, with one ledger. Read only."""
    folder = tmp_path_factory.mktemp("pair")
    write_world(folder)
    with judge_of_world() as chat:
        for number in (1, 2):
            asyncio.run(make_runs(folder, chat).run(f"part-{number}", (f"t{number}",), metrics="kic,da"))
    return folder / "part-1", folder / "part-2"


def test_runs_that_asked_something_else_are_refused_by_field(pair: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = pair
    other: list[tuple[dict[str, Any], str]] = [
        ({"judges": ["openai/other"]}, r'judges is \[".*"\] in .*part-1, \["openai/other"\] in .*changed'),
        ({"as_of": {"day": "2026-01-01", "given": True}}, "as_of is .*2025-12-31.*2026-01-01.*--as-of"),
        ({"versions": {"kic": 99, "da": 1}}, "versions is "),
        ({"search_digests": ["corpus:other"]}, "search_digests is "),
        ({"mode": "guided"}, "mode is "),
        ({"repeats": 2}, "repeats is 1 in .*, 2 in "),
        ({"questions": 9}, "questions is "),
        ({"floor": 0.5}, "floor is "),
    ]
    for number, (changes, said) in enumerate(other):
        changed = copied(second, tmp_path / f"changed-{number}", **changes)
        with pytest.raises(UserError, match=said):
            merge([first, changed], tmp_path / "out")
    judge = json.loads((first / "run.json").read_text())["judges"][0]
    changed = copied(second, tmp_path / "elsewhere", endpoints={judge: "http://other/v1"})
    with pytest.raises(UserError, match=r"judge .* is .* and http://other/v1 in"):
        merge([first, changed], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_shards_that_are_missing_twice_or_of_another_run_are_named(pair: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = pair
    one, three = copied(first, tmp_path / "a", shard=[1, 4]), copied(second, tmp_path / "b", shard=[3, 4])
    with pytest.raises(UserError, match=r"missing: shard 2/4, 4/4"):
        merge([one, three], tmp_path / "out")
    with pytest.raises(UserError, match=r"shard 1/4 is given twice"):
        merge([one, one], tmp_path / "out")
    with pytest.raises(UserError, match=r"not the shards of one run .*1/4.*no shard"):
        merge([one, second], tmp_path / "out")
    with pytest.raises(UserError, match=r"not the shards of one run .*1/4.*2/5"):
        merge([one, copied(second, tmp_path / "c", shard=[2, 5])], tmp_path / "out")


def test_overlaps_are_taken_once_and_refused_when_they_differ(pair: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = pair
    out = merge([first, second, first], tmp_path / "same")
    assert len((out / "results.jsonl").read_text().splitlines()) == 8
    other = copied(first, tmp_path / "other")
    text = (other / "results.jsonl").read_text()
    assert '"score":75.0' in text
    (other / "results.jsonl").write_text(text.replace('"score":75.0', '"score":76.0', 1))
    with pytest.raises(UserError, match=r"cited kic of task t1 has one result in .*part-1 and another in .*other"):
        merge([first, other, second], tmp_path / "out")


def test_other_texts_and_other_protocols_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = pair
    config = json.loads((first / "run.json").read_text())
    config["reports"][0]["digest"] = "0" * 64
    with pytest.raises(UserError, match="report cited of task t1 is not the same"):
        merge([first, copied(first, tmp_path / "text", reports=config["reports"])], tmp_path / "out")
    # another system on the same task, judged by a protocol that was made anew
    renamed = copied(first, tmp_path / "renamed")
    for path in (renamed / "run.json", renamed / "results.jsonl"):
        path.write_text(path.read_text().replace('"cited"', '"third"').replace('"uncited"', '"fourth"'))
    assert merge([first, renamed], tmp_path / "fine")
    lines = [json.loads(line) for line in (renamed / "results.jsonl").read_text().splitlines()]
    for line in lines:
        if "protocol.key_questions" in line["inputs"]:
            line["inputs"]["protocol.key_questions"] = "1" * 64
    (renamed / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UserError, match=r"task t1: its protocol is not the same.*--protocol"):
        merge([first, renamed], tmp_path / "out")
    assert second.exists()


def test_unfinished_runs_places_in_use_and_lost_ledgers(pair: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = pair
    half = copied(second, tmp_path / "half")
    summary = json.loads((half / "summary.json").read_text()) | {"state": "budget"}
    (half / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(UserError, match=r"half: is not finished \(budget\)"):
        merge([first, half], tmp_path / "out")
    with pytest.raises(UserError, match="at least two"):
        merge([first], tmp_path / "out")
    with pytest.raises(UserError, match="exists already"):
        merge([first, second], first)
    with pytest.raises(InputError, match="no run here"):
        merge([first, tmp_path / "nowhere"], tmp_path / "out")
    away = copied(second, tmp_path / "away", ledger="/nowhere/other.sqlite")
    with pytest.raises(InputError, match=r"other\.sqlite is not there: copy it into the run folder"):
        merge([first, away], tmp_path / "out")
    assert not (tmp_path / "out").exists(), "nothing is left of a merge that failed"
    assert not list(tmp_path.glob(".out*"))
    shutil.copyfile(first.parent / "ledger.sqlite", away / "other.sqlite")
    (tmp_path / "out").mkdir()
    assert merge([first, away], tmp_path / "out") == tmp_path / "out"


def test_the_verb_says_what_it_wrote(
    pair: tuple[Path, Path], tmp_path: Path, dream: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, err = dream("merge", *map(str, pair), "--out", str(tmp_path / "both"))
    assert (code, err) == (0, "")
    assert "(2 runs, 4 reports, 8 units)" in out
    code, out, err = dream("merge", *map(str, pair), "--out", str(tmp_path / "both"))
    assert (code, out, err.count("\n")) == (2, "", 1)
