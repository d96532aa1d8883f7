"""Pages as the ledger keeps them: the fields as JSON, the text as bytes stored once by content."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from pydantic import Field

from ..core import AsOf, Dating, Frozen, Json, PageState
from ..ledger import Answer, Record
from .content import Parsed
from .data import Page

LASTING = frozenset({PageState.OK, PageState.GONE, PageState.PAYWALLED, PageState.TOO_LARGE, PageState.NOT_TEXT})
"""States that say something about the page; the others say something about the attempt, and are asked again."""


class Read(Frozen):
    """What one attempt to read a page came to."""

    final_url: str
    page: Parsed
    status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    archived: dt.date | None = None
    extra: dict[str, Json] = Field(default_factory=dict)
    """What only one kind of source has: where the open copy of a DOI is …"""

    def answer(self) -> Answer:
        """For the ledger: unusable when only the attempt failed."""
        body = self.model_dump(mode="json", exclude={"page": {"text"}})
        lasting = self.page.state in LASTING
        text = self.page.text.encode("utf-8", "replace")
        return Answer(body=body, blob=text or None, usable=lasting, reason="" if lasting else self.page.reason)


def failed(url: str, state: PageState, reason: str) -> Read:
    """An attempt that brought no page."""
    return Read(final_url=url, page=Parsed(state=state, reason=reason))


def read_of(record: Record) -> Read:
    """The attempt as recorded."""
    assert isinstance(record.body, dict)
    found = Read.model_validate(record.body)
    text = (record.blob or b"").decode("utf-8", "replace")
    return found.model_copy(update={"page": found.page.model_copy(update={"text": text})})


def page_of(url: str, read: Read, key: str, as_of: AsOf) -> Page:
    """The page that a judge may see, placed in time."""
    page = read.page
    published, modified = day(page.published), day(page.modified)
    flags = set(page.flags)
    dating = as_of.place(published)
    if read.archived is not None:
        flags.add("archived")
        in_time = read.archived <= as_of.day
        flags |= set() if in_time else {"captured_after"}
        dating = Dating.BEFORE if in_time and dating is Dating.UNKNOWN else dating
    if modified is not None and modified > as_of.day and (read.archived is None or read.archived > as_of.day):
        flags.add("modified_after")
    return Page(
        url=url,
        final_url=read.final_url,
        state=page.state,
        reason=page.reason,
        title=page.title,
        text=page.text if page.state is PageState.OK else "",
        site=page.site,
        author=page.author,
        published=published,
        dating=dating,
        modified=modified,
        archived=read.archived,
        language=page.language,
        page_starts=page.page_starts,
        flags=tuple(sorted(flags)),
        key=key,
    )


def day(text: str | None) -> dt.date | None:
    """A date in ISO form, with or without a time behind it; None for anything else."""
    try:
        return dt.date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def words_of(body: Json, name: str) -> str:
    """A string field of a JSON object; empty when it is missing or no string."""
    value = body.get(name) if isinstance(body, Mapping) else None
    return value if isinstance(value, str) else ""
