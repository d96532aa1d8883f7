"""What people think of a protocol's questions: relevance, verifiability and clarity, 1 to 5, and how far they agree.

Two shapes. A *rating file* (JSON) is what one person says of one protocol; the viewer lets people download it. A *book*
(JSONL) holds what several people said of several protocols, a line each time somebody rated an item; the last line
of a person on an item counts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..core import Frozen
from ..errors import InputError
from ..protocols.diff import Question as Item
from ..protocols.diff import all_questions
from ..protocols.schema import Protocol
from ..runs.files import append_line
from ..stats import mean
from ..stats.agreement import krippendorff_alpha

Mark = Literal["relevance", "verifiability", "clarity"]
MARKS: tuple[Mark, ...] = ("relevance", "verifiability", "clarity")
MEANING: dict[Mark, tuple[str, str, str]] = {
    "relevance": ("Does it ask for what a good answer must have?", "beside the point", "decides the answer"),
    "verifiability": ("Can two people check it and agree?", "a matter of taste", "can be looked up"),
    "clarity": ("Is it clear what is asked?", "can mean anything", "can mean one thing only"),
}
"""The question to a rater, and what 1 and 5 stand for."""

T = TypeVar("T", bound=BaseModel)
Score = int | None


class Rating(Frozen):
    """What one person says of one item; a mark that was not given is None."""

    item: str = Field(min_length=1)
    relevance: Score = Field(default=None, ge=1, le=5)
    verifiability: Score = Field(default=None, ge=1, le=5)
    clarity: Score = Field(default=None, ge=1, le=5)
    note: str = Field(default="", max_length=2000)


class RatingFile(BaseModel):
    """What one person says of one protocol: ``{"schema": 1, "protocol": digest, "rater": …, "ratings": […]}``."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")
    protocol: str = Field(pattern=r"^[0-9a-f]{64}$")
    rater: str = Field(min_length=1, max_length=100)
    ratings: tuple[Rating, ...]


class Line(Rating):
    """A line of a book."""

    protocol: str = Field(pattern=r"^[0-9a-f]{64}$")
    rater: str = Field(min_length=1, max_length=100)

    @property
    def place(self) -> tuple[str, str, str]:
        """(protocol, rater, item): of lines with the same place the last one counts."""
        return self.protocol, self.rater, self.item


def load_ratings(path: Path) -> list[Line]:
    """All ratings of a file of either shape, the last of a person on an item. Raises InputError with the line."""
    if not path.exists():
        raise InputError("no such file", path=path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", path=path) from None
    whole = _json(text)
    if isinstance(whole, dict) and "ratings" in whole:
        lines = _of_file(_checked(RatingFile, whole, path, None))
    else:
        lines = [
            _checked(Line, _json(line), path, number)
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip()
        ]
    return list({line.place: line for line in lines}.values())


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_file(file: RatingFile) -> list[Line]:
    return [Line(protocol=file.protocol, rater=file.rater, **rating.model_dump()) for rating in file.ratings]


def _checked(kind: type[T], value: object, path: Path, line: int | None) -> T:
    if not isinstance(value, dict):
        raise InputError("not a JSON object", path=path, line=line)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise InputError(first["msg"].lower(), path=path, line=line, field=field) from None


def add_line(path: Path, line: Line) -> None:
    """Append a rating to a book and flush it to disk."""
    append_line(path, line.model_dump_json())


@dataclass(frozen=True)
class Question:
    """An item that is to be rated. Raters are not told which protocol it is of."""

    protocol: Protocol
    item: Item

    @property
    def place(self) -> tuple[str, str]:
        """(digest of the protocol, id of the item)."""
        return self.protocol.digest, self.item.id


def questions_of(protocols: Sequence[Protocol], rater: str) -> list[Question]:
    """All items of all protocols in an order of the rater's own, so that no protocol is rated fresh and none tired."""
    found = [Question(protocol, item) for protocol in protocols for item in all_questions(protocol)]
    if len(protocols) > 1:
        random.Random(rater).shuffle(found)
    return found


# --- what they say together ------------------------------------------------------------------------------------------


class Agreed(Frozen):
    """One mark over the items of one protocol."""

    mean: float | None
    """Over items, of the mean over raters, 1–5; None: nobody rated."""
    items: int
    """Items with at least one rating."""
    raters: int
    alpha: float | None
    """Krippendorff's alpha, ordinal; None with one rater, or where all say the same."""


def agreed(lines: Iterable[Line], protocol: Protocol) -> dict[Mark, Agreed]:
    """What people say of a protocol, by mark. Ratings of items that it does not have are left out."""
    ids = [item.id for item in all_questions(protocol)]
    own = [line for line in lines if line.protocol == protocol.digest and line.item in ids]
    return {mark: _agreed(own, mark) for mark in MARKS}


def _agreed(lines: Sequence[Line], mark: Mark) -> Agreed:
    table: dict[str, dict[str, int]] = {}
    for line in lines:
        if (value := getattr(line, mark)) is not None:
            table.setdefault(line.item, {})[line.rater] = value
    raters = sorted({rater for row in table.values() for rater in row})
    units = [[row.get(rater) for rater in raters] for row in table.values()]
    return Agreed(
        mean=mean([mean(list(row.values())) for row in table.values()]) if table else None,
        items=len(table),
        raters=len(raters),
        alpha=krippendorff_alpha(units, "ordinal") if len(raters) > 1 else None,
    )


def summary_lines(lines: Sequence[Line], protocols: Mapping[str, Protocol]) -> list[str]:
    """What people say of each protocol (by name), in lines of at most 80 columns."""
    found = []
    for name, protocol in protocols.items():
        parts = agreed(lines, protocol)
        raters = max(part.raters for part in parts.values())
        found.append(f"{name}: {raters} rater{'' if raters == 1 else 's'}")
        for mark, part in parts.items():
            if part.mean is not None:
                alpha = "" if part.raters < 2 else f", alpha {'–' if part.alpha is None else f'{part.alpha:.2f}'}"
                found.append(f"  {mark:<14} {part.mean:.2f} of 5 over {part.items} items{alpha}")
    return found
