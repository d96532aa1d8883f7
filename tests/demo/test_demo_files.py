"""The demo's files, checked without a model: form, dates, citations, facts and planted faults."""

from __future__ import annotations

import calendar
import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import tldextract

DEMO = Path(__file__).parents[2] / "examples" / "demo"
REPORTS = ("sound", "flawed", "uncited")
FRINGE = "fringe-rsa-has-fallen"
OUTDATED = "cso-2023-draft-standards"
KINDS = {"false_claim": 2, "outdated": 2, "circular": 1, "cherry_picked": 1}
MONTHS = list(calendar.month_name)[1:]
_domain = tldextract.TLDExtract(suffix_list_urls=(), include_psl_private_domains=True)


@dataclass(frozen=True)
class Page:
    slug: str
    url: str
    title: str
    published: date
    site: str
    body: str


def _page(path: Path) -> Page:
    opening, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert opening == "", path.name
    data = dict(line.split(": ", 1) for line in head.splitlines())
    assert list(data) == ["url", "title", "published", "site"], path.name
    published = date.fromisoformat(data["published"])
    return Page(path.stem, data["url"], data["title"], published, data["site"], body.strip())


def _report(name: str) -> str:
    return (DEMO / f"{name}.md").read_text(encoding="utf-8")


def _read_json(name: str) -> Any:
    return json.loads((DEMO / name).read_text(encoding="utf-8"))


def _without_links(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def _domain_of(url: str) -> str:
    return _domain(url).top_domain_under_public_suffix


def _urls(text: str) -> list[str]:
    return re.findall(r"https?://[^\s)\]]+", text)


def _sentences(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in re.split(r"(?<=[.!?]) (?=[A-Z\[])", line) if part]


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w.,-])\d+(?:[,.]\d+)*(?![\w-])", text))


PAGES = [_page(path) for path in sorted((DEMO / "corpus").glob("*.md"))]
BY_URL = {page.url: page for page in PAGES}
TASK = json.loads((DEMO / "task.jsonl").read_text(encoding="utf-8"))
AS_OF = date.fromisoformat(TASK["as_of"])
FAULTS = _read_json("faults.json")["faults"]
FACTS = _read_json("facts.json")["key_facts"]


def test_task_is_one_line_with_the_fields_of_a_task() -> None:
    assert len((DEMO / "task.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert set(TASK) == {"id", "prompt", "language", "topic", "as_of"}
    assert date(2025, 6, 30) == AS_OF
    assert all(_read_json(name)["as_of"] == TASK["as_of"] for name in ("faults.json", "facts.json"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_page_is_short_and_filed_under_a_real_looking_address(page: Page) -> None:
    assert 120 <= len(page.body.split()) <= 260
    parts = urlsplit(page.url)
    assert parts.scheme == "https"
    assert _domain_of(page.url)
    assert not re.search(r"\b(example|test|invalid|localhost|placeholder)\b", parts.netloc)
    assert page.title
    assert page.site


def test_corpus_has_about_as_many_pages_as_it_says_and_no_address_twice() -> None:
    assert len(PAGES) == 30
    assert len(BY_URL) == len(PAGES)
    assert len({_domain_of(page.url) for page in PAGES}) >= 20


def test_exactly_one_page_is_later_than_the_as_of_date() -> None:
    later = [page for page in PAGES if page.published > AS_OF]
    assert [page.slug for page in later] == ["cloudflare-pq-2025"]
    assert later[0].published >= date(2025, 8, 1)


def test_the_outdated_page_is_of_2023_and_no_report_but_flawed_cites_it_or_the_fringe_page() -> None:
    by_slug = {page.slug: page for page in PAGES}
    assert by_slug[OUTDATED].published.year == 2023
    for slug in (OUTDATED, FRINGE):
        assert by_slug[slug].url in _report("flawed")
        assert by_slug[slug].url not in _report("sound")


@pytest.mark.parametrize("name", REPORTS)
def test_report_has_a_title_sections_and_the_promised_length(name: str) -> None:
    text = _report(name)
    assert 400 <= len(text.split()) <= 700
    assert text.startswith("# ")
    assert len(re.findall(r"^## ", text, re.M)) >= 5


@pytest.mark.parametrize("name", REPORTS)
def test_report_does_not_speak_of_the_demo(name: str) -> None:
    forbidden = r"\b(demo|dream|fault|planted|corpus|benchmark|judge|evaluat\w*|metric|dataset|fictional|invented)\b"
    assert not re.search(forbidden, _report(name), re.I)


@pytest.mark.parametrize("name", REPORTS)
def test_report_names_no_month_after_the_as_of_date(name: str) -> None:
    found = re.findall(rf"\b({'|'.join(MONTHS)}) (\d{{4}})\b", _report(name))
    assert len(found) >= 3
    assert all((int(year), MONTHS.index(month) + 1) <= (AS_OF.year, AS_OF.month) for month, year in found)


def test_every_cited_address_is_a_page_of_the_corpus_known_by_then() -> None:
    for name in ("sound", "flawed"):
        urls = _urls(_report(name))
        assert len(set(urls)) >= 10
        assert all(BY_URL[url].published <= AS_OF for url in urls)


def test_sound_cites_by_marks_flawed_by_links_and_uncited_not_at_all() -> None:
    body, references = _report("sound").split("## References\n")
    listed = [int(number) for number in re.findall(r"^(\d+)\. https://", references, re.M)]
    assert listed == list(range(1, len(listed) + 1))
    assert {int(number) for number in re.findall(r"\[(\d+)\]", body)} == set(listed)
    assert not _urls(body)
    assert len(re.findall(r"\]\(https://", _report("flawed"))) == len(_urls(_report("flawed")))
    assert not re.search(r"\[[^\]]*\]|https?:|www\.|doi|arxiv|references|sources", _report("uncited"), re.I)


def test_numbers_of_a_cited_sentence_stand_on_the_page_it_cites() -> None:
    body, references = _report("sound").split("## References\n")
    listed = dict(re.findall(r"^(\d+)\. (https://\S+)", references, re.M))
    checked = 0
    for sentence in _sentences(body):
        marks = re.findall(r"\[(\d+)\]", sentence)
        numbers = _numbers(re.sub(r"^\d+\. |\[\d+\]", "", sentence))
        if marks and numbers:
            pages = " ".join(BY_URL[listed[mark]].title + " " + BY_URL[listed[mark]].body for mark in marks)
            assert numbers <= _numbers(pages), sentence
            checked += 1
    assert checked >= 12


def test_numbers_of_a_linked_sentence_stand_on_the_page_it_links() -> None:
    checked = 0
    for sentence in _sentences(_report("flawed")):
        urls = _urls(sentence)
        numbers = _numbers(re.sub(r"^\d+\. ", "", _without_links(sentence)))
        if urls and numbers:
            assert numbers <= _numbers(" ".join(BY_URL[url].title + " " + BY_URL[url].body for url in urls)), sentence
            checked += 1
    assert checked >= 8


def test_faults_are_of_the_promised_kinds() -> None:
    kinds = [fault["kind"] for fault in FAULTS]
    assert {kind: kinds.count(kind) for kind in kinds} == KINDS
    assert len({fault["id"] for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_fault_stands_verbatim_in_flawed_and_nowhere_else(fault: dict[str, Any]) -> None:
    for sentence in fault["sentences"]:
        assert _report("flawed").count(sentence) == 1
        assert all(_without_links(sentence) not in _report(name) for name in ("sound", "uncited"))
    assert fault["text"] == " ".join(_without_links(sentence) for sentence in fault["sentences"])
    cited = [url for sentence in fault["sentences"] for url in _urls(sentence)]
    assert cited == fault["cites"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_fault_is_shown_by_pages_of_at_least_two_other_sites(fault: dict[str, Any]) -> None:
    for item in fault["evidence"]:
        page = BY_URL[item["url"]]
        assert item["quote"] in page.body
        assert page.published <= AS_OF
        assert page.slug not in (FRINGE, OUTDATED)
    domains = {_domain_of(item["url"]) for item in fault["evidence"]}
    assert len(domains) >= 2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_keywords_find_the_own_fault_and_no_other(fault: dict[str, Any]) -> None:
    def named(text: str) -> bool:
        return any(all(word in text.lower() for word in group) for group in fault["keywords"])

    assert fault["named_by"]
    assert all(word == word.lower() for group in fault["keywords"] for word in group)
    assert [other["id"] for other in FAULTS if named(other["text"])] == [fault["id"]]


def test_false_claims_agree_with_the_fringe_page_they_cite() -> None:
    fringe = next(page for page in PAGES if page.slug == FRINGE)
    false = [fault for fault in FAULTS if fault["kind"] == "false_claim"]
    assert [fault["cites"] for fault in false] == [[fringe.url]] * 2
    assert "broke RSA-2048 with a quantum annealer" in fringe.body
    assert "AES-256 is no longer safe against quantum computers" in fringe.body


def test_outdated_figures_are_older_than_the_evidence_against_them() -> None:
    for fault in FAULTS:
        if fault["kind"] == "outdated":
            newest = max(BY_URL[url].published for url in fault["cites"])
            assert all(BY_URL[item["url"]].published > newest for item in fault["evidence"])


def test_the_cherry_picked_page_itself_says_what_is_left_out() -> None:
    fault = next(fault for fault in FAULTS if fault["kind"] == "cherry_picked")
    assert fault["cites"][0] in {item["url"] for item in fault["evidence"]}


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["id"])
def test_key_fact_stands_on_two_sites_and_in_the_reports_that_carry_it(fact: dict[str, Any]) -> None:
    pages = [BY_URL[url] for url in fact["urls"]]
    for page in pages:
        assert page.published <= AS_OF
        assert page.slug not in (FRINGE, OUTDATED)
        assert all(words.lower() in page.body.lower() or words in page.title for words in fact["says"]), page.slug
    assert len({_domain_of(page.url) for page in pages}) >= 2
    for name in fact["reports"]:
        assert all(words.lower() in _report(name).lower() for words in fact["says"]), name


def test_sound_and_uncited_carry_the_same_facts() -> None:
    shared = [fact for fact in FACTS if fact["reports"]]
    assert len(shared) >= 12
    assert all(fact["reports"] == ["sound", "uncited"] for fact in shared)


def test_pages_are_worded_independently() -> None:
    seen: dict[tuple[str, ...], str] = {}
    for page in PAGES:
        words = re.findall(r"\w+", page.body.lower())
        for start in range(len(words) - 13):
            run = tuple(words[start : start + 14])
            assert seen.setdefault(run, page.slug) == page.slug, (page.slug, seen[run], run)
