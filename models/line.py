"""The line to one endpoint: one client and one limiter for all who call it with the same key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..reports import scalar_json
from .data import Limits
from .dialect import Dialect
from .faults import Failed, Fault, Trouble, from_exception, from_parts
from .limiter import Limiter

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NO_KEY = "none"


@dataclass
class Line:
    """An open line. Lives in the event loop that opened it."""

    new_client: Callable[[], AsyncOpenAI]
    limiter: Limiter
    dialects: dict[str, Dialect] = field(default_factory=dict)
    """What each model was found to understand."""
    users: int = 0
    reached: bool = False
    """Something has answered here since the line was opened."""

    @cached_property
    def client(self) -> AsyncOpenAI:
        """Made for the first call: a run that the ledger answers does without, and saves half a second."""
        return self.new_client()

    async def close(self) -> None:
        """Close the client, if there is one."""
        if "client" in self.__dict__:
            await self.client.close()

    async def post(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """One try: send ``arguments`` and return the reply as plain JSON. Failed."""
        import httpx
        import openai

        try:
            # chat.completions.create walks through all messages by their types: a quarter of what a call takes.
            raw = await self.client.post("/chat/completions", body=arguments, cast_to=httpx.Response)
        except openai.APIError as error:
            trouble = from_exception(error)
            self.reached = self.reached or not trouble.unreachable
            raise Failed(trouble) from error
        self.reached = True
        return _decode(raw.content, raw.status_code, raw.headers)


def _decode(content: bytes, status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    try:
        data = scalar_json(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise Failed(Trouble(Fault.TRANSIENT, f"the endpoint sent no JSON ({len(content)} bytes)", status)) from error
    if not isinstance(data, dict):
        raise Failed(Trouble(Fault.TRANSIENT, "the endpoint sent JSON that is no object", status))
    fault = data.get("error")
    if fault and not data.get("choices"):  # some proxies put errors into a reply with status 200
        code = fault.get("code") if isinstance(fault, dict) else None
        raise Failed(from_parts(code if isinstance(code, int) and code >= 400 else 502, fault, headers))
    return data


_lines: dict[tuple[int, str, str], Line] = {}


@asynccontextmanager
async def open_line(
    base_url: str,
    key: str | None,
    limits: Limits,
    *,
    alone: bool = False,
    own: bool = False,
    limiter: Limiter | None = None,
) -> AsyncIterator[Line]:
    """The line to ``base_url``, shared while it is open by all of this loop with the same key. ``alone``: one call
    at a time; ``own``: a server of the user's own, reached without any proxy that the environment names."""
    name = (id(asyncio.get_running_loop()), base_url, key or "")
    line = _lines.get(name)
    if line is None:
        line = _lines[name] = _new(base_url, key, limits, alone, own)
        line.limiter = limiter or line.limiter
    line.users += 1
    try:
        yield line
    finally:
        line.users -= 1
        if not line.users:
            del _lines[name]
            await line.close()


def _new(base_url: str, key: str | None, limits: Limits, alone: bool, own: bool) -> Line:
    seconds = limits.timeout_s * (4 if alone else 1)

    def new_client() -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        timeout = Timeout(seconds, connect=limits.connect_s)
        transport = DefaultAsyncHttpxClient(timeout=timeout, trust_env=not own)
        return AsyncOpenAI(
            base_url=base_url, api_key=key or _NO_KEY, max_retries=0, timeout=timeout, http_client=transport
        )

    return Line(new_client, Limiter(1 if alone else limits.concurrency))
