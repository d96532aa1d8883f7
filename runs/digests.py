"""Digests of plain data."""

from __future__ import annotations

import hashlib
import json

from ..core import Json


def digest(value: Json) -> str:
    """SHA-256 over the value as canonical JSON, 64 hex digits."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
