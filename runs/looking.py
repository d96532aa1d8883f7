"""Looking at what the tools see, outside of an evaluation: one page, one search."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..core import AsOf
from ..errors import UserError
from ..ledger import Event, Ledger
from ..ledger import Mode as LedgerMode
from ..tools import DEFAULT_SEARCH, Page, SearchResult, Toolbox, open_toolbox
from .ask import default_ledger
from .perform import Outside, keys_to_mask

RUN = "look"
"""Name of the run under which looks are kept in a ledger."""


@dataclass(frozen=True)
class Look:
    """From where to look."""

    search: tuple[str, ...] = DEFAULT_SEARCH
    as_of: dt.date | None = None
    """None: today."""
    exclude_hosts: tuple[str, ...] = ()
    ledger: Path | None = None
    ledger_mode: LedgerMode = LedgerMode.CACHE

    @property
    def day(self) -> AsOf:
        """The as-of date."""
        return AsOf(day=self.as_of) if self.as_of else AsOf(day=dt.datetime.now(dt.UTC).date(), given=False)


@dataclass(frozen=True)
class Seen:
    """A page as an evaluation would see it, and whether all of it came from the ledger."""

    page: Page
    recorded: bool


@dataclass(frozen=True)
class Searched:
    """A search as an evaluation would make it, and whether all of it came from the ledger."""

    result: SearchResult
    recorded: bool


async def look_at(url: str, look: Look, *, outside: Outside | None = None) -> Seen:
    """Read one page. Raises UserError for what is no address, ReplayMiss, HostStop."""
    address = web_address(url)
    async with _toolbox(look, outside) as (toolbox, calls):
        return Seen(await toolbox.read(address), not calls)


async def look_for(
    query: str, look: Look, *, limit: int = 8, language: str | None = None, outside: Outside | None = None
) -> Searched:
    """Search once. Raises UserError for an empty query or an unusable back end, ReplayMiss, HostStop."""
    if not query.strip():
        raise UserError("the query is empty: say what to search for")
    async with _toolbox(look, outside) as (toolbox, calls):
        return Searched(await toolbox.search(query.strip(), limit=limit, language=language), not calls)


@asynccontextmanager
async def _toolbox(look: Look, outside: Outside | None) -> AsyncIterator[tuple[Toolbox, list[Event]]]:
    """The tools, and the calls that were really made."""
    made: list[Event] = []
    path, ends = look.ledger or default_ledger(), (outside or Outside()).endpoints
    with Ledger.open(path, run=RUN, mode=look.ledger_mode, secrets=keys_to_mask()) as ledger:
        ledger.listen(lambda event: made.append(event) if event.phase in ("done", "failed") else None)
        async with open_toolbox(
            ledger, as_of=look.day, search=look.search, exclude_hosts=look.exclude_hosts, endpoints=ends
        ) as toolbox:
            yield toolbox, made


def web_address(text: str) -> str:
    """A web address; ``doi:…`` and ``arXiv:…`` become theirs. Raises UserError for anything else."""
    text = text.strip()
    if match := re.match(r"(?i)(doi|arxiv):\s*(\S+)\Z", text):
        return f"https://doi.org/{match[2]}" if match[1].lower() == "doi" else f"https://arxiv.org/abs/{match[2]}"
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", text)
    except ValueError:
        good = False
    if not good:
        raise UserError(f"{text[:80]!r} is no web address: write https://…, doi:… or arXiv:…")
    return text
