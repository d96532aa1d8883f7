"""What code alone does for weak models: finding, ranking and wording key facts."""

import datetime as dt
import subprocess
import sys

import pytest
from dream_eval.agents.creator_guided import meant, open_draft, repaired, templated
from dream_eval.agents.drafts import recent, same_fact
from dream_eval.agents.guided import ranked
from dream_eval.agents.key_sentences import arguable, candidates, facets, overtaken, searches, stands_alone
from dream_eval.agents.shelf import read
from dream_eval.core import AsOf, Dating, PageState, Task
from dream_eval.tools import Hit, Page

AS_OF = AsOf(day=dt.date(2026, 5, 1))


def page(url: str, text: str, published: dt.date | None = dt.date(2026, 3, 1)):
    return read(Page(url=url, final_url=url, state=PageState.OK, text=text, published=published, key="0" * 64))


def texts(wishes, *reads):
    return [candidate.text for candidate in candidates(wishes, list(reads), AS_OF)]


def test_facets_are_the_clauses_of_a_query():
    query = "How should a town plan for floods? State which laws are new, what they cost, and what to do first."
    assert facets(query) == [
        "How should a town plan for floods",
        "State which laws are new",
        "what they cost",
        "what to do first",
    ]
    assert searches(query)[1] == "State which laws are new town plan floods"
    assert arguable(query, 2)[0] == "How should a town plan for floods"
    assert facets("Floods") == ["Floods"]
    assert len(facets("固态电池的最新进展如何？哪些公司已经量产，成本下降了多少？")) == 3


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("NIST published three final standards on 13 August 2024.", True),
        ("On 13 August 2024 NIST published three final standards.", True),
        ("The price of a floating turbine fell to 900 euros per kilowatt.", True),
        ("It was published by NIST in August 2024 after years of work.", False),
        ("The document is addressed to all states and their many companies.", False),
        ("Why is NIST doing this in the year 2024 and not later?", False),
        ("NIST did it.", False),
        ("Even as first posted, the algorithm did not apply to ML-KEM at all.", False),
        ("国家电网在2026年1月把上限提高到8吉瓦。", True),
        ("上限提高。", False),
    ],
)
def test_stands_alone(sentence, expected):
    assert stands_alone(sentence) is expected


def test_what_more_sites_say_comes_first():
    one = page("https://a.com/", "Norway raised the grid limit to 8 GW in January 2026.")
    two = page("https://b.org/", "The grid limit in Norway was raised to 8 GW in January 2026.")
    three = page("https://c.net/", "Sweden kept the grid limit for its own coast at 3 GW in 2026.")
    found = candidates(["grid limit"], [three, one, two], AS_OF)
    assert found[0].text.endswith("8 GW in January 2026.")
    assert [source.url for source in found[0].also] == [
        {"https://a.com/", "https://b.org/"}.difference({found[0].read.page.url}).pop()
    ]
    assert len(found) == 2


def test_what_most_sites_deny_is_no_fact():
    fringe = page("https://fringe.net/", "Cipher AES-256 is safe no longer against quantum computers since 2025.")
    others = [
        page(f"https://s{n}.org/", f"Cipher AES-256 is safe against quantum computers in 2025, says expert {name}.")
        for n, name in enumerate(("Anna", "Berta"))
    ]
    found = texts(["AES-256 safe quantum computers"], fringe, *others)
    assert not any("no longer" in text for text in found)
    assert found


def test_old_pages_come_last_and_overtaken_forecasts_never():
    old = page("https://old.com/", "Norway has a grid limit of 5 GW, said the ministry.", dt.date(2024, 1, 1))
    new = page("https://new.com/", "Sweden has a grid limit of 3 GW, said the ministry.")
    stale = page("https://stale.com/", "Denmark expects a grid limit of 9 GW in 2025.", dt.date(2026, 1, 1))
    found = texts(["grid limit GW"], old, new, stale)
    assert [text.split()[0] for text in found] == ["Sweden", "Norway"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("A final version is expected in 2025.", True),
        ("A final version is expected in 2027.", False),
        ("A final version was published in 2025.", False),
        ("预计2025年完成。", True),
    ],
)
def test_overtaken(sentence, expected):
    assert overtaken(sentence, AS_OF) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("NIST published final standards in August 2024.", "On 13 August 2024 NIST published final standards.", True),
        ("The limit rose to 8 GW in Norway.", "The limit rose to 9 GW in Norway.", False),
        ("AES-256 is safe against quantum attacks.", "AES-256 is not safe against quantum attacks.", False),
        ("Norway raised the limit.", "Sweden builds a cable.", False),
    ],
)
def test_same_fact(one, other, expected):
    assert same_fact(one, other) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The limit rose in 2025.", True),
        ("The limit is now 8 GW.", True),
        ("The plant is due in 2031.", True),
        ("The limit rose in 2019.", False),
        ("目前上限为8吉瓦。", True),
    ],
)
def test_recent(text, expected):
    assert recent(text, AS_OF) is expected


FACT = "The grid limit at Utsira rose to 8 GW in January 2026."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does the report state that the grid limit at Utsira rose to 8 GW?", None),
        ("Is the grid limit at Utsira 9 GW?", "template"),
        ("What is the grid limit at Utsira?", "template"),
        ("Does the report mention wind?", "template"),
        ("Does it state the grid limit at Utsira and does it state the year?", "template"),
        ("", "template"),
    ],
)
def test_repaired(question, expected):
    template = "Does the report state that the grid limit at Utsira rose to 8 GW in January 2026?"
    assert repaired(question, FACT) == (template if expected else question)


def test_template_in_chinese():
    assert templated("国家电网把上限提高到8吉瓦。") == "报告是否指出：国家电网把上限提高到8吉瓦？"


def test_nothing_is_asked_about_a_fact_that_no_question_fits():
    assert repaired("Why?", "Prices rose and it is said that wages fell; both did and will.") is None


def test_meant_trusts_the_words_over_the_number():
    shown = candidates(
        ["grid limit", "cable plant"],
        [page("https://a.com/", f"{FACT} NVE approved the cable plant in Halden in 2025.")],
        AS_OF,
    )
    place = next(n for n, candidate in enumerate(shown, 1) if "Halden" in candidate.text)
    other = 3 - place
    assert meant(shown, other, "Does the report state that NVE approved the cable plant in Halden?") == place
    assert meant(shown, other, "Does the report state anything?") == other


def test_open_questions_get_a_plan_that_looks_outside():
    task = Task(id="t", prompt="What about wind at Utsira?")
    question = "How well does the report justify the grid limit at Utsira?"
    for lookup in ("", "none", "report"):
        draft = open_draft(question, lookup, task)
        assert draft is not None
        assert draft.plan.lookup == "grid limit Utsira wind"
    assert open_draft("Is it justified?", "grid limit", task) is None
    assert "前提" in open_draft("报告如何论证电网上限？", "电网 上限", Task(id="t", prompt="电网上限")).plan.extract


def hit(url: str, rank: int, dating: Dating = Dating.BEFORE) -> Hit:
    return Hit(url=url, rank=rank, engine="e", dating=dating)


def test_hits_are_fused_and_no_site_speaks_for_all():
    hits = [hit(f"https://a.com/{n}", n) for n in range(1, 5)]
    hits += [hit("https://b.org/", 5), hit("https://b.org/", 5), hit("https://late.net/", 1, Dating.AFTER)]
    assert ranked(hits) == ["https://b.org/", "https://a.com/1", "https://a.com/2"]


def test_importing_the_package_loads_nothing_heavy():
    heavy = "('smolagents', 'openai', 'pydantic_monty', 'trafilatura')"
    code = f"import sys, dream_eval.agents; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
