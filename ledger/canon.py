"""Canonical JSON and digests: equal values give equal text, whatever the order of their keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from ..core import Json

_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(value: Json | Mapping[str, Json]) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces; characters stay as they are.

    Half surrogates, which UTF-8 cannot carry, are written as escapes. ValueError for NaN and infinities.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text if text.isascii() else _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def digest(value: Json | Mapping[str, Json]) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
