"""What a study found, as data, as Markdown and as lines of at most 80 columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from ..core import Frozen, Interval, Json
from ..errors import UserError
from ..ledger import Totals
from ..runs.files import write_atomic

WIDTH = 80
OURS = frozenset({"data", "results.json", "units.jsonl", "study.md", "ratings.jsonl", "plots"})
"""What a study's folder holds."""


class Table(Frozen):
    """Rows under a header; a number is shown with one decimal, None as a dash."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | float | int | None, ...], ...]


class Known(Frozen):
    """A figure that a paper reports, beside ours."""

    what: str
    paper: str
    """As reported; ``not found`` where no source has it."""
    grade: str
    """How far the report of it can be trusted: A paper or two independent sources, B one detailed summary, C one
    loosely written note."""
    ours: str
    source: str = "DREAM, arXiv 2602.18940 (by secondary sources)"


class Sheet(Frozen):
    """One study's outcome."""

    schema_version: int = 1
    study: str
    question: str
    """What the study asks, in a sentence."""
    data: str
    """SHA-256 of the data set."""
    setup: dict[str, Json]
    endpoint: str = ""
    """The judge's endpoint in the ledger; of the embedded one with the digest of the model."""
    versions: dict[str, int] = Field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    findings: tuple[str, ...] = ()
    """Sentences, the plain answer first."""
    known: tuple[Known, ...] = ()
    differences: tuple[str, ...] = ()
    """What differs from the paper's set-up."""
    totals: Totals | None = None
    useless: bool | None = None
    """True: the judge does not tell what the study asks about apart; None: the study does not say."""

    def lines(self) -> list[str]:
        """For a terminal."""
        found = [*_wrapped(self.question), ""]
        for table in self.tables:
            found += [table.title, *columns(table), ""]
        for finding in self.findings:
            found += _wrapped(finding)
        if self.known:
            found += ["", "Known figures (grade: A good, B one detailed summary, C loose)"]
            for known in self.known:
                found += _wrapped(f"{known.what}: paper {known.paper} [{known.grade}]; here {known.ours}", "  ")
        if self.differences:
            found += ["What differs from the paper"]
            for difference in self.differences:
                found += _wrapped(difference, "  - ", "    ")
        return found

    def markdown(self) -> str:
        """For a file."""
        setup = ", ".join(f"{name} {value}" for name, value in self.setup.items() if value not in (None, []))
        parts = [f"# Study: {self.study}", self.question, f"Set-up: {setup}. Data set `{self.data[:12]}`."]
        parts += [f"- {finding}" for finding in self.findings]
        for table in self.tables:
            parts += [f"## {table.title}", _markdown(table)]
        if self.known:
            known = Table(
                title="", header=("", "paper", "grade", "here", "source"), rows=tuple(_known(k) for k in self.known)
            )
            parts += ["## Known figures", _markdown(known)]
        if self.differences:
            parts += ["What differs from the paper:", "\n".join(f"- {line}" for line in self.differences)]
        return "\n\n".join(parts) + "\n"


def _known(known: Known) -> tuple[str, ...]:
    return (known.what, known.paper, known.grade, known.ours, known.source)


def check_folder(out: Path) -> None:
    """Raises UserError for a folder that holds anything and no study: its files are somebody else's."""
    try:
        found = sorted(path.name for path in out.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"--out {out}: cannot be used as a study's folder ({error.strerror or error})") from None
    if "units.jsonl" not in found and (strange := [name for name in found if name not in OURS]):
        raise UserError(f"--out {out}: holds {strange[0]} and no study: name a new or an empty folder")


def save(sheet: Sheet, units: Sequence[Json], out: Path) -> list[Path]:
    """Write ``results.json``, ``units.jsonl`` (every result with its items) and ``study.md``."""
    files = {
        "results.json": sheet.model_dump_json(indent=2) + "\n",
        "units.jsonl": "".join(json.dumps(unit, ensure_ascii=False) + "\n" for unit in units),
        "study.md": sheet.markdown(),
    }
    for name, text in files.items():
        write_atomic(out / name, text)
    return [out / name for name in files]


def shown(value: str | float | int | None) -> str:
    """A cell as text."""
    if value is None:
        return "–"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def interval(value: Interval | None, signs: str = "") -> str:
    """``[low, high]``; ``range low…high`` where there are too few for an interval."""
    if value is None:
        return "no interval"
    low, high = f"{value.low:{signs}.1f}", f"{value.high:{signs}.1f}"
    return f"range {low} to {high}" if value.kind == "range" else f"[{low}, {high}]"


def columns(table: Table, width: int = WIDTH) -> list[str]:
    """The table in columns as wide as they must be; the widest column of words is cut where it must be."""
    cells = [[shown(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.header))]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    if over > 0:
        wide = max(range(len(widths)), key=lambda i: widths[i])
        widths[wide] = max(8, widths[wide] - over)
    numeric = [all(not isinstance(row[i], str) for row in table.rows) for i in range(len(widths))]
    return [
        "  ".join(_cell(text, w, right) for text, w, right in zip(row, widths, numeric, strict=True)).rstrip()
        for row in cells
    ]


def _cell(text: str, width: int, right: bool) -> str:
    text = text if len(text) <= width else text[: width - 1] + "…"
    return text.rjust(width) if right else text.ljust(width)


def _markdown(table: Table) -> str:
    rows = [table.header, tuple("---" for _ in table.header), *table.rows]
    return "\n".join("| " + " | ".join(shown(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)


def _wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=first if rest is None else rest) or [""]
