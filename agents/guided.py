"""The guided mode's one runner: structured questions to a weak model, with code doing the research in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from ..core import Dating, PageState
from ..errors import CallFailed
from ..tools import Hit, SearchResult, Toolbox, registrable_domain
from .data import Step, ToolUse
from .shelf import Read, Shelf

if TYPE_CHECKING:
    from ..models import ChatModel, Message

T = TypeVar("T", bound=BaseModel)
HITS = 6
"""Hits asked for a query."""
_RANK_OFFSET = 10
"""Reciprocal-rank fusion: how much a first place outweighs a later one."""
_A_SITE = 2
"""Pages of one registrable domain at most, so that one site does not speak for all."""


class Guide:
    """One guided job: keeps its steps and the ledger keys of its model calls."""

    def __init__(self, model: ChatModel, toolbox: Toolbox, shelf: Shelf, sample: int = 0) -> None:
        self.model, self.toolbox, self.shelf = model, toolbox, shelf
        self.steps: list[Step] = []
        self.calls: list[str] = []
        self._sample = sample

    async def ask(self, name: str, messages: Sequence[Message], answer: type[T], max_tokens: int) -> T:
        """One structured question. Raises CallFailed (BadReply included), HostStop, ReplayMiss."""
        from ..models import ask

        asked = await ask(self.model, messages, answer, max_tokens=max_tokens, sample=self._sample)
        self.calls.extend(asked.calls)
        key = asked.calls[-1] if asked.calls else None
        self._step(name, observation=asked.value.model_dump_json(), key=key)
        return asked.value

    async def try_ask(self, name: str, messages: Sequence[Message], answer: type[T], max_tokens: int) -> T | None:
        """As :meth:`ask`, with None for a reply that could not be had: the job goes on with what it has."""
        try:
            return await self.ask(name, messages, answer, max_tokens)
        except CallFailed as failed:
            self._step(name, error=f"{failed.code}: {failed}")
            return None

    async def research(self, queries: Sequence[str], pages: int) -> list[Read]:
        """Search for all queries and read up to ``pages`` of the best hits that may decide something."""
        results = await asyncio.gather(
            *(self.toolbox.search(query, limit=HITS, language=self.shelf.language) for query in queries)
        )
        self.shelf.queries.extend(queries)
        uses = tuple(_search_use(result) for result in results)
        self._step("search", tools=uses)
        urls = ranked([hit for result in results for hit in result.hits])
        found: list[Read] = []
        while urls and len(found) < pages:
            batch, urls = urls[: pages - len(found)], urls[pages - len(found) :]
            found.extend(await self._read(batch))
        return found

    async def _read(self, urls: Sequence[str]) -> list[Read]:
        pages = await asyncio.gather(*(self.toolbox.read(url) for url in urls))
        good = [read for read in map(self.shelf.put, pages) if read is not None]
        uses = tuple(
            ToolUse(
                tool="read_page",
                arguments={"url": page.url},
                failed="" if page.state is PageState.OK else page.state.value,
                key=page.key,
            )
            for page in pages
        )
        self._step("read", tools=uses)
        return good

    def _step(
        self,
        name: str,
        *,
        observation: str = "",
        error: str = "",
        tools: tuple[ToolUse, ...] = (),
        key: str | None = None,
    ) -> None:
        self.steps.append(
            Step(number=len(self.steps) + 1, thought=name, observation=observation, error=error, tools=tools, key=key)
        )


def ranked(hits: Sequence[Hit]) -> list[str]:
    """Addresses by reciprocal-rank fusion over all queries, few of one site; hits after the as-of date left out."""
    scores: dict[str, float] = {}
    for hit in hits:
        if hit.dating is not Dating.AFTER:
            scores[hit.url] = scores.get(hit.url, 0.0) + 1 / (_RANK_OFFSET + hit.rank)
    taken: dict[str, int] = {}
    urls = []
    for url in sorted(scores, key=lambda url: (-scores[url], url)):
        site = registrable_domain(url) or url
        taken[site] = taken.get(site, 0) + 1
        if taken[site] <= _A_SITE:
            urls.append(url)
    return urls


def _search_use(result: SearchResult) -> ToolUse:
    failed = "" if result.hits else f"{result.state.value}: {result.reason}".rstrip(": ")
    return ToolUse(tool="web_search", arguments={"query": result.query}, failed=failed, key=result.key)
