"""For the viewer: run folders of any size made of real data classes, with a real ledger, and what attackers write."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dream_eval.core import AsOf, Coverage, Dating, Interval, Outcome, Status, Task
from dream_eval.evaluators.results import Evidence, Item, MetricResult
from dream_eval.ledger import Answer, Kind, Ledger, Request, Totals
from dream_eval.ledger import scope as in_scope
from dream_eval.protocols import items_digest, save_protocol
from dream_eval.protocols.rubric import GENERAL, Criterion, Dimension, Rubric, save_rubric, seal_rubric
from dream_eval.protocols.schema import KeyQuestion, Maker, Mode, Plan, Protocol, Provenance, ReasoningQuestion
from dream_eval.reports import read_report
from dream_eval.reports.data import Claim, ClaimList, Report
from dream_eval.runs.data import ReportRef, RunConfig, RunState, UnitResult
from dream_eval.runs.files import short_digest, slug
from dream_eval.runs.store import RunFolder, dump_line
from dream_eval.runs.summary import summarise

METRICS = ("wq", "kic", "rq", "factuality", "ci", "da")
DAY = dt.date(2025, 6, 30)
PAGE = "https://example.org/page/{}"

ATTACKS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg/onload=window.hacked=1>",
    "\"><iframe src='https://evil.example/'></iframe>",
    "[click](javascript:window.hacked=1) and <a href='javascript:window.hacked=1'>click</a>",
    "[data](data:text/html,<script>window.hacked=1</script>) [file](file:///etc/passwd)",
    "![pixel](https://evil.example/pixel.png) https://evil.example/beacon",
    "<style>* { display: none }</style><link rel=stylesheet href=https://evil.example/x.css>",
    "<!-- --!> <!--<script> ]]> {{7*7}} ${window.hacked=1}",
    "__proto__ constructor toString",
    "right-to-left \u202etxt.exe\u202c and \u2066isolated\u2069 and \u200f mark",
    "control \x00 \x07 \x1b[31mred\x1b[0m \x9b31m \x7f \u2028 \u2029 end",
    "emoji \U0001f600 before the quote, 中文, עברית",
    "\\u003cscript\\u003e \\u0000 \\\\u0001",
)
"""What comes in reports, pages, names and judges' words when somebody wants to break out."""


class RunMaker:
    """Makes one run folder."""

    def __init__(
        self, folder: Path, *, tasks: int, systems: Sequence[str], judges: Sequence[str], repeats: int
    ) -> None:
        self.folder, self.ledger = folder, folder.parent / f"{folder.name}.sqlite"
        self.systems, self.judges, self.repeats = tuple(systems), tuple(judges), repeats
        self.tasks = tuple(Task(id=f"task-{n}", prompt=f"What is known about subject {n}?") for n in range(tasks))
        self.dice = random.Random(7)
        self.extra = ""
        self.name = f"run-{folder.name}"
        self.store = RunFolder(folder)
        folder.mkdir(parents=True)

    def page_text(self, number: int) -> str:
        filler = " ".join(f"Sentence {n} of page {number} says little." for n in range(40))
        return f"{filler} {self.extra} Subject {number} has {number + 3} parts. {filler}"

    def report(self, task: int, system: str) -> Report:
        lines = [f"Subject {task} has {n + 3} parts [1]. It is {n} years old." for n in range(12)]
        text = f"# Subject {task}\n\n{self.extra}\n\n" + "\n\n".join(lines)
        text += f"\n\n## Sources\n\n[1] {PAGE.format(task)}\n"
        return read_report(text, id=system, task_id=f"task-{task}")

    def claims(self, report: Report, task: str) -> ClaimList:
        stated = [s for s in report.sentences if s.text.startswith(("Subject", "It is"))][:20]
        claims = tuple(
            Claim(
                id=f"c{n}",
                text=f"{sentence.text} {self.extra}".strip(),
                sentences=(sentence.number,),
                check_worthy=True,
                importance=1 + n % 5,
                sources=("s1",),
                digest=hashlib.sha256(f"{task}{n}".encode()).hexdigest(),
            )
            for n, sentence in enumerate(stated, 1)
        )
        digest = hashlib.sha256(f"{task}{report.id}".encode()).hexdigest()
        return ClaimList(report=report.digest, task=task, maker=self.judges[0], version=1, claims=claims, digest=digest)

    def rubric(self, task: int, folder: Path) -> str:
        """Save the task's rubric; returns its digest."""
        names = [*GENERAL["dre_quality"], f"subject {task} {self.extra}".strip()]
        rubric = seal_rubric(
            Rubric(
                kind="dre_quality",
                task=self.tasks[task],
                created_at=dt.datetime(2025, 6, 30, tzinfo=dt.UTC),
                maker=self.judges[0],
                dimensions=tuple(
                    Dimension(
                        name=name,
                        definition=f"What {name} means.",
                        weight=1.0 + n,
                        specific=name not in GENERAL["dre_quality"],
                        criteria=tuple(
                            Criterion(id=f"c{2 * n + m}", text=f"Criterion {m} of {name}", weight=m) for m in (1, 2)
                        ),
                    )
                    for n, name in enumerate(names)
                ),
            )
        )
        save_rubric(rubric, folder / f"task-{task}.json")
        return rubric.digest

    def protocol(self, task: int, key: str) -> Protocol:
        source = Provenance(
            url=PAGE.format(task), quote=f"Subject {task} has {task + 3} parts.", published=DAY, key=key
        )
        plan = Plan(extract="its figures", lookup="other figures", cross_check="compare", against=f"no {self.extra}")
        return Protocol(
            task=self.tasks[task],
            as_of=AsOf(day=DAY),
            created_at=dt.datetime(2025, 6, 30, tzinfo=dt.UTC),
            maker=Maker(model=self.judges[0], mode=Mode.AGENT, tools=("web_search",), prompt_version=1),
            key_questions=tuple(
                KeyQuestion(
                    id=f"k{n}",
                    text=f"Does the report state fact {n}? {self.extra}".strip(),
                    fact=f"Fact {n}.",
                    provenance=(source,),
                )
                for n in range(1, 9)
            ),
            reasoning_questions=tuple(
                ReasoningQuestion(id=f"r{n}", text=f"Why is step {n} so?", plan=plan, provenance=(source,))
                for n in range(1, 4)
            ),
        )


async def _record(maker: RunMaker) -> dict[int, str]:
    """A page, a search and a completion for every task; the keys of the pages."""
    keys: dict[int, str] = {}
    with Ledger.open(maker.ledger, run=maker.name) as ledger:
        for number, task in enumerate(maker.tasks):
            body = {"url": PAGE.format(number), "as_of": DAY.isoformat()}
            page = {"state": "ok", "title": f"Page {number} {maker.extra}".strip(), "published": DAY.isoformat()}
            answer = Answer(body={"final_url": body["url"], "page": page}, blob=maker.page_text(number).encode())

            async def give(answer: Answer = answer) -> Answer:
                return answer

            async def found(number: int = number) -> Answer:
                hits = [{"url": PAGE.format(number), "title": maker.extra or "A page", "snippet": maker.extra}]
                return Answer(body={"state": "ok", "hits": hits})

            async def said() -> Answer:
                return Answer(body={"text": f"supported {maker.extra}"})

            for label in _scopes(maker, task):
                with in_scope(label):
                    record = await ledger.call(Request(Kind.PAGE, "web", body), give)
                    await ledger.call(Request(Kind.SEARCH, "corpus", {"query": f"subject {number}"}), found)
                    messages = [{"role": "user", "content": f"Does it say so? {task.id} {maker.extra}"}]
                    await ledger.call(Request(Kind.COMPLETION, "judge", {"messages": messages}), said)
            keys[number] = record.key
    return keys


def _scopes(maker: RunMaker, task: Task) -> Iterator[str]:
    yield f"{task.id}/protocol"
    for system in maker.systems:
        name = system if len(maker.tasks) == 1 else f"{system}#{task.id}"
        yield from (f"{name}/{metric}" for metric in METRICS)


def make_run(
    folder: Path,
    *,
    tasks: int = 1,
    systems: Sequence[str] = ("alpha", "beta"),
    judges: Sequence[str] = ("judge/one",),
    repeats: int = 1,
    hostile: bool = False,
    items: int = 8,
    metrics: Sequence[str] = METRICS,
) -> Path:
    """A finished run folder with a ledger beside it; ``hostile``: every text that comes from outside is an attack."""
    maker = RunMaker(folder, tasks=tasks, systems=systems, judges=judges, repeats=repeats)
    maker.extra = " ".join(ATTACKS) if hostile else ""
    with ThreadPoolExecutor(1) as pool:  # a thread of its own: the browser's driver keeps a loop in this one
        keys = pool.submit(asyncio.run, _record(maker)).result()
    refs: list[ReportRef] = []
    lines: list[UnitResult] = []
    for number, task in enumerate(maker.tasks):
        protocol = maker.protocol(number, keys[number])
        save_protocol(protocol, folder / "protocols" / f"{task.id}.json")
        digests = {
            f"protocol.{part}": items_digest(protocol, part) for part in ("key_questions", "reasoning_questions")
        }
        for system in maker.systems:
            report = maker.report(number, system)
            ref = ReportRef(
                id=system,
                task=task.id,
                digest=report.digest,
                file=f"{slug(system)}-{short_digest(task.id, system)}.json",
            )
            claims = maker.claims(report, task.id)
            maker.store.save(f"reports/{ref.file}", report)
            maker.store.save(f"claims/{slug(system)}-{short_digest(task.id, system, 'c')}.json", claims)
            refs.append(ref)
            for metric in metrics:
                for judge in maker.judges:
                    for repeat in range(repeats):
                        result = _result(maker, metric, number, report, claims, keys[number], items)
                        inputs = {"claims": claims.digest, **(digests if metric in ("kic", "rq") else {})}
                        if metric == "dre_quality":
                            inputs["rubric"] = maker.rubric(number, folder / "rubrics")
                        unit = hashlib.sha256(f"{ref.file}{metric}{judge}{repeat}".encode()).hexdigest()
                        lines.append(
                            UnitResult(
                                unit=unit,
                                task=task.id,
                                report=system,
                                metric=metric,
                                judge=judge,
                                repeat=repeat,
                                inputs=dict(inputs),
                                result=result,
                            )
                        )
    config = RunConfig(
        run=maker.name,
        version="0.1.0",
        created_at=dt.datetime(2025, 7, 1, tzinfo=dt.UTC),
        as_of=AsOf(day=DAY),
        tasks=maker.tasks,
        reports=tuple(refs),
        judges=tuple(judges),
        repeats=repeats,
        metrics=tuple(metrics),
        versions=dict.fromkeys(metrics, 1),
        search=(f"corpus:{maker.extra}",),
        search_digests=("corpus:x",),
        mode=Mode.AGENT,
        questions=8,
        reasoning=3,
        ledger=str(maker.ledger),
    )
    maker.store.save("run.json", config)
    (folder / "results.jsonl").write_text("".join(dump_line(line) + "\n" for line in lines), encoding="utf-8")
    maker.store.save("summary.json", summarise(config, lines, Totals(), state=RunState.FINISHED))
    return folder


def _result(
    maker: RunMaker, metric: str, task: int, report: Report, claims: ClaimList, key: str, items: int
) -> MetricResult:
    dice, extra = maker.dice, maker.extra
    if dice.random() < 0.02:
        return MetricResult(metric=metric, version=1, status=Status.FAILED, reason=f"call_failed {extra}".strip())
    outcomes = [Outcome.SUPPORTED, Outcome.CONTRADICTED, Outcome.UNDECIDED, Outcome.PARTLY, Outcome.CONFLICTING]
    quote = f"Subject {task} has {task + 3} parts."
    start = maker.page_text(task).index(quote)
    made = []
    for n in range(1, items + 1):
        claim = claims.claims[(n - 1) % len(claims.claims)]
        yes = Outcome.YES if dice.random() < 0.5 else Outcome.NO
        outcome = yes if metric == "kic" else dice.choice(outcomes)
        detail = {
            "queries": [f"subject {task}"],
            "searches": ["ok"],
            "pages": {PAGE.format(task): "ok", f"javascript:alert(1)//{extra}": "blocked"} if extra else {},
            "claim": claim.id,
        }
        if metric == "rq":
            tools = [{"tool": "web_search", "arguments": {"query": f"subject {task}", "x": extra}, "key": None}]
            step = {"number": 1, "thought": f"I look. {extra}", "code": f"print(1) {extra}", "tools": tools}
            detail = {"coherence": 8, "validity": 5, "flaws": [], "steps": [step]}
        stance = {Outcome.CONTRADICTED: "refutes", Outcome.UNDECIDED: "neither"}.get(outcome, "supports")
        made.append(
            Item(
                id={"kic": f"k{n}", "rq": f"r{n}", "ci": f"{claim.id}@{PAGE.format(task)}"}.get(metric, claim.id)
                if metric not in ("wq", "da")
                else f"{metric}{n}",
                text=claim.text if metric != "rq" else f"Why is step {n} so? {extra}",
                outcome=None if metric in ("wq", "da", "rq", "dre_quality") else outcome,
                value=float(dice.randint(1, 5)) if metric in ("wq", "da", "rq", "dre_quality") else None,
                evidence=(
                    Evidence(
                        url=f"javascript:window.hacked=1//{extra}" if extra and n == 2 else PAGE.format(task),
                        quote=quote,
                        start=start,
                        end=start + len(quote),
                        stance=stance,
                        published=DAY,
                        dating=Dating.BEFORE,
                        key=key,
                    ),
                ),
                flags=(extra[:80],) if extra else (),
                reason=f"1 source {extra}".strip(),
                detail=detail,
            )
        )
    score = round(dice.gauss(60 + 4 * maker.systems.index(report.id), 12), 1)
    score = min(100.0, max(0.0, score))
    return MetricResult(
        metric=metric,
        version=1,
        status=Status.SCORED,
        score=score,
        interval=Interval(low=max(0.0, score - 15), high=min(100.0, score + 15), kind="wilson"),
        coverage=Coverage(decided=items - 1, checked=items),
        flags=("thin",) if dice.random() < 0.05 else (),
        items=tuple(made),
    )
