from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import ReplayMiss, ToolFailed, UserError
from dream_eval.ledger import (
    Answer,
    Kind,
    Ledger,
    Mode,
    Request,
    export_run,
    find_call,
    import_runs,
    list_calls,
    list_runs,
    scope,
)

LONG = "a long report " * 1000


async def two_runs(path: Path, ask: Any, outside: Any, paid: Any) -> None:
    with Ledger.open(path, run="secret project") as ledger:
        await ledger.call(ask("shared"), outside("shared", usage=paid))
        await ledger.call(ask("private"), outside("private", blob=b"private page"))
    with Ledger.open(path, run="public") as ledger, scope("a/wq"):
        await ledger.call(ask("shared"), outside("never"))
        await ledger.call(ask(LONG), outside("own", blob=b"<p>page</p>" * 100, usage=paid))
        with pytest.raises(ToolFailed):
            await ledger.call(ask("down"), outside.failing(ToolFailed("down", subject="s")))
        record = await ledger.call(ask("bad"), outside("no json"))
        ledger.spoil(record.id, "no json")


async def replay(path: Path, ask: Any, outside: Any) -> None:
    made = outside.calls
    with Ledger.open(path, run="public", mode=Mode.REPLAY) as ledger, scope("a/wq"):
        assert (await ledger.call(ask("shared"), outside("never"))).body == "shared"
        record = await ledger.call(ask(LONG), outside("never"))
        assert (record.body, record.blob) == ("own", b"<p>page</p>" * 100)
        with pytest.raises(ToolFailed, match="down"):
            await ledger.call(ask("down"), outside("never"))
        assert not (await ledger.call(ask("bad"), outside("never"))).usable
    assert outside.calls == made


async def test_an_export_replays_without_the_original(
    tmp_path: Path, path: Path, ask: Any, outside: Any, paid: Any
) -> None:
    await two_runs(path, ask, outside, paid)
    with Ledger.open(path, run="public") as ledger:
        totals = ledger.totals()
    out = export_run(path, "public", tmp_path / "there" / "public.ledger")
    path.unlink()
    assert [file.name for file in out.parent.iterdir()] == ["public.ledger"]
    before = out.read_bytes()
    await replay(out, ask, outside)
    assert out.read_bytes() == before
    assert [run.name for run in list_runs(out)] == ["public"]
    assert list_runs(out)[0].totals == totals
    assert find_call(out, ask(LONG).key).request == dict(ask(LONG).body)


async def test_an_export_holds_nothing_of_other_runs(
    tmp_path: Path, path: Path, ask: Any, outside: Any, paid: Any
) -> None:
    await two_runs(path, ask, outside, paid)
    out = export_run(path, "public", tmp_path / "out.ledger")
    assert b"secret project" not in out.read_bytes()
    assert b"private" not in out.read_bytes()
    with closing(sqlite3.connect(out)) as db:
        assert b"private page" not in [data for (data,) in db.execute("SELECT data FROM blobs")]
        assert db.execute("SELECT count(*) FROM blobs").fetchone()[0] == 1 + len(LONG) // 4096 + 1
    with Ledger.open(out, run="public", mode=Mode.REPLAY) as ledger, pytest.raises(ReplayMiss):
        await ledger.call(ask("private"), outside("never"))


async def test_an_import_can_be_repeated_and_goes_both_ways(
    tmp_path: Path, path: Path, ask: Any, outside: Any, paid: Any
) -> None:
    await two_runs(path, ask, outside, paid)
    out = export_run(path, "public", tmp_path / "out.ledger")
    other = tmp_path / "other.sqlite"
    with Ledger.open(other, run="theirs") as ledger:
        await ledger.call(ask("theirs"), outside("theirs"))
    for _ in range(2):
        assert import_runs(out, other) == ["public"]
    await replay(other, ask, outside)
    assert [run.name for run in list_runs(other)] == ["theirs", "public"] or {run.name for run in list_runs(other)} == {
        "theirs",
        "public",
    }
    assert (
        next(r for r in list_runs(other) if r.name == "public").totals
        == next(r for r in list_runs(path) if r.name == "public").totals
    )
    assert len(list_calls(other, "public")) == 4
    assert import_runs(export_run(other, "public", tmp_path / "back.ledger"), path) == ["public"]
    assert len(list_calls(path, "public")) == 4
    with Ledger.open(other, run="new") as ledger:  # imported answers are used like own ones
        assert (await ledger.call(ask(LONG), outside("never"))).reused


async def test_the_payers_name_comes_with_its_own_export(
    tmp_path: Path, path: Path, ask: Any, outside: Any, paid: Any
) -> None:
    await two_runs(path, ask, outside, paid)
    other = tmp_path / "other.sqlite"
    import_runs(export_run(path, "public", tmp_path / "1.ledger"), other)
    assert [run.name for run in list_runs(other)] == ["public"]
    assert import_runs(export_run(path, "secret project", tmp_path / "2.ledger"), other) == ["secret project"]
    assert {run.name for run in list_runs(other)} == {"public", "secret project"}
    assert len(list_calls(other, "secret project")) == 2


async def test_an_export_waits_for_nobody_and_sees_what_is_committed(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        await ledger.call(ask(), outside("x"))
        out = export_run(path, "r", path.with_name("out"))
        await ledger.call(ask("later"), outside("y"))
    assert len(list_calls(out, "r")) == 1


async def test_mistakes_are_one_clear_line(tmp_path: Path, path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        await ledger.call(ask(), outside("x", blob=b"page"))
    with pytest.raises(UserError, match="no run 'q'; the newest are: r"):
        export_run(path, "q", tmp_path / "out")
    with pytest.raises(UserError, match="no such ledger"):
        export_run(tmp_path / "none", "r", tmp_path / "out")
    with pytest.raises(UserError, match="cannot be written"):
        export_run(path, "r", path / "out")
    out = export_run(path, "r", tmp_path / "out")
    other = tmp_path / "other.sqlite"
    Ledger.open(other, run="r").close()
    with pytest.raises(UserError, match="another run named 'r'"):
        import_runs(out, other)
    with closing(sqlite3.connect(out)) as db, db:
        db.execute("UPDATE blobs SET data = ?", (b"x",))
    with pytest.raises(UserError, match="damaged"):
        import_runs(out, tmp_path / "third.sqlite")
    assert list_runs(tmp_path / "third.sqlite") == []
    assert sorted(file.name for file in tmp_path.iterdir() if "out" in file.name) == ["out"]


async def test_an_export_overwrites_nothing(tmp_path: Path, path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        await ledger.call(ask(), outside("x"))
    report, link = tmp_path / "report.md", tmp_path / "link"
    report.write_text("a report")
    link.symlink_to(tmp_path / "not there")
    before = path.read_bytes()
    for there in (report, path, link, tmp_path, Path("/dev/null")):
        with pytest.raises(UserError, match="exists already"):
            export_run(path, "r", there)
    for nameless in (Path(), Path("..")):
        with pytest.raises(UserError, match="names no file"):
            export_run(path, "r", nameless)
    assert report.read_text() == "a report"
    assert path.read_bytes() == before
    assert link.is_symlink()
    assert Path("/dev/null").is_char_device()
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


async def test_a_cut_file_is_refused(tmp_path: Path, path: Path) -> None:
    async def page() -> Answer:
        return Answer("x", blob=bytes(range(256)) * 200)

    with Ledger.open(path, run="r") as ledger:
        for n in range(20):
            await ledger.call(Request(Kind.PAGE, "web", {"url": str(n)}), page)
    out = export_run(path, "r", tmp_path / "out")
    out.write_bytes(out.read_bytes()[:5000])
    with pytest.raises(UserError):
        import_runs(out, tmp_path / "new.sqlite")
