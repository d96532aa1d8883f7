"""The recipes of examples/systems, each in its own environment, from a task to a judged report.

Marked ``recipes``: they install packages. Model, search and pages are servers of this machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from dream_eval.runs.api import prepare
from dream_eval.runs.perform import perform
from servers.chat import Body, Reply, ScriptedChat, prompt
from servers.web import Reply as Page
from servers.web import WebServer, article, json_reply, web_server
from world import AS_OF, PAGES, QUERY, judge_of_world

pytestmark = [pytest.mark.recipes, pytest.mark.timeout(900)]
SYSTEMS = Path(__file__).resolve().parents[2] / "examples" / "systems"
DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


REGISTER, REVIEW = (PAGES[name][0].replace("https:", "http:") for name in ("register.md", "review.md"))
REPORT = f"""\
# The Lindow barrage

The Lindow barrage was completed in 2021 ([register]({REGISTER})). The Lindow barrage has 14 turbines \
([register]({REGISTER})). The Lindow barrage cost 1.9 billion pounds ([review]({REVIEW})).
"""


def turns(body: Body) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def tools_of(body: Body) -> set[str]:
    return {tool["function"]["name"] for tool in body.get("tools") or ()}


def call(name: str, arguments: Any) -> Reply:
    """A reply that is a tool call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    asked = {"id": f"call_{name}", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [asked]}
    return Reply(text=None, extra={"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]})


def smolagents(chat: ScriptedChat) -> None:
    """The manager sends the search agent, which searches, visits and tells; then the manager answers."""

    def searcher(body: Body) -> Any:
        if turns(body) == 0:
            return call("web_search", {"query": "Lindow barrage"})
        if turns(body) == 1:
            assert REGISTER in prompt(body)
            return call("visit_webpage", {"url": REGISTER})
        assert "completed in 2021" in prompt(body)
        return call("final_answer", {"answer": f"Completed in 2021, says {REGISTER}"})

    def manager(body: Body) -> str:
        if turns(body) == 0:
            return "I ask.\n<code>\nprint(search_agent(task='When was the Lindow barrage completed?'))\n</code>"
        assert "Completed in 2021" in prompt(body)
        return f"I answer.\n<code>\nfinal_answer({REPORT!r})\n</code>"

    chat.on(lambda body: "visit_webpage" in tools_of(body), searcher).always(manager)


def langchain(chat: ScriptedChat) -> None:
    """Brief, supervisor, researcher with search and summaries, compression, report."""

    def schema(body: Body) -> str:
        return str(((body.get("response_format") or {}).get("json_schema") or {}).get("name"))

    def supervisor(body: Body) -> Any:
        if turns(body) == 0:
            return call("ConductResearch", {"research_topic": "The Lindow barrage"})
        assert "Summed up" in prompt(body)
        return call("ResearchComplete", {})

    def researcher(body: Body) -> Any:
        if turns(body) == 0:
            return call("tavily_search", {"queries": ["Lindow barrage"]})
        assert f"URL: {REGISTER}" in prompt(body)
        assert "completed in 2021" in prompt(body)
        return "That is enough."

    summary = {"summary": "It was completed in 2021.", "key_excerpts": "completed in 2021"}
    chat.on(lambda body: schema(body) == "ResearchQuestion", {"research_brief": QUERY})
    chat.on(lambda body: schema(body) == "Summary", summary)
    chat.on(lambda body: "ConductResearch" in tools_of(body), supervisor)
    chat.on(lambda body: "tavily_search" in tools_of(body), researcher)
    chat.on(lambda body: body["messages"][0]["role"] == "system", "Summed up: completed in 2021.")
    chat.always(REPORT)


def tongyi(chat: ScriptedChat) -> None:
    """Search, a call that is none, visit, answer."""

    def loop(body: Body) -> str:
        if turns(body) == 0:
            wanted = json.dumps({"name": "search", "arguments": {"query": ["barrage"]}})
            return f"<think>I search.</think>\n<tool_call>\n{wanted}\n</tool_call>"
        if turns(body) == 1:
            assert REGISTER in prompt(body)
            return '<think>Now I read.</think><tool_call>{"name": "visit", "arguments": </tool_call>'
        if turns(body) == 2:
            assert "this is no call of a tool" in prompt(body)
            wanted = json.dumps({"name": "visit", "arguments": {"url": [REGISTER], "goal": "year"}})
            return f"<think>Again.</think><tool_call>{wanted}</tool_call>"
        assert "completed in 2021" in prompt(body)
        return f"<think>Done, as <answer> asks.</think>\n<answer>\n{REPORT}\n</answer>"

    chat.always(loop)


SCRIPTS = {"smolagents_open_dr": smolagents, "langchain_open_dr": langchain, "tongyi_dr": tongyi}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[WebServer]:
    """Search engines, a proxy that knows four pages of the web, and the same pages as a corpus for the judge."""
    async with web_server() as server:
        (tmp_path / "corpus").mkdir()
        hits = []
        for name, (place, title, published, text) in PAGES.items():
            url = place.replace("https:", "http:")
            server.routes[url] = Page(article(title, text, published=published))
            hits.append({"url": url, "title": title, "content": text[:80], "raw_content": text})
            head = f"---\nurl: {url}\ntitle: {title}\npublished: {published}\nsite: {url.split('/')[2]}\n---\n\n"
            (tmp_path / "corpus" / name).write_text(f"{head}{text}\n")
        server.routes["/search"] = json_reply({"query": "x", "results": hits})  # SearXNG's shape, and Tavily's
        yield server


def install(name: str) -> Path:
    """The recipe's own environment, made by its one command."""
    subprocess.run(["make", "-C", str(SYSTEMS / name)], check=True, stdout=subprocess.DEVNULL)
    return SYSTEMS / name / ".venv" / "bin" / "python"


@pytest.mark.parametrize("name", SCRIPTS)
async def test_from_a_task_to_a_judged_report(tmp_path: Path, site: WebServer, name: str) -> None:
    python = await asyncio.to_thread(install, name)
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "t1", "prompt": QUERY, "as_of": AS_OF}) + "\n")
    with ScriptedChat() as chat:
        SCRIPTS[name](chat)
        done = await asyncio.create_subprocess_exec(
            *(*DREAM, "collect", "--system", name, "--tasks", "tasks.jsonl", "--upstream", chat.url),
            *("--command", f"{python} {SYSTEMS / name / 'agent.py'} scripted", "--ledger", "ledger.sqlite"),
            cwd=tmp_path,
            env={
                **os.environ,
                **{"SEARXNG_URL": site.url, "TAVILY_BASE_URL": site.url, "TAVILY_API_KEY": "tvly-none"},
                "http_proxy": site.url,  # pages of the made-up web; model and search are local and go past it
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        out, _ = await done.communicate()
        log = tmp_path / "reports" / f"{name}.log"
        assert done.returncode == 0, out.decode() + (log.read_text() if log.exists() else "")
        asked = len(chat.requests)
    (line,) = [json.loads(line) for line in (tmp_path / "reports" / f"{name}.jsonl").read_text().splitlines()]
    assert line["profile"]["calls"] == asked
    assert REGISTER in [source if isinstance(source, str) else source["url"] for source in line["sources"]]
    assert any(path.startswith("/search") for path in site.paths())
    await judged(tmp_path, name)


async def judged(folder: Path, name: str) -> None:
    """The report as our loaders read it, judged: one figure of three is false, and so is its citation."""
    with judge_of_world() as judge:
        ask = prepare(
            folder / "reports" / f"{name}.jsonl",
            tasks=folder / "tasks.jsonl",
            judge=judge.judge,
            metrics="wq,factuality,ci",
            search=f"corpus:{folder / 'corpus'}",
            as_of=AS_OF,
            out=folder / "run",
            ledger=folder / "judge.sqlite",
        )
        result = await perform(ask)
    scores = {metric: result.score(name, metric) for metric in ("wq", "factuality", "ci")}
    assert scores["wq"] == pytest.approx(100 * 19 / 24)
    assert scores["factuality"] == pytest.approx(50)  # right, wrong, and one that only its own source supports
    assert scores["ci"] == pytest.approx(2 * 100 * (200 / 3) / (100 + 200 / 3))


def test_requirements_name_no_index() -> None:
    for path in SYSTEMS.glob("*/requirements.txt"):
        lines = path.read_text().splitlines()
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), path
