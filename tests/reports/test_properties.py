# ruff: noqa: E501 -- tables are easier to read with one case a line
"""What holds for every text (Hypothesis), and for texts that are nearly reports."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

from dream_eval.reports import (
    Report,
    SegmentKind,
    lint_json,
    lint_report,
    numbered,
    read_report,
    split_sentences,
    uncut,
)
from dream_eval.reports.cleaner import clean_text, restore
from hypothesis import given, settings
from hypothesis import strategies as st

PIECES = st.sampled_from(
    [
        "# Title", "## Part", "**Bold**", "It grew [1].", "It fell. [2][3]", "See [x](https://a.org/x).", "- item [1]", "1. one", "2. two", "> quote",
        "| a | b |\n|---|---|\n| 1 [1] | 2 |", "```\ncode [1]\n```", "```", "$$\nx\n$$", "$x_1$", "中国经济增长。[1]", "增长了【2】", "## References", "References:",
        "[1] One https://a.org/1", "[2] Two", "1. [Three](https://b.org/3)", "[^1]: note https://c.org", "[1]: https://d.org", "---", "===", "\\[", "\\]", "\\[1\\]",
        "https://a.org/(b", "www.x.org.", "¹²", "<sup>1</sup>", "(1)", "(Smith, 2020)", "Smith, J. (2020). T.", "", " ", "\t", "    indented", "Let me search for it:",
        "<think>a</think>", "<!-- c", "-->", "\x00", "\ufeff", "a. b. C.", "Dr. X", "...", "“q.”", "[", "]", "](", "![a](b)", "|", "\r", "...…", "Here is the report:",
    ]
)  # fmt: skip
DOCUMENTS = st.one_of(
    st.lists(PIECES, max_size=14).flatmap(
        lambda p: st.sampled_from(["\n", "\n\n", "\r\n", " ", ""]).map(lambda sep: sep.join(p))
    ),
    st.text(max_size=200),
    st.text(alphabet="[]()`$\\|*_#>- \n1a.中。https://", max_size=120),
)


def check(report: Report) -> None:
    text = report.text
    at = 0
    for segment in report.segments:
        assert at <= segment.span.start < segment.span.end <= len(text)
        at = segment.span.end
    left = uncovered(report)
    assert not [c for c in left if c.isalnum()], f"letters outside any segment: {left!r}"
    at = 0
    for number, sentence in enumerate(report.sentences, 1):
        assert sentence.number == number
        assert at <= sentence.span.start < sentence.span.end
        at = sentence.span.end
        assert sentence.text
        segment = report.segments[sentence.segment]
        assert segment.span.start <= sentence.span.start
        assert sentence.span.end <= segment.span.end or segment.kind is SegmentKind.REFERENCES or not report.marks
    at = 0
    ids = {source.id for source in report.sources}
    for mark in report.marks:
        assert at <= mark.span.start < mark.span.end
        at = mark.span.end
        assert text[mark.span.start : mark.span.end] == mark.raw
        sentence = report.sentences[mark.sentence - 1]
        behind = report.sentences[mark.sentence] if mark.sentence < len(report.sentences) else None
        assert sentence.span.start <= mark.span.start or mark.sentence == 1
        assert behind is None or mark.span.start < behind.span.start
        assert set(mark.sources) <= ids
    for source in report.sources:
        if source.span:
            assert 0 <= source.span.start < source.span.end <= len(text)
    for finding in lint_report(report):
        if finding.span:
            assert 0 <= finding.span.start <= finding.span.end <= len(text)
    assert len(ids) == len(report.sources)


_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|\\(?:begin|end)\{thebibliography\}(?:\{\w*\})?")
"""Lines of tags alone are in no segment."""


def uncovered(report: Report) -> str:
    pieces, at = [], 0
    for segment in report.segments:
        pieces.append(report.text[at : segment.span.start])
        at = segment.span.end
    return _MARKUP.sub("", "".join([*pieces, report.text[at:]]))


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_structure(text):
    report = read_report(text, id="r")
    check(report)
    assert uncut(report) == text
    assert numbered(report).count("\n") == max(0, len(report.sentences) - 1)
    report.model_dump_json()


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS)
def test_cleaning_is_reversible_and_done_once(text):
    cleaned, cuts = clean_text(text)
    assert restore(cleaned, cuts) == text
    assert len(cleaned) + sum(len(cut.text) for cut in cuts) == len(text)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS)
def test_offsets_of_the_json_slice_the_text_as_given(text):
    for mark in lint_json(read_report(text, id="r"))["marks"]:
        given_text = text[mark["start"] : mark["end"]]
        assert given_text == mark["text"] or any(c in given_text for c in "\x00\ufeff<L")


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS)
def test_a_paragraph_without_marks_at_the_end_changes_no_mark(text):
    before = read_report(text, id="r", clean=False)
    after = read_report(text + "\n\nplain words and nothing else\n", id="r", clean=False)
    closed = not any(s.kind in (SegmentKind.CODE, SegmentKind.MATH) for s in before.segments)
    unheaded = any(s.kind is SegmentKind.REFERENCES for s in before.segments) or any(s.label for s in before.sources)
    if closed and not unheaded and not any(s.kind is SegmentKind.LIST_ITEM for s in before.segments):
        assert [m.span for m in after.marks] == [m.span for m in before.marks]


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS)
def test_sentences_of_any_text(text):
    at = 0
    for span in split_sentences(text):
        assert at <= span.start < span.end <= len(text)
        assert text[at : span.start].strip() == "" or not any(c.isalnum() for c in text[at : span.start])
        assert text[span.start : span.end].strip() == text[span.start : span.end]
        at = span.end
    assert text[at:].strip() == ""


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS)
def test_reading_is_deterministic(text):
    assert read_report(text, id="r") == read_report(text, id="r")


IMITATIONS = Path(__file__).with_name("imitations")
SIGNS = [
    *"[]()<>^*_`|#-:.,;\n \t\"'\\$【】［］†※①¹²01a中\ue200\ue201\uea01\uea02\r\x00",
    *(
        "](",
        "[^",
        "[[",
        "]]",
        "][",
        "<sup>",
        "</sup>",
        '<cite index="1-2">',
        "</cite>",
        "PMID: 12345",
        "https://a.org/x",
    ),
    *(
        "[https://b.org]",
        "arXiv:2401.00001",
        "turn0search1",
        "\n\n## References\n\n",
        "\n> ",
        "\n1. ",
        "\n[1] ",
        "[S1][S2]",
    ),
    *("User:\n", "ChatGPT:\n", "| S1 | https://c.org |", "[cite: 1, 2]", "\r\n", "\n```\n", "\n---\n", "$$", "\\["),
]


def mutants(seed: int, number: int) -> Iterator[str]:
    """The imitations cut up, joined and spoilt: texts made of two imitations each, with up to thirty changes."""
    draw = random.Random(seed)
    texts = [path.read_text(encoding="utf-8") for path in sorted(IMITATIONS.iterdir())]
    for _ in range(number):
        head, tail = draw.choice(texts), draw.choice(texts)
        text = list((head[: draw.randrange(len(head))] + tail[draw.randrange(len(tail)) :])[: draw.randrange(50, 4000)])
        for _ in range(draw.randrange(1, 30)):
            at, kind = draw.randrange(len(text) + 1), draw.random()
            if kind < 0.6:
                text.insert(at, draw.choice(SIGNS))
            elif kind < 0.8:
                del text[at : at + draw.randrange(6)]
            else:
                text[at:at] = text[draw.randrange(len(text) + 1) :][: draw.randrange(40)]
        yield "".join(text)


def test_spoilt_reports_are_read() -> None:
    for text in mutants(7, 400):
        report = read_report(text, id="r")
        check(report)
        assert uncut(report) == text
        assert all(0 <= mark["start"] < mark["end"] <= len(text) for mark in lint_json(report)["marks"])
