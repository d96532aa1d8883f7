# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Files and folders in all shapes, and what is said about those that cannot be used."""

import json
import logging
from pathlib import Path

import pytest
from dream_eval.errors import InputError
from dream_eval.reports import Report, SourceKind, lint_json, lint_report, load_reports, uncut

MARKDOWN = "# Title\n\nIt grew [1].\n\n## References\n\n[1] One https://a.org/1\n"


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
    elif name.endswith("l"):
        path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def only(path: Path) -> Report:
    (report,) = load_reports(path)
    return report


def urls(report: Report) -> list[str | None]:
    return [report.source(id).url for mark in report.marks for id in mark.sources]


@pytest.mark.parametrize("name", ["r.md", "r.txt", "r.markdown", "r", "r.report"])
def test_markdown(tmp_path, name):
    report = only(write(tmp_path, name, MARKDOWN))
    assert (report.id, report.task_id, report.prompt) == ("r", None, None)
    assert report.text == MARKDOWN
    assert urls(report) == ["https://a.org/1"]


ENCODINGS = [
    ("utf-8-sig", "It grew. 增长了。"),
    ("utf-16", "It grew. 增长了。"),
    ("utf-16-be", None),
    ("gb18030", "中国经济增长了百分之五，出口下降了百分之三。这是一个很好的例子。" * 3),
]


@pytest.mark.parametrize(("encoding", "text"), [e for e in ENCODINGS if e[1]])
def test_encodings(tmp_path, encoding, text):
    assert only(write(tmp_path, "r.md", text.encode(encoding))).text == text


def test_offsets_are_those_of_the_text_that_python_reads(tmp_path):
    path = write(tmp_path, "r.md", "\ufeff# Title\r\n\r\nIt grew [1](https://a.org/1).\r\n".encode())
    mark = lint_json(only(path))["marks"][0]
    with path.open(encoding="utf-8", newline="") as file:
        assert file.read()[mark["start"] : mark["end"]] == mark["text"] == "[1](https://a.org/1)"


def test_a_mark_before_html_does_not_hide_it(tmp_path):
    page = "\ufeff<html><body><main><p>It grew by five percent.</p></main></body></html>"
    assert only(write(tmp_path, "r.txt", page.encode())).text.strip() == "It grew by five percent."


def test_a_few_stray_bytes_are_read_and_named(tmp_path):
    report = only(write(tmp_path, "r.md", ("It grew. " * 100).encode() + b"\xff\xfe" + b" End."))
    assert report.text.count("\ufffd") == 2
    assert "bad_characters" in {f.rule for f in lint_report(report)}


def test_crlf_is_kept(tmp_path):
    text = MARKDOWN.replace("\n", "\r\n")
    report = only(write(tmp_path, "r.md", text))
    assert report.text == text
    assert urls(report) == ["https://a.org/1"]
    assert [s.text for s in report.sentences] == ["Title", "It grew.", "References"]


SHAPES = {
    "deep research bench": ({"id": 51, "prompt": "How?", "article": MARKDOWN}, "51", "How?"),
    "researcher bench": ({"id": 7, "question": "How?", "response": MARKDOWN}, "7", "How?"),
    "miro eval": ({"id": "m1", "rewritten_query": "How?", "query": "how", "response": MARKDOWN, "process": "thought"}, "m1", "How?"),
    "langsmith run": ({"id": "run-1", "inputs": {"question": "How?"}, "outputs": {"final_report": MARKDOWN}, "reference_example_id": "e1"}, "e1", "How?"),
    "langsmith messages": (
        {
            "inputs": {"messages": [{"role": "user", "content": "How?"}]},
            "outputs": {"messages": [{"type": "human", "content": "How?"}, {"type": "ai", "content": MARKDOWN}]},
            "metadata": {"id": "e2"},
        },
        "e2",
        "How?",
    ),
    "langchain objects": (
        {
            "id": "x",
            "messages": [
                {"lc": 1, "id": ["langchain", "schema", "HumanMessage"], "kwargs": {"content": "How?"}},
                {"lc": 1, "id": ["langchain", "schema", "AIMessage"], "kwargs": {"content": [{"type": "text", "text": MARKDOWN}]}},
            ],
        },
        "x",
        "How?",
    ),
    "chat completion": ({"id": "c", "prompt": "How?", "choices": [{"message": {"role": "assistant", "content": MARKDOWN}}]}, "c", "How?"),
    "responses": (
        {"id": "c", "input": "How?", "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [{"type": "output_text", "text": MARKDOWN}]}]},
        "c",
        "How?",
    ),
    "plain": ({"task_id": "t", "query": "How?", "answer": MARKDOWN}, "t", "How?"),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_json_shapes(tmp_path, shape):
    record, task_id, prompt = SHAPES[shape]
    for name, content in (
        ("sys.json", record),
        ("list.json", [record]),
        ("lines.jsonl", [record]),
        ("data.json", {"data": [record]}),
    ):
        report = only(write(tmp_path, name, content))
        assert (report.id, report.task_id, report.prompt) == (name.split(".")[0], task_id, prompt)
        assert report.text == MARKDOWN


def test_deep_research_eval(tmp_path):
    panel = (
        "Sources used in the report[a.orgOne thing - AOpens in a new window](https://a.org/1)[www.b.orgTwoOpens in a new window](https://b.org/2)"
        "Sources read but not used in the report[c.orgThreeOpens in a new window](https://c.org/3)"
    )
    record = {
        "url": "https://gemini.google.com/app/1",
        "title": "t",
        "query_id": 3,
        "language": "en",
        "entries": [
            {
                "query": "How?",
                "response": "It grew. [1] It fell. [2]",
                "deep_research_sources": panel,
                "thinking_panel": "x",
            }
        ],
    }
    report = only(write(tmp_path, "sys.json", record))
    assert (report.task_id, report.prompt) == ("3", "How?")
    assert [(s.kind, s.label, s.title, s.url) for s in report.sources] == [
        (SourceKind.LISTED, "1", "One thing - A", "https://a.org/1"),
        (SourceKind.LISTED, "2", "Two", "https://b.org/2"),
    ]
    assert urls(report) == ["https://a.org/1", "https://b.org/2"]
    assert "listed_by_order" in {f.rule for f in lint_report(report)}


@pytest.mark.parametrize(
    "sources",
    [
        ["https://a.org/1", "https://b.org/2"],
        [{"url": "https://a.org/1", "title": "One"}, {"link": "https://b.org/2"}],
        [{"id": 1, "source": "https://a.org/1"}, {"id": 2, "source": "https://b.org/2"}],
        [{"metadata": {"url": "https://a.org/1"}}, {"metadata": {"url": "https://b.org/2"}}],
        {"https://a.org/1": "One", "https://b.org/2": "Two"},
        "- https://a.org/1\n- https://b.org/2",
    ],
)
def test_sources_beside_the_text(tmp_path, sources):
    for name in ("sources", "citations", "references", "search_results"):
        report = only(write(tmp_path, "r.json", {"id": 1, "prompt": "How?", "response": "It grew [2].", name: sources}))
        assert [s.url for s in sorted(report.sources, key=lambda s: s.label or "")] == [
            "https://a.org/1",
            "https://b.org/2",
        ]
        assert urls(report) == ["https://b.org/2"]


def test_a_list_in_the_text_goes_before_sources_beside_it(tmp_path):
    report = only(write(tmp_path, "r.json", {"id": 1, "response": MARKDOWN, "sources": ["https://z.org/9"]}))
    assert urls(report) == ["https://a.org/1"]
    assert {s.kind for s in report.sources} == {SourceKind.ENTRY, SourceKind.LISTED}


def test_url_citations_of_a_response(tmp_path):
    part = {
        "type": "output_text",
        "text": "It grew.",
        "annotations": [{"type": "url_citation", "url": "https://a.org/1", "title": "One"}],
    }
    report = only(write(tmp_path, "r.json", {"id": "x", "output": [{"type": "message", "content": [part]}]}))
    assert [(s.url, s.title) for s in report.sources] == [("https://a.org/1", "One")]


def test_records_by_id(tmp_path):
    path = write(
        tmp_path,
        "r.json",
        {"7": {"question": "How?", "response": MARKDOWN}, "8": {"question": "Why?", "response": MARKDOWN}},
    )
    assert [(r.id, r.task_id) for r in load_reports(path)] == [("r", "7"), ("r", "8")]


def test_folders(tmp_path):
    write(tmp_path, "b.md", MARKDOWN)
    write(tmp_path, "a/c.html", "<h1>T</h1><p>It grew.</p>")
    write(tmp_path, "README.md", "Read me")
    write(tmp_path, ".hidden/x.md", MARKDOWN)
    write(tmp_path, "picture.png", b"\x89PNG")
    assert [r.id for r in load_reports(tmp_path)] == ["a/c", "b"]


def test_folder_of_live_research_bench(tmp_path):
    for name in ("qid_abc-1_report.md", "qid_abc-2_report.md"):
        write(tmp_path, f"sys/{name}", MARKDOWN)
    assert [(r.id, r.task_id) for r in load_reports(tmp_path)] == [("sys", "abc-1"), ("sys", "abc-2")]
    assert [(r.id, r.task_id) for r in load_reports(tmp_path / "sys")] == [("sys", "abc-1"), ("sys", "abc-2")]


def test_folder_of_deep_research_eval(tmp_path):
    for number in (1, 2):
        write(
            tmp_path,
            f"sys/deep_research_{number}_x.json",
            {"query_id": number, "entries": [{"query": "How?", "response": "It grew."}]},
        )
    assert [(r.id, r.task_id) for r in load_reports(tmp_path)] == [("sys", "1"), ("sys", "2")]


def test_agent_log(tmp_path):
    log = "Query ID: 51\n==========\n\nQUESTION:\nHow did it grow?\n\n==========\n\nANSWER:\n" + MARKDOWN
    report = only(write(tmp_path, "r.md", log))
    assert (report.task_id, report.prompt, report.text) == ("51", "How did it grow?", MARKDOWN)
    assert uncut(report) == log


PAGE = """<!DOCTYPE html><html><head><title>x</title><style>p{}</style><script>var a="<p>no</p>"</script></head><body>
<nav><a href="https://nav.org">Home</a></nav>
<main><article><h1>Title</h1><p>It <b>grew</b> by&nbsp;5% <a href="https://a.org/x_(y)">see</a>. It fell.<sup><a href="#n1">1</a></sup></p>
<ul><li>one <a href="https://b.org/">b</a></li><li>two<ol><li>deep</li></ol></li></ul>
<table><tr><th>City</th><th>People</th></tr><tr><td>Oslo</td><td>7|8</td></tr></table>
<pre>x = [1]</pre><blockquote><p>Quoted.</p></blockquote>
<p style="display:none">hidden</p><h2>References</h2><ol><li id="n1">One <a href="https://c.org/1">c</a></li></ol></article></main>
<footer>Foot</footer></body></html>"""


def test_html(tmp_path):
    for name in ("r.html", "r.htm", "r"):
        report = only(write(tmp_path, name, PAGE))
        kinds = [s.kind.value for s in report.segments]
        assert kinds == [
            "heading",
            "paragraph",
            "list_item",
            "list_item",
            "list_item",
            "table_row",
            "table_row",
            "code",
            "quote",
            "heading",
            "references",
        ]
        assert urls(report) == ["https://a.org/x_(y)", "https://c.org/1", "https://b.org/"]
        text = " ".join(s.text for s in report.sentences)
        for word in ("Home", "Foot", "hidden", "var a"):
            assert word not in text


def test_deep_html(tmp_path):
    page = "<html><body>{}It grew.{}"
    assert [s.text for s in only(write(tmp_path, "r.html", page.format("<div>" * 200, "</div>" * 200))).sentences] == [
        "It grew."
    ]
    with pytest.raises(InputError, match="no text in this page"):  # deeper than libxml2 reads: a clear end
        load_reports(write(tmp_path, "r.html", page.format("<div>" * 10_000, "</div>" * 10_000)))


def test_docx(tmp_path, docx):
    report = only(write(tmp_path, "r.docx", docx()))
    assert urls(report) == ["https://a.org/x", "https://c.org/2", "https://b.org/1"]
    assert [s.text for s in report.sentences][:4] == ["A report", "Growth", "It grew by 5% here.", "It fell."]
    assert [s.header for s in report.segments if s.header] == [("City", "People")]


def test_pdf(tmp_path, pdf):
    lines = [
        "It grew by 5% [1]. It fell",
        "in 2024 [2].",
        "References",
        "[1] One https://a.org/1",
        "[2] Two https://b.org/2",
    ]
    report = only(write(tmp_path, "r.pdf", pdf(lines, link="https://c.org/3")))
    assert urls(report) == ["https://a.org/1", "https://b.org/2"]
    assert [s.text for s in report.sentences][:2] == ["It grew by 5%.", "It fell in 2024."]
    assert [(s.kind, s.url) for s in report.sources][2:] == [(SourceKind.LISTED, "https://c.org/3")]


BAD = {
    "missing": ("none.md", None, "no such file"),
    "empty": ("r.md", "", "empty"),
    "blank": ("r.md", " \n\t\n", "empty"),
    "binary": ("r.md", bytes(range(256)) * 20, "not a text file"),
    "nul": ("r.md", b"a\x00" * 500, "control characters"),
    "broken json": ("r.json", '{"id": 1,\n "article": }', "r.json:2: not JSON"),
    "broken line": ("r.jsonl", '{"id": 1, "prompt": "p", "article": "a"}\n{"id": 2,', "r.jsonl:2: not JSON"),
    "no object": ("r.jsonl", '{"id": 1, "prompt": "p", "article": "a"}\n[1]\n', "r.jsonl:2: an object is needed"),
    "a number": ("r.json", "5", "neither an object nor a list"),
    "list of numbers": ("r.json", "[5]", r"\[0\]"),
    "no field": ("r.jsonl", '{"id": 1, "note": "x"}\n', "r.jsonl:1: no report in this record"),
    "empty article": ("r.jsonl", '{"id": 1, "article": ""}\n', r"r.jsonl:1 \(article\): the report is empty"),
    "blank article": ("r.jsonl", '{"id": 1, "article": "  "}\n', r"r.jsonl:1 \(article\)"),
    "no entries": ("r.json", '{"query_id": 1, "entries": []}', r"\(entries\)"),
    "no response": ("r.json", '{"query_id": 1, "entries": [{"query": "x", "response": ""}]}', r"entries\[0\].response"),
    "same id": (
        "r.jsonl",
        '{"id": 1, "article": "a"}\n{"id": 1, "article": "b"}\n',
        r"r.jsonl:2 \(id\): the id '1' is there twice",
    ),
    "no id": ("r.jsonl", '{"article": "a"}\n{"article": "b"}\n', r"r.jsonl:1 \(id\)"),
    "no lines": ("r.jsonl", "\n", "empty"),
    "deep json": ("r.json", "[" * 100_000, "not usable JSON"),
    "empty page": ("r.html", "<html><body><script>x</script></body></html>", "no text in this page"),
    "no pdf": ("r.pdf", b"%PDF-1.4 nothing", "the PDF cannot be read"),
    "no docx": ("r.docx", b"PK\x03\x04 nothing", "not a usable DOCX"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_used(tmp_path, case):
    name, content, message = BAD[case]
    path = write(tmp_path, name, content) if content is not None else tmp_path / name
    with pytest.raises(InputError, match=message) as caught:
        load_reports(path)
    assert str(path) in str(caught.value)


def test_a_pdf_of_pictures(tmp_path, pdf):
    with pytest.raises(InputError, match="holds no text"):
        load_reports(write(tmp_path, "r.pdf", pdf([])))


def test_an_archive_that_is_no_document(tmp_path, docx):
    path = write(tmp_path, "r.docx", docx().replace(b"word/document.xml", b"word/dokument.xml"))
    with pytest.raises(InputError, match=r"no word/document\.xml"):
        load_reports(path)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="no reports in this folder"):
        load_reports(tmp_path)


def test_entities_of_a_document_are_not_resolved(tmp_path, docx, document):
    secret = write(tmp_path, "secret.txt", "secret")
    head = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]>'
    document = document.replace("?>", "?>" + head, 1).replace("It fell.", "It &e; fell.")
    assert "secret" not in only(write(tmp_path, "r.docx", docx(**{"word/document.xml": document}))).text


def test_not_cleaned_when_not_asked(tmp_path):
    path = write(tmp_path, "r.md", "Let me search for data:\n\n" + MARKDOWN)
    assert load_reports(path, clean=False)[0].text.startswith("Let me")
    assert only(path).text == MARKDOWN


def test_half_characters_in_json_are_replaced(tmp_path):
    text = r'{"id": "1\ud800", "prompt": "Q \uDBFF?", "article": "It grew \ud83d\ude00 \ud800.", "sources": ["https://a.org/\ud800"]}'
    for name in ("r.json", "r.jsonl"):
        report = only(write(tmp_path, name, text))
        assert (report.task_id, report.prompt, report.text) == ("1\ufffd", "Q \ufffd?", "It grew \U0001f600 \ufffd.")
        report.model_dump_json()


def test_a_file_named_with_bytes_that_are_no_text(tmp_path):
    path = write(tmp_path, "bad\udcff.md", MARKDOWN)
    assert only(path).id == "bad\ufffd"
    assert [report.id for report in load_reports(tmp_path)] == ["bad\ufffd"]


def test_the_pdf_reader_says_nothing_itself(tmp_path, caplog):
    with pytest.raises(InputError, match="PDF cannot be read"):
        load_reports(write(tmp_path, "r.pdf", b"%PDF-1.4 garbage"))
    assert caplog.text == ""
    assert logging.getLogger("pypdf").level == logging.NOTSET
