"""What ``dream protocol rate`` prints and calls."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console

from ..errors import UserError
from ..protocols import load_protocol
from ..protocols.schema import Protocol
from ..studies.ratings import (
    MARKS,
    MEANING,
    Line,
    Question,
    add_line,
    load_ratings,
    questions_of,
    summary_lines,
)
from .evaluating import make_console
from .printing import say
from .text import one_line


def rate(
    files: Sequence[str],
    *,
    rater: str | None,
    book: str,
    read: Sequence[str],
    terminal: bool,
    browser: bool,
    show: bool,
) -> int:
    """Take in rating files, have a person rate what is left, print what everybody says."""
    console, path = make_console(), Path(book)
    protocols = {name: load_protocol(name) for name in files}
    _take_in(console, path, read, protocols)
    if not read and not show:
        _ask(console, path, protocols, _name(rater), terminal=terminal, browser=browser)
    lines = load_ratings(path) if path.exists() else []
    for line in summary_lines(lines, protocols):
        say(console, line)
    say(console, f"ratings: {path}")
    return 0


def _take_in(console: Console, book: Path, files: Sequence[str], protocols: Mapping[str, Protocol]) -> None:
    """Add the ratings of other files to the book; those of other protocols are refused, those known already skipped."""
    known = set(load_ratings(book)) if book.exists() else set()
    digests = {protocol.digest for protocol in protocols.values()}
    for file in files:
        lines = load_ratings(Path(file))
        strange = sum(line.protocol not in digests for line in lines)
        if strange == len(lines):
            raise UserError(f"{file}: rates none of these protocols (they may have been changed since)")
        fresh = [line for line in lines if line.protocol in digests and line not in known]
        for line in fresh:
            add_line(book, line)
        known |= set(fresh)
        tail = f", {strange} of other protocols left out" if strange else ""
        say(console, f"{file}: {len(fresh)} ratings taken in{tail}")


def _name(given: str | None) -> str:
    """Who rates. Raises UserError where nobody can be asked."""
    if given and given.strip():
        return given.strip()[:100]
    if not sys.stdin.isatty():
        raise UserError("say who rates with --rater NAME")
    return str(click.prompt("Your name, as it stands beside your ratings")).strip()[:100] or "anonymous"


def _ask(
    console: Console, book: Path, protocols: Mapping[str, Protocol], rater: str, *, terminal: bool, browser: bool
) -> None:
    questions = questions_of(list(protocols.values()), rater)
    lines = load_ratings(book) if book.exists() else []
    given = {(line.protocol, line.item): line for line in lines if line.rater == rater}
    if terminal:
        _in_terminal(console, book, questions, given, rater)
    else:
        _on_page(console, book, questions, given, rater, browser=browser)


def _on_page(
    console: Console,
    book: Path,
    questions: Sequence[Question],
    given: Mapping[tuple[str, str], Line],
    rater: str,
    *,
    browser: bool,
) -> None:
    from ..studies.rating_page import RatingServer

    with RatingServer(questions, rater, lambda line: add_line(book, line), given=given) as server:
        say(console, f"rate {len(questions)} items here (this machine only): {server.url}")
        say(console, "Everything is kept as it is sent; Ctrl-C or the page's end closes it.")
        if browser:
            webbrowser.open(server.url)
        try:
            server.done.wait()
        except KeyboardInterrupt:
            say(console, "closed")


def _in_terminal(
    console: Console,
    book: Path,
    questions: Sequence[Question],
    given: Mapping[tuple[str, str], Line],
    rater: str,
) -> None:
    for mark in MARKS:
        asked, low, high = MEANING[mark]
        say(console, f"{mark}: {asked} 1 {low} … 5 {high}")
    say(console, "Answer with three numbers, such as 4 5 3; 0 leaves a mark out, an empty line an item, q ends.")
    for number, question in enumerate(questions, 1):
        if question.place in given:
            continue
        say(console, "")
        say(console, f"{number} of {len(questions)}: {one_line(question.item.text)}", "bold")
        for source in question.item.provenance:
            say(console, f"    {one_line(source.quote, limit=300)} ({one_line(source.url)})", "dim")
        marks = _three()
        if marks is None:
            return
        if any(marks):
            values = {mark: value or None for mark, value in zip(MARKS, marks, strict=True)}
            add_line(book, Line(item=question.item.id, protocol=question.protocol.digest, rater=rater, **values))


def _three() -> tuple[int, ...] | None:
    """Three numbers from 0 to 5, or none of them; None: end."""
    while True:
        try:
            text = input("> ").strip().lower()
        except EOFError:
            return None
        if text in ("q", "quit"):
            return None
        parts = text.split()
        if not parts:
            return ()
        if len(parts) == len(MARKS) and all(part in "012345" and len(part) == 1 for part in parts):
            return tuple(map(int, parts))
        print(f"three numbers from 0 to 5, for {', '.join(MARKS)}; or nothing, or q")
