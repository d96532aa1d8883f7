# ruff: noqa: E501 -- tables are easier to read with one case a line
"""What is a citation, where it leads, and what must not be taken for one."""

import pytest
from dream_eval.reports import Report, lint_report, read_report

LIST = "\n\n## References\n\n" + "\n".join(f"[{i}] Title {i}. https://site{i}.org/page" for i in range(1, 31)) + "\n"


def read(text: str, tail: str = LIST) -> Report:
    return read_report(text + tail, id="r")


def raws(report: Report) -> list[str]:
    return [mark.raw for mark in report.marks]


def leads(report: Report, index: int = 0) -> list[str | None]:
    return [report.source(id).target for id in report.marks[index].sources]


def site(*numbers: int) -> list[str]:
    return [f"https://site{n}.org/page" for n in numbers]


NUMBERED = [
    ("It grew [1].", ["[1]"], [1]),
    ("It grew.[1] Then more.", ["[1]"], [1]),
    ("It grew. [1]", ["[1]"], [1]),
    ("It grew [1, 2].", ["[1, 2]"], [1, 2]),
    ("It grew [1,2,7].", ["[1,2,7]"], [1, 2, 7]),
    ("It grew [1; 2].", ["[1; 2]"], [1, 2]),
    ("It grew [1 and 2].", ["[1 and 2]"], [1, 2]),
    ("It grew [1-3].", ["[1-3]"], [1, 2, 3]),
    ("It grew [1–3].", ["[1–3]"], [1, 2, 3]),
    ("It grew [1~3].", ["[1~3]"], [1, 2, 3]),
    ("It grew [1-3, 7].", ["[1-3, 7]"], [1, 2, 3, 7]),
    ("It grew [^1].", ["[^1]"], [1]),
    ("It grew [^1^].", ["[^1^]"], [1]),
    ("增长了【1】。", ["【1】"], [1]),
    ("增长了［1］。", ["［1］"], [1]),
    ("增长了[1，2]。", ["[1，2]"], [1, 2]),
    ("增长了[1、2]。", ["[1、2]"], [1, 2]),
    ("增长了【1-3，5】。", ["【1-3，5】"], [1, 2, 3, 5]),
    ("It grew【1†L2-L5】.", ["【1†L2-L5】"], [1]),
    ("It grew【3†source】.", ["【3†source】"], [3]),
    (r"It grew \[1\].", [r"\[1\]"], [1]),
    (r"It grew \[1, 2\].", [r"\[1, 2\]"], [1, 2]),
    ("It grew [[1]].", ["[[1]]"], [1]),
    ("It grew [citation:4].", ["[citation:4]"], [4]),
    ("It grew [cite: 1, 3].", ["[cite: 1, 3]"], [1, 3]),
    ("It grew [web:1, web:2].", ["[web:1, web:2]"], [1, 2]),
    ("It grew [Result 4].", ["[Result 4]"], [4]),
    ("It grew (Source 4).", ["(Source 4)"], [4]),
    ("It grew (see Refs. 4, 5).", ["(see Refs. 4, 5)"], [4, 5]),
    ("增长了（来源4）。", ["（来源4）"], [4]),
    ("It grew ^4^.", ["^4^"], [4]),
    ("It grew^4,5^.", ["^4,5^"], [4, 5]),
    ("It grew ^[4]^.", ["[4]"], [4]),
    ("It grew^[4,5]^.", ["[4,5]"], [4, 5]),
    ("It grew <sup>4,5</sup>.", ["<sup>4,5</sup>"], [4, 5]),
    ("It grew [citation:4, citation:5].", ["[citation:4, citation:5]"], [4, 5]),
    ("It grew [Ref. 4].", ["[Ref. 4]"], [4]),
    ("It grew [Source 4].", ["[Source 4]"], [4]),
    ("增长[来源4]。", ["[来源4]"], [4]),
    ("It grew [#4].", ["[#4]"], [4]),
    ("It grew [4, p. 12].", ["[4, p. 12]"], [4]),
    ("It grew [4, pp. 12–13].", ["[4, pp. 12–13]"], [4]),
    ("It grew [see 4].", ["[see 4]"], [4]),
    ("It grew<sup>4</sup>.", ["<sup>4</sup>"], [4]),
    ("It grew<sup>[4]</sup>.", ["<sup>[4]</sup>"], [4]),
    ("It grew<sup>4,5</sup>.", ["<sup>4,5</sup>"], [4, 5]),
    ("It grew.⁴ Then", ["⁴"], [4]),
    ("It grew¹² a lot.", ["¹²"], [12]),
    ("It grew¹˒² a lot.", ["¹˒²"], [1, 2]),
    ("It grew (4).", ["(4)"], [4]),
    ("It grew (4, 5).", ["(4, 5)"], [4, 5]),
    ("It grew [4](#ref-4).", ["[4](#ref-4)"], [4]),
    ("**Claim**[4] holds.", ["[4]"], [4]),
    ("**Title:** [4] and more.", ["[4]"], [4]),
    ("Speed ≥ 10 m/s[4].", ["[4]"], [4]),
    ("Regimes (NRHO)[4].", ["[4]"], [4]),
    ("As [4] shows, it grew.", ["[4]"], [4]),
    ("> Quoted words [4]", ["[4]"], [4]),
    ("| a | b |\n|---|---|\n| x [4] | y |", ["[4]"], [4]),
    ("- item [4]\n- other", ["[4]"], [4]),
    ("It cost $5 in [4] and $6 later.", ["[4]"], [4]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "marks", "numbers"), NUMBERED, ids=[t for t, _, _ in NUMBERED])
def test_marks_with_a_list(text, marks, numbers):
    report = read(text)
    assert raws(report) == marks
    assert leads(report) == site(*numbers)


SEVERAL = [
    ("It grew [1][2][3].", ["[1]", "[2]", "[3]"]),
    ("It grew [1] [2].", ["[1]", "[2]"]),
    ("It grew【1】【2】。", ["【1】", "【2】"]),
    ("[Smith (1999)][1][2] shows it.", ["[1]", "[2]"]),
    ("It grew [1]–[3].", ["[1]", "[3]"]),
    ("It grew [1], [2] and [3].", ["[1]", "[2]", "[3]"]),
]


@pytest.mark.parametrize(("text", "marks"), SEVERAL, ids=[t for t, _ in SEVERAL])
def test_neighbouring_groups_are_marks_of_their_own(text, marks):
    assert raws(read(text)) == marks


NO_MARKS = [
    "Code `x[2]` here.",
    "Code `[1]` here.",
    "```python\ny = x[1] + [2]\n```",
    "~~~\n[1]\n~~~",
    "The interval [0,1] is closed.",
    "The interval [0, 1) is half open.",
    "For t ∈ [1, 2] it holds.",
    "A value in the range [1, 10] is fine.",
    "取值区间[1, 2]之间。",
    "The year [2024] was good.",
    "The years [2019, 2020] were good.",
    "- [ ] to do\n- [x] done",
    "![1](https://pictures.net/a.png)",
    "![figure 1](https://pictures.net/a.png)",
    "The array x[1] holds.",
    "The item arr[2] holds.",
    "The item my_list[2] holds.",
    "The entry a[i][2] holds.",
    r"Math $a_{[1]} + b^2$ here.",
    r"Math \( x[1] = y[2] \) here.",
    "$$\nx_[1] = [2]\n$$",
    "\\[\nx = [1] + [2]\n\\]",
    "A vector [0.5, 1] here.",
    "x = [1, 2] here.",
    "An area of 5 m² and 10 km².",
    "R² was high.",
    "It is 10³ times.",
    "10<sup>3</sup> times",
    "There are two reasons: (1) cost and (2) speed.",
    "(1) First reason is here",
    "[see the annex](#annex) for it",
    "Write to [us](mailto:a@b.org).",
    "He said [sic] that.",
    "A quote [...] was cut.",
    "[1-500] is a range of pages",
    "【重要】通知",
    "<!-- [1] -->",
    "It holds for n = [3].",
]


@pytest.mark.parametrize("text", NO_MARKS)
def test_what_is_no_citation(text):
    assert raws(read("Some claim stands here [1].\n\n" + text)) == ["[1]"]


@pytest.mark.parametrize(
    "text", ["There are (1) cost, (2) speed.", "Growth of 5 m² was seen.", "In the year (2020) it grew.", "x¹ and y²"]
)
def test_weak_forms_need_a_numbered_list(text):
    assert raws(read(text, tail="")) == []


def test_parenthesised_numbers_only_where_no_brackets_are_used():
    assert raws(read("One (1). Two [2].")) == ["[2]"]
    assert raws(read("One (1). Two (2).")) == ["(1)", "(2)"]


def test_numbers_without_a_list_lead_nowhere():
    report = read("It grew [3]. It fell [4].", tail="")
    assert raws(report) == ["[3]", "[4]"]
    assert [mark.sources for mark in report.marks] == [(), ()]
    assert {f.rule for f in lint_report(report)} >= {"number_without_entry"}


LINKS = [
    ("See [the report](https://a.org/x).", "[the report](https://a.org/x)", "https://a.org/x"),
    ("It grew [1](https://a.org/x).", "[1](https://a.org/x)", "https://a.org/x"),
    ("It grew [[1]](https://a.org/x).", "[[1]](https://a.org/x)", "https://a.org/x"),
    ("It grew [[1](https://a.org/x)].", "[[1](https://a.org/x)]", "https://a.org/x"),
    ("It grew ([a.org](https://a.org/x)).", "[a.org](https://a.org/x)", "https://a.org/x"),
    ("See [wiki](https://en.wikipedia.org/wiki/Foo_(bar)).", "[wiki](https://en.wikipedia.org/wiki/Foo_(bar))", "https://en.wikipedia.org/wiki/Foo_(bar)"),
    ("See [x](https://a.org/my file.pdf).", "[x](https://a.org/my file.pdf)", "https://a.org/my%20file.pdf"),
    ("See [x](<https://a.org/my file.pdf>).", "[x](<https://a.org/my file.pdf>)", "https://a.org/my%20file.pdf"),
    ('See [x](https://a.org/x "A title").', '[x](https://a.org/x "A title")', "https://a.org/x"),
    ("See [Summary [PDF]](https://a.org/x).", "[Summary [PDF]](https://a.org/x)", "https://a.org/x"),
    ("See <https://a.org/x>.", "<https://a.org/x>", "https://a.org/x"),
    ("See https://a.org/x.", "https://a.org/x", "https://a.org/x"),
    ("See (https://a.org/x).", "https://a.org/x", "https://a.org/x"),
    ("See https://a.org/wiki/Foo_(bar), too.", "https://a.org/wiki/Foo_(bar)", "https://a.org/wiki/Foo_(bar)"),
    ("详见https://a.org/x。", "https://a.org/x", "https://a.org/x"),
    ("详见https://a.org/abc的报告", "https://a.org/abc", "https://a.org/abc"),
    ("See www.a.org/x for it.", "www.a.org/x", "https://www.a.org/x"),
    ('See <a href="https://a.org/x">this</a>.', '<a href="https://a.org/x">this</a>', "https://a.org/x"),
    ('It grew<sup>[1](https://a.org/x)</sup>.', "[1](https://a.org/x)", "https://a.org/x"),
    ("See doi:10.1234/abc.5.", "doi:10.1234/abc.5", "https://doi.org/10.1234/abc.5"),
    ("See 10.1234/abc.5, too.", "10.1234/abc.5", "https://doi.org/10.1234/abc.5"),
    ("See arXiv:2401.12345.", "arXiv:2401.12345", "https://arxiv.org/abs/2401.12345"),
    ("See [x](10.1234/abc).", "[x](10.1234/abc)", "https://doi.org/10.1234/abc"),
    ("It grew [x](https://A.ORG:443/x?utm_source=chatgpt.com#top).", "[x](https://A.ORG:443/x?utm_source=chatgpt.com#top)", "https://a.org/x"),
    ("It grew [x](https://a.org/x#:~:text=grew).", "[x](https://a.org/x#:~:text=grew)", "https://a.org/x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "raw", "url"), LINKS, ids=[t for t, _, _ in LINKS])
def test_links(text, raw, url):
    report = read(text, tail="")
    assert raws(report) == [raw]
    assert leads(report) == [url]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("See [x](https://example.com/page).", "placeholder_url"),
        ("See [x](https://your-domain.com/page).", "placeholder_url"),
        ("See [x](http://localhost:3000/page).", "placeholder_url"),
        ("See [x](https://arxiv.org/abs/XXXX.XXXXX).", "placeholder_url"),
        ("See [x](URL).", "placeholder_url"),
        ("See [x](https://nodots/page).", "malformed_url"),
        ("See [x](htp://a.org/page).", "malformed_url"),
        ("See [x](https://a.org/pa...).", "malformed_url"),
        ("See [x](see my reasoning above).", "malformed_url"),
        ("See [x](https://).", "malformed_url"),
        ("See https://a.org/very/long... for it.", "malformed_url"),
    ],
)
def test_addresses_that_lead_nowhere(text, rule):
    report = read(text, tail="")
    assert leads(report) == [None]
    assert [f.rule for f in lint_report(report)] == [rule]


def test_one_address_is_one_source():
    report = read("A [x](https://a.org/x). B [y](https://a.org/x?utm_medium=y). C [z](https://b.org/).", tail="")
    assert [m.sources for m in report.marks] == [("s1",), ("s1",), ("s2",)]
    assert [s.url for s in report.sources] == ["https://a.org/x", "https://b.org/"]


def test_a_link_to_an_entrys_address_is_that_entry():
    report = read("A [x](https://site3.org/page) and B [3].")
    assert report.marks[0].sources == report.marks[1].sources
    assert report.source(report.marks[0].sources[0]).label == "3"


def test_marks_of_chat_services_lead_nowhere():
    report = read("It grew \ue200cite\ue202turn0search1\ue201. It fell :contentReference[oaicite:2]{index=2}.", tail="")
    assert len(report.marks) == 2
    assert all(not mark.sources for mark in report.marks)


PLACES = [
    ("One thing. Two things [1]. Three.", 0, "Two things.", "sentence"),
    ("One thing. Two things.[1] Three.", 0, "Two things.", "sentence"),
    ("One thing. Two things. [1] Three.", 0, "Two things.", "sentence"),
    ("One thing. Two things. [1]", 0, "Two things.", "paragraph"),
    ("One thing. Two things.[1][2]", 1, "Two things.", "paragraph"),
    ("One thing. Two things [1].", 0, "Two things.", "sentence"),
    ("一件事。两件事。[1]", 0, "两件事。", "paragraph"),
    ("一件事[1]。两件事。", 0, "一件事。", "sentence"),
    ("一件事。[1]两件事。", 0, "一件事。", "sentence"),
    ("One thing. Two things.\n\n[1][2]\n\nThree.", 0, "Two things.", "paragraph"),
    ("[1] shows a thing. Two things.", 0, "shows a thing.", "sentence"),
    ("- One thing. Two things. [1]\n- Three", 0, "Two things.", "paragraph"),
    ("- One thing [1]\n- Three", 0, "One thing", "sentence"),
    ("One thing. ([a.org](https://a.org/x)) Two things.", 0, "One thing.", "sentence"),
    ("One thing. Two [things](https://a.org/x) here.", 0, "Two things here.", "sentence"),
    ("# Title [1]\n\nText.", 0, "Title", "sentence"),
]


@pytest.mark.parametrize(("text", "index", "sentence", "scope"), PLACES, ids=[t for t, *_ in PLACES])
def test_the_sentence_of_a_mark(text, index, sentence, scope):
    report = read(text)
    mark = report.marks[index]
    assert (report.sentences[mark.sentence - 1].text, mark.scope) == (sentence, scope)


FLAT_LIST = "\n\n#### Works cited\n\n" + "".join(
    f"{i}. Title {i}, accessed May 7, 2025, https://site{i}.org/page\n" for i in range(1, 31)
)


@pytest.mark.parametrize(
    ("text", "marks", "sentences"),
    [
        ("It grew.1 It fell by 5.2 percent.12 End.", ["1", "12"], ["It grew.", "It fell by 5.2 percent.", "End."]),
        ("It grew (a lot).3,4 It fell.", ["3,4"], ["It grew (a lot).", "It fell."]),
        ("增长了 1。下降了 2。", ["1", "2"], ["增长了。", "下降了。"]),
        ("Version v.2 and node.js 3. It costs 5. Fine.", [], ["Version v.2 and node.js 3.", "It costs 5.", "Fine."]),
        ("It grew.99 It fell.", [], None),
        ("It grew.1 It fell [2].", ["[2]"], None),
    ],
)
def test_superscripts_that_became_plain_digits(text, marks, sentences):
    report = read(text, tail=FLAT_LIST)
    assert raws(report) == marks
    if sentences:
        assert [s.text for s in report.sentences][: len(sentences)] == sentences


def test_an_address_with_an_unbalanced_bracket():
    report = read("See [x](https://a.org/y#:~:text=one%20(two) and more.", tail="")
    assert leads(report) == ["https://a.org/y"]


def test_footnotes_side_by_side_are_marks_of_their_own():
    report = read_report("It grew[^1_1][^1_2].\n\n[^1_1]: https://a.org/1\n\n[^1_2]: https://b.org/2\n", id="r")
    assert raws(report) == ["[^1_1]", "[^1_2]"]
    assert [leads(report, i) for i in (0, 1)] == [["https://a.org/1"], ["https://b.org/2"]]


def test_a_card_of_a_chat_service_leads_nowhere():
    report = read_report('It grew. [](card_json={"ids":["a"]}) It fell by 3 m^2^ (source 9).', id="r")
    assert [leads(report, i) for i in range(len(report.marks))] == [[]]
