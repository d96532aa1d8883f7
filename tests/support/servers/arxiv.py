"""arXiv's Atom interface over a few papers, with versions, dates and its kinds of failure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from servers.web import Reply, Seen


@dataclass
class FakePaper:
    """A paper; ``versions``: the day of each."""

    id: str
    title: str
    abstract: str
    versions: list[str]
    authors: list[str] = field(default_factory=lambda: ["Ada Example"])


class FakeArxiv:
    """A route for :class:`servers.web.WebServer`: mount at ``/api/query``."""

    def __init__(self, papers: list[FakePaper]) -> None:
        self.papers = papers
        self.queries: list[dict[str, str]] = []

    def __call__(self, seen: Seen) -> Reply:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(seen.path).query).items()}
        self.queries.append(asked)
        entries = self._by_id(asked["id_list"]) if asked.get("id_list") else self._by_query(asked["search_query"])
        return Reply(feed(entries), type="application/atom+xml")

    def _by_id(self, ids: str) -> list[str]:
        found = []
        for wanted in ids.split(","):
            base, _, version = wanted.partition("v")
            for paper in self.papers:
                if paper.id == base:
                    found.append(entry(paper, int(version) if version else len(paper.versions)))
        return found

    def _by_query(self, query: str) -> list[str]:
        until = re.search(r"TO (\d{8})", query)
        words = [word.lower() for word in re.findall(r"all:(\S+?)(?=[\s)]|$)", query)]
        every = " AND all:" in query
        found = []
        for paper in self.papers:
            text = f"{paper.title} {paper.abstract}".lower()
            hits = [word in text for word in words]
            in_time = until is None or paper.versions[0].replace("-", "") <= until.group(1)
            if in_time and (all(hits) if every else any(hits)):
                found.append(entry(paper, len(paper.versions)))
        return found


def entry(paper: FakePaper, version: int) -> str:
    """An Atom entry."""
    authors = "".join(f"<author><name>{escape(name)}</name></author>" for name in paper.authors)
    return (
        f"<entry><id>http://arxiv.org/abs/{paper.id}v{version}</id><title>{escape(paper.title)}</title>"
        f"<updated>{paper.versions[version - 1]}T00:00:00Z</updated>"
        f"<published>{paper.versions[0]}T00:00:00Z</published>"
        f"<summary>{escape(paper.abstract)}</summary>{authors}"
        f"<link title='pdf' href='http://arxiv.org/pdf/{paper.id}v{version}' rel='related' type='application/pdf'/>"
        f"<category term='cs.CL'/></entry>"
    )


def feed(entries: list[str]) -> str:
    """An Atom feed."""
    return (
        "<?xml version='1.0' encoding='UTF-8'?><feed xmlns='http://www.w3.org/2005/Atom' "
        "xmlns:opensearch='http://a9.com/-/spec/opensearch/1.1/'>"
        f"<opensearch:totalResults>{len(entries)}</opensearch:totalResults>"
        f"<opensearch:startIndex>0</opensearch:startIndex>{''.join(entries)}</feed>"
    )


ERROR = feed(
    [
        "<entry><id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title>"
        "<updated>2024-01-01T00:00:00Z</updated><published>2024-01-01T00:00:00Z</published>"
        "<summary>incorrect id format for xyz</summary></entry>"
    ]
)
