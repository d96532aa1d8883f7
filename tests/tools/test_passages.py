"""Terms, sentences, passages, copies: offsets that hold, rankings that make sense, limits that are kept."""

import random
import time
from itertools import pairwise

import pytest
from dream_eval.core import Dating, PageState
from dream_eval.tools import Page, PassageIndex, best_passages, independent, is_copy
from dream_eval.tools.copies import holds_report, shingles
from dream_eval.tools.indexing import indexed, packed, unpacked
from dream_eval.tools.words import query_terms, terms


def page(text, url="https://a.example/", **more):
    return Page(url=url, final_url=url, state=PageState.OK, text=text, key=url, **more)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Exports", "export"),
        ("exported exporting", "exports export"),
        ("studies", "study"),
        ("Café RÉSUMÉ", "cafe resume"),
        ("1,000", "1000"),
        ("ＡＢＣ１２", "abc12"),
        ("running", "runs"),
        ("processes", "process"),
        ("Zürich", "zurich"),
    ],
)
def test_terms_that_meet(one, other):
    assert set(terms(one)) == set(terms(other)) != set()


@pytest.mark.parametrize(("one", "other"), [("1.5", "15"), ("2021", "2022"), ("news", "new york"), ("glass", "glas")])
def test_terms_that_differ(one, other):
    assert terms(one) != terms(other)


def test_cjk_is_cut_into_pairs():
    assert terms("河流泥沙") == ["河流", "流泥", "泥沙"]
    assert terms("水") == ["水"]
    assert terms("GPU集群 2024年") == ["gpu", "集群", "2024", "年"]


def test_a_query_of_stop_words_alone_still_asks():
    assert query_terms("the who") == ["the", "who"]
    assert query_terms("the river") == ["river"]


PAGES = [
    page(
        "Rivers are long. They flow to the sea. Sediment in the Rhine grew by 12 percent in 2023. The cause is unknown."
        " Fish live there. Boats sail there. People swim there.",
        "https://rivers.example/",
        dating=Dating.BEFORE,
    ),
    page("Lakes are deep. Sediment in lakes is old. Nobody measured it in 2023.", "https://lakes.example/"),
    page("河流泥沙在二零二三年增加了百分之十二。原因不明。湖泊没有变化。", "https://han.example/"),
]


def test_the_best_passage_comes_first_with_offsets_into_the_page():
    found = best_passages("How much did sediment in the Rhine grow in 2023?", PAGES, limit=3, window=2)
    assert found[0].url == "https://rivers.example/"
    assert "12 percent in 2023." in found[0].text
    assert found[0].dating is Dating.BEFORE
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)
    by_url = {p.url: p for p in PAGES}
    for passage in found:
        assert by_url[passage.url].text[passage.start : passage.end] == passage.text


def test_passages_do_not_overlap_and_stay_within_a_page():
    text = " ".join(f"Sediment sentence number {n} is here." for n in range(9))
    found = best_passages("sediment sentence", [page(text), page(text, "https://b.example/")], limit=10, window=3)
    spans = sorted((p.url, p.start, p.end) for p in found)
    assert len(found) == 6
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(spans))


def test_chinese():
    found = best_passages("河流泥沙增加多少", PAGES, limit=1, window=1)
    assert found[0].text == "河流泥沙在二零二三年增加了百分之十二。"


def test_rare_words_weigh_more_and_nothing_is_found_for_nothing():
    found = best_passages("Rhine sediment", PAGES, limit=1, window=1)
    assert "Rhine" in found[0].text
    assert best_passages("volcano", PAGES) == []
    assert best_passages("river", []) == []
    assert best_passages("", PAGES) == []


def test_pages_that_are_not_ok_have_no_passages():
    gone = Page(url="x", final_url="x", state=PageState.GONE, text="", key="k")
    assert best_passages("river", [gone]) == []


def test_pdf_passages_know_their_page():
    text = "First page text here.\n\nSecond page about sediment.\n\nThird page."
    starts = (0, text.index("Second"), text.index("Third"))
    found = best_passages("sediment", [page(text, page_starts=starts)], window=1)
    assert found[0].page == 2


def test_a_window_beats_single_words_scattered():
    text = "Alpha here. Filler one. Filler two. Filler three. Alpha stands. Beta stands. Filler four. Beta here."
    found = best_passages("alpha beta", [page(text)], limit=1, window=2)
    assert found[0].text == "Alpha stands. Beta stands."


def test_a_thousand_pages_are_searched_quickly():
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghijklmnoprstuvw", k=draw.randint(3, 9))) for _ in range(8000)]
    weights = [1 / (n + 1) for n in range(len(words))]
    pages = [
        page(". ".join(" ".join(draw.choices(words, weights, k=15)).capitalize() for _ in range(8)) + ".")
        for _ in range(1000)
    ]
    start = time.thread_time()
    index = PassageIndex(pages)
    made, searched = time.thread_time() - start, []
    for n in range(5):
        start = time.thread_time()
        assert index.search(" ".join(words[40 + n * 100 : 48 + n * 100]))
        searched.append(time.thread_time() - start)
    assert min(searched) < made / 20  # a search that looked at every page again would take as long as the index


TEXT = (
    "Rivers are long — they flow 1,000 km. 河流泥沙增加了百分之十二。 * * * Rivers carry sediment. Café. Rivers again."
)


def test_an_index_is_the_same_after_its_way_as_bytes():
    for text in (TEXT, "", "…", " ".join(BASE)):
        index = indexed(text)
        assert unpacked(packed(index), len(text)) == index
    index = indexed(TEXT)
    assert [TEXT[start:end] for start, end in index.sentences][1] == "河流泥沙增加了百分之十二。"
    assert list(index.where(index.number("river"))) == [0, 2, 4]
    assert (index.number("riv"), index.number("ers")) == (None, None)


def test_bytes_that_are_no_index_do_no_harm(monkeypatch):
    data, draw = packed(indexed(TEXT)), random.Random(5)
    assert len(data) > 8192
    believed = 0
    for _ in range(2_000):
        wrong = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            wrong[draw.randrange(len(data) - 8192)] = draw.randrange(256)
        try:
            index = unpacked(bytes(wrong[: draw.choice((len(data), len(data), draw.randrange(len(data))))]), len(TEXT))
        except ValueError:
            continue
        believed += 1
        monkeypatch.setattr("dream_eval.tools.passages.index_of", lambda _, index=index: index)
        for passage in best_passages("rivers carry sediment 河流泥沙 1000", [page(TEXT)], window=2):
            assert 0 <= passage.start <= len(TEXT)
    assert believed > 100


BASE = [f"Sentence {n} tells of item {n * 7} and of place {n * 13} in the year {1900 + n}." for n in range(120)]


def test_copies():
    whole = " ".join(BASE)
    assert is_copy(whole, whole)
    assert is_copy(whole, "Our site. " + whole + " Share this.")
    assert is_copy(whole.upper(), whole)
    assert is_copy(whole, " ".join(BASE[:80]))
    assert not is_copy(whole, " ".join(BASE[:20]))
    assert not is_copy(whole, " ".join(s.replace("tells", "speaks").replace("item", "thing") for s in BASE))
    assert not is_copy(whole, "")
    assert not is_copy("", "")
    assert is_copy("A short line.", "a short line")
    assert not is_copy("A short line.", "a short lime")


def test_chinese_copies():
    text = "".join(f"第{n}条河流在{1900 + n}年输送了{n * 7}万吨泥沙。" for n in range(60))
    assert is_copy(text, "转载：" + text)
    assert not is_copy(text, "".join(f"湖泊{n}号深度为{n * 3}米，面积不详。" for n in range(60)))


def test_a_page_that_carries_the_report_and_a_source_that_was_copied_out():
    report = shingles(" ".join(BASE))
    forum = shingles(
        "Look what it wrote! " + " ".join(BASE) + " " + " ".join(f"Comment {n} of reader {n * 3}." for n in range(500))
    )
    source = shingles(" ".join(BASE[:10]))
    assert holds_report(forum, report)
    assert not holds_report(source, report)


def test_ten_copies_of_one_press_release_are_one_source():
    release = " ".join(BASE[:40])
    copies = [page(f"Site {n} says: {release}", f"https://s{n}.example/") for n in range(10)]
    other = page(" ".join(BASE[60:]), "https://other.example/")
    groups = independent([copies[0], other, *copies[1:]])
    assert [len(group) for group in groups] == [10, 1]
