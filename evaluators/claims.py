"""Making a report's claim list with a model (METRICS 0, *Claims*).

The model reads the numbered report and proposes claims; ``reports.freeze_claims`` keeps those that the report's own
sentences carry, merges near-duplicates, selects and freezes. One list a report: all metrics, judges and repeats share
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from ..core import Task
from ..errors import CallFailed
from ..models import ChatModel, ask, report_prompt
from ..reports import Proposal, content_words, freeze_claims, numbered, numbers_in
from ..reports.data import ClaimList, Report
from .asking import answers_to
from .base import together, windows
from .candidates import SILENT, candidates, ranked

CLAIMS_VERSION = 1
"""Of the prompts and rules in this file."""

BATCH = 40
"""Sentences that one answer covers, at most; the whole window is shown, so that the model knows the context."""

# "In its own words": claims that were smoothed or corrected would judge the maker.
RULES = """\
A claim is something that could be checked to be true or false: a fact, number, date, event or finding about the \
world. Advice, opinions, plans of the text and headings are no claims.
For each claim give: the number of its sentence; importance from 5 (the answer to the query depends on it) to 1 (a \
detail); changes: true if it could become false with time; text: the claim as one sentence that can be understood \
alone, in the sentence's own words, numbers and language, with names in place of "it" or "this"."""

ALL = (
    RULES
    + """
List all claims of sentences {first} to {last}, in order. A sentence with several facts gives several claims."""
)

SOME = (
    RULES
    + """
Of sentences {first} to {last}, list the {most} most important claims, in order. Then in others: the numbers of all \
other sentences there that state something checkable."""
)


class Draft(BaseModel):
    """One claim as the model proposes it."""

    sentence: int
    importance: Literal[1, 2, 3, 4, 5]
    changes: bool
    text: str


class Drafts(BaseModel):
    """The model's answer for one batch."""

    claims: list[Draft]


class SomeDrafts(Drafts):
    """The same, where only the most important claims are written out."""

    others: list[int] = []


@dataclass(frozen=True)
class Job:
    """Sentences to find claims in, and the window they are shown in."""

    shown: tuple[int, ...]
    asked: tuple[int, ...]


async def make_claims(task: Task, report: Report, maker: ChatModel, *, max_claims: int | None = None) -> ClaimList:
    """The frozen claims of ``report``.

    With ``max_claims`` only that many claims a batch are written out; the other checkable sentences become claims as
    they stand, so that attribution (CA) still sees all of them. A batch that fails is counted in ``failed_batches``;
    raises CallFailed when all fail. The embedded maker does not choose (:mod:`.candidates`): it only words what cannot
    stand alone.
    """
    if maker.embedded:
        return await _worded_claims(task, report, maker, max_claims)
    jobs = jobs_of(report, task, maker)
    outcomes = await together(_drafted(job, task, report, maker, max_claims) for job in jobs)
    done = [(job, drafts) for job, drafts in zip(jobs, outcomes, strict=True) if not isinstance(drafts, CallFailed)]
    lost = [drafts for drafts in outcomes if isinstance(drafts, CallFailed)]
    if lost and not done:
        raise lost[0]
    return freeze_claims(
        report,
        [proposal for job, drafts in done for proposal in proposals(report, job, drafts)],
        maker=maker.name,
        version=CLAIMS_VERSION,
        max_claims=max_claims,
        sentences_read=sum(len(job.asked) for job, _ in done),
        failed_batches=len(lost),
        task=task.id,
    )


def jobs_of(report: Report, task: Task, maker: ChatModel) -> list[Job]:
    """Batches of sentences, each with the window that is shown: headings, code and sources are shown, not asked."""
    kinds = {s.number: report.segments[s.segment].kind for s in report.sentences}
    jobs: list[Job] = []
    for shown in windows(report, task, maker):
        asked = [number for number in shown if kinds[number] not in SILENT]
        jobs += [Job(shown, tuple(asked[i : i + BATCH])) for i in range(0, len(asked), BATCH)]
    return jobs


async def _drafted(job: Job, task: Task, report: Report, maker: ChatModel, most: int | None) -> Drafts | CallFailed:
    form, few = (Drafts, False) if most is None or most >= len(job.asked) else (SomeDrafts, True)
    question = (SOME if few else ALL).format(first=job.asked[0], last=job.asked[-1], most=most)
    messages = report_prompt(task.prompt, numbered(report, job.shown), question)
    room = 120 + 60 * (most if few and most else len(job.asked)) + 4 * len(job.asked)
    try:
        return (await ask(maker, messages, form, max_tokens=min(room, maker.context // 3))).value
    except CallFailed as error:
        return error


def proposals(report: Report, job: Job, drafts: Drafts) -> list[Proposal]:
    """What the model proposes, in the order of the report; sentences that it was not asked about are left out."""
    texts = {sentence.number: sentence.text for sentence in report.sentences}
    written = [
        Proposal(
            text=" ".join(draft.text.split()) or texts[draft.sentence],
            sentences=(draft.sentence,),
            check_worthy=True,
            importance=draft.importance,
            time_dependent=draft.changes or speaks_of_now(draft.text),
        )
        for draft in drafts.claims
        if draft.sentence in job.asked
    ]
    taken = {number for proposal in written for number in proposal.sentences}
    others = drafts.others if isinstance(drafts, SomeDrafts) else []
    plain = [
        Proposal(
            text=texts[number],
            sentences=(number,),
            check_worthy=True,
            importance=1,
            time_dependent=speaks_of_now(texts[number]),
        )
        for number in dict.fromkeys(others)
        if number in job.asked and number not in taken
    ]
    return sorted([*written, *plain], key=lambda proposal: proposal.sentences)


# --- the embedded maker ----------------------------------------------------------------------------------------------

# One key a sentence, so that none is left out or made up; "change nothing else" because it likes to tidy up numbers.
WORDING = """\
Rewrite each of these sentences of the report so that it can be understood alone: put names in place of "it", "they", \
"this" and the like. Change nothing else, keep every number.
{sentences}"""


async def _worded_claims(task: Task, report: Report, maker: ChatModel, most: int | None) -> ClaimList:
    best = ranked(candidates(report, task))
    chosen = {candidate.number for candidate in best[:most]}
    texts = {candidate.number: candidate.text for candidate in best}
    leaning = sorted(candidate.number for candidate in best if candidate.number in chosen and not candidate.alone)
    failed = 0
    try:
        texts |= await _reworded(leaning, texts, task, report, maker)
    except CallFailed:
        failed = 1
    made = [
        Proposal(
            text=texts[candidate.number],
            sentences=(candidate.number,),
            check_worthy=True,
            importance=_importance(place, len(best), most),
            time_dependent=speaks_of_now(candidate.text),
        )
        for place, candidate in enumerate(best)
    ]
    return freeze_claims(
        report,
        sorted(made, key=lambda proposal: proposal.sentences),
        maker=maker.name,
        version=CLAIMS_VERSION,
        max_claims=most,
        sentences_read=len(report.sentences),
        failed_batches=failed,
        task=task.id,
    )


def _importance(place: int, total: int, most: int | None) -> int:
    """Five for what is chosen, then down in quarters of the rest; without a limit in fifths of all."""
    if most is None:
        return 5 - 5 * place // total
    return 5 if place < most else max(1, 4 - 4 * (place - most) // max(1, total - most))


async def _reworded(
    numbers: list[int], texts: dict[int, str], task: Task, report: Report, maker: ChatModel
) -> dict[int, str]:
    """New wordings that keep what the sentences say; others are left out."""
    found: dict[int, str] = {}
    for shown in windows(report, task, maker):
        inside = [number for number in numbers if number in shown]
        if not inside:
            continue
        listed = "\n".join(f"s{number}: {texts[number]}" for number in inside)
        messages = report_prompt(task.prompt, numbered(report, shown), WORDING.format(sentences=listed))
        form = answers_to(tuple(f"s{number}" for number in inside), str)
        answer = (await ask(maker, messages, form, max_tokens=40 + 80 * len(inside))).value
        for number in inside:
            new = " ".join(str(getattr(answer, f"s{number}") or "").split())
            if keeps(new, texts[number]):
                found[number] = new
    return found


def keeps(new: str, old: str) -> bool:
    """Whether a new wording has the same numbers and most of the old words, and is not much longer."""
    words = set(content_words(old))
    same = len(words & set(content_words(new))) >= 0.7 * len(words)
    return bool(new) and same and len(new) <= 2 * len(old) + 40 and sorted(numbers_in(new)) == sorted(numbers_in(old))


# --- time ------------------------------------------------------------------------------------------------------------

_NOW = re.compile(
    r"\b(?:current(?:ly)?|now|today|to date|so far|latest|newest|at present|presently|still|no longer|not yet|as of|"
    r"ongoing|planned|expected|upcoming|this year|most recent)\b"
    r"|目前|当前|现在|如今|截至|最新|至今|仍|尚未|预计|计划|今年",
    re.IGNORECASE,
)


def speaks_of_now(text: str) -> bool:
    """Whether the words themselves say that the claim holds for a time: what code can see, no model is trusted with."""
    return _NOW.search(text) is not None
