# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Hostile and huge input: linear time and a clear end."""

import gc
import math
import subprocess
import sys
import time

import pytest
from dream_eval.reports import Source, SourceKind, fold, normalise_url, numbers_in, read_report, split_sentences, uncut
from dream_eval.reports.cleaner import clean_text

SMALL = 3_000
LARGE = 8 * SMALL

UNITS = [
    "[", "]", "[]", "[](", "[a](", "](", "[[a]", "[[[[a]]]]", "[1", "[1,", "[1]", "[1] a\n", "[1]: a\n", "[^1]: a\n", "【", "【1", "(", "(1", "(1) a ",
    "`", "`a``b", "$", "$a", "$$\n", "\\(", "\\[", "\\[\n", "\\[1", "\\begin{a}\n", "<", "<!--", "<!--\n", "<sup>", "<sup>1", "<a href=", "<think>",
    "<div>", "*", "**a", "_a", "~~", "#", "# a\n", "## References\n", "References\n[1] a\n", ">", "> ", ">\n", "- ", "- a\n", "- - ", "1. a\n", "1. https://a.org\n",
    "|", "|a\n", "|a|\n|-|\n", "a|b\n--\n", "-", "---\n", "=", "a\n===\n", "\n", "\r", "\r\n", " ", "\t", "  \n", "    a\n", "a", "a\n", "a ", ".", ". ", "a. B",
    "!", "?", "…", "。", "中", "中。", "中文[1]。", "https://", "https://a", "https://a.org/", "https://a.org/(", "https://a.org/a*", "www.", "10.1234/", "doi:10.1234/a ",
    "arXiv", "arXiv:2401.12345 ", "¹", "a¹", "²³", "1", "1,", "1,111", "1.1", "2020-", "May ", "Smith (2020) ", "(Smith, 2020) ", "(Smith et al., 2020; ", "A B C D ",
    "```", "```a\n", "~~~\n```a\n", "\x00", "\u202e", "\ufeff", "\ufffd", "\U0001f600", "é́", "\ue200cite", "![a", "![a](", "&", "&amp;", "&#1;", "Let me search for ", "让我搜索",
    "Let me search for it:\n\n", "…\n…", "“", "”。", "a|", "[x]", "[a b](c d", "[see ", "[ref ", "[1-", "[1–3] ", "[^", "[^1^]", ":contentReference[", "@", "\\", "\\\\", "{", "}", "---\na: b\n",
    "① ", "a①", "\n① x", "[a][1]", "[a][", "[a b] ", "[1: a; 2: b]", "\\cite{a} ", "\\cite{", "@a ", "[@a; ", "[@a;@b]", "grew1. ", "grew 1. ", "m[0][1]",
    "Sources: [1] http://a ", ": [1]", "<li>a", "<ol><li>x</li>", "<a id=1></a>[1] ", "```bib\n@a{b,\n", "citeturn0search1", "[a b]: http://x\n", "[1](http://a)",
    '<cite index="1">', '<cite index="1">a</cite>', "[1] [2] ", "[1] [1] a\n", "1. a\n   > b\n", "User:\nChatGPT:\n", "User:\na\n", "\uea01", "\uea012\uea02", "[[1]](http://a) ", "[\\[1\\]](http://a)\n\n",
    "| S1 | http://a |\n", "[S1][S2]", "PMID:", "PMID: 1234 ", "【turn0search1】", "(A [B], 2020) ", "(A, 2019, 2020) ", "`a`.2 ", "a 1 |", ") 1 a ", "<sup>1</sup>",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=[ascii(u) for u in UNITS])
def test_time_is_linear_in_the_text(unit):
    """Eight times the text takes about eight times as long: a quadratic pattern would take 64 times."""

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        report = read_report(text, id="r")
        assert uncut(report) == text
        return time.process_time() - start

    slow = seconds(LARGE)
    if slow > 0.3:
        slow, fast = min(slow, seconds(LARGE)), min(seconds(SMALL), seconds(SMALL))
        assert slow < 0.3 or slow < 28 * fast, f"{slow:.2f} s for {LARGE} characters, {fast:.2f} s for {SMALL}"


@pytest.mark.parametrize(
    "unit", [". ", "a", "1,", "2020-", "(", "$ ", " ", "https://a", "[", "中", "1 percentage ", "May ", "10.1234/"]
)
def test_small_functions_are_linear_too(unit):
    def work(size: int) -> None:
        text = unit * (size // len(unit))
        for function in (split_sentences, numbers_in, fold, normalise_url):
            function(text)

    assert grows_like(work, 50_000, 200_000) < 12


def grows_like(work, small, large):
    """How many times longer ``work(large)`` takes than ``work(small)``, in processor time: the best of a few tries,
    which end once it is as many times as the text is longer."""

    def seconds(size):
        gc.disable()  # it looks through all that other tests have left
        start = time.thread_time()
        work(size)
        took = time.thread_time() - start
        gc.enable()
        return took

    slow = fast = math.inf
    for _ in range(4):
        fast, slow = min(fast, seconds(small)), min(slow, seconds(large))
        if slow <= 1.5 * large / small * max(fast, 0.002):
            break
    return slow / max(fast, 0.002)


def test_a_megabyte():
    paragraph = (
        "The market grew by 5% in 2024 [1]. "
        + "Many words stand here and none of them is cited by anybody. " * 8
        + "\n\n"
    )
    tail = "\n\n## References\n\n[1] Title. https://site.org/page\n"
    text = "# Report\n\n" + paragraph * (1_000_000 // len(paragraph)) + tail
    report = read_report(text, id="r")
    assert len(report.marks) == 1_000_000 // len(paragraph)
    assert all(mark.sources for mark in report.marks)


def test_a_long_chinese_report_takes_as_much_longer_as_it_is():
    paragraph = (
        "中国经济在2024年增长了5%[1]。出口上升到120亿美元，进口下降[2]。这是一个重要的变化，对市场有很大的影响。\n\n"
    )
    assert len(read_report(paragraph * 3000, id="r").sentences) == 9000
    assert grows_like(lambda times: read_report(paragraph * times, id="r"), 1000, 4000) < 12


def test_a_table_of_twenty_thousand_lines():
    text = "| City | People |\n|---|---|\n" + "| Oslo | 700,000 [1] |\n" * 20_000
    report = read_report(text, id="r")
    assert len(report.sentences) == 20_001
    assert report.segments[-1].header == ("City", "People")


def test_one_line_of_a_megabyte():
    report = read_report("word " * 200_000, id="r")
    assert max(len(s.text) for s in report.sentences) <= 2000


def test_ten_thousand_levels():
    for text in (
        ">" * 10_000 + " deep",
        "".join(" " * i + "- a\n" for i in range(2000)),
        "[" * 10_000 + "1" + "]" * 10_000,
    ):
        read_report(text, id="r")


def test_lone_surrogates_are_replaced_one_for_one():
    report = read_report("It gr\ud800w [1].", id="r")
    assert report.text == "It gr\ufffdw [1]."
    report.model_dump_json()


def test_bidirectional_controls_are_not_read():
    report = read_report("It \u202ewerg\u202c by 5%.", id="r")
    assert report.sentences[0].text == "It werg by 5%."


@pytest.mark.parametrize("unit", ["\x1b", "\x1b[", "\x1b]0;a", "\x1b[31m", "\x9b", "\x1b]\x1b\\"])
def test_escape_sequences_take_time_in_proportion(unit):
    assert grows_like(lambda times: clean_text(unit * times + "0" * times), 20_000, 80_000) < 12


def test_lone_surrogates_in_names_and_sources():
    source = Source(id="s1", kind=SourceKind.LISTED, label="1", raw="http://a.org/\udcff", title="A\ud800")
    report = read_report("It grew [1].", id="r\udcff", task_id="\ud800", prompt="\udfff?", listed=[source])
    assert (report.id, report.task_id, report.prompt) == ("r\ufffd", "\ufffd", "\ufffd?")
    report.model_dump_json()
    assert normalise_url("http://a.org/\udcff") == "http://a.org/\ufffd"


@pytest.mark.parametrize(
    "text", ["It grew [a][①2].", "It grew [b][2¹] [³].", "See [https://a.org/x][b] and [PMID: 12345][c]."]
)
def test_labels_that_are_almost_numbers(text):
    assert read_report(text, id="r").text == text


def test_short_names_in_a_bracket_that_never_closes():
    opened = "In 2020 it grew (" + "a [Bb]" * 45 + ".\n\n"
    text = f"{opened}## References\n\nLee, A. (2020). A title. https://a.org/x\n"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from dream_eval.reports import read_report; read_report(sys.argv[1], id='r')",
            text,
        ],
        timeout=20,
        check=False,
    )
    assert done.returncode == 0
