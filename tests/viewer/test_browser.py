"""The page in a real browser: three clicks to the evidence, filters, comparisons, ratings, keys, attacks, speed."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import dream_eval
import pytest
from dream_eval.viewer import ViewServer, open_bundle, write, write_view
from viewing import make_run
from world import AS_OF, QUERY, judge_of_world, write_world

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real evaluation, agents and workflows included, by a judge on a socket."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    with judge_of_world() as chat:
        run = dream_eval.evaluate(
            [folder / "cited.md", folder / "uncited.md"],
            query=QUERY,
            judge=chat.judge,
            search=f"corpus:{folder / 'corpus'}",
            as_of=AS_OF,
            out=folder / "run",
            ledger=folder / "ledger.sqlite",
            questions=4,
            reasoning=2,
        )
    return run.folder


def show(eyes: Any, folder: Path | list[Path], place: Path, hash: str = "", **options: Any) -> Any:
    page = write(folder if isinstance(folder, list) else [folder], place / "page.html")
    return eyes.open(page.path.as_uri() + hash, **options)


def address(page: Any) -> str:
    """What stands in the address once the page has drawn what was asked for."""
    frame = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
    page.evaluate(frame)
    return str(page.evaluate("location.hash"))


# --- the three clicks ------------------------------------------------------------------------------------------------


def test_from_a_score_to_its_evidence_in_three_clicks(evaluated: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, evaluated, tmp_path)
    row = page.locator("table.scores tbody tr", has_text="cited").first
    row.locator("td[data-name=Factuality] a").click()  # one: the score
    assert "report/" in address(page)
    mark = page.locator(".reader mark.bad", has_text="14 turbines")
    mark.click()  # two: the claim, marked in the text
    item = page.locator("aside .item")
    assert item.locator(".verdict").inner_text().strip().startswith("✕ contradicted")
    against = item.locator(".stream", has=page.get_by_role("heading", name="Against it"))
    register = against.locator(".quote", has_text="tidal-authority.gov.uk")
    assert register.locator("mark").inner_text() == "The Lindow barrage has 12 turbines."
    register.get_by_role("button", name="in the stored page").click()  # three: the page it stands in
    stored = register.locator("blockquote.page")
    assert "The register lists every tidal plant." in stored.inner_text()
    assert stored.locator("mark").inner_text() == "The Lindow barrage has 12 turbines."
    link = register.locator("a").first
    assert link.get_attribute("href") == "https://tidal-authority.gov.uk/register"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert item.locator(".queries li").count() > 0


def test_calls_and_steps_are_shown(evaluated: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, evaluated, tmp_path)
    page.locator("table.scores tbody tr").first.locator("td[data-name='Reasoning quality'] a").click()
    page.locator(".entries button").first.click()
    assert "flaw" in page.locator("aside .item").inner_text()
    page.get_by_role("link", name="step").click()
    step = page.locator(".worked[open] .step").first
    assert "I look." in step.locator(".thought").inner_text()
    assert "read_page(" in step.locator("pre.code").inner_text()
    step.locator("details.call").last.locator("summary").click()
    body = step.locator("details.call[open] .body")
    assert "check the reasoning of a research report" in body.inner_text()
    page.go_back()
    page.locator(".lenses button", has_text="Factuality").click()
    page.get_by_role("link", name="Every step and call").click()
    page.locator(".worked summary", has_text="turbines").first.click()
    page.wait_for_selector(".worked[open] .timeline h3")
    stages = page.locator(".worked[open] .timeline h3").all_inner_texts()
    assert stages == ["Asked without taking a side", "Opened", "Judged"]


def test_findings_come_worst_first(evaluated: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, evaluated, tmp_path)
    page.locator("table.scores tbody th a").first.click()
    page.wait_for_selector(".entries .label")
    kinds = page.locator(".entries .label").all_inner_texts()
    assert kinds[0].startswith("contradicted claim")
    assert kinds[-1].startswith("missing key fact")
    page.locator(".entries button").first.click()
    assert "metric=factuality" in address(page)
    assert page.locator(".reader mark.chosen").count() >= 1


def test_the_protocol_of_a_run(evaluated: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, evaluated, tmp_path)
    page.get_by_role("link", name="Protocol").click()
    page.wait_for_selector(".question")
    assert page.locator(".question").count() == 6
    assert page.locator(".plan li").count() == 8
    first = page.locator(".question details").first
    first.locator("summary").click()
    assert first.locator("blockquote mark").inner_text()
    kinds = page.locator(".timeline .kind").all_inner_texts()
    assert {"model", "search", "page"} <= set(kinds)


def test_a_rubric_and_a_metric_that_nobody_foresaw(eyes: Any, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", metrics=("kic", "dre_quality", "dre_facts", "fact", "race"))
    page = show(eyes, folder, tmp_path)
    page.locator("table.scores td[data-name='Point-wise quality'] a").first.click()
    assert "of 10" in page.locator(".entries .badge").first.inner_text()
    page.get_by_role("link", name="Where these questions come from").click()
    page.wait_for_selector(".dimension")
    assert page.locator(".dimension").count() == 5
    assert "made for this task" in page.locator(".dimension").last.inner_text()
    assert page.locator(".question:not(.dimension)").count() == 11


# --- finding one's way -----------------------------------------------------------------------------------------------


def test_filter_and_sort_stand_in_the_address(many: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, many, tmp_path)
    rows = page.locator("#reports tbody tr")
    assert rows.count() == 24
    page.keyboard.press("/")
    page.keyboard.type("beta task-3")
    address(page)
    assert rows.all_inner_texts()[0].startswith("beta")
    assert rows.count() == 1
    again = eyes.open(page.url.partition("#")[0] + address(page))
    assert again.locator("#reports tbody tr").count() == 1
    page.keyboard.press("Escape")
    address(page)
    assert rows.count() == 24
    page.locator("#reports thead button", has_text="Factuality").click()
    address(page)
    scores = [float(text) for text in page.locator("#reports td[data-name=Factuality] b").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    page.locator("#reports thead button", has_text="Factuality").click()
    address(page)
    scores = [float(text) for text in page.locator("#reports td[data-name=Factuality] b").all_inner_texts()]
    assert scores == sorted(scores)
    page.get_by_label("Judge").select_option("judge/two")
    assert "judge=judge%2Ftwo" in address(page)
    page.locator("#reports tbody th a").first.click()
    assert page.get_by_label("Judge").input_value() == "judge/two"


def test_a_mean_leads_to_its_reports_lowest_first(many: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, many, tmp_path)
    page.locator("section").first.locator("tbody tr", has_text="gamma").locator("td[data-name=Factuality] a").click()
    rows = page.locator("#reports tbody tr")
    page.wait_for_function("document.querySelectorAll('#reports tbody tr').length === 8")
    scores = [float(text) for text in rows.locator("td[data-name=Factuality] b").all_inner_texts()]
    assert scores == sorted(scores)


def test_keys(run_folder: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, run_folder, tmp_path)
    page.keyboard.press("j")
    address(page)
    page.keyboard.press("j")
    address(page)
    assert page.locator("tr.picked").inner_text().startswith("beta")
    page.keyboard.press("k")
    address(page)
    page.keyboard.press("Enter")
    page.wait_for_selector(".reader")
    page.locator(".lenses button", has_text="Factuality").click()
    page.keyboard.press("j")
    address(page)
    page.keyboard.press("j")
    address(page)
    assert page.locator(".item-nav").inner_text().split("\n")[1] == "2 of 8"
    first = page.locator("aside .claim").inner_text()
    page.keyboard.press("k")
    address(page)
    assert page.locator("aside .claim").inner_text() != first
    page.keyboard.press("Escape")
    address(page)
    assert page.locator(".item-nav").count() == 0
    page.keyboard.press("Escape")
    address(page)
    page.keyboard.press("Escape")
    page.wait_for_selector("#reports")
    page.keyboard.press("?")
    assert "next, previous" in page.get_by_role("dialog").inner_text()


def test_everything_can_be_reached_without_a_mouse(run_folder: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, run_folder, tmp_path, "#/report/task-0/alpha?metric=factuality")
    page.wait_for_selector(".entries")
    seen: set[str] = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.closest('nav, .entries, .links, .sources')?.className ?? ''"))
    assert {"top no-print", "lenses", "entries", "links"} <= seen


# --- comparing and rating --------------------------------------------------------------------------------------------


def test_compare_systems_and_judges(many: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, many, tmp_path, "#/compare?a=alpha&b=gamma")
    assert page.locator("h1").inner_text() == "alpha and gamma"
    rows = open_bundle([many]).index()["differences"]
    row = next(r for r in rows if r[:4] == ["system", "alpha", "gamma", "factuality"] and r[4] == "judge/one")
    shown = page.locator(".plain-table tbody tr", has_text="Factuality").locator("td").all_inner_texts()
    assert shown[0] == f"{row[6]:+.1f}".replace("-", "−")
    assert page.locator(".pair").count() == 8
    page.locator(".pair-head").first.click()
    page.wait_for_selector(".against")
    both = page.locator(".sides section", has_text="Key-information coverage").locator(".against:not(.lists)")
    texts = [half.locator(".badge").all_inner_texts() for half in both.all()]
    assert texts
    assert all(one != other for one, other in texts)  # only what differs
    page.get_by_label("only what differs").uncheck()
    address(page)
    assert both.count() == 8
    page.get_by_label("Compare", exact=True).select_option("judge")
    address(page)
    assert page.locator("h1").inner_text() == "judge/one and judge/two"
    page.get_by_label("with").wait_for()


def test_compare_two_runs(run_folder: Path, many: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, [run_folder, many], tmp_path)
    assert page.locator("h1").inner_text() == "plain and many"
    assert page.locator(".pair").count() == 2  # task-0 by alpha and by beta
    page.locator(".pair-head").first.click()
    page.locator(".heads a").first.click()
    page.wait_for_selector(".reader")
    assert "run=1" not in address(page)
    page.get_by_role("link", name="many", exact=True).click()
    address(page)
    assert page.locator("#reports tbody tr").count() == 24


def test_rate_and_download(run_folder: Path, eyes: Any, tmp_path: Path) -> None:
    protocol = run_folder / "protocols" / "task-0.json"
    page = show(eyes, protocol, tmp_path)
    page.get_by_role("button", name="Rate these questions").click()
    first = page.locator(".question").first
    for number, value in enumerate((4, 5, 2)):
        first.locator("fieldset").nth(number).get_by_text(str(value), exact=True).click()
    first.get_by_label("Note on k1").fill("asks two things <b>")
    page.locator(".question").nth(8).locator("fieldset").first.get_by_text("1", exact=True).click()
    page.get_by_label("Your name").fill("Ada")
    page.reload()  # kept in the browser
    page.get_by_role("button", name="Rate these questions").click()
    assert "2 of 11 rated" in page.locator(".rating-bar").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the ratings").click()
    digest = json.loads(protocol.read_text())["digest"]
    assert waiting.value.suggested_filename == f"ratings-{digest[:12]}.json"
    waiting.value.save_as(tmp_path / "ratings.json")
    assert json.loads((tmp_path / "ratings.json").read_text()) == {
        "schema": 1,
        "protocol": digest,
        "rater": "Ada",
        "ratings": [
            {"item": "k1", "relevance": 4, "verifiability": 5, "clarity": 2, "note": "asks two things <b>"},
            {"item": "r1", "relevance": 1, "verifiability": None, "clarity": None, "note": ""},
        ],
    }


# --- attacks ---------------------------------------------------------------------------------------------------------

PLACES = (
    "",
    "#/report/task-0/0?metric=factuality",
    "#/protocol/task-0",
    "#/compare",
    "#/report/__proto__/constructor?item=%3Cscript%3E&metric=toString&judge=__proto__",
    "#/trace/%E0%A4%A/x/y",
    "#/compare?a=__proto__&b=constructor&by=judge&open=%3Cimg%20src=x%3E",
)


@pytest.mark.parametrize("hash", PLACES)
def test_what_attackers_write_is_text(hostile: Path, eyes: Any, tmp_path: Path, hash: str) -> None:
    page = show(eyes, hostile, tmp_path, hash)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('iframe, img, object, embed, form, base').length") == 0
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_reports_from_end_to_end(hostile: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, hostile, tmp_path)
    for number in range(4):
        page.goto(page.url.partition("#")[0] + "#/")
        page.locator("table.scores tbody tr").nth(number).locator("td a").nth(3).click()
        page.locator(".entries button").first.wait_for()
        for _ in range(3):
            page.keyboard.press("j")
            while (folded := page.locator("aside details:not([open]) > summary")).count():
                folded.first.click()
        assert page.evaluate("window.hacked") is None
        bad = "[...document.querySelectorAll('a')].filter(a => !/^(https?:|#)/.test(a.getAttribute('href')))"
        assert page.evaluate(f"{bad}.map(a => a.outerHTML)") == []
        outside = "[...document.querySelectorAll('a[href^=http]')].filter(a => a.rel !== 'noopener noreferrer')"
        assert page.evaluate(f"{outside}.length") == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        hidden = "/[\\u0000-\\u0008\\u007f-\\u009f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/"
        assert not page.evaluate(f"{hidden}.test(document.body.innerText)")
    assert "onerror='window.hacked" in page.locator(".reader").inner_text()
    assert page.get_by_role("link", name="click", exact=True).count() == 0
    marks = page.locator("aside blockquote mark").all_inner_texts()
    assert "Subject 0 has 3 parts." in marks  # the emoji before it in the page did not move the quote


def test_names_that_look_alike_lead_to_their_own_report(hostile: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, hostile, tmp_path)
    links = page.locator("table.scores tbody th a").all_inner_texts()
    assert links[1:3] == ["beta\\u202etxt", "beta\\u202dtxt"]
    page.locator("table.scores tbody th a").nth(2).click()
    page.wait_for_selector(".reader")
    assert page.locator("h1").inner_text() == "beta\\u202dtxt"


# --- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_overflows_and_all_text_can_be_read(
    many: Path, evaluated: Path, eyes: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    for folder, hash in (
        (many, "#/"),
        (many, "#/compare?open=task-1"),
        (evaluated, "#/protocol/task"),
        (evaluated, ""),
    ):
        page = show(eyes, folder, tmp_path, hash, width=width, scheme=scheme)
        check_form(page)
    page.locator("table.scores tbody tr").first.locator("td a").nth(3).click()
    page.locator(".entries button").first.click()
    page.wait_for_selector("aside blockquote")
    check_form(page)


def check_form(page: Any) -> None:
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    low = page.evaluate(CONTRAST)
    assert not low, low


CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (one) => {
    for (let here = one; here; here = here.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(here).backgroundColor);
      if (a > 0.99 && r !== undefined) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const one of document.querySelectorAll('#app *')) {
    if (one.closest('svg') || one.matches(':disabled, option') || !one.offsetParent) continue;
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.add(`${one.tagName}.${one.className} ${ratio.toFixed(2)}`);
  }
  return [...found];
}"""


def test_it_prints(evaluated: Path, eyes: Any, tmp_path: Path) -> None:
    page = show(eyes, evaluated, tmp_path, "#/report/x/y")
    page.goto(page.url.partition("#")[0] + "#/")
    page.emulate_media(media="print")
    assert not page.locator("nav.top").is_visible()
    assert page.locator("table.scores").first.is_visible()
    assert page.pdf(path=str(tmp_path / "page.pdf"))[:5] == b"%PDF-"
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 31, 35)"  # dark on white all the same


# --- large runs ------------------------------------------------------------------------------------------------------


def test_a_thousand_reports_are_there_at_once(tmp_path: Path, eyes: Any) -> None:
    """First paint below two seconds is what the issue asks for; the test holds it against four times that, since a
    busy machine is no fault of the page. The figure itself is printed."""
    folder = make_run(tmp_path / "large", tasks=100, systems=[f"system-{n}" for n in range(10)], items=4)
    path = write_view(folder)
    page = eyes.open(path.as_uri())
    assert "1,000 reports" in page.locator(".lead").inner_text()
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"\n1,000 reports, {path.stat().st_size / 1e6:.1f} MB: first paint after {paint:.0f} ms")
    assert page.locator("#reports tbody tr").count() == 60
    page.locator("#reports tbody tr").last.locator("td a").first.click()
    page.wait_for_selector(".entries button")
    assert paint < 8_000


def test_served(run_folder: Path, eyes: Any) -> None:
    with closing(open_bundle([run_folder])) as bundle, ViewServer(bundle) as server:
        page = eyes.open(server.url)
        page.locator("table.scores td a").nth(3).click()
        page.locator(".entries button").first.click()
        page.wait_for_selector("aside blockquote mark")
        assert any("/part/0.pages.0" in url for url in eyes.requests)


def test_what_is_left_out_says_so(tmp_path: Path, eyes: Any) -> None:
    folder = make_run(tmp_path / "run", tasks=4)
    page = write([folder], tmp_path / "tight.html", largest=185_000)
    assert page.left_out
    shown = eyes.open(f"{page.path.as_uri()}#/report/task-3/beta")
    shown.wait_for_selector(".empty")
    assert "dream view RUN --serve" in shown.locator(".empty").inner_text()
