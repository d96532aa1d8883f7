"""Real reports. The figures were found by reading the reports, and by counting their brackets with other means."""

import re
from functools import cache
from pathlib import Path

import pytest
from dream_eval.reports import (
    Report,
    SegmentKind,
    SourceKind,
    join,
    lint_report,
    load_reports,
    load_tasks,
    overview,
    read_report,
    uncut,
)

CLAUDE, GPT4, GPT5 = "claude-3-7-sonnet", "langchain-odr-gpt-4.1", "langchain-odr-gpt-5"

# system, task: marks, marks that lead somewhere, entries or listed sources, distinct addresses
FIGURES = {
    (CLAUDE, "1"): (43, 43, 16, 16),
    (CLAUDE, "2"): (58, 58, 12, 12),
    (CLAUDE, "5"): (16, 16, 6, 6),
    (CLAUDE, "51"): (45, 45, 17, 17),
    (CLAUDE, "52"): (27, 27, 14, 14),
    (CLAUDE, "53"): (40, 40, 21, 21),
    (CLAUDE, "54"): (47, 47, 21, 21),
    (CLAUDE, "56"): (20, 20, 10, 10),
    (CLAUDE, "60"): (54, 54, 28, 28),
    (CLAUDE, "64"): (27, 27, 13, 13),
    (GPT4, "1"): (70, 70, 13, 13),
    (GPT4, "2"): (129, 129, 126, 125),
    (GPT4, "5"): (54, 54, 22, 22),
    (GPT4, "51"): (49, 49, 32, 32),
    (GPT4, "52"): (28, 28, 22, 22),
    (GPT4, "53"): (54, 54, 23, 23),
    (GPT4, "54"): (30, 30, 17, 17),
    (GPT4, "56"): (30, 30, 7, 7),
    (GPT4, "60"): (53, 53, 17, 17),
    (GPT4, "64"): (33, 33, 13, 13),
    (GPT5, "1"): (28, 28, 17, 17),
    (GPT5, "2"): (19, 19, 59, 53),
    (GPT5, "5"): (149, 149, 49, 48),
    (GPT5, "51"): (63, 63, 23, 23),  # four links, all to addresses of the list
    (GPT5, "52"): (200, 200, 54, 47),
    (GPT5, "53"): (26, 26, 19, 18),
    (GPT5, "54"): (79, 79, 33, 33),
    (GPT5, "56"): (63, 63, 12, 12),
    (GPT5, "60"): (116, 84, 35, 34),  # [36] to [50] have no entry
    (GPT5, "64"): (54, 54, 32, 31),
    ("5", "5"): (166, 166, 0, 35),
    ("51", "51"): (106, 106, 0, 16),
    ("60", "60"): (196, 196, 0, 56),
    ("64", "64"): (191, 191, 0, 53),
    ("gemini_2.5_pro", "1"): (140, 140, 69, 69),
    ("gemini_2.5_pro", "3"): (102, 102, 52, 52),
}


@cache
def reports(folder: Path) -> dict[tuple[str, str], Report]:
    paths = [*sorted((folder / "drb" / "raw_data").iterdir()), folder / "onyx", folder / "dre" / "gemini_2.5_pro"]
    return {(r.id, r.task_id or ""): r for path in paths for r in load_reports(path)}


def test_every_report_is_read(shared_data):
    assert set(reports(shared_data)) == set(FIGURES)


@pytest.mark.parametrize("key", FIGURES, ids=[" ".join(k) for k in FIGURES])
def test_figures(shared_data, key):
    report = reports(shared_data)[key]
    beside = [s for s in report.sources if s.kind is not SourceKind.INLINE]
    found = (
        len(report.marks),
        sum(1 for m in report.marks if m.sources),
        len(beside),
        len({s.target for s in report.sources if s.target}),
    )
    assert found == FIGURES[key]
    assert all(s.target for s in report.sources)
    assert overview(report).marks == found[0]


@pytest.mark.parametrize("key", FIGURES, ids=[" ".join(k) for k in FIGURES])
def test_every_bracketed_number_of_the_text_is_a_mark_or_an_entry(shared_data, key):
    """Counted by other means: every ``[n]`` outside the list of sources (one report has a year in brackets)."""
    report = reports(shared_data)[key]
    entries = [s.span for s in report.segments if s.kind is SegmentKind.REFERENCES]
    numbers = {
        m.start()
        for m in re.finditer(r"\[\[?\d{1,3}\]", report.text)
        if not any(e.start <= m.start() < e.end for e in entries)
    }
    assert numbers <= {m.span.start for m in report.marks}


def test_sources_of_a_numbered_list(shared_data):
    """GPT-4.1, task 54, read line by line: 30 marks to 17 entries, ``[VaR]`` and ``[CVaR]`` are none."""
    report = reports(shared_data)[GPT4, "54"]
    assert [m.raw for m in report.marks][:12] == [
        "[1]",
        "[1]",
        "[2]",
        "[8]",
        "[11]",
        "[14]",
        "[8]",
        "[11]",
        "[14]",
        "[14]",
        "[1]",
        "[4]",
    ]
    entry = {s.label: s for s in report.sources}
    assert entry["11"].title == "The Role of Deep Learning in Financial Asset Management"
    assert (entry["11"].url, entry["11"].arxiv) == ("https://arxiv.org/pdf/2503.01591", "2503.01591")
    assert sorted(f.message for f in lint_report(report) if f.rule == "entry_never_cited") == [
        f"[{n}] is never cited" for n in (15, 16, 7)
    ]


def test_a_chinese_report_read_by_eye(shared_data):
    """Claude, task 5: sixteen marks, each behind a paragraph."""
    report = reports(shared_data)[CLAUDE, "5"]
    assert [m.raw for m in report.marks] == [f"[{n}]" for n in (1, 1, 1, 1, 2, 1, 2, 1, 1, 1, 1, 3, 2, 4, 5, 6)]
    assert {m.scope for m in report.marks} == {"paragraph"}
    assert report.sentences[3].text.startswith("系统性风险是指")
    assert report.language == "zh"


def test_full_width_ranges(shared_data):
    """GPT-5, task 1: ``【1-8，14-17】`` is one mark to twelve sources."""
    first = reports(shared_data)[GPT5, "1"].marks[0]
    assert (first.raw, len(first.sources)) == ("【1-8，14-17】", 12)


def test_a_year_in_brackets_and_a_list_with_ranges(shared_data):
    """GPT-5, task 2: ``Insurance 100 [2025]`` is no citation."""
    raws = [m.raw for m in reports(shared_data)[GPT5, "2"].marks]
    assert "[2025]" not in raws
    assert "[28-36, 49-51, 31, 32, 33, 34, 35, 36, 38, 39, 40]" in raws
    assert len([m for m in reports(shared_data)[GPT5, "2"].marks if len(m.sources) > 50]) == 1


def test_numbers_without_entries_are_named(shared_data):
    """GPT-5, task 60 cites up to [50] and lists 35 sources."""
    report = reports(shared_data)[GPT5, "60"]
    missing = [f.message for f in lint_report(report) if f.rule == "number_without_entry"]
    assert len(missing) == 13
    assert all(int(re.search(r"\d+", text)[0]) > 35 for text in missing)


def test_links_and_numbers_side_by_side(shared_data):
    """GPT-5, task 56: nine links by author and year, each followed by numbers; formulas with brackets."""
    report = reports(shared_data)[GPT5, "56"]
    links = [m for m in report.marks if m.raw.startswith("[") and "](" in m.raw]
    assert len(links) == 9
    assert {report.source(m.sources[0]).kind for m in links} == {SourceKind.ENTRY}


def test_links_with_numbers(shared_data):
    """Onyx: ``[[2]](address)``, no list."""
    report = reports(shared_data)["51", "51"]
    assert all(re.match(r"\[\[\d+\]\]\(http", m.raw) for m in report.marks)
    assert {s.kind for s in report.sources} == {SourceKind.INLINE}
    assert report.prompt.startswith("From 2020 to 2050")
    assert report.text.startswith("## 1) Scope")


def test_sources_beside_the_text(shared_data):
    """Gemini: numbers in the text, a panel beside it; the link in the text and the panel agree on number 1."""
    report = reports(shared_data)["gemini_2.5_pro", "1"]
    linked = next(m for m in report.marks if m.raw.startswith("[1](http"))
    plain = {s.label: s for s in report.sources}
    assert report.source(linked.sources[0]).label == "1"
    assert plain["3"].url.startswith("https://www.nortonrosefulbright.com/")
    assert report.text.startswith("The Chip War's Ripple Effect")
    assert "Export to Sheets" not in report.text


def test_debris_is_cut_and_can_be_put_back(shared_data):
    for key, report in reports(shared_data).items():
        assert not re.search(r"(?m)^(Let me (search|gather)|Now I'll (look|search)|让我搜索)", report.text), key
        assert sum(len(c.text) for c in report.cuts) < 5000
        if key[0] in ("5", "51", "60", "64"):
            assert uncut(report) == (shared_data / "onyx" / f"{key[0]}.md").read_text(encoding="utf-8")


def test_no_sentence_of_a_list_of_sources_is_left(shared_data):
    for key, report in reports(shared_data).items():
        if key[0] in (CLAUDE, GPT4, GPT5):
            assert not [s.text for s in report.sentences if re.match(r"\[\d+\]|https?:", s.text)], key


def test_all_reports_find_their_tasks(shared_data):
    tasks = load_tasks(shared_data / "drb" / "query.jsonl")
    peers = [r for k, r in reports(shared_data).items() if k[0] != "gemini_2.5_pro"]
    assert all(task.id == report.task_id for task, report in join(peers, tasks))
    gemini = [r for k, r in reports(shared_data).items() if k[0] == "gemini_2.5_pro"]
    assert len(join(gemini, load_tasks(shared_data / "dre" / "query.jsonl"))) == 2


def test_sentences_are_neither_words_nor_pages(shared_data):
    for key, report in reports(shared_data).items():
        lengths = sorted(len(s.text) for s in report.sentences)
        assert lengths[-1] <= 2000, key
        assert 10 < lengths[len(lengths) // 2] < 250, key


@pytest.mark.parametrize("key", FIGURES, ids=[" ".join(k) for k in FIGURES])
def test_a_report_without_its_marks_has_no_bare_numbers(shared_data, key):
    """Quantities, phases and names are no citations, though the list of sources is still there."""
    report = reports(shared_data)[key]
    text = report.text
    for mark in reversed(report.marks):
        text = text[: mark.span.start] + text[mark.span.end :]
    left = [mark.raw for mark in read_report(text, id="r").marks]
    assert [raw for raw in left if not re.search(r"(?:19|20)\d\d", raw)] == []
