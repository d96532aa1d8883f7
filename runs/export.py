"""Out of a run: tables as CSV, Parquet or for pandas, and Inspect AI logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

from ..errors import UserError
from .export_files import write_csv, write_parquet
from .export_frames import with_ledger, write_for_pandas
from .export_inspect import write_inspect
from .reading import RunView, open_run

Form = Literal["csv", "parquet", "pandas", "inspect"]
FORMS: tuple[Form, ...] = get_args(Form)
_WRITERS: Mapping[Form, Callable[[RunView, Path], list[Path]]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "pandas": write_for_pandas,
    "inspect": write_inspect,
}


def export(
    run: Path | str, form: Form, *, out: Path | str | None = None, ledger: Path | str | None = None
) -> list[Path]:
    """Write what a run found in another form; returns the files written.

    Args:
        run: the run folder, finished or not.
        form: ``csv``, ``parquet``, ``pandas`` (Parquet with pandas' types) or ``inspect``.
        out: the folder to write to; nothing in it is overwritten. Default ``export/FORM`` in the run folder, where an
            earlier export is replaced.
        ledger: another ledger than the run's own, such as an exported one.

    Raises:
        UserError: the extra that the form needs is not installed, a file is there already, or there is no run.
        OSError: disk full, no permission.
    """
    view = with_ledger(open_run(run), ledger)
    folder = view.path / "export" / form if out is None else Path(out)
    if out is not None:
        _refuse_existing(folder, form)
    return _WRITERS[form](view, folder)


def _refuse_existing(folder: Path, form: Form) -> None:
    if folder.is_file():
        raise UserError(f"{folder}: is a file; name a folder to write to")
    ending = {"csv": "csv", "inspect": "eval"}.get(form, "parquet")
    if there := sorted(folder.glob(f"*.{ending}")):
        raise UserError(f"{there[0]}: is there already and nothing is overwritten: name another folder with --out")
