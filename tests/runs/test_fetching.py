"""Reports named by a web address."""

from __future__ import annotations

from pathlib import Path

import pytest
from dream_eval.errors import InputError
from dream_eval.runs.api import prepare
from dream_eval.runs.fetching import fetch, home_of, is_address
from outside import ends
from servers.web import Reply, redirect, web_server

HTML = """<html><body><nav>Menu</nav><article><h1>Tides</h1><p>Tides move water
<a href="https://tides.gov.uk/t">[1]</a>.</p></article></body></html>"""
MARKDOWN = "# Tides\n\nTides move water [1].\n\n## Sources\n\n[1] https://tides.gov.uk/t\n"


@pytest.mark.parametrize(
    ("path", "reply", "name"),
    [
        ("/share/tides", Reply(HTML), "tides"),
        ("/raw/tides.md", Reply(MARKDOWN, type="text/plain"), "tides"),
        ("/share/tides.html", Reply(HTML), "tides"),
    ],
)
async def test_a_page_and_a_file(tmp_path: Path, path: str, reply: Reply, name: str) -> None:
    ledger = tmp_path / "l.sqlite"
    async with web_server({path: reply, "/short": redirect(path)}) as server:
        for address in (path, "/short", path):
            (report,) = await fetch(f"{server.url}{address}", ledger=ledger, endpoints=ends(server))
            assert [source.url for source in report.sources] == ["https://tides.gov.uk/t"]
            assert len(report.marks) == 1
            assert "Menu" not in report.text
    assert report.id == name
    assert server.paths() == [path, "/short", path]  # once each: the third time it came out of the ledger


async def test_what_cannot_be_had(tmp_path: Path) -> None:
    async with web_server({"/empty": Reply("<html><body><script>x()</script></body></html>")}) as server:
        for path, why in (("/gone", "status 404"), ("/empty", "built by scripts")):
            with pytest.raises(InputError, match=why):
                await fetch(f"{server.url}{path}", ledger=tmp_path / "l.sqlite", endpoints=ends(server))
        with pytest.raises(InputError, match="is refused: loopback"):
            await fetch(f"{server.url}/x", ledger=tmp_path / "l.sqlite")


async def test_where_a_report_lives_is_no_evidence_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``prepare`` runs inside this loop; the page comes out of the ledger that was filled over the socket."""
    url, ledger = "https://chat.example/share/Tides", tmp_path / "l.sqlite"
    async with web_server({"*": Reply(MARKDOWN, type="text/markdown")}) as server:

        async def resolve(host: str, port: int) -> list[str]:
            return ["127.0.0.1"]

        outside = ends(server, allow={("chat.example", server.port)}, resolver=resolve)
        url = f"http://chat.example:{server.port}/share/Tides"
        await fetch(url, ledger=ledger, endpoints=outside)
        ask = prepare(url, query="q", judge="local", ledger=ledger, exclude_hosts="www.Other.example")
    assert ask.exclude_hosts == ("chat.example/share/tides", "other.example")
    assert ask.cases[0].system == "Tides"


def test_names() -> None:
    assert is_address("https://a.example/x")
    assert not is_address("report.md")
    assert not is_address(Path("https:/a.example"))
    assert home_of("https://ChatGPT.com/share/abc?x=1#y") == "chatgpt.com/share/abc"
