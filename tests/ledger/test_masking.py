from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from dream_eval.errors import ToolFailed
from dream_eval.ledger import Answer, Kind, Ledger, Mode, Request, find_call, scope
from dream_eval.ledger.masking import MASK, Masker
from hypothesis import given
from hypothesis import strategies as st

SECRET = 'sk-Marker "7/+ä=&\\x'
FORMS = [SECRET, quote(SECRET), quote(SECRET, safe=""), quote_plus(SECRET), json.dumps(SECRET)[1:-1]]
FORMS += [json.dumps(SECRET, ensure_ascii=False)[1:-1], base64.b64encode(SECRET.encode()).decode()]


def everything(path: Path) -> bytes:
    """All bytes of the ledger's files, compressed ones unpacked too."""
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir())
    with closing(sqlite3.connect(path)) as db:
        return raw + b"".join(zlib.decompress(data) for (data,) in db.execute("SELECT data FROM blobs"))


async def fill(ledger: Ledger, form: str) -> None:
    async def answer() -> Answer:
        return Answer({"echo": [f"<{form}>"], form: 1}, blob=f"page {form}".encode(), usable=False, reason=f"r {form}")

    async def fail() -> Answer:
        raise ToolFailed(f"GET https://api.example/?key={form} failed", subject=f"https://api.example/?key={form}")

    long = "x" * 4090 + form + "y" * 5000  # over the border of two pieces
    with scope(f"scope {form}"):
        body = {"query": f"q {form}", "nested": {"list": [form]}, "long": long}
        await ledger.call(Request(Kind.SEARCH, f"https://e/{form}", body), answer)
        with pytest.raises(ToolFailed) as caught:
            await ledger.call(Request(Kind.PAGE, "web", {"url": form}), fail)
        assert form not in str(caught.value)
        assert form not in caught.value.subject
    record = await ledger.call(Request(Kind.SEARCH, "spoiled", {}), answer)
    ledger.spoil(record.id, f"spoiled by {form}")


@pytest.mark.parametrize("form", FORMS)
async def test_a_known_secret_is_nowhere_in_the_file(tmp_path: Path, form: str) -> None:
    hidden, plain = tmp_path / "hidden" / "l.sqlite", tmp_path / "plain" / "l.sqlite"
    with Ledger.open(hidden, run="r", secrets=[SECRET]) as ledger:
        await fill(ledger, form)
    with Ledger.open(plain, run="r") as ledger:  # the search itself finds what is there

        async def answer() -> Answer:
            return Answer(form, blob=form.encode())

        await ledger.call(Request(Kind.PAGE, "web", {"url": form}), answer)
    spelled = {form.encode(), json.dumps(form)[1:-1].encode(), json.dumps(form, ensure_ascii=False)[1:-1].encode()}
    assert any(spelling in everything(plain) for spelling in spelled)
    assert not any(spelling in everything(hidden) for spelling in spelled)
    assert b"Marker" not in everything(hidden)


async def test_what_is_given_live_is_masked_as_in_replay(path: Path) -> None:
    request = Request(Kind.PAGE, "web", {"url": "https://a.example/"})

    async def answer() -> Answer:
        return Answer({"text": f"key is {SECRET}"}, blob=SECRET.encode())

    with Ledger.open(path, run="r", secrets=[SECRET]) as ledger:
        live = await ledger.call(request, answer)
    with Ledger.open(path, run="r", mode=Mode.REPLAY) as ledger:
        replayed = await ledger.call(request, answer)
    assert live.body == replayed.body == {"text": f"key is {MASK}"}
    assert live.blob == replayed.blob == MASK.encode()


async def test_keys_that_are_learned_later_are_masked_from_then_on(path: Path, ask: Any, outside: Any) -> None:
    with Ledger.open(path, run="r") as ledger:
        ledger.hide("later-key-1", "", "EMPTY")
        record = await ledger.call(ask(), outside("later-key-1 and EMPTY words"))
    assert record.body == f"{MASK} and EMPTY words"


async def test_a_long_request_reads_back_masked(path: Path, outside: Any) -> None:
    body = {"long": "a" * 4090 + SECRET + "b" * 9000, "short": "ä", "list": ["\ud800" * 5000, {"n": 1}]}
    request = Request(Kind.PAGE, "web", body)
    with Ledger.open(path, run="r", secrets=[SECRET]) as ledger:
        await ledger.call(request, outside())
    found = find_call(path, request.key[:10]).request
    assert found == {**body, "long": "a" * 4090 + MASK + "b" * 9000}


@given(st.text(min_size=8).filter(lambda s: len(s.strip()) >= 8), st.text(), st.text())
def test_no_secret_survives_whatever_its_characters(secret: str, before: str, after: str) -> None:
    if "\ud800" <= max(secret + before + after, default="") <= "\udfff":
        return
    if secret.strip() in MASK:
        return
    masker = Masker([secret])
    assert secret.strip() not in masker.text(before + secret.strip() + after).replace(MASK, "\0")
