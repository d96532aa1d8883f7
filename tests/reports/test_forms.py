# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Rarer ways to cite: bare numbers, circles, titles beside numbers, link definitions, keys; and what only looks like them."""

import pytest
from dream_eval.reports import Report, SourceKind, read_report

NUMBERS = "\n\n## References\n\n" + "\n".join(f"{i}. Title {i}. https://site{i}.org/page" for i in range(1, 6)) + "\n"
RINGS = "\n\n参考文献：\n" + "\n".join(f"{c} 标题 https://site{i}.org/page" for i, c in enumerate("①②③④⑤", 1))
KEYS = "\n\n## References\n\n- [smith2020] Smith. T. https://site1.org/page\n- [lee-2021] Lee. https://site2.org/page\n"


def read(text: str) -> Report:
    return read_report(text, id="r")


def seen(report: Report) -> list[tuple[str, list[str]]]:
    """The marks, each with the numbers of the sites it leads to."""
    sources = {source.id: source for source in report.sources}
    return [(m.raw, [(sources[i].target or "?")[12:].partition(".")[0] for i in m.sources]) for m in report.marks]


def entries(report: Report) -> list[tuple[str | None, str | None]]:
    return [(s.label, s.target) for s in report.sources if s.kind is SourceKind.ENTRY]


FLAT = [
    ("It grew 1. Costs fell 2. Rates rose 3; wages too 4.", ["1", "2", "3", "4"]),
    ("It grew1. Costs fell2, as ever. Rates rose3; wages too4.", ["1", "2", "3", "4"]),
    ("It grew 1, 2. Costs fell 3. Some say “no” 4.", ["1, 2", "3", "4"]),
    ("It grew.1 Costs fell2, it seems. A **rate**3. Wages (all)4.", ["1", "2", "3", "4"]),
    ("It grew 1. In phase 2. Costs fell 2. See section 4. At grade 5. Rates rose 3.", ["1", "2", "3"]),
    ("It grew1. Costs fell2. By H100. In GPT4. With Llama3. On web3. Rates rose3.", ["1", "2", "3"]),
    ("| City | State |\n|---|---|\n| Oslo | fine 1 |\n| Bergen | wet 2 |\n| Bodø | cold 3 |", ["1", "2", "3"]),
]


@pytest.mark.parametrize(("text", "marks"), FLAT)
def test_bare_numbers(text: str, marks: list[str]) -> None:
    assert [raw for raw, _ in seen(read(text + NUMBERS))] == marks


@pytest.mark.parametrize(
    "text",
    [
        "We run phase 2. Then step 3. In section 4. A total of 5. Only this 1.",
        "It grew 1. In 2023 it fell, as the 4 of us saw.",  # too few of the list
        "It grew 1. Then 57 more. Rates 81. Costs 64. Wages 77. It fell 2. It rose 3.",  # most lead nowhere
        "It grew 1 and fell 2 and rose 3 and ended 4 of 5.",
        "Llama3. Qwen2. GPT4. Phase1. H100. `x1`. $y_1$2.",
        "1. One\n2. Two\n3. Three",
        "- [ ] 1\n- [x] 2\n- 3",
    ],
)
def test_no_bare_numbers(text: str) -> None:
    assert seen(read(text + NUMBERS)) == []


def test_bare_numbers_only_where_nothing_else_is_a_mark() -> None:
    assert [raw for raw, _ in seen(read("It grew [1]. Costs fell 2. Rates rose 3. Wages 4. All 5." + NUMBERS))] == [
        "[1]"
    ]
    assert seen(read("It grew 1. Costs fell 2. Rates rose 3. Wages too 4.")) == []


def test_bare_numbers_beside_links() -> None:
    text = "It grew.1 See [a page](https://b.org/x). Costs fell.2 Rates rose.3"
    assert [raw for raw, _ in seen(read(text + NUMBERS))] == ["1", "[a page](https://b.org/x)", "2", "3"]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("增长了①。下降了②③，但（④）仍高。", ["①", "②", "③", "④"]),
        ("It grew①. It fell ②, and rose③ again.", ["①", "②", "③"]),
        ("三个方面：①成本；②速度；③质量。", []),
        ("It has ① cost and ② speed. Then ③ size.", []),
        ("第①步，图②，表③。", []),
        ("① 成本\n② 速度\n", []),
        ("增长了[1]。方案②。", ["[1]"]),
    ],
)
def test_circles(text: str, marks: list[str]) -> None:
    assert [raw for raw, _ in seen(read(text + RINGS))] == marks


def test_circles_lead_to_their_entries() -> None:
    report = read("增长了①。下降了⑤。" + RINGS)
    assert seen(report) == [("①", ["1"]), ("⑤", ["5"])]
    assert [label for label, _ in entries(report)] == ["1", "5", "2", "3", "4"]
    assert [s.text for s in report.sentences] == ["增长了。", "下降了。", "参考文献："]


@pytest.mark.parametrize(
    ("text", "raws"),
    [
        ("Efficacy was 75%.² ³ It held.¹,²", ["²", "³", "¹,²"]),
        ("It grew ¹. It fell ².", []),
        ("An area of 3 km² and E = mc<sup>2</sup> and 10³.", []),
    ],
)
def test_superscripts(text: str, raws: list[str]) -> None:
    assert [raw for raw, _ in seen(read(text + NUMBERS))] == raws


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A [1, site1.org]. B [2: site2.org].", [("[1, site1.org]", ["1"]), ("[2: site2.org]", ["2"])]),
        ("A [3: Title 3]. B [4 - site4.org].", [("[3: Title 3]", ["3"]), ("[4 - site4.org]", ["4"])]),
        ("A [1: site1.org; 2: site2.org].", [("[1: site1.org; 2: site2.org]", ["1", "2"])]),
        ("A [1: https://site9.org/x].", [("[1: https://site9.org/x]", ["9"])]),
        (
            "A [3, S. 7]. B [4，第7页]. C [2, pág. 3].",
            [("[3, S. 7]", ["3"]), ("[4，第7页]", ["4"]), ("[2, pág. 3]", ["2"])],
        ),
        ("A [2019: a record]. B [4, May]. C [3: see the annex]. D [12: site1.org].", []),
    ],
)
def test_titles_beside_numbers(text: str, found: list[tuple[str, list[str]]]) -> None:
    assert seen(read(text + NUMBERS)) == found


DEFINED = '\n\n[1]: https://site1.org/page?utm_source=x "One"\n[b]: https://site2.org/page\n[the docs]: https://site3.org/page\n'


@pytest.mark.parametrize(
    ("text", "found", "sentence"),
    [
        ("It grew ([site1.org][1]).", [("[site1.org][1]", ["1"])], "It grew."),
        ("As [they say][1] now.", [("[they say][1]", ["1"])], "As they say now."),
        ("As [b][] and [the docs] say.", [("[b][]", ["2"]), ("[the docs]", ["3"])], "As b and the docs say."),
        ("See ![a picture][1] now.", [], "See ![a picture][1] now."),
        ("See rows[i][1] now.", [], "See rows[i][1] now."),
        ("See m[0][1] and [2024][to come] now.", [], "See m[0][1] and [2024][to come] now."),
    ],
)
def test_link_definitions(text: str, found: list[tuple[str, list[str]]], sentence: str) -> None:
    report = read(text + DEFINED)
    assert (seen(report), report.sentences[0].text) == (found, sentence)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"A \cite{smith2020}.", [(r"\cite{smith2020}", ["1"])]),
        (r"A \citep[p. 3]{smith2020, lee-2021}.", [(r"\citep[p. 3]{smith2020, lee-2021}", ["1", "2"])]),
        (r"A \textcite{nobody1999}.", [(r"\textcite{nobody1999}", [])]),
        ("A [@smith2020].", [("[@smith2020]", ["1"])]),
        ("A [see @smith2020, p. 3; @lee-2021].", [("[see @smith2020, p. 3; @lee-2021]", ["1", "2"])]),
        ("As @smith2020 says.", [("@smith2020", ["1"])]),
        ("Mail me@smith2020.org or [@somebody] or @nobody; \\section{cite}.", []),
    ],
)
def test_keys(text: str, found: list[tuple[str, list[str]]]) -> None:
    assert seen(read(text + KEYS)) == found


@pytest.mark.parametrize(
    "tail",
    [
        "## References\n\nsmith2020: Smith. https://site1.org/page\n\nlee-2021: Lee. https://site2.org/page",
        "[@smith2020]: Smith. https://site1.org/page\n[@lee-2021]: Lee. https://site2.org/page",
        "```bibtex\n@article{smith2020,\n  title = {T},\n  url = {https://site1.org/page}\n}\n@misc{lee-2021, url={https://site2.org/page}}\n```",
        "\\begin{thebibliography}{9}\n\\bibitem{smith2020} Smith. \\url{https://site1.org/page}\n\n\\bibitem[L]{lee-2021} Lee. \\url{https://site2.org/page}\n\\end{thebibliography}",
    ],
)
def test_lists_of_keys(tail: str) -> None:
    report = read(f"A \\cite{{smith2020}}. B [@lee-2021].\n\n{tail}\n")
    assert seen(report) == [("\\cite{smith2020}", ["1"]), ("[@lee-2021]", ["2"])]


@pytest.mark.parametrize(
    "tail",
    [
        "**Sources**: [1] https://site1.org/page, [2] https://site2.org/page",
        "Sources: [1] One, https://site1.org/page; [2] Two, https://site2.org/page.",
        "来源：[1] https://site1.org/page，[2] https://site2.org/page",
        "And so on. **References:** [1] https://site1.org/page [2] https://site2.org/page",
        "## Sources\n\n<ol>\n<li>One <a href='https://site1.org/page'>here</a></li>\n<li>Two\nhttps://site2.org/page</li>\n</ol>",
        "<h2>References</h2>\n<ol><li>One https://site1.org/page</li><li id='r2'>Two https://site2.org/page</li></ol>",
        '<a id="r1"></a>[1] One. https://site1.org/page\n<a id="r2"></a>[2] Two. https://site2.org/page',
    ],
)
def test_lists_in_odd_places(tail: str) -> None:
    report = read(f"It grew [1]. It fell [2].\n\n{tail}\n\n## After\n\nText.")
    assert seen(report) == [("[1]", ["1"]), ("[2]", ["2"])]
    assert entries(report) == [("1", "https://site1.org/page"), ("2", "https://site2.org/page")]
    assert report.sentences[-1].text == "Text."


def test_what_follows_a_list_on_one_line_is_read() -> None:
    report = read("It grew [1]. So it did.\nSources: [1] https://site1.org/page\n\nIt fell [1].")
    assert [s.text for s in report.sentences] == ["It grew.", "So it did.", "Sources:", "It fell."]


def test_prose_about_sources_is_no_list() -> None:
    text = "Three sources: [1] says so, and [2] at https://b.org/x does not."
    assert [raw for raw, _ in seen(read(text + NUMBERS))] == ["[1]", "[2]", "https://b.org/x"]


def test_html_lists_are_items() -> None:
    report = read("<ul>\n<li>one thing</li>\n<li>another [1]</li>\n</ul>\n\nIt goes on." + NUMBERS)
    assert [s.text for s in report.sentences][:3] == ["one thing", "another", "It goes on."]


def test_a_number_that_is_a_link_elsewhere() -> None:
    report = read("It grew [1](https://site1.org/page). It fell [1]. It rose [2].")
    assert [leads for _, leads in seen(report)] == [["1"], ["1"], []]
    doubtful = read("It grew [1](https://site1.org/page). It fell [1](https://site2.org/page). It rose [1].")
    assert [leads for _, leads in seen(doubtful)] == [["1"], ["2"], []]


@pytest.mark.parametrize("mark", ["citeturn0search1turn2view0", ":contentReference[oaicite:1]{index=1}"])
def test_marks_of_a_chat_lead_nowhere(mark: str) -> None:
    report = read(f"It grew. {mark} It fell.")
    assert (seen(report), [s.text for s in report.sentences]) == ([(mark, [])], ["It grew.", "It fell."])


def test_names_that_a_chat_gives_its_links_are_not_read() -> None:
    report = read("It grew. [oai_citation:2‡site1.org](https://site1.org/page) It fell.")
    assert (seen(report)[0][1], [s.text for s in report.sentences]) == (["1"], ["It grew.", "It fell."])


def test_an_address_with_such_a_name_is_one_mark() -> None:
    assert [raw for raw, _ in seen(read("See https://b.org/citeturn0search1 and `citeturn0search1`."))] == [
        "https://b.org/citeturn0search1"
    ]
