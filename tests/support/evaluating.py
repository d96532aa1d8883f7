"""What tests of the evaluators share: pages, claims, a bench, and a judge that reads figures."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dream_eval.core import AsOf, Task
from dream_eval.evaluators import Case, MetricResult, Settings, evaluate_metric
from dream_eval.ledger import Ledger
from dream_eval.models import ChatModel
from dream_eval.protocols.schema import KeyQuestion, Maker, Protocol
from dream_eval.protocols.schema import Mode as AgentMode
from dream_eval.reports import read_report
from dream_eval.reports.data import Claim, ClaimList, Report
from dream_eval.tools import Toolbox, ToolLimits
from servers.chat import Body, ScriptedChat, prompt, schema_sent

DAY = AsOf(day=dt.date(2025, 6, 30))
QUERY = "What is known about the Ronda works?"
FAST = ToolLimits(spacing_s=0, retries=0, retry_wait_s=0)
GUIDED = Settings(mode=AgentMode.GUIDED)


def doc(url: str, text: str, published: str | None = "2024-03-01", title: str = "") -> dict[str, Any]:
    """A page of the corpus."""
    return {"url": url, "text": text, "title": title or url.split("/")[2], "published": published}


def claim(
    number: int,
    text: str,
    *,
    sources: Sequence[str] = (),
    importance: int = 3,
    sentences: Sequence[int] = (1,),
    **more: Any,
) -> Claim:
    """``c<number>``."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    plain = {"check_worthy": True, "time_dependent": False, **more}
    return Claim(
        id=f"c{number}",
        text=text,
        sentences=tuple(sentences),
        importance=importance,
        sources=tuple(sources),
        digest=digest,
        **plain,
    )


def claim_list(*claims: Claim, **more: Any) -> ClaimList:
    """A frozen list as ``freeze_claims`` would make it."""
    return ClaimList(report="r" * 64, maker="by hand", version=1, claims=claims, digest="d" * 64, **more)


def plain_report(text: str = "# Ronda\n\nThe Ronda works make cells.\n") -> Report:
    """A report as the loader reads it."""
    return read_report(text, id="report")


def protocol(*facts: str, flags: tuple[str, ...] = ()) -> Protocol:
    """A protocol with one key question a fact."""
    questions = tuple(
        KeyQuestion(id=f"k{i}", text=f"Is it stated: {fact}", fact=fact) for i, fact in enumerate(facts, 1)
    )
    return Protocol(
        task=Task(id="t", prompt=QUERY),
        as_of=AsOf(day=dt.date(2025, 6, 30)),
        created_at=dt.datetime(2025, 6, 30, tzinfo=dt.UTC),
        maker=Maker(model="by hand", mode=AgentMode.GUIDED, prompt_version=1),
        key_questions=questions,
        reasoning_questions=(),
        flags=flags,
    )


@dataclass
class Bench:
    """What a test needs to evaluate one metric."""

    chat: ScriptedChat
    judge: ChatModel
    toolbox: Toolbox
    ledger: Ledger
    settings: Settings = GUIDED
    report: Report = field(default_factory=plain_report)

    async def run(self, metric: str, **case: Any) -> MetricResult:
        """The result of one metric; ``case``: fields of the case."""
        given = {"task": Task(id="t", prompt=QUERY), "report": self.report, "as_of": DAY, **case}
        return await evaluate_metric(metric, Case(**given), self.judge, self.toolbox, self.settings)


# --- a judge that reads ----------------------------------------------------------------------------------------------

FIGURE = re.compile(r"(\w+) works (?:employed|employ|made|make) ([\d,.]+)")


def lines_of(text: str) -> dict[int, str]:
    """Numbered sentences of a prompt."""
    return {int(number): line for number, line in re.findall(r"^\[(\d+)\] (.*)$", text, re.MULTILINE)}


def claim_of(body: Body) -> str:
    """The claim that is asked about."""
    return prompt(body).rpartition("Claim: ")[2].split("\n")[0]


def passages_of(body: Body) -> dict[str, dict[int, str]]:
    """Numbered sentences of each passage, by its id, as its marks bound them."""
    found = re.findall(
        r"^<evidence (P\d+) (\w{16})>\n(.*?)\n</evidence \1 \2>$", prompt(body), re.DOTALL | re.MULTILINE
    )
    return {id: lines_of(text) for id, _, text in found}


def rows(given: dict[str, Any]) -> dict[str, Any]:
    """Answers by id as the rows that a judge is asked for."""
    return {"answers": [{"id": id, **answer} for id, answer in given.items()]}


def each(word: str, *sentences: Any) -> Callable[[Body], dict[str, Any]]:
    """The same verdict on every passage; the sentences are counted from 1 within each of them."""

    def answer(body: Body) -> dict[str, Any]:
        shown = {id: min(lines) - 1 for id, lines in passages_of(body).items()}
        return rows({id: {"verdict": word, "sentences": [n + less for n in sentences]} for id, less in shown.items()})

    return answer


def ids_allowed(body: Body) -> list[str]:
    """The ids that the schema of a request asks for."""
    schema = schema_sent(body)
    assert schema
    allowed: list[str] = schema["properties"]["answers"]["items"]["properties"]["id"]["enum"]
    return allowed


def reads_figures(body: Body) -> dict[str, Any]:
    """Compares "the X works make N …" in claim and evidence, as a careful reader would, each passage on its own."""
    return rows({id: verdict_on(claim_of(body), lines) for id, lines in passages_of(body).items()})


def verdict_on(stated: str, sentences: dict[int, str]) -> dict[str, Any]:
    """The verdict on a claim from numbered sentences."""
    wanted = FIGURE.search(stated)
    assert wanted, stated
    for number, line in sentences.items():
        if (found := FIGURE.search(line)) and found[1] == wanted[1]:
            same = found[2].strip(".") == wanted[2].strip(".")
            return {"verdict": "supported" if same else "contradicted", "sentences": [number]}
    return {"verdict": "not_enough_evidence", "sentences": []}


def is_passage(body: Body) -> bool:
    """A question on one claim and one passage."""
    return "Is the claim supported by the evidence" in prompt(body)


def is_page(body: Body) -> bool:
    """A question on a cited page."""
    return "Claims that cite this page:" in prompt(body)


def about(*words: str) -> Callable[[Body], bool]:
    """The claim asked about holds one of the words."""
    return lambda body: is_passage(body) and any(word in claim_of(body) for word in words)


def shows(*words: str) -> Callable[[Body], bool]:
    """The evidence shown holds one of the words."""
    return lambda body: any(word in line for line in lines_of(prompt(body)).values() for word in words)
