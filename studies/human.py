"""A judge's verdicts held against labels that people gave, beside what a plain prompt to the same judge reaches.

Ours is the product's own code: a passage is judged as Factuality does it, a cited page as CI does, two answers as RACE
does. The plain baseline is one prompt with the claim and the evidence, fixed before ours was last changed; the constant
one always gives the commonest label.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, create_model

from ..core import AsOf, Frozen, Task
from ..errors import ProtocolFailed
from ..evaluators.base import FAILURES, Case, Settings, reason_of, together
from ..evaluators.citations import shown_of
from ..evaluators.race import race
from ..evaluators.rubrics import make_rubric
from ..evaluators.stances import Label
from ..evaluators.verdicts import label_claims, label_passage
from ..models import ChatModel, ask, fence, system, user
from ..reports import read_report, split_sentences
from ..stats.agreement import (
    accuracy_of,
    agreement,
    balanced_accuracy_of,
    commonest,
    confusion,
    f1_of,
    kappa_of,
)
from ..stats.calibration import Bin, calibration_curve, expected_error
from ..stats.data import Estimate
from ..stats.resampling import DRAWS, resampled_counts
from ..tools import Toolbox, best_passages
from ..tools.data import Page
from .labels import FIRST, NEITHER, PARTLY, REFUTES, SECOND, SUPPORTS, TIE, Example, LabelSet, Pair, Preference

PLAIN_VERSION = 1
PLAIN_TOKENS = 1024
"""Evidence up to so many tokens is shown to the plain prompt whole; of a longer one the sentences nearest to it."""
EVEN = 1.0
"""RACE points around 50 within which two answers are called equal."""

CONFIDENCE = {SUPPORTS: 1.0, PARTLY: 0.5, REFUTES: 0.0, NEITHER: 0.0, SECOND: 1.0, TIE: 0.5, FIRST: 0.0}
"""How far a label says *supported* (or *the second one is better*)."""

PLAIN_WORDS = {SUPPORTS: "supported", PARTLY: "partially_supported", REFUTES: "contradicted", NEITHER: "neither"}
PLAIN_SYSTEM = "You judge claims by evidence. Use only the evidence given."
PLAIN_QUESTION = "Claim: {claim}\n\nIs the claim {words}? Give the verdict."
PLAIN_CHOICE = "Which answer to the query is better, the first, the second, or are they equally good?"

Method = Literal["ours", "plain", "constant"]
Step = Callable[[int, int], None]
"""Told (examples done, examples in all)."""


DAY = dt.date(2000, 1, 1)
"""Comparing two answers looks at nothing that has a date."""


class MethodResult(Frozen):
    """How one method does."""

    method: Method
    n: int
    """Examples it gave an answer for."""
    lost: int
    """Examples without an answer: a call failed. They are in no figure."""
    why_lost: str = ""
    """The first reason."""
    accuracy: Estimate
    balanced: Estimate
    """Balanced accuracy: mean recall over the labels; guessing reaches 1 / labels."""
    kappa: Estimate | None
    f1: dict[str, Estimate]
    """Label to F1; labels that nobody gave are missing."""
    confusion: tuple[tuple[int, ...], ...]
    """Rows: what people said; columns: what the method said; in the order of ``labels``."""
    curve: tuple[Bin, ...] = ()
    """What the method says (as a share of *supported*) against what people say."""
    error: float | None = None
    """Expected calibration error of that curve, in [0, 1]."""


class HumanStudy(Frozen):
    """What came of it."""

    judge: str
    endpoint: str
    data: str
    kind: str
    digest: str
    """Of the labelled examples."""
    labels: tuple[str, ...]
    """What the judge could say."""
    counts: dict[str, int]
    """Label to its number of examples."""
    sampled: str = ""
    left_out: dict[str, int]
    methods: tuple[MethodResult, ...]
    gain: Estimate | None = None
    """Balanced accuracy of ours less that of the plain prompt, on examples that both answered, drawn together."""

    @property
    def guessing(self) -> float:
        """Balanced accuracy of a constant answer: 1 / labels that people gave."""
        return 1 / sum(count > 0 for count in self.counts.values())

    def method(self, name: Method) -> MethodResult | None:
        """A method's result, or None when it was not tried."""
        return next((one for one in self.methods if one.method == name), None)


@dataclass(frozen=True)
class Answer:
    """What a method says of an example."""

    label: str
    confidence: float


async def judge_labels(
    labels: LabelSet, judge: ChatModel, toolbox: Toolbox, *, plain: bool = True, step: Step | None = None
) -> HumanStudy:
    """Ask the judge about every example, in the product's way and plainly.

    A call that fails costs its example and is counted. Raises UserError when no example was answered; HostStop as the
    judge does.
    """
    done = 0

    async def both(example: Example) -> tuple[Answer | str, Answer | str]:
        nonlocal done
        ours = await _tried(_ours, example, labels, judge, toolbox)
        simple = await _tried(_plain, example, labels, judge, toolbox) if plain else "not asked"
        done += 1
        if step is not None:
            step(done, len(labels.examples))
        return ours, simple

    answers = await together(both(example) for example in labels.examples)
    return study_of(labels, judge, [ours for ours, _ in answers], [simple for _, simple in answers] if plain else None)


def study_of(
    labels: LabelSet, judge: ChatModel, ours: Sequence[Answer | str], plain: Sequence[Answer | str] | None
) -> HumanStudy:
    """The figures of what was answered; a text instead of an answer is why there is none."""
    constant = commonest([example.label for example in labels.examples])
    same: list[Answer | str] = [Answer(constant, CONFIDENCE[constant])] * len(labels.examples)
    tried: list[tuple[Method, Sequence[Answer | str]]] = [("ours", ours)]
    tried += [("plain", plain)] if plain is not None else []
    tried.append(("constant", same))
    found = [result_of(name, labels, answers) for name, answers in tried]
    return HumanStudy(
        judge=judge.name,
        endpoint=judge.endpoint,
        data=labels.name,
        kind=labels.kind,
        digest=labels.digest,
        labels=labels.options,
        counts=labels.counts(),
        sampled=labels.sampled,
        left_out=labels.left_out,
        methods=tuple(one for one in found if one is not None),
        gain=None if plain is None else gain_of(labels, ours, plain),
    )


async def _tried(
    way: Callable[[Example, LabelSet, ChatModel, Toolbox], Awaitable[Answer | str]],
    example: Example,
    labels: LabelSet,
    judge: ChatModel,
    toolbox: Toolbox,
) -> Answer | str:
    try:
        return await way(example, labels, judge, toolbox)
    except FAILURES as error:
        return reason_of(error)


# --- the product's way -----------------------------------------------------------------------------------------------


async def _ours(example: Example, labels: LabelSet, judge: ChatModel, toolbox: Toolbox) -> Answer | str:
    settings = Settings().fit(judge)
    if isinstance(example, Preference):
        return await _compared(example, labels, judge, toolbox, settings)
    page = page_of(example.evidence)
    if labels.kind == "page":
        sentences = shown_of(page, [example.claim], judge, settings)
        label = (await label_claims({"c1": example.claim}, sentences, judge, page=page.text))["c1"]
    else:
        label = await label_passage(example.claim, nearest(example, settings.window), judge, page=page.text)
    return answer_of(label, labels.options) if label is not None else "the judge left the claim out"


def nearest(pair: Pair, window: int) -> tuple[str, ...]:
    """The sentences of a text nearest to a claim, as Factuality chooses them; its first ones where none is near."""
    found = best_passages(pair.claim, [page_of(pair.evidence)], limit=1, window=window)
    text = pair.evidence
    return found[0].sentences if found else tuple(text[s.start : s.end] for s in split_sentences(text))[:window]


def page_of(text: str) -> Page:
    """A text as a page that was read."""
    url = "https://labelled.invalid/"
    return Page.model_validate({"url": url, "final_url": url, "state": "ok", "text": text, "key": ""})


def answer_of(label: Label, labels: Sequence[str]) -> Answer:
    """A stance among the labels that people had: where they had no such label, it is *neither*."""
    name = label.stance.value if label.stance.value in labels else NEITHER
    return Answer(name, CONFIDENCE[name])


async def _compared(
    pair: Preference, labels: LabelSet, judge: ChatModel, toolbox: Toolbox, settings: Settings
) -> Answer | str:
    task = Task(id=pair.group, prompt=pair.query)
    first, second = (read_report(text, id=name) for text, name in ((pair.first, FIRST), (pair.second, SECOND)))
    try:
        rubric = await make_rubric("race", task, judge)
    except ProtocolFailed as error:
        return str(error)
    case = Case(task=task, report=second, as_of=AsOf(day=DAY), rubric=rubric, reference=first)
    result = await race(case, judge, toolbox, settings)
    if result.score is None:
        return result.reason
    even = TIE in labels.labels and abs(result.score - 50) <= EVEN
    return Answer(TIE if even else SECOND if result.score > 50 else FIRST, result.score / 100)


# --- the plain prompt ------------------------------------------------------------------------------------------------


async def _plain(example: Example, labels: LabelSet, judge: ChatModel, toolbox: Toolbox) -> Answer:
    del toolbox
    if isinstance(example, Preference):
        return await _plain_choice(example, labels, judge)
    return await plain_answer(example, labels, judge)


async def plain_answer(example: Pair, labels: LabelSet, judge: ChatModel) -> Answer:
    """What the plain prompt says of a pair, among the labels of its set. CallFailed as the judge does."""
    words = {PLAIN_WORDS[label]: label for label in labels.options}
    listed = ", ".join(word.replace("_", " ") for word in list(words)[:-1]) + f" or {list(words)[-1].replace('_', ' ')}"
    text = plain_evidence(example, judge)
    question = PLAIN_QUESTION.format(claim=example.claim, words=listed)
    messages = [system(PLAIN_SYSTEM), user(f"Evidence:\n{fence(text)}\n\n{question}")]
    answer = (await ask(judge, messages, _form(tuple(words)), max_tokens=40)).value
    label = words[getattr(answer, "verdict")]  # noqa: B009
    return Answer(label, CONFIDENCE[label])


async def _plain_choice(pair: Preference, labels: LabelSet, judge: ChatModel) -> Answer:
    parts = (f"Query: {pair.query}", f"First answer:\n{fence(pair.first)}", f"Second answer:\n{fence(pair.second)}")
    messages = [system("You compare answers."), user("\n\n".join((*parts, PLAIN_CHOICE)))]
    answer = (await ask(judge, messages, _form(labels.options), max_tokens=40)).value
    label: str = getattr(answer, "verdict")  # noqa: B009
    return Answer(label, CONFIDENCE[label])


def _form(words: tuple[str, ...]) -> type[BaseModel]:
    choice: Any = Literal[words]
    return create_model("Verdict", verdict=(choice, ...))


def plain_evidence(pair: Pair, judge: ChatModel) -> str:
    """The evidence as the plain prompt gets it."""
    if judge.count(pair.evidence) <= PLAIN_TOKENS:
        return pair.evidence
    spans = split_sentences(pair.evidence)
    ranked = best_passages(pair.claim, [page_of(pair.evidence)], limit=len(spans), window=1)
    keep: set[int] = set()
    used = 0
    for passage in ranked:
        for number, span in enumerate(spans):
            cost = judge.count(pair.evidence[span.start : span.end])
            if (
                number not in keep
                and span.start < passage.end
                and span.end > passage.start
                and used + cost <= PLAIN_TOKENS
            ):
                keep.add(number)
                used += cost
    chosen = [pair.evidence[spans[number].start : spans[number].end] for number in sorted(keep)]
    return "\n".join(chosen) or pair.evidence[: 3 * PLAIN_TOKENS]


# --- figures ---------------------------------------------------------------------------------------------------------


def result_of(method: Method, labels: LabelSet, answers: Sequence[Answer | str]) -> MethodResult | None:
    """The figures of one method; None where it answered nothing."""
    both = [(one, answer) for one, answer in zip(labels.examples, answers, strict=True) if isinstance(answer, Answer)]
    if not both:
        return None
    pairs = [(example.label, answer.label) for example, answer in both]
    groups = [example.group for example, _ in both]
    names, kappa = labels.options, None
    if len({label for pair in pairs for label in pair}) > 1:
        kappa = agreement(pairs, names, kappa_of, groups=groups)
    curve = calibration_curve([a.confidence for _, a in both], [CONFIDENCE[example.label] for example, _ in both])
    return MethodResult(
        method=method,
        n=len(pairs),
        lost=len(answers) - len(pairs),
        why_lost=next((answer for answer in answers if isinstance(answer, str)), ""),
        accuracy=agreement(pairs, names, accuracy_of, groups=groups),
        balanced=agreement(pairs, names, balanced_accuracy_of, groups=groups),
        kappa=kappa,
        f1=_f1(pairs, names, groups),
        confusion=tuple(tuple(int(count) for count in row) for row in confusion(pairs, names)),
        curve=tuple(curve),
        error=expected_error(curve),
    )


def _f1(pairs: Sequence[tuple[str, str]], names: Sequence[str], groups: Sequence[Hashable]) -> dict[str, Estimate]:
    found = {}
    for place, name in enumerate(names):

        def one(counts: np.ndarray, place: int = place) -> np.ndarray:
            return f1_of(counts)[..., place]

        if any(name in pair for pair in pairs):
            found[name] = agreement(pairs, names, one, groups=groups)
    return found


def gain_of(labels: LabelSet, ours: Sequence[Answer | str], plain: Sequence[Answer | str]) -> Estimate | None:
    """How much more balanced accuracy ours has, with a bootstrap over groups that draws both together."""
    rows = [
        (example.label, mine.label, theirs.label, example.group)
        for example, mine, theirs in zip(labels.examples, ours, plain, strict=True)
        if isinstance(mine, Answer) and isinstance(theirs, Answer)
    ]
    if not rows:
        return None
    groups = list(dict.fromkeys(row[3] for row in rows))
    size = len(labels.options)
    each = np.zeros((2, len(groups), size, size))
    for people, mine, theirs, group in rows:
        each[0, groups.index(group)] += confusion([(people, mine)], labels.options)
        each[1, groups.index(group)] += confusion([(people, theirs)], labels.options)
    value = balanced_accuracy_of(each[0].sum(0)) - balanced_accuracy_of(each[1].sum(0))
    weights = resampled_counts(len(groups))
    drawn = [balanced_accuracy_of((weights @ one.reshape(len(groups), -1)).reshape(DRAWS, size, size)) for one in each]
    low, high = np.nanquantile(drawn[0] - drawn[1], (0.025, 0.975))
    return Estimate(value=float(value), low=float(low), high=float(high), n=len(rows))
