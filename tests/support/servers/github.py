"""GitHub's REST interface over a few repositories, with history, releases and rate limits."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from servers.web import Reply, Seen, json_reply


@dataclass
class FakeRepository:
    """A repository; ``readmes``: (day, text) of each commit that changed it, oldest first."""

    name: str
    description: str = "A thing"
    stars: int = 7
    created: str = "2020-01-01"
    readmes: list[tuple[str, str]] = field(default_factory=list)
    releases: list[tuple[str, str]] = field(default_factory=list)
    licence: str | None = "MIT"


class FakeGitHub:
    """A route for :class:`servers.web.WebServer`: mount at ``*`` and use ``{server.url}/api`` as base."""

    def __init__(self, repositories: list[FakeRepository], base: str = "/api") -> None:
        self.repositories = {repository.name: repository for repository in repositories}
        self.base = base
        self.limit: Reply | None = None
        self.tokens: list[str] = []

    def __call__(self, seen: Seen) -> Reply:
        self.tokens.append(seen.headers.get("authorization", ""))
        if self.limit is not None:
            return self.limit
        parts = urlsplit(seen.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        root = f"http://{seen.host}{self.base}"
        path = parts.path.removeprefix(self.base)
        if path == "/search/repositories":
            return self._search(asked, root)
        if path == "/search/code":
            return self._code(root)
        found = re.match(r"/repos/([^/]+/[^/]+)(/.*)?$", path)
        repository = self.repositories.get(found.group(1)) if found else None
        if found is None or repository is None:
            return json_reply({"message": "Not Found"}, 404)
        return self._part(repository, found.group(2) or "", asked, root)

    def _part(self, repository: FakeRepository, part: str, asked: dict[str, str], root: str) -> Reply:
        if part == "":
            return json_reply(_repository(repository, root))
        if part == "/commits":
            commits = [c for c in repository.readmes if c[0] <= asked.get("until", "9999")[:10]]
            return json_reply([_commit(repository, day, root) for day, _ in reversed(commits)])
        if part == "/readme":
            text = dict(repository.readmes).get(asked["ref"].removeprefix("sha-"))
            return json_reply(_content(text)) if text else json_reply({"message": "Not Found"}, 404)
        if part == "/releases":
            return json_reply([_release(tag, day, i) for i, (tag, day) in enumerate(reversed(repository.releases))])
        return json_reply({"message": "Not Found"}, 404)

    def _search(self, asked: dict[str, str], root: str) -> Reply:
        until = re.search(r"created:<=(\S+)", asked["q"])
        words = re.sub(r"created:\S+", "", asked["q"]).split()
        items = [
            _repository(r, root)
            for r in self.repositories.values()
            if all(w.lower() in f"{r.name} {r.description}".lower() for w in words)
            and (until is None or r.created <= until.group(1))
        ]
        return json_reply({"total_count": len(items), "incomplete_results": False, "items": items})

    def _code(self, root: str) -> Reply:
        repository = next(iter(self.repositories.values()))
        item = {
            "name": "a.py",
            "path": "src/a.py",
            "sha": "1",
            "url": f"{root}/x",
            "html_url": f"https://github.com/{repository.name}/blob/main/src/a.py",
            "repository": _repository(repository, root),
            "score": 1.0,
        }
        return json_reply({"total_count": 1, "incomplete_results": False, "items": [item]})


def _repository(r: FakeRepository, root: str) -> dict[str, Any]:
    return {
        "id": 1,
        "name": r.name.split("/")[1],
        "full_name": r.name,
        "description": r.description,
        "url": f"{root}/repos/{r.name}",
        "html_url": f"https://github.com/{r.name}",
        "stargazers_count": r.stars,
        "created_at": f"{r.created}T00:00:00Z",
        "pushed_at": "2025-12-01T00:00:00Z",
        "license": {"key": r.licence.lower(), "name": r.licence, "spdx_id": r.licence} if r.licence else None,
    }


def _commit(r: FakeRepository, day: str, root: str) -> dict[str, Any]:
    return {"sha": f"sha-{day}", "url": f"{root}/repos/{r.name}/commits/sha-{day}", "commit": {"message": "x"}}


def _content(text: str) -> dict[str, Any]:
    data = base64.b64encode(text.encode()).decode()
    return {"type": "file", "name": "README.md", "path": "README.md", "encoding": "base64", "content": data, "sha": "1"}


def _release(tag: str, day: str, number: int) -> dict[str, Any]:
    return {"id": number + 1, "tag_name": tag, "name": tag, "draft": False, "published_at": f"{day}T00:00:00Z"}


def rate_limit(reset: int, *, secondary: bool = False) -> Reply:
    """The primary limit, lifting at ``reset`` (seconds since 1970), or a secondary one with Retry-After."""
    if secondary:
        message = "You have exceeded a secondary rate limit"
        return json_reply({"message": message}, 403, **{"Retry-After": str(reset)})
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "60", "X-RateLimit-Reset": str(reset)}
    return json_reply({"message": "API rate limit exceeded for 192.0.2.1."}, 403, **headers)
