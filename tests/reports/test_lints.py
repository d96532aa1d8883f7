"""Lints, and a report at a glance."""

import json

import pytest
from dream_eval.reports import RULES, Report, lint_json, lint_report, overview, read_report
from dream_eval.reports.overview import cited_sentences

LIST = "\n## References\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n"


def rules(text: str) -> list[str]:
    return [f.rule for f in lint_report(read_report(text, id="r"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It grew [1]. It fell [2].\n" + LIST, []),
        ("It grew [1]. It fell [2]. It stood [3].\n" + LIST, ["number_without_entry"]),
        ("It grew [1].\n" + LIST, ["entry_never_cited"]),
        ("It grew [1]. It fell [2].\n" + LIST.replace("b.org/2", "example.com/2"), ["placeholder_url"]),
        ("It grew [1]. It fell [2].\n" + LIST.replace("b.org/2", "nodots"), ["malformed_url"]),
        ("It grew [1]. It fell [2].\n" + LIST.replace("b.org/2", "a.org/1"), ["duplicate_entry"]),
        ("It grew. It fell.\n" + LIST, ["listed_only"]),
        ("It grew. It fell.", ["no_citations"]),
        ("# A\n\nIt grew [1][2].\n\n# B\n\nOne. Two. Three. Four.\n" + LIST, ["uncited_section"]),
        ("It gr\ufffdw [1][2].\n" + LIST, ["bad_characters"]),
        ("".join(f"Thing {i} grew [1]. " for i in range(12)) + "It [2].\n" + LIST, ["one_url_for_many"]),
    ],
)
def test_rules(text, expected):
    assert rules(text) == expected
    assert set(expected) <= set(RULES)


def test_a_finding_points_at_its_place():
    report = read_report("It grew [1]. It stood [3].\n" + LIST, id="r")
    places = {f.rule: report.text[f.span.start : f.span.end] for f in lint_report(report) if f.span}
    assert places == {"number_without_entry": "[3]", "entry_never_cited": "[2] Two https://b.org/2"}


@pytest.fixture(scope="module")
def report() -> Report:
    text = "# Title\n\nOne thing grew [1]. Two things fell.\n\n## Part\n\nThree. Four. [2]\n\n中国经济增长。\n" + LIST
    return read_report(text, id="r")


def test_overview(report):
    view = overview(report)
    assert (view.sentences, view.sentences_cited, view.marks, view.marks_resolved) == (5, 3, 2, 2)
    assert view.share_cited == pytest.approx(0.6)
    assert (view.references, view.references_cited, view.distinct_urls) == (2, 2, 2)
    assert view.domains == {"a.org": 1, "b.org": 1}
    assert [(s.title, s.sentences, s.cited) for s in view.sections] == [("Title", 2, 1), ("Title › Part", 3, 2)]
    assert view.words == 1 + 3 + 3 + 1 + 2 + 3 + 1  # headings too
    assert overview(read_report("", id="r")).share_cited is None


def test_domains_may_be_named_otherwise(report):
    assert overview(report, domain=lambda url: "all").domains == {"all": 2}


def test_cited_sentences(report):
    assert {report.sentences[n - 1].text for n in cited_sentences(report)} == {"One thing grew.", "Three.", "Four."}


def test_json_has_offsets_of_the_text_as_given():
    text = "\ufeffLet me search for more information:\n\nIt grew [1]. It fell [2].\r\n" + LIST
    found = json.loads(json.dumps(lint_json(read_report(text, id="r"))))
    assert [text[m["start"] : m["end"]] for m in found["marks"]] == ["[1]", "[2]"]
    assert [m["urls"] for m in found["marks"]] == [["https://a.org/1"], ["https://b.org/2"]]
    assert [text[r["start"] : r["end"]] for r in found["references"]] == [
        "[1] One https://a.org/1",
        "[2] Two https://b.org/2",
    ]
    assert [(r["number"], r["title"], r["url"]) for r in found["references"]] == [
        ("1", "One", "https://a.org/1"),
        ("2", "Two", "https://b.org/2"),
    ]
    assert found["domains"] == {"a.org": 1, "b.org": 1}
    assert found["lints"] == []
