"""Reports that are named by a web address: fetched once through the guard and the ledger, read like a file."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..core import Json
from ..errors import CallFailed, InputError
from ..ledger import Answer, Kind, Ledger, Request
from ..reports import Report, load_bytes
from ..tools import Endpoints, ToolLimits

RUN = "reports"
"""Name of the run under which fetched reports are kept in a ledger."""


def is_address(name: object) -> bool:
    """Whether a report is named by a web address."""
    return isinstance(name, str) and name.lower().startswith(("http://", "https://"))


def home_of(url: str) -> str:
    """Where a report lives, as a host that is never evidence for it: ``chatgpt.com/share/x``."""
    parts = urlsplit(url)
    return f"{parts.hostname or ''}{parts.path.rstrip('/')}".lower()


def fetch_reports(url: str, *, ledger: Path | str | None = None, clean: bool = True) -> list[Report]:
    """The reports at a web address: a page, a Markdown, PDF or DOCX file. Asked once a day; then out of the ledger.

    Works inside a running event loop too. Raises InputError when nothing that can be read is there.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, fetch(url, ledger=ledger, clean=clean)).result()


async def fetch(
    url: str, *, ledger: Path | str | None = None, clean: bool = True, endpoints: Endpoints | None = None
) -> list[Report]:
    """As :func:`fetch_reports`; ``endpoints`` for tests."""
    from .ask import default_ledger
    from .perform import keys_to_mask

    body: dict[str, Json] = {"url": url, "as_of": dt.datetime.now(dt.UTC).date().isoformat()}
    with Ledger.open(ledger or default_ledger(), run=RUN, secrets=keys_to_mask()) as book:
        try:
            record = await book.call(Request(Kind.PAGE, "report", body), lambda: _get(url, endpoints or Endpoints()))
        except CallFailed as error:
            raise InputError(f"the report cannot be fetched: {error}", path=url) from None
    if not record.usable:
        raise InputError(f"the report cannot be fetched: {record.reason}", path=url)
    kind = record.body.get("type") if isinstance(record.body, dict) else ""
    return load_bytes(record.blob or b"", _file_name(url, str(kind)), clean=clean)


async def _get(url: str, endpoints: Endpoints) -> Answer:
    from ..tools.fetch import Fetcher

    fetcher = Fetcher(ToolLimits(), endpoints)
    try:
        got = await fetcher.get(url)
    finally:
        await fetcher.close()
    good = got.status == 200
    body: Json = {"url": url, "final_url": got.final_url, "status": got.status, "type": got.content_type}
    return Answer(body=body, blob=got.body or None, usable=good, reason="" if good else f"status {got.status}")


def _file_name(url: str, kind: str) -> str:
    """A file name for what was fetched; HTML is told by its type, all else by its bytes or ending."""
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.hostname or "report"
    name = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "report"
    ending = ".html" if kind in ("text/html", "application/xhtml+xml") else ""
    return name if name.lower().endswith((ending or ".", ".htm")) else f"{name}{ending}"
