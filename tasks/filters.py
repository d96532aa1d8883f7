"""The two filters: does a task qualify, and does it need a search?"""

from __future__ import annotations

import datetime as dt

from ..errors import BadReply
from ..models import ChatModel, ask
from ..reports import scalar
from . import prompts
from .data import Necessity, Persona, Qualification
from .forms import Graded, PlainGraded, PlainQualified, Qualified

ANSWER_WORDS = 300
PLAIN_ANSWER_WORDS = 120
"""Length of a no-search answer; the second for the embedded judge, which writes slowly."""
VERDICT_TOKENS = 400
"""Output limit of a verdict with its reason: a bound, and not what is used."""
_TOKENS_A_WORD = 3
"""Upper bound, for Chinese, Japanese and Korean too."""


async def qualify(
    prompt: str, persona: Persona, day: dt.date, judge: ChatModel
) -> tuple[Qualification, tuple[str, ...]]:
    """Whether the task needs research and fits the person, with ledger keys. CallFailed."""
    form: type[Qualified] | type[PlainQualified] = PlainQualified if judge.embedded else Qualified
    asked = await ask(
        judge, prompts.qualify(prompt, persona, day, plain=judge.embedded), form, max_tokens=VERDICT_TOKENS
    )
    return asked.value.verdict(), asked.calls


async def answer_from_memory(prompt: str, language: str, day: dt.date, judge: ChatModel) -> tuple[str, tuple[str, ...]]:
    """The no-search answer, with ledger keys. CallFailed; BadReply when the judge says nothing, even at four times the
    length (judges that think aloud may need it)."""
    limit = PLAIN_ANSWER_WORDS if judge.embedded else ANSWER_WORDS
    messages = prompts.answer(prompt, language, limit, day)
    calls: tuple[str, ...] = ()
    for room in (1, 4):
        reply = await judge.complete(messages, max_tokens=room * limit * _TOKENS_A_WORD)
        calls += (reply.key,)
        if text := scalar(reply.text).strip():
            return text, calls
    judge.ledger.spoil(reply.record_id, "an empty answer")
    raise BadReply(f"{judge.name}: it wrote no answer", subject=judge.name)


async def judge_answer(prompt: str, answer: str, day: dt.date, judge: ChatModel) -> tuple[Necessity, tuple[str, ...]]:
    """How good the no-search answer is, with ledger keys. CallFailed."""
    form: type[Graded] | type[PlainGraded] = PlainGraded if judge.embedded else Graded
    asked = await ask(judge, prompts.judge(prompt, answer, day, plain=judge.embedded), form, max_tokens=VERDICT_TOKENS)
    return asked.value.verdict(), asked.calls
