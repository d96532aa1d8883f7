"""Search engines: DuckDuckGo's, Brave's and Mojeek's pages, and the JSON interfaces, by query."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from servers.web import Handler, Reply, Seen, json_reply

Result = tuple[str, str, str]
"""URL, title, snippet."""

NOTHING = {
    "duckduckgo": "<html><body><div class='no-results'>No results found for <b>x</b>.</div></body></html>",
    "brave": "<html><body><h1>Not many great matches came back for your search</h1></body></html>",
    "mojeek": "<html><body><p class='top-info'>No pages found matching: <strong>x</strong></p></body></html>",
}
ANOMALY = (
    "<html><body><div class='anomaly-modal__title'>Unfortunately, bots use DuckDuckGo too.</div>"
    "<script src='/anomaly.js'></script></body></html>"
)


def duckduckgo_page(results: Sequence[Result]) -> str:
    """As html.duckduckgo.com answers."""
    rows = "".join(
        f"<div class='result'><div class='links_main result__body'><h2 class='result__title'><a href='{u}'>"
        f"{html.escape(t)}</a></h2><a class='result__snippet' href='{u}'>{html.escape(s)}</a></div></div>"
        for u, t, s in results
    )
    return f"<html><body>{rows}</body></html>"


def brave_page(results: Sequence[Result]) -> str:
    """As search.brave.com answers."""
    rows = "".join(
        f"<div data-type='web'><a href='{u}'><div class='title'>{html.escape(t)}</div></a>"
        f"<div class='snippet'><div class='content'>{html.escape(s)}</div></div></div>"
        for u, t, s in results
    )
    return f"<html><body>{rows}</body></html>"


def mojeek_page(results: Sequence[Result]) -> str:
    """As mojeek.com answers."""
    rows = "".join(
        f"<li><h2><a href='{u}'>{html.escape(t)}</a></h2><p class='s'>{html.escape(s)}</p></li>" for u, t, s in results
    )
    return f"<html><body><ul class='results-standard'>{rows}</ul></body></html>"


PAGES = {"duckduckgo": duckduckgo_page, "brave": brave_page, "mojeek": mojeek_page}


def query_of(seen: Seen) -> dict[str, str]:
    """The fields of a query, from the address or a form."""
    text = urlsplit(seen.path).query or seen.body.decode()
    return {name: values[0] for name, values in parse_qs(text).items()}


def engine(name: str, results: Sequence[Result] | dict[str, Sequence[Result]]) -> Handler:
    """An engine that knows these results (for every query, or by query), and says so when it knows none."""

    def answer(seen: Seen) -> Reply:
        found = results.get(query_of(seen).get("q", ""), ()) if isinstance(results, dict) else results
        return Reply(PAGES[name](found) if found else NOTHING[name])

    return answer


def serper_reply(results: Sequence[Result], date: str = "Mar 3, 2024") -> Reply:
    """As serper.dev answers."""
    rows = [
        {"link": u, "title": t, "snippet": s, "date": date, "position": i} for i, (u, t, s) in enumerate(results, 1)
    ]
    return json_reply({"searchParameters": {"q": "x"}, "organic": rows})


def tavily_reply(results: Sequence[Result]) -> Reply:
    """As tavily.com answers."""
    rows = [{"url": u, "title": t, "content": s, "score": 0.9} for u, t, s in results]
    return json_reply({"query": "x", "results": rows})


def brave_reply(results: Sequence[Result]) -> Reply:
    """As Brave's API answers."""
    rows = [{"url": u, "title": t, "description": s, "page_age": "2024-03-03T00:00:00"} for u, t, s in results]
    value: dict[str, Any] = {"type": "search", "query": {"original": "x"}}
    return json_reply(value | ({"web": {"type": "search", "results": rows}} if rows else {}))


def searxng_reply(results: Sequence[Result], silent: Sequence[Sequence[str]] = ()) -> Reply:
    """As SearXNG answers with format=json."""
    rows = [{"url": u, "title": t, "content": s, "publishedDate": "2024-03-03T00:00:00"} for u, t, s in results]
    return json_reply({"query": "x", "results": rows, "unresponsive_engines": [list(row) for row in silent]})
