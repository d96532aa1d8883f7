"""Tables of a run as CSV and Parquet files, a row or a batch at a time."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import UserError
from .export_tables import TABLES, Row, Table, Value
from .reading import RunView

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
NEED_PARQUET = "Parquet files need the extra `parquet`: pip install 'dream-eval[parquet]'"
BATCH = 500
"""Rows that are in memory at a time."""
_FORMULA = re.compile(r"[\s]*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a text begins that a spreadsheet may take for a formula."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def write_csv(view: RunView, folder: Path) -> list[Path]:
    """Write ``results.csv``, ``items.csv`` and ``calls.csv``; returns their paths. Raises InputError, OSError.

    UTF-8, a header line, empty cells for what is not there. Text that begins like a formula gets an apostrophe before
    it, so that a spreadsheet shows it and does not carry it out; control characters are left out.
    """
    return [_csv(view, table, folder / f"{table.name}.csv") for table in TABLES]


def _csv(view: RunView, table: Table, path: Path) -> Path:
    with (
        _draft(path) as draft,
        draft.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        out = csv.writer(file)
        out.writerow([column.name for column in table.columns])
        for row in table.rows(view):
            out.writerow([cell(row[column.name]) for column in table.columns])
    return path


def cell(value: Value) -> str:
    """A value as text that a spreadsheet shows and never carries out."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return value.isoformat()
    if not isinstance(value, str):
        return repr(value)
    text = _CONTROLS.sub("", value)
    return f"'{text}" if _FORMULA.match(text) else text


def write_parquet(
    view: RunView, folder: Path, *, schemas: Mapping[str, pa.Schema] | None = None, tables: Iterable[Table] = TABLES
) -> list[Path]:
    """Write ``results.parquet``, ``items.parquet`` and ``calls.parquet``; returns their paths.

    ``schemas``: others than :func:`schema_of`, by table. Raises UserError without the extra ``parquet``, InputError,
    OSError.
    """
    with importing(NEED_PARQUET):
        import pyarrow as pa
        import pyarrow.parquet as pq
    paths = []
    for table in tables:
        path, schema = folder / f"{table.name}.parquet", schema_of(table)
        written = (schemas or {}).get(table.name, schema)
        with _draft(path) as draft, pq.ParquetWriter(draft, written, compression="zstd") as out:
            for rows in _batches(table.rows(view)):
                out.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema).cast(written))
        paths.append(path)
    return paths


def schema_of(table: Table) -> pa.Schema:
    """The Parquet schema of a table. Raises UserError without the extra ``parquet``."""
    with importing(NEED_PARQUET):
        import pyarrow as pa
    types = {
        "text": pa.string(),
        "number": pa.float64(),
        "integer": pa.int64(),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema([pa.field(column.name, types[column.kind]) for column in table.columns])


@contextmanager
def importing(advice: str) -> Iterator[None]:
    """Turn a package that is missing into a UserError that says how to install it."""
    try:
        yield
    except ImportError as error:
        raise UserError(advice) from error


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH)):
        yield batch


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """Where to write a file that takes its place only when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    try:
        yield draft
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()
