"""Sentences of Latin scripts and CJK."""

import pytest
from dream_eval.reports import split_sentences
from dream_eval.reports.sentences import LONGEST


def split(text: str) -> list[str]:
    return [text[s.start : s.end] for s in split_sentences(text)]


CASES = [
    ["It grew.", "It fell."],
    ["Dr. Smith met Mr. Lee.", "They talked."],
    ["It rose by 3.5 percent.", "Then it fell by 2.1%."],
    ["Costs (e.g. rent, i.e. housing) rose.", "Wages did not."],
    ["See Fig. 3 and Sec. 2.1 for it.", "Eq. 4 too."],
    ["Smith et al. (2020) found it.", "Others agree."],
    ["J. K. Rowling wrote it.", "It sold."],
    ["The U.S. economy grew.", "The U.S. Government said so."],
    ["It happened in the U.S.", "The law changed."],
    ["Acme Inc. makes cars.", "It is owned by Acme Inc.", "The firm is old."],
    ["They met at 5 p.m. on Monday.", "It rained."],
    ["No. 5 is alive.", "It won."],
    ["It costs approx. 5 dollars.", "Cheap."],
    ["Is it true?", "Yes!", "Good."],
    ["He said \"It grew.\"", "She left."],
    ["He said “It grew.”", "She left."],
    ["(It grew.)", "It fell."],
    ["Well... it grew.", "Fine."],
    ["It went on…", "Then it stopped."],
    ["On Jan. 5 it grew.", "It fell on Sept. 3, 2020."],
    ["Version 2.0.1 is out.", "Use it."],
    ["Visit example.net for more.", "It is free."],
    ["1. First things first.", "Then others."],
    ["It grew.[1]", "It fell.[2][3]", "It stood."],
    ["It grew. [1]", "It fell. [2] [3]", "It stood."],
    ["It grew [1].", "It fell [2]."],
    ["It grew.<sup>1</sup>", "It fell."],
    ["It grew.¹", "It fell."],
    ["It grew.[^1]", "It fell."],
    ["It grew. ([a.org](https://a.org/x.y))", "It fell."],
    ["It grew.[[1]](https://a.org/x.y)", "It fell."],
    ["See [The U.N. Report. Part 2](https://a.org/x) now.", "It fell."],
    ["The code `a. B` stays.", "It fell."],
    ["Das ist z.B. so.", "Es gilt bzw. galt."],
    ["¿Es verdad?", "Sí."],
    ["Рост составил 5%.", "Это много."],
    ["यह बढ़ा।", "फिर घटा।"],
    ["vitamin C.", "The dose is 5 mg."],
    ["A plan B. Smith made holds."],
]  # fmt: skip


@pytest.mark.parametrize("sentences", CASES, ids=[" ".join(c) for c in CASES])
def test_latin(sentences):
    assert split(" ".join(sentences)) == sentences


CHINESE = [
    ["增长了5.2%。", "出口下降。"],
    ["真的吗？", "是的！", "好。"],
    ["他说：“增长了。”", "然后离开了。"],
    ["增长了。[1][2]", "下降了【3】。"],
    ["增长了[1]。", "下降了[2]。"],
    ["甲公司Co., Ltd.发布了报告。", "乙没有。"],
    ["日本は成長した。", "しかし減少した。"],
    ["分号；不断句。", "第二句。"],
    ["第一句。[[1]](https://a.org/x)", "第二句。"],
]


@pytest.mark.parametrize("sentences", CHINESE, ids=["".join(c) for c in CHINESE])
def test_cjk(sentences):
    assert split("".join(sentences)) == sentences


def test_korean_has_blanks():
    assert split("경제가 성장했다. 수출은 감소했다.") == ["경제가 성장했다.", "수출은 감소했다."]


def test_lines():
    assert split("A heading\nThe text goes on\nin lower case. End.\n\nNext") == [
        "A heading",
        "The text goes on\nin lower case.",
        "End.",
        "Next",
    ]


def test_a_very_long_sentence_is_cut_at_a_clause():
    text = "word and word, " * 1000
    pieces = split(text)
    assert all(len(piece) <= LONGEST for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(piece.endswith(",") or piece.endswith("word") or piece.endswith("and") for piece in pieces)


def test_a_word_without_end_is_cut_too():
    assert [len(piece) for piece in split("x" * (2 * LONGEST + 5))] == [LONGEST, LONGEST, 5]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t"])
def test_nothing(text):
    assert split(text) == []
