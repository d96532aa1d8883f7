"""What others call: write the page of a run, of two runs, or of a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..errors import InputError, UserError
from ..protocols import load_protocol
from ..runs.ask import default_ledger
from .bundle import Bundle, of_protocol, of_runs
from .page import LARGEST, Written, write_page

NAME = "report.html"
"""The page's file inside a run folder."""


def write_view(run: Path | str, out: Path | str | None = None, *, ledger: Path | None = None) -> Path:
    """Write a run's page (default: ``report.html`` in its folder) and return its path.

    ``ledger``: where stored pages and calls are looked up, instead of the file that the run names. Raises InputError
    for a folder without a run, OSError when the file cannot be written.
    """
    return write([run], out, ledger=ledger).path


def write(
    paths: Sequence[Path | str], out: Path | str | None = None, *, ledger: Path | None = None, largest: int = LARGEST
) -> Written:
    """Write the page of one run, of two runs side by side, or of a protocol file.

    Without ``out``: ``report.html`` in the folder of a run, ``NAME.html`` beside a protocol, ``A-and-B.html`` in the
    present folder for two runs. ``largest``: bytes of the file, at most. Raises UserError, InputError, OSError.
    """
    with closing(open_bundle(paths, ledger=ledger)) as bundle:
        return write_page(bundle, Path(out) if out is not None else default_out(paths), largest=largest)


def open_bundle(paths: Sequence[Path | str], *, ledger: Path | None = None) -> Bundle:
    """What is to be shown. Raises UserError for anything but a run, two runs or a protocol."""
    if len(paths) not in (1, 2):
        raise UserError("give one run folder, two run folders to compare, or one protocol file")
    folders = [Path(path) for path in paths]
    files = [path for path in folders if path.is_file()]
    if files and len(paths) == 2:
        raise UserError(f"{files[0]}: two run folders can be compared; for protocols there is dream protocol diff")
    if files:
        return of_protocol(load_protocol(files[0]), ledger or default_ledger())
    missing = next((path for path in folders if not path.exists()), None)
    if missing is not None:
        raise InputError("no such run folder or protocol file", path=missing)
    return of_runs(folders, ledger=ledger)


def default_out(paths: Sequence[Path | str]) -> Path:
    """Where the page goes when nobody says."""
    first = Path(paths[0])
    if len(paths) == 2:
        names = [Path(path).resolve().name for path in paths]
        return Path(f"{names[0]}-and-{names[1]}.html")
    return first / NAME if first.is_dir() else first.with_suffix(".html")
