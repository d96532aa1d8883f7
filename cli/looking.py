"""What ``dream read`` and ``dream search`` print and call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..core import AsOf, Dating, Json, PageState, SearchState
from ..ledger import Mode
from ..reports import split_sentences
from ..runs import checked
from ..runs.looking import Look, look_at, look_for
from ..tools import Hit, Page, Passage, SearchResult, best_passages
from .evaluating import make_console
from .printing import fact, print_json, prose, say
from .text import one_line

GOOD = frozenset({SearchState.OK, SearchState.EMPTY})


def look_of(
    search: Sequence[str], as_of: str | None, exclude_hosts: Sequence[str], ledger: str | None, ledger_mode: str
) -> Look:
    """The options of these verbs, checked. Raises UserError."""
    return Look(
        search=checked.search(search),
        as_of=checked.date(as_of),
        exclude_hosts=checked.hosts(exclude_hosts),
        ledger=Path(ledger) if ledger else None,
        ledger_mode=Mode(ledger_mode),
    )


def show_page(url: str, *, sentences: bool, find: str | None, as_json: bool, **options: Any) -> int:
    """Read a page and print it; 1 when no text was read."""
    look = look_of(**options)
    seen = asyncio.run(look_at(url, look))
    page = seen.page
    passages = best_passages(find, [page]) if find else []
    if as_json:
        print_json({**page.model_dump(mode="json"), **_extras(page, sentences, passages if find else None)})
    else:
        console = make_console()
        _page_facts(console, page, look.day, recorded=seen.recorded)
        if page.state is PageState.OK:
            console.print()
            _body(console, page, sentences, passages if find else None)
    return 0 if page.state is PageState.OK else 1


def _extras(page: Page, sentences: bool, passages: Sequence[Passage] | None) -> dict[str, Json]:
    extras: dict[str, Json] = {}
    if sentences:
        extras["sentences"] = [
            {"number": number, "start": span.start, "end": span.end, "text": page.text[span.start : span.end]}
            for number, span in enumerate(split_sentences(page.text), 1)
        ]
    if passages is not None:
        extras["passages"] = [passage.model_dump(mode="json", exclude={"key", "url"}) for passage in passages]
    return extras


def _page_facts(console: Console, page: Page, as_of: AsOf, *, recorded: bool) -> None:
    style = "green" if page.state is PageState.OK else "red"
    fact(console, "state", f"{page.state.value}{f': {page.reason}' if page.reason else ''}", style=style)
    fact(console, "address", page.url)
    fact(console, "led to", page.final_url if page.final_url != page.url else "")
    for name, value in (("title", page.title), ("site", page.site), ("author", page.author)):
        fact(console, name, value)
    fact(console, "published", page.published)
    fact(console, "dating", dating_line(page.dating, as_of) if page.state is PageState.OK else "")
    fact(console, "changed", page.modified)
    fact(console, "archived", page.archived)
    fact(console, "language", page.language)
    fact(console, "flags", ", ".join(page.flags), style="yellow")
    fact(console, "from", f"{'the ledger' if recorded else 'this look, kept in the ledger'} ({page.key[:12]})")
    if page.state is PageState.OK:
        pages = f", {len(page.page_starts)} pages" if page.page_starts else ""
        sentences = len(split_sentences(page.text))
        fact(console, "text", f"{len(page.text):,} characters, {sentences:,} sentences{pages}")


def dating_line(dating: Dating, as_of: AsOf) -> str:
    """Where something lies in time, in words."""
    return {
        Dating.BEFORE: f"before: on or before {as_of.day}",
        Dating.AFTER: f"after: later than {as_of.day}, listed and never decides",
        Dating.UNKNOWN: f"unknown: no date found (as of {as_of.day})",
    }[dating]


def _body(console: Console, page: Page, sentences: bool, passages: Sequence[Passage] | None) -> None:
    if passages is not None:
        for passage in passages:
            place = f", page {passage.page}" if passage.page else ""
            say(console, f"{passage.score:.1f} (characters {passage.start}–{passage.end}{place})", style="bold")
            prose(console, passage.text, indent=2)
        if not passages:
            say(console, "no passage holds a word of it")
        return
    parts = _numbered(page) if sentences else _by_page(page)
    for start, text in parts:
        if start in page.page_starts:
            say(console, f"— page {page.page_starts.index(start) + 1} —", style="dim")
        if text:
            prose(console, text)


def _by_page(page: Page) -> Iterator[tuple[int, str]]:
    """The text, a PDF page by page: where a part starts, and the part."""
    for start, end in pairwise([*(page.page_starts or (0,)), len(page.text)]):
        yield start, page.text[start:end].strip("\n")


def _numbered(page: Page) -> Iterator[tuple[int, str]]:
    """The sentences, numbered through; where a page of a PDF begins, an empty part stands for its start."""
    starts = list(page.page_starts)
    for number, span in enumerate(split_sentences(page.text), 1):
        while starts and starts[0] <= span.start:
            yield starts.pop(0), ""
        yield -1, f"[{number}] {one_line(page.text[span.start : span.end])}"


def show_search(query: str, *, limit: int, language: str | None, as_json: bool, **options: Any) -> int:
    """Search and print the results; 1 when no engine could look."""
    look = look_of(**options)
    found = asyncio.run(look_for(query, look, limit=limit, language=language))
    if as_json:
        print_json(found.result.model_dump(mode="json"))
    else:
        _results(make_console(), found.result, look.day, recorded=found.recorded)
    return 0 if found.result.state in GOOD else 1


def _results(console: Console, result: SearchResult, as_of: AsOf, *, recorded: bool) -> None:
    style = {SearchState.OK: "green", SearchState.EMPTY: "yellow"}.get(result.state, "red")
    said = f"{len(result.hits)} results" if result.hits else result.reason or "nothing found"
    where = "the ledger" if recorded else "this look, kept in the ledger"
    fact(console, "state", f"{result.state.value}: {said}", style=style)
    fact(console, "as of", as_of.day)
    fact(console, "from", f"{where} ({result.key[:12]})")
    for hit in result.hits:
        _hit(console, hit)


def _hit(console: Console, hit: Hit) -> None:
    console.print()
    console.print(Text(f"{hit.rank:>2}  {one_line(hit.title or '(no title)', limit=200)}", style="bold"))
    say(console, f"    {hit.url}")
    date = f"{hit.published} ({hit.dating.value})" if hit.published else f"no date ({hit.dating.value})"
    say(console, f"    {date} · {hit.engine}{f' · {hit.language}' if hit.language else ''}", style="dim")
    if hit.snippet:
        prose(console, one_line(hit.snippet, limit=400), indent=4)
