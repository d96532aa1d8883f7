"""Tables as Markdown, LaTeX and CSV. Names and texts in them may come from anywhere and are escaped for each format."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """A small table of strings, for people."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    """Sentences below it."""
    groups: bool = False
    """A row with only a first cell is the heading of those below it."""
    left: frozenset[int] = field(default_factory=lambda: frozenset({0}))
    """Columns of text; the others are figures, set to the right."""


def markdown(title: str, tables: Iterable[Table], notes: Sequence[str] = ()) -> str:
    """A Markdown document."""
    parts = [f"# {_md(title)}", *([_md_list(notes)] if notes else [])]
    for table in tables:
        parts.append(f"## {_md(table.title)}")
        if table.columns:
            rule = [":--" if number in table.left else "--:" for number in range(len(table.columns))]
            lines = [
                [_md(name) for name in table.columns],
                rule,
                *([_md(cell) for cell in row] for row in _full(table)),
            ]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        if table.notes:
            parts.append(_md_list(table.notes))
    return "\n\n".join(parts) + "\n"


def latex(tables: Iterable[Table], notes: Sequence[str] = ()) -> str:
    """LaTeX tables for ``booktabs``; notes are comments before them and paragraphs below. What has no columns is a
    paragraph under its title."""
    parts = ["% needs \\usepackage{booktabs}", *(f"% {_one_line(note)}" for note in notes)]
    for table in tables:
        parts.append(_tabular(table) if table.columns else _paragraph(table))
    return "\n".join(parts) + "\n"


def _paragraph(table: Table) -> str:
    return "\n".join([f"\\paragraph{{{_tex(table.title)}}}", *(f"{_tex(note)}\\par" for note in table.notes), ""])


def _tabular(table: Table) -> str:
    form = "".join("l" if number in table.left else "r" for number in range(len(table.columns)))
    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_tex(table.title)}}}",
        f"\\begin{{tabular}}{{{form}}}",
        "\\toprule",
        " & ".join(_tex(name) for name in table.columns) + " \\\\",
        "\\midrule",
    ]
    for row in table.rows:
        if table.groups and len(row) == 1:
            lines.append(f"\\multicolumn{{{len(table.columns)}}}{{l}}{{\\emph{{{_tex(row[0])}}}}} \\\\")
        else:
            lines.append(" & ".join(_tex(cell) for cell in (*row, *[""] * (len(table.columns) - len(row)))) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"\\par\\footnotesize {_tex(note)}" for note in table.notes]
    return "\n".join([*lines, "\\end{table}", ""])


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV with a header. Text that a spreadsheet would take for a formula gets an apostrophe; None is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv(value) for value in row] for row in rows)
    return out.getvalue()


def _csv(value: object) -> object:
    if value is None or not isinstance(value, str):
        return "" if value is None else value
    text = _one_line(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _full(table: Table) -> list[tuple[str, ...]]:
    """Rows of one length, headings of groups in italics."""
    width = len(table.columns)
    return [(*row, *[""] * (width - len(row))) for row in table.rows]


def _md_list(notes: Sequence[str]) -> str:
    return "\n".join(f"- {_md(note)}" for note in notes)


def _md(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", _one_line(text))


_TEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "·": r"$\cdot$",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "ρ": r"$\rho$",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", " ", text).split())
