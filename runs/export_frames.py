"""Tables of a run as pandas data frames, in memory or as files that pandas reads back as they were."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .export_files import NEED_PARQUET, importing, write_parquet
from .export_tables import TABLES, Row, Table
from .reading import RunView, open_run

if TYPE_CHECKING:
    import pandas as pd

    from .perform import RunResult

NEED_PANDAS = "data frames need the extra `pandas`: pip install 'dream-eval[pandas]'"
DTYPES = {
    "text": "string",
    "number": "float64",
    "integer": "Int64",
    "flag": "boolean",
    "day": "datetime64[us]",
    "time": "datetime64[us, UTC]",
}
"""Of the columns. A number that is not there is NaN, which pandas leaves out of sums and means."""


def frames(run: RunResult | str | os.PathLike[str], *, ledger: Path | str | None = None) -> dict[str, pd.DataFrame]:
    """The tables ``results``, ``items`` and ``calls`` of a run as data frames, by name.

    ``run``: what :func:`dream_eval.evaluate` returned, or a run folder. ``ledger``: another ledger than the run's own.
    Raises UserError without the extra ``pandas``, InputError when there is no run or its ledger is gone.

    Example::

        results = dream_eval.frames("dream-runs/first")["results"]
        print(results.pivot_table(values="score", index="system", columns="metric"))
    """
    folder = run if isinstance(run, (str, os.PathLike)) else run.folder
    view = with_ledger(open_run(Path(folder)), ledger)
    return {table.name: _frame(table, list(table.rows(view))) for table in TABLES}


def with_ledger(view: RunView, ledger: Path | str | None) -> RunView:
    """The run as if it had been made with another ledger; the same where None."""
    if ledger is not None:
        view.config = view.config.model_copy(update={"ledger": str(ledger)})
    return view


def _frame(table: Table, rows: list[Row]) -> pd.DataFrame:
    with importing(NEED_PANDAS):
        import pandas as pd
    columns = {
        column.name: pd.Series([row[column.name] for row in rows], dtype=DTYPES[column.kind])
        for column in table.columns
    }
    return pd.DataFrame(columns)


def write_for_pandas(view: RunView, folder: Path) -> list[Path]:
    """Write Parquet files from which ``pandas.read_parquet`` gives what :func:`frames` gives; returns their paths.

    No pickles: reading one carries out what is in it, and another version of pandas may not read it. Raises UserError
    without the extras ``pandas`` and ``parquet``, InputError, OSError.
    """
    with importing(NEED_PARQUET):
        import pyarrow as pa
    schemas = {table.name: pa.Schema.from_pandas(_frame(table, []), preserve_index=False) for table in TABLES}
    return write_parquet(view, folder, schemas=schemas)
