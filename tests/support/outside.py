"""All the tools' addresses on one local server, and limits for tests that wait for nobody."""

import datetime as dt

from dream_eval.tools import Endpoints, NoSuchHost, ToolLimits

DAY = dt.date(2026, 5, 1)
LIMITS = ToolLimits(
    fetch_s=30.0,
    spacing_s=0.0,
    retry_wait_s=0.02,
    max_bytes=600_000,
    max_pdf_bytes=2_000_000,
    parse_s=60.0,
    search_s=30.0,
    arxiv_s=30.0,
    arxiv_delay_s=0.0,
    github_delay_s=0.0,
    rate_limit_wait_s=1.0,
)


def ends(server, **more):
    """Endpoints on one server."""
    url = server.url
    allow = set(more.pop("allow", ())) | {("127.0.0.1", server.port)}
    places = {
        "wayback": f"{url}/wayback",
        "wayback_pages": f"{url}/web/",
        "doi": f"{url}/doi/",
        "crossref": f"{url}/crossref/",
        "openalex": f"{url}/openalex/",
        "arxiv": f"{url}/api/query?{{}}",
        "arxiv_pdf": f"{url}/arxiv-pdf/",
        "github": f"{url}/api",
        "github_raw": f"{url}/raw/",
        "serper": f"{url}/serper",
        "tavily": f"{url}/tavily",
        "brave": f"{url}/brave-api",
        "ddgs": {name: f"{url}/{name}" for name in ("duckduckgo", "brave", "mojeek")},
    }
    return Endpoints(allow=frozenset(allow), **(places | more))


async def nowhere(host, port):
    """A resolver that knows no name."""
    raise NoSuchHost(f"no such host: {host}")
