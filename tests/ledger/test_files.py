from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import UserError
from dream_eval.ledger import Ledger, Mode, list_runs


async def written(path: Path, ask: Any, outside: Any, calls: int = 50) -> None:
    with Ledger.open(path, run="r") as ledger:
        for n in range(calls):
            await ledger.call(ask(f"{n}"), outside("x" * 500, blob=bytes(range(256)) * 20))


async def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path, ask: Any, outside: Any) -> None:
    await written(path, ask, outside, 1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for mode in Mode:
        with pytest.raises(UserError, match="newer dream-eval"):
            Ledger.open(path, run="r", mode=mode)
    assert path.read_bytes() == before


def test_somebody_elses_database_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine(x)")
    before = path.read_bytes()
    with pytest.raises(UserError, match="not a ledger"):
        Ledger.open(path, run="r")
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"no database at all, just text " * 50, b"\0" * 5000])
def test_what_is_no_database_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match="not a ledger"):
        Ledger.open(path, run="r")
    with pytest.raises(UserError):
        list_runs(path)
    assert path.read_bytes() == content


async def test_a_damaged_file_is_one_clear_line(path: Path, ask: Any, outside: Any) -> None:
    await written(path, ask, outside)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    with pytest.raises(UserError, match="damaged"):
        await written(path, ask, outside)


async def test_damaged_bytes_are_no_page(path: Path, ask: Any, outside: Any) -> None:
    await written(path, ask, outside, 1)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE blobs SET data = substr(data, 1, 10)")
    with Ledger.open(path, run="r") as ledger, pytest.raises(UserError, match="damaged"):
        await ledger.call(ask("0"), outside("x"))


async def test_a_locked_file_is_one_clear_line(path: Path, ask: Any, outside: Any) -> None:
    await written(path, ask, outside, 1)
    with Ledger.open(path, run="r", patience_s=0.05) as ledger, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match="locked by another program"):
            await ledger.call(ask("new"), outside("x"))
        with pytest.raises(UserError, match="locked"):
            Ledger.open(path, run="new", patience_s=0.05)
        other.execute("ROLLBACK")
        assert (await ledger.call(ask("new"), outside("y"))).body == "y"


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="file"):
        Ledger.open(tmp_path / "file" / "ledger.sqlite", run="r")
    with pytest.raises(UserError):
        Ledger.open(tmp_path, run="r")


async def test_a_recorded_file_replays_from_a_read_only_folder(tmp_path: Path, ask: Any, outside: Any) -> None:
    path = tmp_path / "sub" / "ledger.sqlite"
    await written(path, ask, outside, 1)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
            assert (await ledger.call(ask("0"), outside("never"))).reused
    finally:
        path.parent.chmod(0o700)


def test_two_ledgers_can_be_made_at_the_same_moment(path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(lambda n: Ledger.open(path, run=f"r{n % 3}"), range(8)))
    for ledger in ledgers:
        ledger.close()
    assert [run.name for run in list_runs(path)].__len__() == 3
