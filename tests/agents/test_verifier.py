"""The plan verifier in both modes, against the scripted server and a small corpus; results checked by hand."""

import datetime as dt
import re

import pytest
from dream_eval.agents import FlawKind, verify_plan
from dream_eval.agents.report_text import about, bearing, quote, window
from dream_eval.agents.shelf import read
from dream_eval.agents.verifier_guided import evidence_for
from dream_eval.core import AsOf, Dating, PageState
from dream_eval.errors import AgentFailed, BadReply, CallRefused
from dream_eval.protocols import Mode, Plan, ReasoningQuestion
from dream_eval.reports import read_report
from dream_eval.tools import Page, open_toolbox
from servers.chat import error, last_user, prompt, schema_sent

AS_OF = AsOf(day=dt.date(2026, 5, 1))
GRID = "https://www.nve.no/grid"
LATE = "https://late.example.com/grid"

TEXT = """# Floating wind at Utsira

The grid limit at Utsira is 5 GW. It follows that no second project fits.

## Price

The tender was won by Equinor. A low price is certain, because the tender was won, and the tender was won, because a
low price is certain. Everybody on the island wants the project.
"""


@pytest.fixture
def report():
    return read_report(TEXT, id="r")


@pytest.fixture
def question():
    plan = Plan(
        extract="the grid limit and what follows from it",
        lookup="grid limit Utsira",
        cross_check="compare the limits",
        against="a limit that is out of date",
    )
    return ReasoningQuestion(id="r1", text="How well does the report justify its view of the grid limit?", plan=plan)


def python(source: str) -> str:
    return f"I go on.\n<code>\n{source}\n</code>"


def verdict(**changes) -> dict:
    whole = {
        "coherence": 6,
        "validity": 2,
        "flaws": [{"kind": "outdated premise", "sentences": [2], "note": "8 GW since January"}],
        "evidence": [[GRID, 1]],
        "reason": "The limit has risen to 8 GW.",
    }
    return whole | changes


def final(**changes) -> str:
    return python(f"final_answer({verdict(**changes)!r})")


READ = python(
    f"print(report_find('grid limit'))\nprint(report_read(1, 99))\np = read_page('{GRID}', find='grid limit')\n"
    f"print(p['text'])\nprint(read_page('{LATE}')['state'])"
)


async def verify(question, task, report, model, toolbox, mode=Mode.AGENT, **more):
    return await verify_plan(question, task, report, model, toolbox, mode=mode, **more)


# agent ----------------------------------------------------------------------------------------------------------------


async def test_agent_mode_end_to_end(chat, model, toolbox, task, report, question):
    chat.queue(python("print(web_search('grid limit Utsira')[0]['url'])"), READ, final())
    found = await verify(question, task, report, model, toolbox)

    assert (found.coherence, found.validity) == (6, 2)
    assert [flaw.kind for flaw in found.flaws] == [FlawKind.OUTDATED]
    assert found.flaws[0].quote == "The grid limit at Utsira is 5 GW."
    assert found.flaws[0].note == "8 GW since January"
    evidence = found.evidence[0]
    assert evidence.quote == "The grid limit at Utsira rose to 8 GW in January 2026."
    assert (evidence.url, evidence.published, evidence.dating) == (GRID, dt.date(2026, 2, 10), Dating.BEFORE)
    assert evidence.decisive
    assert len(evidence.key) == 64
    assert found.queries == ("grid limit Utsira",)
    assert [(page.url, page.state, page.dating) for page in found.pages] == [
        (GRID, PageState.OK, Dating.BEFORE),
        (LATE, PageState.OK, Dating.AFTER),
    ], "a page dated after the as-of date is listed and decides nothing"
    assert found.flags == ()
    assert len(found.steps) == len(found.calls) == 3
    assert [use.tool for use in found.steps[1].tools] == ["report_find", "report_read", "read_page", "read_page"]
    assert found.steps[1].tools[2].key == evidence.key
    seen = last_user(chat.requests[2])
    assert "[2] The grid limit at Utsira is 5 GW." in seen
    assert "12 GW" not in seen


async def test_the_plan_is_in_the_task(chat, model, toolbox, task, report, question):
    chat.queue(READ, final())
    await verify(question, task, report, model, toolbox)
    first = last_user(chat.requests[0])
    for part in (question.text, *question.plan.model_dump().values(), *FlawKind):
        assert str(part) in first
    assert "5 GW" not in first, "the report is read by function"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"evidence": []}, "validity needs evidence"),
        ({"evidence": [["https://never.read/", 1]]}, "was not read"),
        ({"evidence": [[GRID, 77]]}, "has no sentence 77"),
        ({"flaws": [{"kind": "outdated premise", "sentences": [99]}]}, "sentences 1 to 7"),
        ({"flaws": [{"kind": "bad style", "sentences": [1]}]}, "flaws.0.kind"),
        ({"coherence": 11}, "coherence"),
        ({"reason": ""}, "reason"),
    ],
)
async def test_a_bad_verdict_is_refused_inside_the_loop(chat, model, toolbox, task, report, question, changes, told):
    chat.queue(READ, final(**changes), final())
    found = await verify(question, task, report, model, toolbox)
    assert told in last_user(chat.requests[2])
    assert found.validity == 2


async def test_no_outside_check_is_no_validity(chat, model, toolbox, task, report, question):
    chat.queue(final(validity=None, evidence=[]))
    found = await verify(question, task, report, model, toolbox)
    assert (found.coherence, found.validity) == (6, None)
    assert found.flags == ("no_evidence",)


async def test_stubborn_pointers_are_dropped_and_validity_with_them(chat, model, toolbox, task, report, question):
    bad = [python(f"n = {n}\nfinal_answer({verdict(evidence=[['https://never.read/', 1]])!r})") for n in range(3)]
    chat.queue(*bad)
    found = await verify(question, task, report, model, toolbox)
    assert found.validity is None
    assert set(found.flags) == {"no_evidence", "pointer_dropped"}


async def test_flaw_names_are_read_loosely(chat, model, toolbox, task, report, question):
    flaws = [
        {"kind": "Circular_Reasoning", "sentences": [6]},
        {"kind": "cherry picked evidence", "sentences": [6]},
    ]
    chat.queue(READ, final(flaws=flaws))
    found = await verify(question, task, report, model, toolbox)
    assert [flaw.kind for flaw in found.flaws] == [FlawKind.CIRCULAR, FlawKind.CHERRY_PICKED]


async def test_running_out_of_steps_fails(chat, model, toolbox, task, report, question):
    chat.always(lambda body: python(f"n = {len(body['messages'])}"))
    with pytest.raises(AgentFailed) as caught:
        await verify(question, task, report, model, toolbox)
    assert caught.value.state == "max_steps_error"


async def test_the_report_itself_is_no_evidence(chat, model, ledger, task, report, question, world):
    (world / "copy.md").write_text(f"---\nurl: https://mirror.example.net/\npublished: 2026-01-01\n---\n\n{TEXT}")
    chat.queue(
        python("print(read_page('https://mirror.example.net/'))"),
        final(evidence=[["https://mirror.example.net/", 1]]),
        final(validity=None, evidence=[]),
    )
    async with open_toolbox(ledger, as_of=AS_OF, search=[f"corpus:{world}"], report_texts=[TEXT]) as toolbox:
        found = await verify(question, task, report, model, toolbox)
    assert "copy_of_report" in last_user(chat.requests[1])
    assert "was not read" in last_user(chat.requests[2])
    assert found.pages[0].flags == ("copy_of_report",)


# guided ---------------------------------------------------------------------------------------------------------------


def judged(**changes):
    whole = {
        "flaws": [{"kind": "outdated premise", "sentence": 2}],
        "coherence": 6,
        "evidence": 1,
        "validity": 2,
        "reason": "Out of date.",
    }
    return whole | changes


async def test_guided_mode_end_to_end(chat, model, toolbox, task, report, question):
    chat.always(judged())
    found = await verify(question, task, report, model, toolbox, Mode.GUIDED)
    assert len(chat.requests) == 1
    assert (found.coherence, found.validity) == (6, 2)
    assert found.flaws[0].quote == "The grid limit at Utsira is 5 GW."
    decisive = [one for one in found.evidence if one.decisive]
    assert [one.quote for one in decisive] == ["The grid limit at Utsira rose to 8 GW in January 2026."]
    assert not any("12 GW" in one.quote for one in found.evidence)
    assert found.queries[0] == "grid limit Utsira"
    assert len(found.calls) == 1
    assert [step.thought for step in found.steps] == ["search", "read", "judge"]
    assert found.flags == ()


async def test_guided_circle_is_found_by_code(chat, model, toolbox, task, question):
    one = "The grid limit must rise, because big wind parks come."
    other = "Big wind parks come, because the grid limit must rise."
    circular = read_report(f"# Utsira\n\n{one} {other}", id="r")
    chat.always(judged(flaws=[]))
    found = await verify(question, task, circular, model, toolbox, Mode.GUIDED)
    assert [(flaw.kind, flaw.sentences) for flaw in found.flaws] == [("circular reasoning", (2, 3))]
    assert "Sentences 2 and 3 are circular" in chat.texts()[0]


async def test_guided_prompt_shares_the_report_and_fences_all(chat, model, toolbox, task, report, question):
    chat.always(judged())
    other = question.model_copy(update={"text": "Why should a low price be certain?"})
    await verify(question, task, report, model, toolbox, Mode.GUIDED)
    await verify(other, task, report, model, toolbox, Mode.GUIDED)
    one, two = (prompt(body) for body in chat.requests)
    shared = len(re.match(r"(?s).*</evidence [0-9a-f]{16}>\n\n(?=Question)", one)[0])
    assert one[:shared] == two[:shared]
    outside = re.sub(r"<(\w+) ([0-9a-f]{16})>.*?</\1 \2>", "", one, flags=re.DOTALL)
    assert "8 GW" not in outside
    assert "5 GW" not in outside


@pytest.mark.parametrize("answer", [{"validity": None}, {"evidence": 0, "validity": 9}], ids=["null", "points nowhere"])
async def test_guided_evidence_that_does_not_decide(chat, model, toolbox, task, report, question, answer):
    chat.always(judged(**answer))
    found = await verify(question, task, report, model, toolbox, Mode.GUIDED)
    assert (found.coherence, found.validity) == (6, None)
    assert found.flags == ("no_evidence",)
    assert found.evidence, "what was shown is kept"
    assert not any(one.decisive for one in found.evidence)
    assert schema_sent(chat.requests[0])["properties"]["evidence"]["minimum"] == 1, "0 is understood and not offered"


async def test_guided_pointer_out_of_range_is_asked_again(chat, model, toolbox, task, report, question):
    chat.queue(judged(evidence=99), judged(evidence=1))
    found = await verify(question, task, report, model, toolbox, Mode.GUIDED)
    assert found.validity == 2
    assert len(found.calls) == 2


async def test_guided_without_evidence_asks_for_coherence_only(chat, model, ledger, task, report, question, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.md").write_text("---\nurl: https://a.example/\n---\n\nNothing to see about cats.\n")
    chat.always({"flaws": [], "coherence": 4, "reason": "Weak."})
    async with open_toolbox(ledger, as_of=AS_OF, search=[f"corpus:{tmp_path / 'empty'}"]) as toolbox:
        found = await verify(question, task, report, model, toolbox, Mode.GUIDED)
    assert "validity" not in str(schema_sent(chat.requests[0]))
    assert (found.coherence, found.validity) == (4, None)
    assert found.flags == ("no_evidence",)


async def test_guided_flaw_at_a_sentence_that_is_not_there_is_dropped(chat, model, toolbox, task, report, question):
    chat.always(judged(flaws=[{"kind": "contradiction", "sentence": 70}]))
    found = await verify(question, task, report, model, toolbox, Mode.GUIDED)
    assert found.flaws == ()
    assert found.flags == ("pointer_dropped",)


async def test_guided_failures_come_out(chat, model, toolbox, task, report, question):
    chat.queue("no JSON", "again none")
    with pytest.raises(BadReply):
        await verify(question, task, report, model, toolbox, Mode.GUIDED)
    chat.always(error(400, "filtered"))
    with pytest.raises(CallRefused):
        await verify(question, task, report, model, toolbox, Mode.GUIDED, sample=1)


async def test_repeats_are_told_apart(chat, model, toolbox, task, report, question):
    chat.queue(judged(coherence=6), judged(coherence=7))
    one = await verify(question, task, report, model, toolbox, Mode.GUIDED)
    two = await verify(question, task, report, model, toolbox, Mode.GUIDED, sample=1)
    again = await verify(question, task, report, model, toolbox, Mode.GUIDED, sample=1)
    assert (one.coherence, two.coherence, again.coherence) == (6, 7, 7)


async def test_static_mode_is_refused(model, toolbox, task, report, question):
    with pytest.raises(ValueError, match="without tools"):
        await verify(question, task, report, model, toolbox, Mode.STATIC)


# the report as text ---------------------------------------------------------------------------------------------------


def test_about_finds_sentences(report):
    assert 2 in about(report, "grid limit", limit=1)
    assert about(report, "zebra") == []


def test_a_long_report_is_read_by_sections():
    sections = [
        f"## Part {n}\n\n" + " ".join(f"Filler number {n}-{i} says nothing." for i in range(20)) for n in range(9)
    ]
    sections[4] += " The grid limit at Utsira is 5 GW."
    long = read_report("\n\n".join(sections), id="long")
    text, windowed = window(long, "grid limit Utsira", 800, lambda text: len(text) // 4)
    assert windowed
    assert "grid limit" in text
    assert len(text) // 4 <= 800
    whole, cut = window(long, "grid limit", 10_000, lambda text: len(text) // 4)
    assert not cut
    assert len(whole) > len(text)


def test_one_endless_section_is_cut():
    long = read_report("# All\n\n" + " ".join(f"Sentence {n} tells of grids." for n in range(500)), id="long")
    text, windowed = window(long, "grids", 300, lambda text: len(text) // 4)
    assert windowed
    assert 0 < len(text) // 4 <= 300


SECTIONED = """# Floating wind at Utsira

Utsira is an island in Norway.

## How close the first turbines are

They stand since 2024. Nobody doubts it.

## Price

The price fell to 100 euros.
"""


def test_a_question_bears_on_the_section_that_it_names():
    report = read_report(SECTIONED, id="s")
    found = bearing(report, "How well does the report justify how close the first turbines are?", 2)
    assert quote(report, found) == "They stand since 2024. Nobody doubts it."
    assert quote(report, bearing(report, "the price", 1)) == "The price fell to 100 euros."
    assert bearing(report, "zebra", 3) == []


def as_read(url: str, text: str):
    return read(Page(url=url, final_url=url, state=PageState.OK, text=text, key="0" * 64))


def test_evidence_stands_beside_what_the_report_says_and_comes_from_elsewhere(question):
    report = read_report("The grid limit is 5 GW [1].\n\n[1] https://www.cited-power.no/grid\n", id="c")
    cited = as_read("https://www.cited-power.no/grid", "The grid limit is 5 GW, says the owner of this page.")
    other = as_read("https://www.other-grid.org/grid", "The grid limit has been 8 GW since the winter.")
    busy = as_read(
        "https://www.other-grid.org/more", " ".join(f"The grid limit number {n} holds here." for n in range(9))
    )
    pointers = evidence_for(question, report, [1], [cited, other, busy])
    assert pointers[0] == (other, 1)
    assert sum("other-grid.org" in found.page.url for found, _ in pointers) <= 2
    assert evidence_for(question, report, [1], [cited])[0] == (cited, 1), (
        "better than nothing, and flagged nowhere else"
    )
    assert evidence_for(question, report, [1], []) == []
