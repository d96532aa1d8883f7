"""Reading one address over the network: straight, from an archive, or by what a DOI's registry knows.

Nothing here raises for a bad page; all that can go wrong is a state with its evidence.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import html
import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from ..core import Json, PageState
from .content import Parsed, Source
from .fetch import TRANSIENT, Fault, Fetched, Fetcher, FetchFailed
from .guard import Refused
from .limits import ToolLimits
from .parsing import Parsers
from .records import Read, failed, words_of

_STATES = {Fault.NO_HOST: PageState.GONE, Fault.TOO_LARGE: PageState.TOO_LARGE}
_AGAIN = frozenset({502, 503, 504})
_TIMESTAMP = re.compile(r"/web/(\d{14})(?:[a-z]{2}_)?/")


class Reader:
    """Reads addresses. Holds the client and the parsing processes of a toolbox."""

    def __init__(self, fetcher: Fetcher, parsers: Parsers) -> None:
        self._fetcher, self._parsers = fetcher, parsers
        self._limits: ToolLimits = fetcher.limits
        self._ends = fetcher.endpoints

    async def web(self, url: str, *, before: Read | None = None) -> Read:
        """The page at ``url`` as it is now. ``before``: as it was read last; given back when the server says that
        it has not changed since (ETag, Last-Modified).
        """
        validators = _validators(url, before)
        try:
            got = await self._fetch(url, validators)
            if got.status == 304 and validators and before is not None:
                return before
            return await self._parse(url, got)
        except Refused as error:
            return failed(url, PageState.UNREACHABLE, f"refused: {error}")
        except FetchFailed as error:
            return failed(url, _STATES.get(error.fault, PageState.UNREACHABLE), f"{error.fault}: {error}"[:300])

    async def _fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Fetched:
        for left in range(self._limits.retries, -1, -1):
            try:
                got = await self._fetcher.get(url, headers=headers)
            except FetchFailed as error:
                if error.fault not in TRANSIENT or not left:
                    raise
            else:
                wait = self._wait_for(got)
                if wait is None or not left:
                    return got
                await asyncio.sleep(wait)
                continue
            await asyncio.sleep(self._limits.retry_wait_s)
        raise AssertionError("the last round returns or raises")

    def _wait_for(self, got: Fetched) -> float | None:
        """Seconds after which to ask again; None: the answer stands."""
        after = got.headers.get("retry-after", "")
        if got.status in (429, 503) and after.isdigit():
            return float(after) if int(after) <= self._limits.rate_limit_wait_s else None
        return self._limits.retry_wait_s if got.status in _AGAIN else None

    async def _parse(self, url: str, got: Fetched) -> Read:
        source = Source(
            url=url,
            final_url=got.final_url,
            status=got.status,
            headers=dict(got.headers),
            max_chars=self._limits.text_chars,
            max_pages=self._limits.pdf_pages,
        )
        page = await self._parsers.parse(source, got.body)
        stamp = _TIMESTAMP.search(got.final_url)
        return Read(
            final_url=got.final_url,
            page=page,
            status=got.status,
            etag=got.headers.get("etag"),
            last_modified=got.headers.get("last-modified"),
            archived=_capture_day(stamp.group(1)) if stamp and "archive.org" in got.final_url else None,
        )

    async def archived(self, url: str, day: dt.date) -> Read:
        """The Internet Archive's capture nearest to ``day``. State gone: there is none."""
        ask = f"{self._ends.wayback}?{urlencode({'url': url, 'timestamp': day.strftime('%Y%m%d')})}"
        found = await self._json(ask)
        if isinstance(found, str):
            return failed(url, PageState.UNREACHABLE, f"archive: {found}")
        stamp = _closest(found)
        taken = _capture_day(stamp)
        if taken is None:
            return failed(url, PageState.GONE, "no archived copy")
        read = await self.web(f"{self._ends.wayback_pages}{stamp}id_/{url}")
        return read.model_copy(update={"archived": taken})

    async def doi(self, doi: str) -> Read:
        """What Crossref says of a DOI: title, abstract as text, date; ``extra["open"]``: where a free copy is.

        State gone: Crossref does not know it (another registry may).
        """
        url = f"{self._ends.doi}{doi}"
        found = await self._json(f"{self._ends.crossref}{quote(doi, safe='')}")
        if isinstance(found, str):
            state = PageState.GONE if found == "status 404" else PageState.UNREACHABLE
            return failed(url, state, f"crossref: {found}")
        work = found.get("message")
        page = _work(work if isinstance(work, dict) else {})
        free = await self._json(f"{self._ends.openalex}{quote(doi, safe='/')}")
        place = _open_copy(free) if isinstance(free, dict) else None
        return Read(final_url=url, page=page, extra={"open": place})

    async def _json(self, url: str) -> dict[str, Json] | str:
        """An API's JSON object, or the reason why there is none."""
        try:
            got = await self._fetch(url)
            if got.status != 200:
                return f"status {got.status}"
            value = got.json()
        except (Refused, FetchFailed) as error:
            return str(error)[:200]
        except ValueError:
            return "answer is not JSON"
        return value if isinstance(value, dict) else "answer is not an object"


def _validators(url: str, before: Read | None) -> dict[str, str]:
    """Headers that ask whether a page still is what it was; none where it was not read at this very address."""
    if before is None or before.final_url != url or before.page.state is not PageState.OK:
        return {}
    asked = {"If-None-Match": before.etag, "If-Modified-Since": before.last_modified}
    return {name: value for name, value in asked.items() if value and value.isascii() and value.isprintable()}


def _closest(answer: dict[str, Json]) -> str:
    snapshots = answer.get("archived_snapshots")
    closest = snapshots.get("closest") if isinstance(snapshots, dict) else None
    if not isinstance(closest, dict) or closest.get("available") is not True:
        return ""
    return words_of(closest, "timestamp") if words_of(closest, "status") in ("200", "") else ""


def _capture_day(stamp: str) -> dt.date | None:
    try:
        return dt.datetime.strptime(stamp[:8], "%Y%m%d").date()
    except ValueError:
        return None


def _work(work: dict[str, Json]) -> Parsed:
    """Crossref's record as a page: the abstract is its text."""
    abstract = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]{0,200}>", " ", words_of(work, "abstract")))).strip()
    return Parsed(
        title=_first(work.get("title")),
        text=abstract,
        site=_first(work.get("container-title")) or words_of(work, "publisher"),
        author=", ".join(_authors(work.get("author"))),
        published=_work_day(work),
        flags=("abstract_only",),
    )


def _first(value: Json) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _authors(value: Json) -> list[str]:
    people = value if isinstance(value, list) else []
    names = (f"{words_of(p, 'given')} {words_of(p, 'family')}".strip() for p in people[:20])
    return [name for name in names if name]


def _work_day(work: dict[str, Json]) -> str | None:
    """The earliest full date of publication; a missing day or month counts as the last of it."""
    days: list[dt.date] = []
    for name in ("published-online", "published-print", "published", "issued"):
        value = work.get(name)
        parts = value.get("date-parts") if isinstance(value, dict) else None
        first = parts[0] if isinstance(parts, list) and parts else None
        numbers = [n for n in first if isinstance(n, int)] if isinstance(first, list) else []
        if numbers and (found := _last_day(numbers)):
            days.append(found)
    return min(days).isoformat() if days else None


def _last_day(numbers: list[int]) -> dt.date | None:
    year, month, day = (*numbers, 0, 0)[:3]
    try:
        if day:
            return dt.date(year, month, day)
        after = dt.date(year + (month or 12) // 12, (month or 12) % 12 + 1, 1)
        return after - dt.timedelta(days=1)
    except ValueError:
        return None


def _open_copy(work: dict[str, Json]) -> str | None:
    best = work.get("best_oa_location")
    return (words_of(best, "pdf_url") or words_of(best, "landing_page_url") or None) if isinstance(best, dict) else None
