"""What is configured, reachable and missing. Names of keys, never their values; each check has a time limit."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from ..errors import DreamError
from ..models import describe, is_local, known_keys
from ..tools import DEFAULT_SEARCH
from ..tools import known_keys as tool_keys
from . import checked
from .ask import default_ledger

State = Literal["ok", "note", "bad"]
LIMIT_S = 8.0
"""A check that takes longer is told as such."""
CONNECT_S = 4.0
SEARCH_HOSTS = {
    "ddgs": "https://duckduckgo.com",
    "serper": "https://google.serper.dev",
    "tavily": "https://api.tavily.com",
    "brave": "https://api.search.brave.com",
}
SEARCH_KEYS = {"serper": "SERPER_API_KEY", "tavily": "TAVILY_API_KEY", "brave": "BRAVE_API_KEY"}


@dataclass(frozen=True)
class Check:
    """What one check found. ``bad``: an evaluation with the defaults would not work."""

    name: str
    state: State
    found: str


Checker = Callable[[], tuple[State, str]]


async def examine(judge: str | None = None, search: Sequence[str] = (), ledger: Path | None = None) -> list[Check]:
    """Make all checks at the same time, each at most 8 seconds. Nothing is sent but connections being opened."""
    name, backends = checked.judge(judge), tuple(search) or DEFAULT_SEARCH
    checks: list[tuple[str, Checker]] = [
        ("python", _python),
        ("judge", lambda: _judge(name)),
        ("keys", _keys),
        ("embedded judge", lambda: _embedded(needed=is_local(name))),
        ("sandbox", _sandbox),
        ("ledger", lambda: _ledger(ledger or default_ledger())),
        *((f"search {entry}", lambda entry=entry: _search(entry)) for entry in backends),
    ]
    return list(await asyncio.gather(*(_timed(name, check) for name, check in checks)))


async def _timed(name: str, check: Checker) -> Check:
    try:
        state, found = await asyncio.wait_for(asyncio.to_thread(check), LIMIT_S)
    except TimeoutError:
        return Check(name, "bad", f"no answer within {LIMIT_S:.0f} s")
    except (DreamError, OSError) as error:
        return Check(name, "bad", str(error))
    except Exception as error:
        return Check(name, "bad", f"{type(error).__name__}: {error}")
    return Check(name, state, found)


def _python() -> tuple[State, str]:
    from dream_eval import __version__

    return "ok", f"dream-eval {__version__}, Python {platform.python_version()}, {os.cpu_count()} cores"


def _judge(name: str) -> tuple[State, str]:
    if is_local(name):
        return "ok", f"{name}: the embedded judge (weak; it needs no key). Another one: --judge or DREAM_JUDGE"
    known = describe(name)
    if known.key_needed and not known.key_set:
        return "bad", f"{name}: set the variable {known.key_variable} to your key"
    price = (
        "price unknown" if known.price is None else f"${known.price.input:g}/{known.price.output:g} a million tokens"
    )
    where = _reach(known.base_url or "")
    state: State = "bad" if where else "ok"
    return state, f"{name}: {where or 'reachable'}, {price}, context {known.context:,}"


def _keys() -> tuple[State, str]:
    names = known_keys() | tool_keys()
    present = [name for name, there in sorted(names.items()) if there]
    return "note", f"set: {', '.join(present) or 'none'} (values are never shown)"


def _embedded(*, needed: bool) -> tuple[State, str]:
    from ..models.local import embedded_status

    status = embedded_status()
    missing: State = "bad" if needed else "note"
    if not status.runtime:
        return missing, "xllamacpp is not installed: pip install 'dream-eval[local]'"
    if status.path is None:
        return "note", f"model not here yet: {status.bytes_to_fetch / 1e9:.2f} GB are fetched at the first use"
    return "ok", f"model file {status.path}"


def _sandbox() -> tuple[State, str]:
    import datetime as dt

    from ..agents.executor import MontyExecutor

    executor = MontyExecutor(dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    try:
        executor.send_tools({})
        printed = executor("print(1 + 1)").logs
    finally:
        executor.cleanup()
    if "2" not in str(printed):
        return "bad", f"1 + 1 gave {printed!r} in the sandbox"
    return "ok", "model-written code runs in pydantic-monty " + _version_of("pydantic-monty")


def _ledger(path: Path) -> tuple[State, str]:
    if not path.exists():
        parent = next(p for p in path.parents if p.exists())
        writable = os.access(parent, os.W_OK)
        return ("ok" if writable else "bad"), f"{path}: {'made' if writable else 'cannot be made'} at the first use"
    with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=2) as db:
        calls = db.execute("SELECT count(*) FROM calls").fetchone()[0]
    return "ok", f"{path}: {calls:,} calls, {path.stat().st_size / 1e6:.1f} MB"


def _search(entry: str) -> tuple[State, str]:
    kind, _, where = entry.partition(":")
    if kind == "corpus":
        return ("ok", "there") if Path(where).exists() else ("bad", "no such file or folder")
    variable = SEARCH_KEYS.get(kind)
    if variable and not os.environ.get(variable):
        return "bad", f"set the variable {variable} to your key"
    problem = _reach(where if kind == "searxng" else SEARCH_HOSTS.get(kind, ""))
    if problem:
        return "bad", f"{problem}; without it: --search with another back end, or corpus:FILE, which needs no network"
    return "ok", "reachable"


def _reach(url: str) -> str:
    """Why a connection to the address cannot be opened; empty when it can."""
    parts = urlsplit(url)
    if not parts.hostname:
        return "unknown address"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=CONNECT_S).close()
    except OSError as error:
        return f"{parts.hostname} cannot be reached ({error.strerror or error})"
    return ""


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(unknown version)"
