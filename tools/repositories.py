"""GitHub as an evaluator needs it: repositories as of a day, and clear words where it cannot tell.

README and releases are those of the day; stars are today's, since GitHub keeps no history of them. A rate limit that
lifts later than we may wait is a result that says when, never a sleep.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import time
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..core import Json, SearchState
from ..ledger import Answer
from ..reports import scalar_json
from .limits import Endpoints, ToolLimits

if TYPE_CHECKING:
    from github import Github, GithubRetry
    from github.GithubException import GithubException
    from github.Repository import Repository

_README_CHARS = 100_000
_RELEASES = 60
"""Newest releases that are looked through for the last one before the day."""


class GitHub:
    """Asks GitHub; answers are ``{"state", "reason", "repositories": […]}``, the README as the blob."""

    def __init__(self, limits: ToolLimits, endpoints: Endpoints, token: str | None = None) -> None:
        self._limits, self._url, self._token = limits, endpoints.github, token
        self._made: Github | None = None

    async def search(self, query: str, *, limit: int, day: dt.date) -> Answer:
        """Repositories made on or before ``day``, by GitHub's best match."""

        def ask() -> Answer:
            found: Any = self._github().search_repositories(f"{query} created:<={day.isoformat()}")
            repositories = [_summary(repository) for repository in islice(found, limit)]
            return _answer(SearchState.OK if repositories else SearchState.EMPTY, repositories=repositories)

        return await self._run(ask)

    async def read(self, name: str, *, day: dt.date) -> Answer:
        """One repository with its README and latest release as of ``day``. State empty: there is no such repository."""

        def ask() -> Answer:
            repository = self._github().get_repo(name)
            summary = _summary(repository)
            text, commit = _readme(repository, day)
            summary |= {"latest_release": _release(repository, day), "readme_commit": commit}
            return _answer(SearchState.OK, repositories=[summary], blob=text.encode("utf-8", "replace") or None)

        return await self._run(ask)

    async def code(self, query: str, *, limit: int) -> Answer:
        """Files that hold the query, as GitHub's index has them now. Needs a token."""

        def ask() -> Answer:
            items: Any = islice(self._github().search_code(query), limit)
            found: list[Json] = [
                {"repository": item.repository.full_name, "path": item.path, "url": item.html_url} for item in items
            ]
            answer = _answer(SearchState.OK if found else SearchState.EMPTY)
            assert isinstance(answer.body, dict)
            return Answer(body={**answer.body, "files": scalar_json(found)})

        if not self._token:
            return _answer(SearchState.FAILED, "code search needs GITHUB_TOKEN")
        return await self._run(ask)

    async def _run(self, ask: Callable[[], Answer]) -> Answer:
        import requests
        from github import GithubException

        try:
            async with asyncio.timeout(self._limits.github_s):
                return await asyncio.to_thread(ask)
        except TimeoutError:
            return _answer(SearchState.FAILED, f"no answer within {self._limits.github_s:g} s")
        except GithubException as error:
            return _refused(error)
        except requests.RequestException as error:
            return _answer(SearchState.FAILED, f"GitHub: {type(error).__name__}")
        except (ValueError, AssertionError, TypeError, KeyError, AttributeError, IndexError):
            return _answer(SearchState.FAILED, "GitHub: an answer that is not GitHub's")

    def _github(self) -> Github:
        if self._made is None:
            from github import Auth, Github

            self._made = Github(
                auth=Auth.Token(self._token) if self._token else None,
                base_url=self._url,
                timeout=15,
                per_page=30,
                retry=_retry(self._limits.rate_limit_wait_s),
                seconds_between_requests=self._limits.github_delay_s,
            )
        return self._made

    def close(self) -> None:
        """Close the connections."""
        if self._made is not None:
            self._made.close()


def _retry(longest: float) -> GithubRetry:
    from github import GithubRetry
    from github.GithubException import RateLimitExceededExceedsMaxWait

    class Retry(GithubRetry):
        """Never sleeps longer than ``longest`` seconds for a Retry-After either."""

        def increment(self, *args: Any, **kwargs: Any) -> Any:
            response = kwargs.get("response") or (args[2] if len(args) > 2 else None)
            after = self.get_retry_after(response) if response is not None else None
            if response is not None and after and after > longest:
                data, headers = {"message": "Retry-After"}, dict(response.headers)
                raise RateLimitExceededExceedsMaxWait(response.status, data, headers, wait=after)
            return super().increment(*args, **kwargs)

    return Retry(total=2, secondary_rate_wait=longest, max_rate_limit_wait=longest)


def _refused(error: GithubException) -> Answer:
    from github import BadCredentialsException, RateLimitExceededException, UnknownObjectException
    from github.GithubException import RateLimitExceededExceedsMaxWait

    if isinstance(error, UnknownObjectException):
        return _answer(SearchState.EMPTY, "GitHub: no such repository")
    if isinstance(error, RateLimitExceededException | RateLimitExceededExceedsMaxWait) or error.status == 429:
        return _answer(SearchState.BLOCKED, f"GitHub: rate limit, {_lifts(error.headers or {})}")
    if isinstance(error, BadCredentialsException):
        return _answer(SearchState.FAILED, "GitHub: the token in GITHUB_TOKEN is refused")
    message = error.data.get("message", "") if isinstance(error.data, dict) else ""
    state = SearchState.BLOCKED if error.status in (403, 451) else SearchState.FAILED
    return _answer(state, f"GitHub: status {error.status} {str(message)[:120]}".strip())


def _lifts(headers: dict[str, Any]) -> str:
    """When a rate limit lifts, from its headers."""
    low = {str(name).lower(): str(value) for name, value in headers.items()}
    reset, after = low.get("x-ratelimit-reset", ""), low.get("retry-after", "")
    seconds = int(reset) if reset.isdigit() else int(time.time()) + int(after) if after.isdigit() else None
    if seconds is None:
        return "and it does not say when it lifts"
    return f"lifts at {dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M:%S} UTC"


def _summary(repository: Repository) -> dict[str, Json]:
    licence = repository.license
    return {
        "name": repository.full_name,
        "description": repository.description or "",
        "url": repository.html_url,
        "stars": repository.stargazers_count,
        "licence": (licence.spdx_id or licence.name) if licence else None,
        "created": _day(repository.created_at),
        "pushed": _day(repository.pushed_at),
    }


def _day(moment: dt.datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


def _readme(repository: Repository, day: dt.date) -> tuple[str, str | None]:
    """README at the last commit on or before ``day``; nothing when there was none."""
    from github import GithubException, UnknownObjectException

    end = dt.datetime.combine(day, dt.time(23, 59, 59), dt.UTC)
    try:
        commit = next(iter(repository.get_commits(until=end)), None)
        if commit is None:
            return "", None
        text = repository.get_readme(ref=commit.sha).decoded_content.decode("utf-8", "replace")
    except UnknownObjectException:
        return "", None
    except GithubException as error:
        if error.status == 409:  # an empty repository
            return "", None
        raise
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)[:_README_CHARS], commit.sha


def _release(repository: Repository, day: dt.date) -> str | None:
    for number, release in enumerate(repository.get_releases()):
        if number >= _RELEASES:
            return None
        if release.published_at and release.published_at.date() <= day and not release.draft:
            return f"{release.tag_name} ({release.published_at.date().isoformat()})"
    return None


def _answer(
    state: SearchState, reason: str = "", repositories: list[dict[str, Json]] | None = None, blob: bytes | None = None
) -> Answer:
    usable = state in (SearchState.OK, SearchState.EMPTY)
    body: Json = {"state": state.value, "reason": reason, "repositories": scalar_json(repositories or [])}
    return Answer(body=body, blob=blob, usable=usable, reason="" if usable else reason)
