"""``dream read``, ``dream search`` and ``dream corpus build``: over a corpus, over sockets, and mistakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from dream_eval.cli import run
from dream_eval.core import PageState
from dream_eval.runs.looking import Look, look_at, web_address
from dream_eval.runs.perform import Outside
from outside import DAY, ends
from servers.search import query_of, searxng_reply
from servers.web import Reply, article, pdf, web_server
from world import write_world

REGISTER = "https://tidal-authority.gov.uk/register"
Dream = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def dream(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dream:
    """The command line in a thread of its own, so that a server of the test can answer it."""
    write_world(tmp_path)
    monkeypatch.chdir(tmp_path)

    async def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = await asyncio.to_thread(run, args)
        return code, *capsys.readouterr()

    return call


async def test_a_page_with_its_facts_and_text(dream: Dream) -> None:
    code, out, err = await dream("read", REGISTER, "--search", "corpus:corpus", "--as-of", "2025-12-31")
    assert (code, err) == (0, "")
    head, _, text = out.partition("\n\n")
    facts = {line[:10].strip(): line[10:] for line in head.splitlines()}
    assert facts["state"] == "ok"
    assert facts["title"] == "Register of tidal plants"
    assert facts["published"] == "2025-03-01"
    assert facts["dating"] == "before: on or before 2025-12-31"
    assert facts["site"] == "tidal-authority.gov.uk"
    assert facts["text"].endswith("characters, 4 sentences")
    assert text.startswith("The register lists every tidal plant.")


async def test_a_page_of_later_says_so(dream: Dream) -> None:
    out = (await dream("read", REGISTER, "--search", "corpus:corpus", "--as-of", "2020-01-01"))[1]
    assert "after: later than 2020-01-01, listed and never decides" in out


async def test_the_second_look_comes_from_the_ledger(dream: Dream) -> None:
    args = ("read", REGISTER, "--search", "corpus:corpus", "--as-of", "2025-12-31", "--ledger", "l.sqlite")
    assert "from      this look" in (await dream(*args))[1]
    assert "from      the ledger" in (await dream(*args))[1]
    assert "from      the ledger" in (await dream(*args, "--ledger-mode", "replay"))[1]
    assert "from      this look" in (await dream(*args, "--ledger-mode", "refresh"))[1]


async def test_numbered_sentences_and_passages(dream: Dream) -> None:
    place = ("read", REGISTER, "--search", "corpus:corpus")
    out = (await dream(*place, "--sentences"))[1]
    assert "[3] The Lindow barrage has 12 turbines.\n[4] The Lindow" in out
    out = (await dream(*place, "--find", "How many turbines?"))[1]
    assert "(characters " in out
    assert "12 turbines" in out
    assert "no passage holds a word of it" in (await dream(*place, "--find", "zebra"))[1]


async def test_a_page_as_json(dream: Dream) -> None:
    args = ("read", REGISTER, "--search", "corpus:corpus", "--json", "--sentences", "--find", "turbines")
    code, out, _ = await dream(*args)
    page = json.loads(out)
    assert (code, page["state"], page["published"], page["flags"]) == (0, "ok", "2025-03-01", [])
    assert [s["number"] for s in page["sentences"]] == [1, 2, 3, 4]
    assert all(page["text"][s["start"] : s["end"]] == s["text"] for s in page["sentences"])
    assert "12 turbines" in " ".join(page["passages"][0]["sentences"])


async def test_a_page_that_cannot_be_read_says_why_and_is_exit_1(dream: Dream) -> None:
    async with web_server({"/p": Reply(article("A", "Text. " * 90))}) as server:
        code, out, err = await dream("read", f"{server.url}/p")
        assert server.seen == []
    assert (code, err) == (1, "")
    assert out.startswith("state     unreachable: refused: 127.0.0.1 is refused: loopback")
    code, out, _ = await dream("read", "https://nowhere.example/", "--search", "corpus:corpus", "--json")
    assert code == 1
    assert json.loads(out)["reason"] == "not in the corpus"
    code, out, _ = await dream(
        "read", REGISTER, "--search", "corpus:corpus", "--exclude-host", "tidal-authority.gov.uk"
    )
    assert (code, out.splitlines()[0]) == (1, "state     unreachable: excluded host")


async def test_what_a_page_says_cannot_steer_the_terminal(dream: Dream, tmp_path: Path) -> None:
    text = "Red \x1b[31m alert\x1b]0;title\x07 \u202eevil\u202c and \x9b2J the rest of it."
    (tmp_path / "evil.jsonl").write_text(
        json.dumps({"url": "https://a.example/", "title": "T\x1b[2J", "text": text, "author": "\x1b[31mA"})
    )
    for extra in ((), ("--sentences",), ("--json",), ("--find", "alert")):
        out = (await dream("read", "https://a.example/", "--search", "corpus:evil.jsonl", *extra))[1]
        assert "alert" in out
        assert not [char for char in out if char in "\x1b\x07\x9b\u202e\u202c"], extra
    out = (await dream("search", "alert", "--search", "corpus:evil.jsonl"))[1]
    assert "T\n" in out
    assert "\x1b" not in out


async def test_pages_of_a_pdf_and_the_live_way(tmp_path: Path) -> None:
    """The very function behind ``dream read``, with the guard open for the test's server."""
    document = pdf(["First page of the study on silt.", "Second page of the study on silt."])
    async with web_server({"/s.pdf": Reply(document, type="application/pdf")}) as server:
        look = Look(as_of=DAY, ledger=tmp_path / "l.sqlite")
        outside = Outside(endpoints=ends(server))
        first = await look_at(f"{server.url}/s.pdf", look, outside=outside)
        again = await look_at(f"{server.url}/s.pdf", look, outside=outside)
    assert (first.page.state, first.recorded, again.recorded) == (PageState.OK, False, True)
    assert again.page == first.page
    assert len(first.page.page_starts) == 2
    assert server.paths().count("/s.pdf") == 1


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" https://a.example/x ", "https://a.example/x"),
        ("doi:10.1000/x", "https://doi.org/10.1000/x"),
        ("DOI: 10.1000/x", "https://doi.org/10.1000/x"),
        ("arXiv:2602.18940v1", "https://arxiv.org/abs/2602.18940v1"),
    ],
)
def test_addresses(text: str, address: str) -> None:
    assert web_address(text) == address


HITS = [(f"https://site{n}.example/page", f"Title {n}", f"River snippet {n}") for n in range(1, 6)]


async def test_a_search_over_a_socket(dream: Dream) -> None:
    async with web_server({"/search": searxng_reply(HITS)}) as server:
        code, out, err = await dream(
            *("search", "river silt", "--search", f"searxng:{server.url}", "--limit", "2", "--language", "de"),
            *("--exclude-host", "site1.example", "--as-of", "2024-01-01"),
        )
        asked = query_of(server.seen[0])
    assert (code, err) == (0, "")
    assert (asked["q"], asked["language"]) == ("river silt", "de")
    assert out.startswith("state     ok: 2 results\nas of     2024-01-01\n")
    lines = [line.strip() for line in out.splitlines() if line]
    assert lines[3:7] == [
        "1  Title 2",
        "https://site2.example/page",
        f"2024-03-03 (after) · searxng:{server.url}",
        "River snippet 2",
    ]
    assert "site1" not in out
    assert "Title 4" not in out


async def test_a_search_that_was_blocked_is_told_from_one_that_found_nothing(dream: Dream) -> None:
    async with web_server({"/search": searxng_reply([], [["google", "CAPTCHA"]])}) as server:
        where = ("--search", f"searxng:{server.url}")
        code, out, _ = await dream("search", "river", *where)
        assert (code, out.split()[1]) == (1, "blocked:")
        assert "google" in out
        server.routes["/search"] = searxng_reply([])
        code, out, _ = await dream("search", "lake", *where)
        assert (code, out.split()[1]) == (0, "empty:")
        code, out, _ = await dream("search", "pond", *where, "--json")
        assert json.loads(out)["state"] == "empty"


async def test_a_corpus_is_built_searched_and_read(dream: Dream, tmp_path: Path) -> None:
    code, out, _ = await dream("corpus", "build", "corpus", "web.sqlite")
    assert code == 0
    assert out.startswith("written: web.sqlite (4 documents)\ndigest: ")
    code, built, _ = await dream("corpus", "build", "corpus", "again.sqlite", "--json")
    assert json.loads(built)["documents"] == 4
    assert f"digest: {json.loads(built)['digest']}\n" in out
    code, found, _ = await dream("search", "turbines", "--search", "corpus:web.sqlite", "--json")
    assert "https://tidal-authority.gov.uk/register" in {hit["url"] for hit in json.loads(found)["hits"]}
    assert (await dream("read", REGISTER, "--search", "corpus:web.sqlite"))[0] == 0


async def test_a_corpus_out_of_what_was_looked_at(dream: Dream) -> None:
    look = ("--search", "corpus:corpus", "--ledger", "l.sqlite")
    await dream("read", REGISTER, *look)
    await dream("read", "https://nowhere.example/", *look)
    await dream("ledger", "export", "look", "--out", "look.sqlite", "--ledger", "l.sqlite")
    for source in ("l.sqlite", "look.sqlite"):
        code, out, _ = await dream("corpus", "build", source, f"from-{source}")
        assert (code, out.splitlines()[0]) == (
            0,
            f"written: from-{source} (1 documents; left out: 1 unreachable)",
        )
        page = json.loads((await dream("read", REGISTER, "--search", f"corpus:from-{source}", "--json"))[1])
        assert (page["published"], page["title"]) == ("2025-03-01", "Register of tidal plants")


MISTAKES = [
    (("read", "report.md"), "is no web address"),
    (("read", "ftp://a.example/"), "is no web address"),
    (("read", "https://a.example/two words"), "is no web address"),
    (("read", REGISTER, "--search", "corpus:nofolder"), "nofolder"),
    (("read", REGISTER, "--search", "nosuch"), "nosuch"),
    (("read", REGISTER, "--as-of", "yesterday"), "YYYY-MM-DD"),
    (("read", REGISTER, "--exclude-host", "nohost"), "names no host"),
    (("read",), "URL"),
    (("search", " "), "the query is empty"),
    (("search", "x", "--limit", "0"), "--limit"),
    (("search", "x", "--search", "serper"), "SERPER_API_KEY"),
    (("corpus", "build", "nofolder", "x.sqlite"), "nofolder: no such file or folder"),
    (("corpus", "build", "corpus", "cited.md"), "exists already"),
    (("corpus", "build", "cited.md", "x.sqlite"), "not a folder, a JSONL or WARC file, or a ledger"),
    (("corpus", "build", "corpus"), "OUT"),
    (("evaluate", "cited.md", "--query", "q", "--exclude-host", "a b"), "names no host"),
    (("protocol", "create", "--query", "q", "--out", "p.json", "--exclude-host", "a b"), "names no host"),
    (("evaluate", "cited.md", "--query", "q", "--tasks", "t.jsonl"), "not both"),
    (("evaluate", "cited.md", "--tasks", "missing.jsonl"), "missing.jsonl"),
    (("evaluate", "http://127.0.0.1:9/report", "--query", "q"), "cannot be fetched: 127.0.0.1 is refused"),
]


@pytest.mark.parametrize(("args", "said"), MISTAKES, ids=[" ".join(args) for args, _ in MISTAKES])
async def test_a_mistake_is_one_line_and_exit_2(dream: Dream, args: tuple[str, ...], said: str) -> None:
    code, out, err = await dream(*args)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("verb", ["read", "search", "corpus build", "lint"])
async def test_help_has_examples(dream: Dream, verb: str) -> None:
    code, out, _ = await dream(*verb.split(), "--help")
    assert code == 0
    assert f"dream {verb}" in out.split("Examples:")[1]
