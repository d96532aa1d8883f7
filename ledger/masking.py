"""Keeping the values of configured keys out of everything that is written."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "[masked]"
SHORTEST = 8
"""Shorter values are dummies such as ``EMPTY``, not keys; masking them would spoil ordinary text."""


def forms(secret: str) -> set[str]:
    """The spellings of ``secret`` that can turn up in text: as it is, in a URL, in base64, and each of these in JSON
    and in JSON within JSON. For a key of letters and digits that is two spellings."""
    found = {
        secret,
        *(as_url(secret, safe="", errors="replace") for as_url in (quote, quote_plus)),
        quote(secret, errors="replace"),
    }
    found.add(base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode())
    for _ in range(2):
        found |= {json.dumps(form, ensure_ascii=plain)[1:-1] for form in found for plain in (True, False)}
    return found


class Masker:
    """Replaces known secret values in text and bytes."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        self.hide(secrets)

    def hide(self, secrets: Iterable[str]) -> None:
        """Mask these values from now on; those under 8 characters are left alone."""
        known = set(self._forms)
        for secret in secrets:
            if len(secret.strip()) >= SHORTEST:
                known |= forms(secret.strip())
        self._forms = sorted(known, key=len, reverse=True)

    def text(self, text: str) -> str:
        """``text`` without the secrets."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def blob(self, blob: bytes) -> bytes:
        """``blob`` without the secrets, as far as they stand in it in UTF-8."""
        for form in self._forms:
            raw = form.encode("utf-8", "surrogatepass")
            if raw in blob:
                blob = blob.replace(raw, MASK.encode())
        return blob
