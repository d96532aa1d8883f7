"""Carrying out a reasoning question's validation plan on a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core import Dating, Task
from ..protocols import Mode, ReasoningQuestion
from ..reports import Report
from ..tools import Page, Toolbox
from .report_text import quote
from .shelf import Shelf
from .verification import Flaw, FlawKind, Found, Verification, Visit

if TYPE_CHECKING:
    from ..models import ChatModel


async def verify_plan(
    question: ReasoningQuestion,
    task: Task,
    report: Report,
    model: ChatModel,
    toolbox: Toolbox,
    *,
    mode: Mode,
    sample: int = 0,
) -> Verification:
    """Carry out the plan of ``question`` on ``report``, in mode ``agent`` or ``guided``.

    ``sample`` tells repeats apart. Raises AgentFailed, CallFailed, HostStop, ReplayMiss; ValueError for ``static``,
    which has no outside check.
    """
    if mode is Mode.STATIC:
        raise ValueError("a plan cannot be verified without tools")
    if mode is Mode.GUIDED:
        from .verifier_guided import guided_verification

        return await guided_verification(question, task, report, model, toolbox, sample)
    from .verifier_agent import agent_verification

    return await agent_verification(question, task, report, model, toolbox, sample)


def flaw(report: Report, kind: FlawKind, numbers: Iterable[int], note: str = "") -> tuple[Flaw, bool]:
    """A flaw with the sentences that exist; the second value says whether a number was left out."""
    wanted = sorted(set(numbers))
    known = tuple(number for number in wanted if 1 <= number <= len(report.sentences))
    return Flaw(kind=kind, sentences=known, quote=quote(report, known), note=note), len(known) < len(wanted)


def found(shelf: Shelf, url: str, sentence: int, *, decisive: bool) -> Found | None:
    """The evidence behind a pointer; None when it cannot be evidence."""
    read = shelf.get(url)
    if read is None or shelf.problem(url, sentence):
        return None
    start, end = read.spans[sentence - 1]
    return Found(
        url=read.page.url,
        title=read.page.title,
        quote=read.page.text[start:end].strip(),
        start=start,
        end=end,
        published=read.page.published,
        dating=shelf.as_of.place(read.page.published),
        key=read.page.key,
        decisive=decisive,
    )


def visits(pages: Sequence[Page], shelf: Shelf) -> tuple[Visit, ...]:
    """The pages asked for, each once."""
    made = [
        Visit(
            url=page.url,
            state=page.state,
            published=page.published,
            dating=shelf.as_of.place(page.published),
            flags=page.flags,
            key=page.key,
        )
        for page in pages
    ]
    return tuple(dict.fromkeys(made))


def flags_of(evidence: Sequence[Found], *, dropped: bool, windowed: bool = False) -> tuple[str, ...]:
    """Flags of a verification."""
    decisive = [one for one in evidence if one.decisive]
    told = {
        "windowed": windowed,
        "no_evidence": not decisive,
        "pointer_dropped": dropped,
        "undated_evidence": any(one.dating is Dating.UNKNOWN for one in decisive),
    }
    return tuple(name for name, holds in told.items() if holds)
