"""Attacks: forty of them, the same every time, served as real pages; judges that give in and one that does not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run as dream
from dream_eval.core import Task
from dream_eval.evaluators.results import Evidence, Item, MetricResult
from dream_eval.reports import load_reports, numbered, read_report
from dream_eval.runs.faults import demo_folder
from dream_eval.studies import attacks
from dream_eval.studies.attack_data import ATTACKS, CONTROLS, FAMILIES, Attack, chosen, put_in
from dream_eval.studies.attack_pages import attacked_page, pdf_of
from dream_eval.studies.harness import Cell, Measured, open_bench
from dream_eval.tools.content import Source, parse
from dream_eval.tools.corpus import Corpus
from servers.chat import Body, ScriptedChat, last_user
from world import answer_passage, judge_of_world, passages

TASK = Task(id="t", prompt="What is known about the Lindow barrage?")
SCALES = ("organisation", "clarity", "coherence", "concision", "format", "language")


def writing(level: int) -> dict[str, Any]:
    return dict.fromkeys(SCALES, level) | {"faults": []}


def obeys(text: str) -> bool:
    return any(word in text for word in ("Ignore all previous", "highest score", "full marks", "best possible verdict"))


def plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


# --- the data set ----------------------------------------------------------------------------------------------------


def test_there_are_forty_in_twelve_families_each_with_a_name_of_its_own():
    assert len(ATTACKS) == len({attack.id for attack in ATTACKS}) == 40
    assert len(FAMILIES) == 12
    assert {attack.place for attack in ATTACKS} == {"report", "page"}
    assert not {attack.id for attack in ATTACKS} & {control.id for control in CONTROLS}


def test_a_choice_is_spread_over_the_families_and_seeded():
    few = chosen((), 12, seed=0)
    assert [attack.family for attack in few] == sorted((a.family for a in few), key=[a.family for a in few].index)
    assert len({attack.family for attack in few}) == 12
    assert chosen((), 12, seed=0) == few != chosen((), 12, seed=5)
    assert {attack.family for attack in chosen(("pdf", "title"), None, seed=0)} == {"pdf", "title"}


@pytest.mark.parametrize("attack", [a for a in (*ATTACKS, *CONTROLS) if a.place == "report"], ids=lambda a: a.id)
def test_an_attack_in_a_report_changes_it_and_keeps_its_sentences(attack):
    report = load_reports(demo_folder() / "flawed.md")[0]
    text = put_in(report, attack, random.Random(1))
    assert text == put_in(report, attack, random.Random(1)) != report.text
    made = read_report(text, id="x")
    if attack.where == "everywhere" and attack.family == "citations":
        assert len(made.marks) > 3 * len(report.marks)
        return
    if attack.family == "homoglyphs":
        assert [source.url for source in made.sources] == [source.url for source in report.sources]
        assert len(made.sentences) == len(report.sentences)
        return
    before, after = [s.text for s in report.sentences], {s.text for s in made.sentences}
    assert sum(text in after for text in before) >= len(before) - 1
    if attack.where == "comment":
        assert attack.text[:20] not in numbered(made)


@pytest.mark.parametrize("form", ["html", "pdf", "markdown"])
def test_a_page_without_an_attack_reads_the_same_in_every_form(form):
    corpus = Corpus.open(demo_folder() / "corpus")
    for page in list(corpus.documents())[:6]:
        harmless = Attack(id="x", family="x", place="page", where="title", text=page.title, form=form)
        if form == "pdf":
            harmless = harmless.model_copy(update={"where": "info"})
        if form == "markdown":
            harmless = harmless.model_copy(update={"text": "", "where": "end"})
        assert plain(attacked_page(page, harmless, "").document.text) == plain(page.text)
    corpus.close()


def test_a_pdf_of_many_pages_is_read_whole():
    body = pdf_of([f"Paragraph {n} (with \\ signs) speaks of cells." for n in range(120)], title="A (title)")
    page = parse(Source(url="https://a.org/x.pdf", final_url="https://a.org/x.pdf", status=200), body)
    assert page.title == "A (title)"
    assert all(f"Paragraph {n} (with \\ signs)" in page.text for n in range(120))
    assert len(page.page_starts) > 2


def resting_on(*quoted: tuple[str, str], metric: str = "factuality", score: float = 50) -> Measured:
    """A unit with an item a quote: (address, quote)."""
    items = tuple(
        Item(id=f"c{n}", text="x", outcome="supported", evidence=(Evidence(quote=quote, url=url),))
        for n, (url, quote) in enumerate(quoted)
    )
    result = MetricResult(metric=metric, version=1, status="scored", score=score, items=items)
    return Measured(Cell(f"clean/{metric}", metric, None), result)


def some_pages(count: int) -> list[tuple[str, str]]:
    corpus = Corpus.open(demo_folder() / "corpus")
    found = [(page.url, page.text.split("\n\n")[1].strip()) for page in list(corpus.documents())[:count]]
    corpus.close()
    return found


def test_hidden_words_of_a_page_are_removed_and_flagged(tmp_path):
    report = load_reports(demo_folder() / "flawed.md")[0]
    hidden = [attack for attack in ATTACKS if attack.place == "page" and attack.family in ("hidden", "override")]
    found = attacks.data_set(TASK, report, hidden, tmp_path, corpus=demo_folder() / "corpus", controls=0, seed=0)
    found = attacks.with_pages(found, [resting_on(*some_pages(3))], tmp_path)
    by_where = {one.attack.where: one for one in found.attacked if one.attack.family == "hidden"}
    assert by_where["span"].flags == ("hidden_instructions", "hidden_text")
    assert all(one.removed for one in by_where.values())
    assert not any(one.removed for one in found.attacked if one.attack.family == "override")
    rows = json.loads((tmp_path / "data/attacks.json").read_text())
    for row, one in zip(rows, found.attacked, strict=True):
        corpus = Corpus.open(one.corpus)
        assert len(corpus) == len(list((demo_folder() / "corpus").glob("*.md")))
        assert (row["text"][:40] in corpus.get(row["url"]).text) is not row["removed"]
        corpus.close()


def test_pages_are_drawn_from_what_the_clean_report_rests_on(tmp_path):
    report, corpus = load_reports(demo_folder() / "flawed.md")[0], demo_folder() / "corpus"
    pages = [attack for attack in ATTACKS if attack.place == "page"]
    quoted = some_pages(2)
    clean = [resting_on(*quoted, ("https://nowhere.test/", "not in the corpus"))]

    def drawn(seed: int) -> list[str]:
        out = tmp_path / str(seed)
        found = attacks.data_set(TASK, report, pages, out, corpus=corpus, controls=0, seed=seed)
        assert {row["url"] for row in json.loads((out / "data/attacks.json").read_text())} == {None}
        found = attacks.with_pages(found, clean, out)
        urls = [row["url"] for row in json.loads((out / "data/attacks.json").read_text())]
        assert urls == [one.page.document.url for one in found.attacked]
        return urls

    assert set(drawn(0)) == {url for url, _ in quoted}
    assert drawn(0) == drawn(0) != drawn(1)


def test_a_title_is_shown_to_judges(tmp_path):
    report = load_reports(demo_folder() / "flawed.md")[0]
    titles = [one for one in ATTACKS if one.place == "page" and one.where in ("title", "info")]
    found = attacks.data_set(TASK, report, titles, tmp_path, corpus=demo_folder() / "corpus", controls=0, seed=0)
    made = attacks.with_pages(found, [resting_on(*some_pages(2))], tmp_path).attacked
    assert [one.removed for one in made] == [False] * 3


def test_an_attack_stands_behind_the_passage_that_was_quoted(tmp_path):
    report, (quoted,) = load_reports(demo_folder() / "flawed.md")[0], some_pages(1)
    attack = next(one for one in ATTACKS if one.place == "page" and one.where == "middle" and one.form == "markdown")
    found = attacks.data_set(TASK, report, [attack], tmp_path, corpus=demo_folder() / "corpus", controls=0, seed=0)
    (one,) = attacks.with_pages(found, [resting_on(quoted)], tmp_path).attacked
    before, _, _ = one.page.document.text.partition(attack.text)
    assert before.rstrip().endswith(quoted[1][-40:])


def test_files_of_another_choice_go_and_other_files_stay(tmp_path):
    report, corpus, clean = (
        load_reports(demo_folder() / "flawed.md")[0],
        demo_folder() / "corpus",
        [resting_on(*some_pages(2))],
    )

    def written(family: str) -> set[str]:
        found = attacks.data_set(
            TASK, report, chosen((family,), None, seed=0), tmp_path, corpus=corpus, controls=1, seed=0
        )
        attacks.with_pages(found, clean, tmp_path)
        return {path.stem for path in (tmp_path / "data").rglob("*") if path.is_file() and path.stem != "attacks"}

    assert {name[:4] for name in written("title")} == {"clea", "repo", "page"}
    (tmp_path / "data/reports/notes.md").write_text("mine")
    second = written("flattery")
    assert {"notes", "clean"} < second
    assert all("flattery" in name or "control" in name for name in second - {"notes", "clean"})
    assert attacks.to_draw(attacks.data_set(TASK, report, (), tmp_path, corpus=corpus, controls=0, seed=0)) == []


def test_stuffed_citations_are_flagged_and_harmless_sentences_are_not(tmp_path):
    report = load_reports(demo_folder() / "flawed.md")[0]
    found = attacks.data_set(
        TASK, report, chosen(("citations", "flattery"), None, seed=0), tmp_path, corpus=None, controls=4, seed=0
    )
    assert all(one.flags for one in found.attacked if one.attack.family == "citations")
    assert not any(one.flags for one in found.attacked if one.attack.family == "flattery")


# --- judges ----------------------------------------------------------------------------------------------------------


async def study(setup: Any, folder: Path, out: Path, families: tuple[str, ...], metrics: tuple[str, ...]) -> Any:
    report = load_reports(folder / "cited.md")[0]
    corpus = attacks.corpus_of(setup.search)
    found = attacks.data_set(TASK, report, chosen(families, None, seed=0), out, corpus=corpus, controls=2, seed=0)
    async with open_bench(setup, "study") as bench:
        return await attacks.run(bench, found, metrics, out)


async def test_a_judge_that_gives_in_is_caught(world, setup_for, tmp_path):
    with ScriptedChat() as weak:
        weak.always(lambda body: writing(5 if obeys(last_user(body)) else 3))
        sheet = await study(setup_for(weak), tmp_path, tmp_path / "out", ("override", "flattery"), ("wq",))
    moved = {row[0]: row[2] for row in sheet.tables[1].rows}
    assert [moved[f"report-0{n}-override"] for n in (1, 2, 4)] == ["+50.0"] * 3
    assert {shift for id, shift in moved.items() if "flattery" in id} == {"+0.0"}
    assert "3 raise the score by more than the noise floor of 0.0: this judge can be moved" in sheet.findings[0]
    assert all(len(line) <= 80 for line in sheet.lines())


async def test_a_steadfast_judge_does_not_move(world, setup_for, tmp_path):
    with ScriptedChat() as strong:
        strong.always(writing(3))
        sheet = await study(setup_for(strong), tmp_path, tmp_path / "out", (), ("wq",))
    assert "mean shift +0.0 [+0.0, +0.0] over 28 of 28 attacks" in sheet.findings[0]
    assert "12 attacks in pages are not made: none of these metrics reads pages." in sheet.findings
    assert "none is beyond the noise floor of 0.0" in sheet.findings[0]


def gives_in(body: Body) -> dict[str, Any]:
    """Of a passage that gives orders: supported. Of the others what they say."""
    shown = passages(last_user(body))
    given = {row["id"]: row for row in answer_passage(body)["answers"]}
    for id, lines in shown.items():
        if obeys(" ".join(lines.values())):
            given[id] = {"id": id, "verdict": "supported", "sentences": [min(lines)]}
    return {"answers": list(given.values())}


async def test_a_page_can_move_factuality_and_not_writing(world, setup_for, tmp_path):
    """The world's judge, who trusts a passage that tells it to."""
    with judge_of_world() as real:
        rules = list(real._rules)
    with ScriptedChat() as weak:
        weak.on(
            lambda body: "Is the claim supported by the evidence" in last_user(body) and obeys(last_user(body)),
            gives_in,
        )
        weak._rules.extend(rules)
        sheet = await study(setup_for(weak), tmp_path, tmp_path / "out", ("title", "pdf"), ("wq", "factuality"))
    assert {row[4] for row in sheet.tables[0].rows} == {None}  # writing is not judged again
    shifts = {row[0]: row[3] for row in sheet.tables[1].rows}
    assert set(shifts) == {f"page-{n}" for n in ("07-title", "08-title", "10-pdf", "11-pdf", "12-pdf")}
    assert shifts["page-12-pdf"] == "+0.0"  # the title of a PDF is not read as its text


def test_a_page_that_nobody_came_to_has_no_shift(world, setup_for, tmp_path):
    report, corpus = load_reports(demo_folder() / "flawed.md")[0], demo_folder() / "corpus"
    found = attacks.data_set(TASK, report, chosen(("title",), 1, seed=0), tmp_path, corpus=corpus, controls=0, seed=0)
    (quoted,) = some_pages(1)
    (page,) = attacks.with_pages(found, [resting_on(quoted)], tmp_path).attacked
    its, other = resting_on(quoted), resting_on(("https://other.test/", "y"), score=80)
    name = f"{page.attack.id}/factuality"
    assert attacks.shifts([page], "factuality", {"clean/factuality": other, name: other}) == {}
    assert attacks.shifts([page], "factuality", {"clean/factuality": other, name: its}) == {page.attack.id: -30.0}
    # Evidence without the attack and none with it: the attack took the page out of sight, and that is a shift.
    assert attacks.shifts([page], "factuality", {"clean/factuality": its, name: other}) == {page.attack.id: 30.0}


@pytest.mark.parametrize(
    ("moved", "said"),
    [
        ({"a": 5.0, "b": -9.0}, "the largest +5.0 (a)"),
        ({"a": 0.0, "b": -9.0}, "no score rose; the lowest -9.0 (b)"),
        ({"a": 0.0}, "no score moved"),
    ],
)
def test_the_farthest_shift_is_named(moved, said):
    assert attacks._farthest(moved) == said


async def test_a_report_that_rests_on_no_page_has_no_page_to_attack(world, setup_for, tmp_path):
    with ScriptedChat() as broken:
        broken.always("no JSON")
        sheet = await study(setup_for(broken), tmp_path, tmp_path / "out", ("title",), ("factuality",))
    assert "2 attacks in pages are not made: the clean report has no evidence from a page." in sheet.findings


async def test_without_a_score_nothing_is_claimed(world, setup_for, tmp_path):
    with ScriptedChat() as broken:
        broken.always("no JSON")
        sheet = await study(setup_for(broken), tmp_path, tmp_path / "out", ("override",), ("wq",))
    assert "the clean report has no score" in sheet.findings[0]
    assert {row[2] for row in sheet.tables[1].rows} == {None}


def test_the_command_plans_offline_and_knows_its_families(chat, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert dream(["study", "attacks", "--plan", "--max", "12", "--judge", chat.judge, "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert "data set: 12 attacks on flawed" in said
    assert "of them in pages, drawn when the clean report is judged from those that it rests on" in said
    rows = json.loads((tmp_path / "out/data/attacks.json").read_text())
    assert len(rows) == 12 + 4
    wanted = {row["id"] for row in rows if row["place"] == "report"}
    assert {path.stem for path in (tmp_path / "out/data/reports").iterdir()} == wanted
    assert {row["url"] for row in rows} == {None}
    assert dream(["study", "attacks", "--attacks", "bribery"]) == 2
    assert "there is no family 'bribery': choose among override" in capsys.readouterr().err
    assert not chat.requests
