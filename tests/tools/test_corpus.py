"""A corpus in its three forms, built from folder, WARC and ledger; and a toolbox that has nothing else."""

import gzip
import json

import pytest
from dream_eval.core import AsOf, Dating, PageState, SearchState
from dream_eval.errors import InputError, UserError
from dream_eval.ledger import Ledger, Mode, export_run
from dream_eval.tools import Corpus, build_corpus, corpus_digest, open_toolbox
from servers.web import Reply, article, pdf, web_server

PAGES = {
    "river": (
        "https://www.rivers.example/report/",
        "Sediment in rivers",
        "2024-03-05",
        "Sediment grew by 12 percent in 2023. It had been stable.",
    ),
    "lake": (
        "https://lakes.example/a?id=1&utm_source=x",
        "Lakes",
        "2026-06-01",
        "Lakes hold sediment too. They are deep.",
    ),
    "han": ("https://zh.example/泥沙", "河流泥沙", "", "二零二三年河流泥沙增加了百分之十二。湖泊没有变化。"),
}


def folder(path):
    path.mkdir(exist_ok=True)
    for name, (url, title, published, text) in PAGES.items():
        date = f"published: {published}\n" if published else ""
        (path / f"{name}.md").write_text(f'---\nurl: {url}\ntitle: "{title}"\n{date}site: {name}\n---\n\n{text}\n')
    (path / "README.md").write_text("# About this corpus\n")
    return path


def jsonl(path):
    rows = [
        {"url": url, "title": title, "published": published or None, "site": name, "text": text}
        for name, (url, title, published, text) in PAGES.items()
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_all_forms_are_one_corpus(tmp_path):
    built = build_corpus(folder(tmp_path / "f"), tmp_path / "c.sqlite")
    digests = {corpus_digest(tmp_path / "f"), corpus_digest(jsonl(tmp_path / "c.jsonl")), built.digest}
    digests.add(corpus_digest(tmp_path / "c.sqlite"))
    assert len(digests) == 1
    assert built.documents == 3
    (tmp_path / "f" / "lake.md").write_text("---\nurl: https://lakes.example/a\n---\nOther words.")
    assert corpus_digest(tmp_path / "f") not in digests


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("river sediment growth 2023", "river"),
        ("sediments of the rivers", "river"),
        ("deep lakes", "lake"),
        ("泥沙增加", "han"),
        ("湖泊", "han"),
    ],
)
def test_search(tmp_path, query, first):
    corpus = Corpus.open(folder(tmp_path / "f"))
    hits = corpus.search(query)
    assert hits[0].url == PAGES[first][0]
    assert hits[0].snippet in PAGES[first][3]


@pytest.mark.parametrize(
    "query", ["", "?!", "the of and", '"quoted" OR (x', "a:b*", "NEAR(x y)", "volcano'; DROP TABLE words"]
)
def test_no_query_breaks_it(tmp_path, query):
    Corpus.open(folder(tmp_path / "f")).search(query)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.rivers.example/report/",
        "http://rivers.example/report",
        "https://rivers.example/report?utm_source=a#top",
        "https://zh.example/%E6%B3%A5%E6%B2%99",
    ],
)
def test_get_under_any_spelling(tmp_path, url):
    corpus = Corpus.open(folder(tmp_path / "f"))
    assert corpus.get(url) is not None
    assert corpus.get("https://rivers.example/other") is None


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("---\nurl: nope\n---\nText.", "url"),
        ("---\nurl: https://a.example/\npublished: soon\n---\nText.", "published"),
        ("---\nurl: https://a.example/\n---\n", "text"),
    ],
)
def test_bad_documents_name_file_and_field(tmp_path, text, field):
    (tmp_path / "bad.md").write_text(text)
    with pytest.raises(InputError, match=r"bad\.md") as caught:
        Corpus.open(tmp_path)
    assert caught.value.field == field


def test_bad_sources(tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"url": "https://a.example/", "text": "x"}\nno json\n')
    with pytest.raises(InputError, match=r"bad\.jsonl:2"):
        Corpus.open(tmp_path / "bad.jsonl")
    (tmp_path / "x.sqlite").write_bytes(b"SQLite format 3\x00" + b"\x00" * 100)
    for place in ("nosuch", "x.sqlite"):
        with pytest.raises(UserError):
            Corpus.open(tmp_path / place)
    (tmp_path / "empty").mkdir()
    for source in ("empty", "nosuch", "x.sqlite"):
        with pytest.raises(UserError):
            build_corpus(tmp_path / source, tmp_path / "out.sqlite")
    assert not (tmp_path / "out.sqlite").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_an_existing_file_is_not_overwritten(tmp_path):
    (tmp_path / "c.sqlite").write_text("precious")
    with pytest.raises(UserError, match="exists"):
        build_corpus(folder(tmp_path / "f"), tmp_path / "c.sqlite")
    assert (tmp_path / "c.sqlite").read_text() == "precious"


def warc(records):
    out = b""
    for kind, url, block in records:
        head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2025-01-02T03:04:05Z\r\n"
        out += head.encode() + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"
    return out


def http(body, kind="text/html", status=200, more=""):
    return f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\n{more}\r\n".encode() + body


TEXT = "The river carried two thousand tonnes of sediment in the year 2021. " * 12


@pytest.mark.parametrize("packed", [False, True])
def test_from_a_warc(tmp_path, packed):
    page = article("Sediment", TEXT, published="2024-03-05").encode()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(page), page)
    squeezed = gzip.compress(article("Squeezed", TEXT + "Squeezed.").encode())
    records = [
        ("warcinfo", "", b"software: x"),
        ("request", "https://a.example/", b"GET / HTTP/1.1\r\n\r\n"),
        ("response", "https://a.example/", http(page)),
        ("response", "https://b.example/", http(chunked, more="Transfer-Encoding: chunked\r\n")),
        ("response", "https://c.example/", http(squeezed, more="Content-Encoding: gzip\r\n")),
        ("response", "https://d.example/p.pdf", http(pdf(["A page of a study about rivers."]), "application/pdf")),
        ("response", "https://gone.example/", http(b"no", status=404)),
        ("response", "https://pic.example/", http(b"\x89PNG", "image/png")),
        ("resource", "https://r.example/note.txt", b"A plain note about rivers."),
        ("response", "dns:a.example", b"x"),
    ]
    whole = b"".join(gzip.compress(warc([r])) for r in records) if packed else warc(records)
    (tmp_path / "w.warc").write_bytes(whole)
    built = build_corpus(tmp_path / "w.warc", tmp_path / "c.sqlite")
    corpus = Corpus.open(tmp_path / "c.sqlite")
    urls = {document.url for document in corpus.documents()}
    assert urls >= {f"https://{name}.example/" for name in "abc"} | {"https://d.example/p.pdf"}
    assert str(corpus.get("https://a.example/").published) == "2024-03-05"
    assert "rivers" in corpus.get("https://d.example/p.pdf").text
    assert built.skipped == {"status 404": 1, "not_text": 1 + ("https://r.example/note.txt" not in urls)}


def test_a_damaged_warc_is_a_users_mistake(tmp_path):
    whole = warc([("response", "https://a.example/", http(article("x", TEXT).encode()))])
    for name, data in (
        ("cut", whole[:200]),
        ("cut.gz", gzip.compress(whole)[:-20]),
        ("none", b"WARC/1.0\r\nx: y\r\n\r\n"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError):
            build_corpus(tmp_path / name, tmp_path / "c.sqlite")


async def test_from_what_a_run_saw(tmp_path, box):
    path = tmp_path / "ledger.sqlite"
    async with web_server({"/a": Reply(article("Seen", TEXT)), "/b": Reply("no", status=403)}) as server:
        with Ledger.open(path, run="r1") as ledger:
            async with box(server, ledger=ledger) as toolbox:
                seen = await toolbox.read(f"{server.url}/a")
                await toolbox.read(f"{server.url}/b")
    export_run(path, "r1", tmp_path / "out.dream")
    built = build_corpus(tmp_path / "out.dream", tmp_path / "c.sqlite")
    assert built.documents == 1
    assert Corpus.open(tmp_path / "c.sqlite").get(seen.url).text == seen.text


async def test_alone_it_touches_no_network(tmp_path, ledger, box):
    search = [f"corpus:{folder(tmp_path / 'f')}"]
    async with web_server({"*": Reply("x")}) as server, box(server, search=search) as toolbox:
        found = await toolbox.search("sediment")
        pages = [await toolbox.read(hit.url) for hit in found.hits]
        other = await toolbox.read(f"{server.url}/x")
        papers = await toolbox.arxiv_search("x")
        repository = await toolbox.github_read("a/b")
        film = await toolbox.read("https://www.youtube.com/watch?v=1")
        nothing = await toolbox.search("volcano")
    assert toolbox.abilities == {"search", "pages"}
    assert server.seen == []
    assert [p.state for p in pages] == [PageState.OK, PageState.OK]
    assert {h.url: h.dating for h in found.hits} == {
        PAGES["river"][0]: Dating.BEFORE,
        PAGES["lake"][0]: Dating.AFTER,
    }
    assert (other.state, other.reason) == (PageState.UNREACHABLE, "not in the corpus")
    assert film.state is PageState.UNREACHABLE
    assert (papers.state, repository.state) == (SearchState.FAILED, SearchState.FAILED)
    assert nothing.state is SearchState.EMPTY


async def test_another_corpus_is_another_key_and_replay_needs_no_file(tmp_path):
    import datetime as dt

    as_of = AsOf(day=dt.date(2026, 5, 1))
    place = folder(tmp_path / "f")
    digest = corpus_digest(place)
    with Ledger.open(tmp_path / "l", run="r") as ledger:
        async with open_toolbox(ledger, as_of=as_of, search=[f"corpus:{place}"]) as toolbox:
            first = await toolbox.search("sediment")
            page = await toolbox.read(PAGES["river"][0])
        (place / "lake.md").unlink()
        async with open_toolbox(ledger, as_of=as_of, search=[f"corpus:{place}"]) as toolbox:
            assert (await toolbox.search("sediment")).key != first.key
    with Ledger.open(tmp_path / "l", run="r", mode=Mode.REPLAY) as ledger:
        async with open_toolbox(ledger, as_of=as_of, search=[f"corpus:{digest}"]) as toolbox:
            assert await toolbox.search("sediment") == first
            assert await toolbox.read(PAGES["river"][0]) == page
    with Ledger.open(tmp_path / "l", run="r") as ledger, pytest.raises(UserError):
        async with open_toolbox(ledger, as_of=as_of, search=[f"corpus:{digest}"]):
            pass


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n" + bytes(99), b'{"url": "https://a.example/x", "text": "caf\xe9"}', b"\xff\xfe{\x00"]
)
def test_a_binary_file_is_no_corpus(tmp_path, data):
    path = tmp_path / "c.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError, match="not UTF-8 text") as caught:
        Corpus.open(path)
    assert caught.value.line == 1
    assert "\n" not in str(caught.value)


def test_half_characters_and_deep_lines_in_a_corpus(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text(r'{"url": "https://a.example/x", "title": "T\ud800", "text": "Rivers \udfff rise."}')
    (document,) = Corpus.open(path).documents()
    assert (document.title, document.text) == ("T\ufffd", "Rivers \ufffd rise.")
    path.write_text("[" * 200_000)
    with pytest.raises(InputError, match="not JSON"):
        Corpus.open(path)
