"""Blocks and readings of a report."""

import pytest
from dream_eval.reports import Report, SegmentKind, numbered, read_report


def read(text: str, **more: object) -> Report:
    return read_report(text, id="r", **more)


def kinds(report: Report) -> list[str]:
    return [segment.kind.value for segment in report.segments]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\nText.\n", ["heading", "paragraph"]),
        ("A\n===\nText.", ["heading", "paragraph"]),
        ("Short title\n---\nText.", ["heading", "paragraph"]),
        ("A sentence that ends here.\n---\nText.", ["paragraph", "paragraph"]),
        ("##标题\n正文。", ["heading", "paragraph"]),
        ("#hashtag is text", ["heading"]),
        ("**Bold title**\n\nText.", ["heading", "paragraph"]),
        ("**Bold sentence ends.**\n\nText.", ["paragraph", "paragraph"]),
        ("- a\n- b\n  c\n\n  d", ["list_item", "list_item", "paragraph"]),
        ("1. a\n2. b", ["list_item", "list_item"]),
        ("1) a\n2) b", ["list_item", "list_item"]),
        ("一、甲\n二、乙", ["list_item", "list_item"]),
        ("（1）甲\n（2）乙", ["list_item", "list_item"]),
        ("A year: born in\n1986. It was good", ["paragraph"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nText.", ["table_row"] * 3 + ["paragraph"]),
        ("a | b\n--|--\n1 | 2", ["table_row"] * 2),
        ("```python\nx = 1\n\ny = 2\n```\nText.", ["code", "paragraph"]),
        ("~~~\nx\n~~~", ["code"]),
        ("````\n```\n````\nText.", ["code", "paragraph"]),
        ("```\nnever closed\n\nText goes on.", ["code", "paragraph"]),
        ("Text.\n\n    indented code\n    more\n\nText.", ["paragraph", "code", "paragraph"]),
        ("- a\n\n    a continued paragraph", ["list_item", "paragraph"]),
        ("$$\nx = 1\n$$\nText.", ["math", "paragraph"]),
        ("\\[\nx = 1\n\\]\nText.", ["math", "paragraph"]),
        ("\\begin{equation}\nx\n\\end{equation}", ["math"]),
        ("> quoted\n> more\n\nText.", ["quote", "paragraph"]),
        (">>>> deep", ["quote"]),
        ("a\n\n***\n\nb\n\n- - -\n\nc", ["paragraph"] * 3),
        ("<!-- note -->\n\nText.", ["code", "paragraph"]),
        ("Text\nover lines\nhere.", ["paragraph"]),
        ("Text\r\nover lines\r\n\r\nMore.", ["paragraph", "paragraph"]),
        ("Text\rover lines\r\rMore.", ["paragraph", "paragraph"]),
    ],
)
def test_kinds(text, expected):
    assert kinds(read(text)) == expected


def test_sections():
    report = read("# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne")
    paths = [s.section for s in report.segments if s.kind is SegmentKind.PARAGRAPH]
    assert paths == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]


def test_table_rows_know_their_header():
    report = read("| City | People |\n|:--|--:|\n| Oslo | 700,000 |\n")
    assert [s.header for s in report.segments] == [(), ("City", "People")]
    assert [s.text for s in report.sentences] == ["City | People", "Oslo | 700,000"]


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("It **grew** by *five* [1].", "It grew by five."),
        ("It __grew__ by _five_.", "It grew by five."),
        ("The snake_case_name stays.", "The snake_case_name stays."),
        ("5 * 3 * 2 is 30.", "5 * 3 * 2 is 30."),
        ("See [the report](https://a.org/x) now.", "See the report now."),
        ("It grew ([1], [2]).", "It grew."),
        ("It grew ([1](https://a.org/x)) fast.", "It grew fast."),
        ("It grew [1] , and fell [2] .", "It grew, and fell."),
        ("It &amp; they &lt; 5.", "It & they < 5."),
        ("A<br>b <b>c</b>.", "A b c."),
        ("A\\*b\\_c.", "A*b_c."),
        ("A  b\n c\u200b.", "A b c."),
        ("It is \u202ereversed\u202c.", "It is reversed."),
        ("![alt text](https://a.org/i.png) shown.", "alt text shown."),
        ("~~old~~ new.", "old new."),
    ],
)
def test_reading(text, reading):
    assert [s.text for s in read(text).sentences] == [reading]


def test_headings_code_and_math_are_one_sentence_each():
    report = read("# A. B. C.\n\n```\nx = 1. y = 2.\n```\n\n$$\na. b. c\n$$\n")
    assert [s.text for s in report.sentences] == ["A. B. C.", "x = 1. y = 2.\n```", "$$\na. b. c\n$$"] or len(
        report.sentences
    ) == 3


def test_numbered_lines():
    report = read(
        "# Title\n\nOne. Two [1].\n\n- Three. Four.\n\n```\na\nb\n```\n\n## References\n\n[1] One https://a.org/1\n"
    )
    assert numbered(report).split("\n")[:5] == ["[1] # Title", "[2] One.", "[3] Two.", "[4] - Three.", "[5] Four."]
    assert "a.org" not in numbered(report)
    assert numbered(report, [3, 2]) == "[3] Two.\n[2] One."
    with pytest.raises(KeyError):
        numbered(report, [99])


def test_the_digest_is_of_text_and_listed_sources():
    one, other = read("A text."), read("Another text.")
    assert one.digest != other.digest
    assert one.digest == read_report("A text.", id="other name").digest
    assert len(one.digest) == 64


@pytest.mark.parametrize("text", ["", " \n\n", "# Title", "---", "[1]", "https://a.org/x", "[1][2]\n\n[3]", "![a](b)"])
def test_hardly_anything(text):
    report = read(text)
    for mark in report.marks:
        assert 1 <= mark.sentence <= len(report.sentences)
