# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Reference lists: where they stand, which lines are entries, what entries lead to."""

import pytest
from dream_eval.reports import Report, SegmentKind, SourceKind, lint_report, read_report


def read(text: str) -> Report:
    return read_report(text, id="r")


def entries(report: Report) -> list[tuple[str | None, str | None, str | None]]:
    found = [s for s in report.sources if s.kind is SourceKind.ENTRY]
    found.sort(key=lambda s: s.span.start)
    return [(s.label, s.title, s.target) for s in found]


BODY = "# Report\n\nA claim stands here [1]. Another one [2].\n\n"
TWO = [("1", "One", "https://a.org/1"), ("2", "Two", "https://b.org/2")]

SHAPES = {
    "brackets, url last": "## References\n\n[1] One: https://a.org/1  \n[2] Two: https://b.org/2\n",
    "brackets, on one line": "## Sources\n\n[1] One: https://a.org/1  [2] Two: https://b.org/2\n",
    "brackets, url first": "References:\n[1] https://a.org/1 - One\n[2] https://b.org/2 - Two\n",
    "brackets, link": "## Sources\n\n[1] [One](https://a.org/1)\n\n[2] [Two](https://b.org/2)\n",
    "brackets, url in brackets": "## Sources\n\n[1] One [https://a.org/1]  \n[2] Two [https://b.org/2]\n",
    "brackets, angle": "## Sources\n[1] One <https://a.org/1>\n[2] Two <https://b.org/2>\n",
    "ordered": "### Sources\n\n1. [One](https://a.org/1)\n2. [Two](https://b.org/2)\n",
    "ordered, all 1": "### Sources\n\n1. [One](https://a.org/1)\n1. [Two](https://b.org/2)\n",
    "ordered, plain": "### Sources\n\n1. One. https://a.org/1\n2. Two. https://b.org/2\n",
    "ordered, url below": "### Sources\n\n1. One\n   https://a.org/1\n2. Two\n   https://b.org/2\n",
    "ordered, bullets below": "### Sources\n\n1. One\n   - URL: https://a.org/1\n2. Two\n   - URL: https://b.org/2\n",
    "bullets with numbers": "## Works cited\n\n- [1] One, https://a.org/1\n- [2] Two, https://b.org/2\n",
    "bold numbers": "## Sources\n\n**[1]** One: https://a.org/1\n**[2]** Two: https://b.org/2\n",
    "escaped": "## Sources\n\n\\[1\\] One: https://a.org/1\n\n\\[2\\] Two: https://b.org/2\n",
    "wide": "## 参考文献\n\n【1】One：https://a.org/1\n【2】Two：https://b.org/2\n",
    "chinese": "参考资料：\n\n[1] One，https://a.org/1。\n[2] Two，https://b.org/2。\n",
    "numbered heading": "## 7. References\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "bold heading": "**Sources**\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "setext": "References\n==========\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "german": "## Quellenverzeichnis\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "french": "## Références\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "russian": "## Список литературы\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "arabic": "## المراجع\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n",
    "no heading": "---\n\n[1] One: https://a.org/1\n[2] Two: https://b.org/2\n",
    "no heading, ordered": "---\n\n1. [One](https://a.org/1)\n2. [Two](https://b.org/2)\n",
    "definitions": "[1]: https://a.org/1 \"One\"\n[2]: https://b.org/2 \"Two\"\n",
    "footnotes": "[^1]: One. https://a.org/1\n[^2]: Two. https://b.org/2\n",
    "table": "## Sources\n\n| # | Title | URL |\n|---|---|---|\n| 1 | One | https://a.org/1 |\n| 2 | Two | https://b.org/2 |\n",
    "crlf": "## Sources\r\n\r\n[1] One: https://a.org/1\r\n[2] Two: https://b.org/2\r\n",
    "html": '## Sources\n\n1. <a href="https://a.org/1">One</a>\n2. <a href="https://b.org/2">Two</a>\n',
    "retrieved from": "## Sources\n\n[1] One. Retrieved from https://a.org/1\n[2] Two. Available at: https://b.org/2.\n",
    "categories": "## Sources\n\n### Studies\n\n1. [One](https://a.org/1)\n\n### News\n\n2. [Two](https://b.org/2)\n",
    "superscripts": "## Notes\n\n¹ One https://a.org/1\n² Two https://b.org/2\n",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_lists(shape):
    text = BODY + SHAPES[shape]
    report = read(text)
    found = [(label, (title or "").strip('"|# '), url) for label, title, url in entries(report)]
    if shape == "table":  # the title holds the other cells
        assert [(a, c) for a, _, c in found] == [(a, c) for a, _, c in TWO]
    else:
        assert found == TWO
    assert [report.source(m.sources[0]).target for m in report.marks] == ["https://a.org/1", "https://b.org/2"]
    assert not any(s.text.startswith(("One", "Two", "http")) for s in report.sentences)


WRAPPED = [
    ("https://www.agency.org/very/long-\n    path/to/page.html", "https://www.agency.org/very/long-path/to/page.html"),
    ("https://www.agency.org/very/long/\npath/to/page.html", "https://www.agency.org/very/long/path/to/page.html"),
    ("https://www.agency.org/page?id=\n12&lang=en", "https://www.agency.org/page?id=12&lang=en"),
    ("https://www.agency.org/docs/Annual Report 2024.pdf", "https://www.agency.org/docs/Annual%20Report%202024.pdf"),
    ("https://www.agency.org/a_(b)", "https://www.agency.org/a_(b)"),
    ("https://www.agency.org/%E4%B8%AD%E5%9B%BD", "https://www.agency.org/%E4%B8%AD%E5%9B%BD"),
    ("https://www.agency.org/wiki/中国", "https://www.agency.org/wiki/中国"),
]


@pytest.mark.parametrize(("written", "url"), WRAPPED)
def test_addresses_over_lines_and_with_blanks(written, url):
    report = read(f"A claim [1].\n\n## References\n\n[1] A title. {written}\n[2] Next title. https://b.org/2\n")
    assert [u for _, _, u in entries(report)] == [url, "https://b.org/2"]


def test_dois_and_arxiv_ids_lead_somewhere():
    report = read(
        "A [1], b [2].\n\n## References\n\n[1] Lee. Title. Journal, 2020. doi:10.1000/XYZ.1\n[2] Kim. Title. arXiv:2401.12345v2 [cs.CL]\n"
    )
    assert [u for _, _, u in entries(report)] == ["https://doi.org/10.1000/xyz.1", "https://arxiv.org/abs/2401.12345"]
    assert [s.url for s in report.sources] == [None, None]


def test_entries_without_address_are_entries():
    report = read(
        "A [1], b [2].\n\n## References\n\n[1] Lee, A. (2020). Title. Journal 3, 4–5.\n[2] Kim, B. (2021). Other. Press.\n"
    )
    assert [(a, c) for a, _, c in entries(report)] == [("1", None), ("2", None)]
    assert all(len(mark.sources) == 1 for mark in report.marks)


def test_entries_without_numbers_are_counted_where_marks_have_numbers():
    report = read("A [1], b [2].\n\n## Sources\n\n- [One](https://a.org/1)\n- [Two](https://b.org/2)\n")
    assert [report.source(m.sources[0]).url for m in report.marks] == ["https://a.org/1", "https://b.org/2"]
    assert "counted_entries" in {f.rule for f in lint_report(report)}


def test_every_section_may_have_a_list_of_its_own():
    text = (
        "# A\n\nFirst [1].\n\n### Sources\n\n[1] One https://a.org/1\n\n"
        "# B\n\nSecond [1].\n\n### Sources\n\n[1] Two https://b.org/2\n"
    )
    report = read(text)
    assert [report.source(m.sources[0]).url for m in report.marks] == ["https://a.org/1", "https://b.org/2"]
    assert "ambiguous_number" in {f.rule for f in lint_report(report)}


def test_a_section_without_a_list_uses_the_last_one():
    text = "# A\n\nFirst [1].\n\n## References\n\n[1] One https://a.org/1\n\n# B\n\nSecond [1].\n"
    report = read(text)
    assert [report.source(m.sources[0]).url for m in report.marks] == ["https://a.org/1"] * 2


def test_what_stands_behind_the_list_is_text_again():
    text = (
        BODY
        + "## Sources\n\n1. [One](https://a.org/1)\n2. [Two](https://b.org/2)\n\n---\n\nThis ends the report with a sentence."
    )
    report = read(text)
    assert report.sentences[-1].text == "This ends the report with a sentence."
    assert report.segments[-1].kind is SegmentKind.PARAGRAPH
    text = BODY + "## Sources\n\n1. [One](https://a.org/1)\n2. [Two](https://b.org/2)\n\n## Conclusion\n\nIt ends."
    assert read(text).sentences[-1].text == "It ends."


@pytest.mark.parametrize(
    "section",
    [
        "## Sources of error\n\nThere are several sources of error [1]. They matter.",
        "## Data Sources\n\nWe used the census of 2020 [1]. It covers all households [2]. It is good.",
        "## Sources\n\n- **FIES**: households, monthly spending [1]\n- **Census**: population, all ages [2]\n- **Tax**: incomes [1]",
        "## References to earlier work\n\nEarlier work was broad [1].",
        "## Literature review\n\nMuch was written [1]. It grew [2].",
    ],
)
def test_prose_about_sources_is_no_list(section):
    text = f"# R\n\n{section}\n\n## References\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n"
    report = read(text)
    assert entries(report) == TWO
    assert len(report.marks) >= 1


def test_numbering_of_a_list_in_brackets_is_no_citation():
    report = read("The plan:\n\n[1] buy the parts\n[2] build it\n[3] sell it\n\nIt grew.")
    assert report.marks == ()
    assert entries(report) == []


AUTHORS = "\n\n## References\n\nSmith, J., & Lee, K. (2020). On growth. Journal, 1(2), 3–4. https://a.org/smith\n\nDoe, A., Roe, B., & Poe, C. (2021a). On decline. Press.\n\nWorld Bank. (2023). Global outlook. https://b.org/wb\n"


@pytest.mark.parametrize(
    ("text", "raws", "labels"),
    [
        ("It grew (Smith & Lee, 2020).", ["(Smith & Lee, 2020)"], ["https://a.org/smith"]),
        ("It grew (Smith and Lee, 2020, p. 3).", ["(Smith and Lee, 2020, p. 3)"], ["https://a.org/smith"]),
        ("It fell (Doe et al., 2021a).", ["(Doe et al., 2021a)"], [None]),
        ("It grew (World Bank, 2023).", ["(World Bank, 2023)"], ["https://b.org/wb"]),
        ("Smith and Lee (2020) saw growth.", ["Smith and Lee (2020)"], ["https://a.org/smith"]),
        ("As Smith and Lee (2020) say, it grew.", ["Smith and Lee (2020)"], ["https://a.org/smith"]),
        ("But World Bank (2023) saw less.", ["World Bank (2023)"], ["https://b.org/wb"]),
        ("It did (see Smith & Lee, 2020; World Bank, 2023).", ["(see Smith & Lee, 2020; World Bank, 2023)"], ["https://a.org/smith", "https://b.org/wb"]),
        ("In one year (2020) it grew.", [], []),
        ("The crisis (March 2020) hit.", [], []),
        ("Jones (2020) saw growth.", [], []),
    ],
)  # fmt: skip
def test_author_and_year(text, raws, labels):
    report = read(text + AUTHORS)
    assert [m.raw for m in report.marks] == raws
    assert [report.source(id).url for m in report.marks for id in m.sources] == labels
    assert len(entries(report)) == 3


def test_an_author_without_entry_is_named():
    report = read("It grew (Jones et al., 2019)." + AUTHORS)
    assert report.marks == ()
    assert "author_without_entry" in {f.rule for f in lint_report(report)}


def test_sources_are_numbered_by_first_appearance():
    report = read(
        "A [2]. B [x](https://c.org/). C [1].\n\n## Sources\n\n[1] One https://a.org/1\n[2] Two https://b.org/2\n"
    )
    assert [(s.id, s.url) for s in report.sources] == [
        ("s1", "https://b.org/2"),
        ("s2", "https://c.org/"),
        ("s3", "https://a.org/1"),
    ]


def test_bare_links_at_the_end_are_listed_only():
    report = read("# R\n\nIt grew. It fell.\n\n- https://a.org/1\n- https://b.org/2\n")
    assert report.marks == ()
    assert [u for _, _, u in entries(report)] == ["https://a.org/1", "https://b.org/2"]
    assert "listed_only" in {f.rule for f in lint_report(report)}


def test_a_chapter_on_works_is_no_list_of_sources():
    report = read_report("# Works\n\nThey made it ([a](https://a.org/x), [again](https://a.org/y)).\n", id="x")
    assert [s.text for s in report.sentences] == ["Works", "They made it."]
    assert len(report.marks) == 2
