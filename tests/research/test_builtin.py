"""``smolagents-open-dr`` over a scripted model and a small corpus: manager, search agents, citations of pages read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dream_eval.agents.research import Collected, State, perform, read_profiles
from dream_eval.agents.research.notes import Note, finished
from dream_eval.agents.research.open_dr import problems_of
from dream_eval.agents.research.tagged import in_tags
from dream_eval.core import Task
from dream_eval.ledger import Mode
from dream_eval.models import Limits
from dream_eval.reports import load_reports
from servers.chat import Body, ScriptedChat, error, prompt
from world import AS_OF, PAGES, QUERY, write_world

ENERGY, REGISTER, REVIEW = (PAGES[name][0] for name in ("energy.md", "register.md", "review.md"))
TASKS = (Task(id="t1", prompt=QUERY, as_of=AS_OF),)  # type: ignore[arg-type]
OUTSIDE = perform.Outside(limits=Limits(wait_scale=0, attempts=2))


def code(text: str) -> str:
    return f"I do it.\n<code>\n{text}\n</code>"


def is_manager(body: Body) -> bool:
    return "You write a research report." in prompt(body)


def turns(body: Body) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def manager(body: Body) -> str:
    """Two questions, then a report that cites all notes it was given."""
    if turns(body) == 0:
        return code(
            "for question in ['barrage finished', 'barrage cost']:\n    for note in research(question): print(note)"
        )
    notes = dict(re.findall(r"'id': '(n\d+)', 'text': '([^']+)'", prompt(body)))
    text = "# Lindow\n\n" + " ".join(f"{quote.rstrip('.')} [{id}]." for id, quote in notes.items())
    return code(f"final_answer({ {'report': text}!r})")


def searcher(body: Body) -> str:
    if turns(body) == 0:
        return code("for hit in web_search('Lindow barrage')[:3]:\n    print(read_page(hit['url'], find='barrage'))")
    wanted = "cost 1.9 billion" if "\nbarrage cost\n" in prompt(body) else "2021 after six years"
    found = re.search(rf"\[(\d+)\][^\[]*{wanted}", prompt(body))
    assert found
    return code(f"final_answer({ {'findings': [int(found[1])]}!r})")


async def run(folder: Path, chat: ScriptedChat, **more: Any) -> Collected:
    write_world(folder)
    asked = perform.Wish(
        *("ours", TASKS, folder / "ours.jsonl", folder / "ledger.sqlite"),
        builtin="smolagents-open-dr",
        model=chat.judge,
        search=(f"corpus:{folder / 'corpus'}",),
    )
    return (await perform.perform(asked, outside=OUTSIDE, **more))[0]


def scripted(chat: ScriptedChat) -> ScriptedChat:
    return chat.on(is_manager, manager).always(searcher)


async def test_the_report_cites_pages_that_were_read(tmp_path: Path) -> None:
    with ScriptedChat() as chat:
        assert (await run(tmp_path, scripted(chat))).missing == ()
        calls = len(chat.requests)
        (report,) = load_reports(tmp_path / "ours.jsonl")
        assert {source.url for source in report.sources} == {REGISTER, REVIEW}
        assert len(report.marks) == 2
        assert all(mark.sources for mark in report.marks)
        assert "completed in 2021" in report.text
        assert "1.9 billion" in report.text
        assert not re.search(r"\[n\d", report.text)
        profile = read_profiles(tmp_path / "ours.jsonl")["t1"]
        assert (profile.calls, profile.measured) == (calls, "ledger")
        assert profile.tokens == sum(len(prompt(body).split()) for body in chat.requests) + profile.completion_tokens  # type: ignore[operator]
        # Replayed: the same report, no call.
        before = (tmp_path / "ours.jsonl").read_text()
        (tmp_path / "ours.jsonl").unlink()
        await run(tmp_path, chat, mode=Mode.REPLAY)
        assert json.loads((tmp_path / "ours.jsonl").read_text())["article"] == json.loads(before)["article"]
        assert len(chat.requests) == calls


async def test_a_searcher_that_makes_sentences_up_is_refused(tmp_path: Path) -> None:
    told: list[str] = []

    def inventive(body: Body) -> str:
        if turns(body) == 1:
            return code("final_answer({'findings': [99]})")
        told.append(prompt(body)) if turns(body) == 2 else None
        return searcher(body)

    with ScriptedChat() as chat:
        await run(tmp_path, chat.on(is_manager, manager).always(inventive))
    assert "no such sentence was shown; give numbers from 1 to" in told[0]
    (report,) = load_reports(tmp_path / "ours.jsonl")
    assert {source.url for source in report.sources} == {REGISTER, REVIEW}


async def test_a_searcher_that_fails_leaves_what_it_read(tmp_path: Path) -> None:
    """It reads and never answers: code takes the sentences that speak to the question."""
    hopeless = code("print(read_page('https://power-review.org/lindow'))")
    with ScriptedChat() as chat:
        await run(tmp_path, chat.on(is_manager, manager).always(hopeless))
    (report,) = load_reports(tmp_path / "ours.jsonl")
    assert {source.url for source in report.sources} == {REVIEW}
    (line,) = [json.loads(line) for line in (tmp_path / "ours.jsonl").read_text().splitlines()]
    assert line["trace"]["searches"][0]["sentences_chosen_by"] == "code"


async def test_a_manager_that_never_answers(tmp_path: Path) -> None:
    with ScriptedChat() as chat:
        done = await run(tmp_path, chat.on(is_manager, "I think.").always(searcher))
    assert done.states["t1"].state is State.FAILED
    assert "max_steps" in done.states["t1"].reason


async def test_an_endpoint_that_is_down(tmp_path: Path) -> None:
    with ScriptedChat() as chat:
        done = await run(tmp_path, chat.always(error(500)))
    assert done.states["t1"].state is State.FAILED


async def test_a_searcher_that_quotes_instead_of_counting(tmp_path: Path) -> None:
    """Small models hand the sentence over, and forget the tags: both are understood."""

    def quoting(body: Body) -> str:
        if turns(body) == 0:
            return searcher(body)
        return (
            'Final answer({"findings": ["[3] The Lindow barrage was completed in 2021 after six years of building."]})'
        )

    with ScriptedChat() as chat:
        await run(tmp_path, chat.on(is_manager, manager).always(quoting))
        assert len(chat.requests) == 2 + 2 * 2
    (report,) = load_reports(tmp_path / "ours.jsonl")
    assert {source.url for source in report.sources} == {REGISTER}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I hand in. Final answer({'a': 1})", "I hand in. <code>\nfinal_answer({'a': 1})\n</code>"),
        ("final_answer({'a': 1})</code> more", "<code>\nfinal_answer({'a': 1})\n</code>"),
        ('{"findings": [1, 2]}', '<code>\nfinal_answer({"findings": [1, 2]})\n</code>'),
        ('<code>\n{"report": "x"}\n</code>', '<code>\nfinal_answer({"report": "x"})\n</code>'),
        ("<code>\nprint(1)\n</code> then final_answer(x)", None),
        ("The final answer is 4.", None),
        ("```py\nfinal_answer(1)\n```", None),
    ],
)
def test_the_last_call_stands_in_tags(text: str, expected: str | None) -> None:
    assert in_tags(text) == (text if expected is None else expected)


NOTES = {
    "n1": Note("n1", "A.", "https://a.org/1", "Title A", None),
    "n2": Note("n2", "B.", "https://b.org/2", "B [x](evil)", "2024-01-01"),
    "n3": Note("n3", "C.", "https://a.org/1", "Title A", None),
}


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("One [n2]. Two [n1][n3].", "One [1]. Two [2]."),
        ("One [n1, n3; n2].", "One [1][2]."),
        ("One [n9]. Two [n1].", "One. Two [1]."),
        ("One [n1].\n\n## Sources\n\n[n1] https://made-up.org", "One [1]."),
    ],
)
def test_sources_are_written_by_code(report: str, expected: str) -> None:
    text, sources = finished(report, NOTES)
    body, _, listed = text.partition("\n\n## Sources\n\n")
    assert body == expected
    assert "made-up" not in text
    assert len(listed.strip().splitlines()) == len(sources)


def test_a_title_cannot_make_a_link() -> None:
    assert finished("One [n2].", NOTES)[0].endswith("[1] B x (evil). https://b.org/2\n")


@pytest.mark.parametrize(
    ("report", "attempt", "words"),
    [
        ("No note at all.", 1, "no note is cited"),
        ("One [n7] [n1].", 1, "no note n7"),
        ("One [n1].\n\n" + "word " * 20, 1, "paragraph 2"),
        ("One [n7] [n1].", 3, ""),
        ("No note at all.", 9, "no note is cited"),
        ("# Head\n\nOne [n1].\n\n## Sources\n\n" + "word " * 20, 1, ""),
    ],
)
def test_what_is_wrong_with_a_report(report: str, attempt: int, words: str) -> None:
    problems = problems_of(report, NOTES, attempt)
    assert (words in " ".join(problems)) if words else not problems


def test_a_report_without_notes() -> None:
    assert "call research first" in problems_of("One [n1].", {}, 9)[0]
