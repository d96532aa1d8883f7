"""Making claim lists: what the model is asked, what is kept of its answer, what happens when a batch fails."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dream_eval.core import Task
from dream_eval.errors import CallFailed
from dream_eval.evaluators import CLAIMS_VERSION, make_claims
from dream_eval.evaluators.candidates import candidates, checkable, ranked
from dream_eval.evaluators.claims import jobs_of, keeps, speaks_of_now
from evaluating import QUERY, lines_of, plain_report
from servers.chat import Body, ScriptedChat, error, prompt, schema_sent

TASK = Task(id="t", prompt=QUERY)
TEXT = """\
# Ronda

The Ronda works make 40 cells a day ([count](https://works-register.org/ronda)).

They currently employ 12 people.

One should visit them.

The Ronda works were built in 1990 by the town of Ronda.
"""


def draft(sentence: int, text: str, importance: int = 3, changes: bool = False) -> dict[str, Any]:
    return {"sentence": sentence, "importance": importance, "changes": changes, "text": text}


THREE = [
    draft(2, "The Ronda works make 40 cells a day.", 5),
    draft(3, "The Ronda works currently employ 12 people.", 4),
    draft(5, "The Ronda works were built in 1990 by the town of Ronda.", 2),
]


async def test_a_list_worked_out_by_hand(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": THREE})
    report = plain_report(TEXT)
    async with bench() as b:
        claims = await make_claims(TASK, report, b.judge)
    assert [(c.id, c.sentences, c.importance, c.time_dependent) for c in claims.claims] == [
        ("c1", (2,), 5, False),
        ("c2", (3,), 4, True),
        ("c3", (5,), 2, False),
    ]
    assert all(c.check_worthy and c.selected for c in claims.claims)
    assert claims.claims[0].sources == ("s1",)
    assert claims.claims[1].sources == ()
    assert (claims.version, claims.failed_batches, claims.dropped) == (CLAIMS_VERSION, 0, 0)
    assert claims.report == report.digest
    assert claims.maker == b.judge.name
    assert len(chat.requests) == 1


async def test_the_same_answers_give_the_same_digest(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": THREE})
    async with bench() as b:
        one, other = [await make_claims(TASK, plain_report(TEXT), b.judge) for _ in range(2)]
    assert one == other


async def test_what_the_sentences_do_not_carry_is_dropped_and_counted(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": [THREE[0], draft(5, "The Ronda works were built in 1985 by the town of Ronda.")]})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), b.judge)
    assert [c.text for c in claims.claims] == [THREE[0]["text"]]
    assert claims.dropped == 1


async def test_sentences_that_were_not_asked_about_are_left_out(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": [THREE[0], draft(1, "Ronda."), draft(99, "The Ronda works make 40 cells a day.")]})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), b.judge)
    assert [c.sentences for c in claims.claims] == [(2,)]


async def test_an_empty_text_takes_the_sentence_as_it_stands(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": [draft(5, " ")]})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), b.judge)
    assert [c.text for c in claims.claims] == ["The Ronda works were built in 1990 by the town of Ronda."]


async def test_with_a_limit_the_rest_is_only_pointed_at(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": THREE[:1], "others": [5, 3, 2, 1, 99]})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(TEXT), b.judge, max_claims=1)
    assert [(c.sentences, c.selected, c.importance) for c in claims.claims] == [
        ((2,), True, 5),
        ((3,), False, 1),
        ((5,), False, 1),
    ]
    assert claims.selected_from == 3
    assert "list the 1 most important" in chat.texts()[0]
    assert schema_sent(chat.requests[0])["required"] == ["claims", "others"]  # type: ignore[index]


async def test_no_claims_is_an_empty_list(bench: Any, chat: ScriptedChat) -> None:
    chat.always({"claims": []})
    async with bench() as b:
        claims = await make_claims(TASK, plain_report("One should visit them.\n"), b.judge)
    assert claims.claims == ()


async def test_a_report_of_headings_asks_nobody(bench: Any, chat: ScriptedChat) -> None:
    async with bench() as b:
        claims = await make_claims(TASK, plain_report("# Ronda\n\n## Works\n"), b.judge)
    assert (claims.claims, chat.requests) == ((), [])


LONG = "\n\n".join(f"Hall {i} of the Ronda works was painted in 19{i:02d}." for i in range(90))


def reads_halls(body: Body) -> dict[str, Any]:
    found = re.search(r"sentences (\d+) to (\d+)", prompt(body))
    assert found
    first, last = int(found[1]), int(found[2])
    lines = lines_of(prompt(body))
    return {"claims": [draft(n, text) for n, text in lines.items() if first <= n <= last]}


async def test_a_longer_report_is_read_in_batches_under_one_head(bench: Any, chat: ScriptedChat) -> None:
    chat.always(reads_halls)
    report = plain_report(LONG)
    async with bench() as b:
        claims = await make_claims(TASK, report, b.judge)
    assert len(chat.requests) == 3
    assert [c.sentences[0] for c in claims.claims] == list(range(1, 91))
    assert claims.sentences_read == 90
    heads = {text.partition("A claim is something")[0] for text in chat.texts()}
    assert len(heads) == 1, "all batches see the whole report, so that the prefix is shared"


async def test_a_batch_that_fails_is_counted_and_the_rest_stands(bench: Any, chat: ScriptedChat) -> None:
    chat.on("sentences 41 to 80", error(400, "filter"))
    chat.always(reads_halls)
    async with bench() as b:
        claims = await make_claims(TASK, plain_report(LONG), b.judge)
    assert claims.failed_batches == 1
    assert len(claims.claims) == 50
    assert claims.sentences_read == 50


async def test_when_all_batches_fail_there_is_no_list(bench: Any, chat: ScriptedChat) -> None:
    chat.always("prose")
    async with bench() as b:
        with pytest.raises(CallFailed):
            await make_claims(TASK, plain_report(TEXT), b.judge)


async def test_a_small_context_reads_in_windows(bench: Any, chat: ScriptedChat) -> None:
    async with bench(context=3000) as b:
        jobs = jobs_of(plain_report(LONG), TASK, b.judge)
        asked = [number for job in jobs for number in job.asked]
    assert asked == list(range(1, 91))
    assert len({job.shown for job in jobs}) > 1
    assert all(set(job.asked) <= set(job.shown) for job in jobs)


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("The works currently employ 12 people.", True),
        ("The latest count is 40.", True),
        ("目前该公司有十二名员工。", True),
        ("The works were built in 1990.", False),
        ("Knowledge grows.", False),
    ],
)
def test_words_that_speak_of_now(text: str, now: bool) -> None:
    assert speaks_of_now(text) is now


# --- candidates, for the embedded maker ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cited", "checkable_"),
    [
        ("The Ronda works were built in 1990.", False, True),
        ("NIST chose HQC as a backup.", False, True),
        ("Deployment has hardly begun.", False, False),
        ("Deployment has hardly begun.", True, True),
        ("A company should replace 40 servers.", True, False),
        ("Replace all servers by 2030.", True, False),
        ("Is RSA broken since 2024?", False, False),
        ("The plan has three parts:", False, False),
        ("该公司在2023年生产了三万吨。", False, True),
        ("企业应该在2030年前更换设备。", False, False),
    ],
)
def test_what_form_says_of_a_sentence(text: str, cited: bool, checkable_: bool) -> None:
    assert checkable(text, cited=cited) is checkable_


def test_candidates_of_a_report() -> None:
    found = candidates(plain_report(TEXT), TASK)
    assert [(c.number, c.alone) for c in found] == [(2, True), (3, False), (5, True)]
    assert next(c.number for c in ranked(found)) == 2, "cited, in the query's words, with a number"


@pytest.mark.parametrize(
    ("new", "old", "kept"),
    [
        ("The Ronda works employ 12 people.", "They employ 12 people.", True),
        ("The Ronda works employ 13 people.", "They employ 12 people.", False),
        ("The Ronda works employ people.", "They employ 12 people.", False),
        ("The town was rich in 12 ways.", "They employ 12 people.", False),
        ("", "They employ 12 people.", False),
        ("The Ronda works employ 12 people. " * 8, "They employ 12 people.", False),
    ],
)
def test_a_new_wording_must_keep_what_the_sentence_says(new: str, old: str, kept: bool) -> None:
    assert keeps(new, old) is kept
