"""DeepResearch Bench's sample reports, their links on a local server, and a scripted judge: work, not quality.

What a peer's own tool asks for the same reports was measured before (the figures in benchmarks/peers.py); here is
counted what we ask. Pages have 3,000 to 48,000 characters, drawn by address, as they had there; what cites them stands
in them.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dream_eval.core import Task
from dream_eval.evaluators import Case, MetricResult, Settings, evaluate_metric, make_claims, make_rubric
from dream_eval.evaluators.fact import pairs_of
from dream_eval.ledger import Ledger
from dream_eval.models import ChatModel, Limits, open_model
from dream_eval.protocols import load_criteria, rubric_for
from dream_eval.protocols.rubric import GENERAL, Rubric
from dream_eval.protocols.schema import Mode
from dream_eval.reports import read_report
from dream_eval.reports.data import Report
from dream_eval.tools import Endpoints, open_toolbox
from evaluating import DAY, FAST, lines_of
from rubrics import asked, is_comparing, is_scoring
from servers.chat import Body, ScriptedChat, last_user, prompt
from servers.search import searxng_reply
from servers.web import Reply, Seen, article, json_reply, web_server

SYSTEMS = ("claude-3-7-sonnet", "langchain-odr-gpt-4.1", "langchain-odr-gpt-5")
HOST = "pages.peers-of-ours.org"
LINK = re.compile(r"https?://[^\s)\]>\"'，。；）】]+")
WORDS = ["".join(random.Random(n).choices("aabcdeefghiilmnoprstu", k=4 + n % 7)) for n in range(900)]
Count = Callable[[str], int]


@dataclass
class Work:
    """What one metric took for one report."""

    metric: str
    report: str
    calls: int
    prompt_tokens: int
    pages: int
    searches: int
    items: int
    result: MetricResult


@dataclass
class Net:
    """The pages behind the links, and what they say."""

    port: int = 0
    said: dict[str, list[str]] = field(default_factory=dict)
    pages: int = 0
    searches: int = 0

    def link(self, url: str) -> str:
        """The address that stands for this one."""
        return f"http://{HOST}:{self.port}/{hashlib.sha256(url.encode()).hexdigest()[:12]}"

    def answer(self, seen: Seen) -> Reply:
        """A page, or the hits of a search: three addresses drawn by the query."""
        if seen.path.startswith("/search"):
            self.searches += 1
            known, draw = sorted(self.said), random.Random(seen.path)
            hits = draw.sample(known, min(3, len(known)))
            return searxng_reply([(f"http://{HOST}:{self.port}{p}", "A page", self.said[p][0]) for p in hits])
        if seen.path.startswith("/wayback"):
            return json_reply({"archived_snapshots": {}})
        self.pages += 1
        return Reply(article("A page of its own", *self._paragraphs(seen.path)))

    def _paragraphs(self, path: str) -> Iterator[str]:
        draw = random.Random(path)
        size, said = draw.randint(3_000, 48_000), list(self.said.get(path, ()))
        while size > 0 or said:
            words = " ".join(draw.choices(WORDS, k=60))
            text = f"{words[:1].upper()}{words[1:]}. {said.pop(0) if said else ''}"
            size -= len(text)
            yield text


def reports_of(data: Path, system: str, net: Net) -> list[tuple[Task, Report]]:
    """The system's reports with links to the server; the pages learn what is said of them."""
    found = []
    for line in (data / "drb" / "raw_data" / f"{system}.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        text = LINK.sub(lambda link: net.link(link[0].rstrip(".,;:")), raw["article"])
        report = read_report(text, id=system)
        for pair in pairs_of(report):
            net.said.setdefault("/" + pair.url.rpartition("/")[2], []).append(pair.text)
        found.append((Task(id=str(raw["id"]), prompt=raw["prompt"]), report))
    return found


# --- the judge -------------------------------------------------------------------------------------------------------


def scripted(chat: ScriptedChat) -> ScriptedChat:
    """Answers of the right form and size to everything that the four metrics ask."""
    chat.on("List all claims of sentences", _claims)
    chat.on("Give each dimension its weight", _weights).on("For each dimension give", _criteria)
    chat.on(is_scoring, lambda body: {i: {"why": _why(i), "score": 6.5, "sentences": [1, 2]} for i in asked(body)})
    chat.on(is_comparing, lambda body: {i: {"why": _why(i), "a": 7, "b": 6} for i in asked(body)})
    chat.on("Each statement cites one page.", _citations)
    chat.on(lambda body: "You check claims of a research report" in prompt(body), _agent)
    return chat


def _why(id: str) -> str:
    return f"The report deals with {id} in a section of its own, and leaves out the costs."


def _claims(body: Body) -> dict[str, Any]:
    """Each sentence asked about that holds a number is a claim."""
    text = last_user(body)
    first, last = map(int, re.findall(r"of sentences (\d+) to (\d+), in order", text)[-1])
    lines = {n: line for n, line in lines_of(text).items() if first <= n <= last and re.search(r"\d", line)}
    return {
        "claims": [{"sentence": n, "importance": 3, "changes": False, "text": line[:400]} for n, line in lines.items()]
    }


def _weights(body: Body) -> dict[str, Any]:
    race = "comprehensiveness" in last_user(body)
    specific = [{"name": f"Side {n}", "definition": "What only this query needs.", "weight": 10} for n in "abc"]
    names = GENERAL["race" if race else "dre_quality"]
    return {"weights": dict.fromkeys(names, 20)} | ({} if race else {"specific": specific})


def _criteria(body: Body) -> dict[str, Any]:
    sides = ("says what is asked for in full", "weighs the sides", "names its limits", "is put in order")
    ids = re.findall(r"^(d\d+) ", last_user(body), re.M)
    return {id: [{"criterion": f"Part {id} {side}.", "weight": 2} for side in sides] for id in ids}


def _citations(body: Body) -> dict[str, Any]:
    found = {}
    for first, listed in re.findall(
        r"^Of page \d+ \(sentences (\d+) to \d+\):$\n((?:s\d+: .*\n?)+)", prompt(body), re.M
    ):
        for id in re.findall(r"^(s\d+): ", listed, re.M):
            found[id] = {"verdict": "supported", "sentences": [int(first)]}
    return found


LOOK = """
found = {{}}
for id, words in {queries!r}.items():
    for hit in web_search(words):
        found[hit['url']] = hit
        print(hit['url'], hit['title'], hit['snippet'])
"""
READ = """
read = []
for url in list(found)[:{pages}]:
    page = read_page(url, find={find!r})
    print(url, page['state'], page['text'])
    if page['state'] == 'ok':
        read.append(url)
"""
DONE = """
one = {{'verdict': 'right', 'evidence': [[read[0], 1]], 'reasoning': 'The page says so.'}}
final_answer({{id: one for id in {ids!r}}})
"""


def _agent(body: Body) -> str:
    """As many searches and pages a claim as the peer's scripted agent makes: three and two for four claims."""
    shown = re.findall(r"^(c\d+): (.*)$", str(body["messages"][1]["content"]), re.M)
    steps = sum(message["role"] == "assistant" for message in body["messages"])
    wanted = dict(shown[: -(-3 * len(shown) // 4)])
    if steps == 0:
        code = LOOK.format(queries={id: " ".join(text.split()[:8]) for id, text in wanted.items()})
    elif steps == 1:
        code = READ.format(pages=max(1, len(shown) // 2), find=shown[0][1][:80])
    else:
        code = DONE.format(ids=[id for id, _ in shown])
    return f"I look at what is left.\n<code>{code}</code>"


# --- measuring -------------------------------------------------------------------------------------------------------


def tokens_of(body: Body, count: Count) -> int:
    """Tokens of a request: its messages and its schema."""
    schema = json.dumps(body["response_format"]) if body.get("response_format") else ""
    return sum(count(str(message["content"])) for message in body["messages"]) + (count(schema) if schema else 0)


@asynccontextmanager
async def bench(folder: Path) -> Any:
    """(chat, judge, toolbox, net) on sockets of their own."""
    net = Net()

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    with _chat() as chat:
        async with web_server({"*": net.answer}) as web:
            net.port = web.port
            address = f"http://{HOST}:{web.port}"
            ends = Endpoints(
                allow=frozenset({(HOST, web.port)}),
                resolver=resolve,
                wayback=f"{address}/wayback",
                wayback_pages=f"{address}/wayback/",
            )
            with Ledger.open(folder / "ledger.sqlite", run="peers") as ledger:
                model = open_model(chat.judge, ledger, limits=Limits(wait_scale=0, context=128_000))
                tools = open_toolbox(ledger, as_of=DAY, search=(f"searxng:{address}/",), endpoints=ends, limits=FAST)
                async with model as judge, tools as toolbox:
                    yield chat, judge, toolbox, net


@contextmanager
def _chat() -> Iterator[ScriptedChat]:
    with ScriptedChat() as chat:
        yield scripted(chat)


async def measure(
    data: Path, folder: Path, metric: str, systems: tuple[str, ...], count: Count, *, tasks: Collection[str] = ()
) -> list[Work]:
    """What a metric takes for each report of these systems, claim lists and rubrics included (once a task).

    ``tasks``: ids of just these; none: all. RACE's reference is the last system's report on the task.
    """
    rubrics: dict[str, Rubric] = {}
    done = []
    async with bench(folder) as (chat, judge, toolbox, net):
        loaded = {name: reports_of(data, name, net) for name in SYSTEMS}
        references = {task.id: report for task, report in loaded[SYSTEMS[-1]]}
        for system in systems:
            if metric == "race" and system == SYSTEMS[-1]:
                continue
            for task, report in loaded[system]:
                if tasks and task.id not in tasks:
                    continue
                before = Counter(calls=len(chat.requests), pages=net.pages, searches=net.searches)
                case = Case(task, report, DAY, reference=references[task.id])
                if metric == "dre_facts":
                    case = replace(case, claims=await make_claims(task, report, judge))
                elif metric in ("dre_quality", "race"):
                    rubrics[task.id] = rubrics.get(task.id) or await _rubric(metric, task, judge, data)
                    case = replace(case, rubric=rubrics[task.id])
                result = await evaluate_metric(metric, case, judge, toolbox, Settings(mode=Mode.AGENT))
                new = chat.requests[before["calls"] :]
                done.append(
                    Work(
                        metric=metric,
                        report=f"{system}#{task.id}",
                        calls=len(new),
                        prompt_tokens=sum(tokens_of(body, count) for body in new),
                        pages=net.pages - before["pages"],
                        searches=net.searches - before["searches"],
                        items=len(result.items),
                        result=result,
                    )
                )
    return done


async def _rubric(metric: str, task: Task, judge: ChatModel, data: Path) -> Rubric:
    """Made, as the peer makes it; for RACE the bench's own, where it has one."""
    if metric == "race":
        known = rubric_for(task, "race", load_criteria(data / "drb" / "criteria.jsonl"))
        return known or await make_rubric("race", task, judge)
    return await make_rubric("dre_quality", task, judge)
