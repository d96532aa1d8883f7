"""Protocol files: one JSON file each, versioned, sealed with a digest, written atomically."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from ..core import Json
from ..errors import InputError
from .schema import SCHEMA_VERSION, Protocol

_UNSEALED = {"maker", "created_at", "flags", "digest", "schema_version"}
"""Fields that the digest leaves out: two makers of the same items made the same protocol."""


def digest_of(protocol: Protocol) -> str:
    """SHA-256 (64 hex digits) over task, as-of date and items."""
    return sha256(protocol.model_dump(mode="json", exclude=_UNSEALED))


def items_digest(protocol: Protocol, field: str) -> str:
    """SHA-256 of just ``key_questions`` or ``reasoning_questions``: what one metric depends on."""
    return sha256(protocol.model_dump(mode="json", include={field}))


def seal(protocol: Protocol) -> Protocol:
    """The protocol with its digest filled in."""
    return protocol.model_copy(update={"digest": digest_of(protocol)})


def save_protocol(protocol: Protocol, path: Path | str) -> Path:
    """Write the sealed protocol so that a reader sees the old file or the new one, never half of one."""
    return write_text(path, seal(protocol).model_dump_json(indent=2) + "\n")


def write_text(path: Path | str, text: str) -> Path:
    """Write a file at once or not at all, with the folders above it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def load_protocol(path: Path | str) -> Protocol:
    """Read a protocol file.

    A file that was changed by hand after it was sealed is sealed anew and gets the flag ``edited``.
    Raises InputError (with line or field) for anything that is not a protocol of a known version.
    """
    path = Path(path)
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise InputError("not a protocol: the file holds no JSON object", path=path)
    check_version(raw.get("schema_version"), path)
    try:
        protocol = Protocol.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(first["msg"], path=path, field=field or None) from None
    _check_ids(protocol, path)
    if protocol.digest == digest_of(protocol):
        return protocol
    flags = protocol.flags if "edited" in protocol.flags else (*protocol.flags, "edited")
    return seal(protocol.model_copy(update={"flags": flags}))


def read_json(path: Path) -> Json:
    """The value in a JSON file. Raises InputError, with the line where it is no JSON."""
    try:
        value: Json = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(value, ensure_ascii=False).encode()
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", path=path) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", path=path, line=error.lineno) from None
    except UnicodeEncodeError:
        raise InputError("holds half a character (a lone surrogate such as \\ud800)", path=path) from None
    except RecursionError:
        raise InputError("nested too deeply", path=path) from None
    return value


def check_version(version: Json, path: Path, *, known: int = SCHEMA_VERSION) -> None:
    """Whether a file's ``schema_version`` is one that can be read. Raises InputError."""
    if isinstance(version, bool) or not isinstance(version, int):
        raise InputError("is missing or no whole number", path=path, field="schema_version")
    if version > known:
        message = f"version {version} was made by a newer dream-eval; this one reads up to {known}"
        raise InputError(message, path=path, field="schema_version")
    if version < 1:
        raise InputError(f"there is no version {version}", path=path, field="schema_version")


def _check_ids(protocol: Protocol, path: Path) -> None:
    for field in ("key_questions", "reasoning_questions"):
        seen: set[str] = set()
        for index, question in enumerate(getattr(protocol, field)):
            if question.id in seen:
                raise InputError(f"the id {question.id} is used twice", path=path, field=f"{field}.{index}.id")
            seen.add(question.id)


def sha256(value: Json) -> str:
    """SHA-256 (64 hex digits) over a value as canonical JSON."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
