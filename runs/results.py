"""Where results stand in the files of a run: an index of places, so that no result is held in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ..core import Json
from .data import UnitPlace, UnitResult


@dataclass(frozen=True)
class Spot:
    """A line of a results file."""

    path: Path
    offset: int
    """Bytes."""


@dataclass(frozen=True)
class Index:
    """What results files hold, by key and by place. Of several lines the last counts."""

    settled: dict[str, Spot]
    """Unit key to the line of a result that a resumed run keeps."""
    last: dict[UnitPlace, Spot]
    """Cell of the run to the newest line for it, whatever it was made from."""


def index_of(current: Path, *, superseded: Path | None = None) -> Index:
    """Read through the files once. Broken lines are skipped."""
    settled: dict[str, Spot] = {}
    last: dict[UnitPlace, Spot] = {}
    for path in (superseded, current) if superseded else (current,):
        for spot, line in lines_with_spots(path):
            if line.settled:
                settled[line.unit] = spot
            if path is current:
                last[line.place] = spot
    return Index(settled, last)


def lines_with_spots(path: Path) -> Iterator[tuple[Spot, UnitResult]]:
    """The readable lines of a file in their order, one at a time; a missing file has none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        offset = 0
        for raw in file:
            if (line := parse_line(raw)) is not None:
                yield Spot(path, offset), line
            offset += len(raw)


def count_lines(path: Path) -> int:
    """Lines of a file, broken ones included; a missing file has none."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in file)


def parse_line(raw: bytes) -> UnitResult | None:
    """A unit, or None for a line that is broken or of another version."""
    try:
        return UnitResult.model_validate_json(raw)
    except ValidationError:
        return None


def line_at(spot: Spot) -> UnitResult | None:
    """The unit on this line; None when the file has changed since."""
    return parse_line(raw_at(spot))


def raw_at(spot: Spot) -> bytes:
    """The bytes of the line, its end included. Raises OSError."""
    with spot.path.open("rb") as file:
        file.seek(spot.offset)
        return file.readline()


def raw_lines(spots: Iterable[Spot]) -> Iterator[bytes]:
    """The bytes of many lines, in the order given, files opened once. Raises OSError."""
    files = {}
    try:
        for spot in spots:
            if spot.path not in files:
                files[spot.path] = spot.path.open("rb")
            file = files[spot.path]
            file.seek(spot.offset)
            yield file.readline()
    finally:
        for file in files.values():
            file.close()


def dump_line(result: UnitResult) -> str:
    """A unit as the one line that stands for it: keys sorted, no spaces, no clock."""
    value: Json = result.model_dump(mode="json")
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
