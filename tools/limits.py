"""What the tools may spend, and where they ask. Plain values, set in code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""``await resolve(host, port)`` -> addresses in order of preference.

Raises :class:`NoSuchHost` when the name does not exist, OSError when the answer could not be had.
"""


class NoSuchHost(OSError):
    """The name system says that there is no such host."""


@dataclass(frozen=True)
class ToolLimits:
    """Caps on everything that comes from outside. Times in seconds, sizes in bytes unless said otherwise."""

    connect_s: float = 10.0
    fetch_s: float = 45.0
    """All of one fetch: waiting for a connection, every redirect, the body."""
    max_bytes: int = 12_000_000
    """Of a body as sent, and of HTML or text after decompression."""
    max_pdf_bytes: int = 40_000_000
    max_header_bytes: int = 65_536
    max_headers: int = 400
    redirects: int = 10
    retries: int = 1
    """Second tries after a transient fault (reset, cut off, 502, 503, 504)."""
    retry_wait_s: float = 1.0
    per_host: int = 2
    """Fetches of one host at once."""
    spacing_s: float = 0.5
    """Between the starts of two fetches of one host."""
    parse_s: float = 20.0
    """Of one document; the parsing process is killed then."""
    parse_bytes: int = 1_500_000_000
    """Address space of a parsing process."""
    parsers: int = 2
    pdf_pages: int = 150
    text_chars: int = 400_000
    """Characters of a page that are kept; a longer one is flagged ``truncated``."""
    search_s: float = 20.0
    arxiv_s: float = 60.0
    arxiv_delay_s: float = 3.0
    """Between two requests to arXiv, by its terms of use."""
    github_s: float = 60.0
    github_delay_s: float = 0.25
    rate_limit_wait_s: float = 15.0
    """The longest wait for a rate limit to lift; a longer one is a result, not a sleep."""


@dataclass(frozen=True)
class Endpoints:
    """Where the tools ask. Tests point these at local servers, in code only: no setting, no environment variable."""

    allow: frozenset[tuple[str, int]] = frozenset()
    """(host, port) pairs that the guard lets through whatever address they have."""
    resolver: Resolver | None = None
    ca_file: str | None = None
    ddgs: Mapping[str, str] = field(default_factory=dict)
    """Search address of an engine of the ddgs package, by its name."""
    serper: str = "https://google.serper.dev/search"
    tavily: str = "https://api.tavily.com/search"
    brave: str = "https://api.search.brave.com/res/v1/web/search"
    wayback: str = "https://archive.org/wayback/available"
    wayback_pages: str = "https://web.archive.org/web/"
    doi: str = "https://doi.org/"
    crossref: str = "https://api.crossref.org/works/"
    openalex: str = "https://api.openalex.org/works/doi:"
    arxiv: str = "https://export.arxiv.org/api/query?{}"
    arxiv_pdf: str = "https://arxiv.org/pdf/"
    github: str = "https://api.github.com"
    github_raw: str = "https://raw.githubusercontent.com/"
