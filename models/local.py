"""The embedded judge: a small model served by llama.cpp on loopback, in a process of its own.

It makes everything work without a key or an account, and it is weak as a judge. Nothing heavy is imported here: the
runtime (``xllamacpp``) is loaded in the served process only.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .local_files import ModelFile, cache_folder, find_model, named_file
from .local_origin import DEFAULT, Notify, Progress
from .local_process import CONTEXT, hold, let_go

__all__ = [
    "CONTEXT",
    "DEFAULT_SHA256",
    "EmbeddedServer",
    "EmbeddedStatus",
    "Notify",
    "Progress",
    "embedded_status",
    "serve_embedded",
    "serve_file",
]

DEFAULT_SHA256 = DEFAULT.sha256
"""Of the model that is served when ``DREAM_LOCAL_MODEL`` names no other."""

RUNTIME = "xllamacpp"


@dataclass(frozen=True)
class EmbeddedServer:
    """A running model."""

    base_url: str
    """OpenAI-compatible, ends in ``/v1``; needs no key."""
    sha256: str
    context: int
    """Tokens, prompt and answer together. The same for every file, so that a replay needs no file."""
    name: str
    """``local``, or ``local:`` and the first 12 hex digits of another file's SHA-256."""


@dataclass(frozen=True)
class EmbeddedStatus:
    """What starting the embedded judge would take."""

    path: Path | None
    """The file that would be used; None: it has to be fetched first."""
    bytes_to_fetch: int
    runtime: bool
    runtime_version: str | None


def embedded_status() -> EmbeddedStatus:
    """Look, without network, at what is here. UserError when ``DREAM_LOCAL_MODEL`` names no model file."""
    path = named_file() or cache_folder() / DEFAULT.name
    here = path.is_file()
    runtime = importlib.util.find_spec(RUNTIME) is not None
    version = importlib.metadata.version(RUNTIME) if runtime else None
    return EmbeddedStatus(path if here else None, 0 if here else DEFAULT.size, runtime, version)


@asynccontextmanager
async def serve_embedded(notify: Notify | None = None) -> AsyncIterator[EmbeddedServer]:
    """Serve the embedded judge for as long as the context lasts, fetching its file first where need be.

    One server a process: who comes second shares it, who leaves last stops it, and it never outlives the process.
    ``notify`` is told what takes long, in lines to show. UserError, in one line, when it cannot be had or started.
    """
    tell = notify or _silent
    if importlib.util.find_spec(RUNTIME) is None:
        raise UserError(
            f"the embedded judge needs {RUNTIME}: pip install 'dream-eval[local]', or choose another with --judge"
        )
    async with serve_file(await find_model(tell), tell) as server:
        yield server


@asynccontextmanager
async def serve_file(file: ModelFile, notify: Notify | None = None) -> AsyncIterator[EmbeddedServer]:
    """Serve one model file; otherwise like :func:`serve_embedded`."""
    address = await hold(file.path, notify or _silent)
    try:
        name = "local" if file.sha256 == DEFAULT_SHA256 else f"local:{file.sha256[:12]}"
        yield EmbeddedServer(f"{address}/v1", file.sha256, CONTEXT, name)
    finally:
        await asyncio.shield(asyncio.to_thread(let_go, file.path))


def _silent(progress: Progress) -> None:
    """Nobody wants to know."""
