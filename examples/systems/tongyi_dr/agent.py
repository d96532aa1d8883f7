"""Tongyi Deep Research: its ReAct loop and its tags over any OpenAI-compatible endpoint, as a system under test.

The model thinks in <think>, calls tools in <tool_call> and ends with <answer>; tools answer in <tool_response>. This is
written anew after that format, with its two tools for reading the web (search and visit). The pages' text goes to the
model as it is; the original has a second model sum them up. Reads a task from standard input, prints JSON.

    agent.py MODEL [--rounds N]

Environment: OPENAI_BASE_URL (for the released weights a vLLM server) and OPENAI_API_KEY, both set by dream collect;
SEARXNG_URL for search.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import requests
from markdownify import markdownify
from openai import OpenAI

PAGE, HITS = 12_000, 10
"""Characters of a page, and results of a search, that the model is shown."""
SYSTEM = """\
You are a research assistant. Answer the user's query with a thorough report in Markdown, in the query's language. \
Before each step think inside <think></think>. To use a tool write one call inside <tool_call></tool_call> and stop; \
its result comes back inside <tool_response></tool_response>. When you know enough, write the report inside \
<answer></answer>, with the address of the page behind each statement, as [title](address).

<tools>
{{"name": "search", "parameters": {{"query": ["several web searches at once"]}}}}
{{"name": "visit", "parameters": {{"url": ["addresses of pages to read"], "goal": "what to look for"}}}}
</tools>

A call looks like this:
<tool_call>
{{"name": "visit", "arguments": {{"url": ["…"], "goal": "…"}}}}
</tool_call>

Today is {day}."""
LAST = "No more tool calls: write what you know now as <answer>…</answer>."


def search(arguments: dict[str, Any]) -> str:
    """Results of one or several searches, by a SearXNG server."""
    place = os.environ.get("SEARXNG_URL", "").rstrip("/")
    if not place:
        sys.exit("SEARXNG_URL is not set: search needs a SearXNG server with its JSON format switched on")
    shown = []
    for query in _several(arguments.get("query")):
        reply = requests.get(f"{place}/search", params={"q": query, "format": "json"}, timeout=30)
        hits = reply.json().get("results", [])[:HITS] if reply.ok else []
        lines = [f"{n}. [{hit['title']}]({hit['url']}) {hit.get('content', '')}" for n, hit in enumerate(hits, 1)]
        shown.append(f"Results for {query!r}:\n" + ("\n".join(lines) or "none"))
    return "\n\n".join(shown) or "no query was given"


def visit(arguments: dict[str, Any], visited: list[str]) -> str:
    """Pages as Markdown."""
    shown = []
    for url in _several(arguments.get("url")):
        try:
            reply = requests.get(url, timeout=30, headers={"User-Agent": "Mozilla/5.0 (research)"})
            reply.raise_for_status()
            text = re.sub(r"\n{3,}", "\n\n", markdownify(reply.text, strip=["script", "style"])).strip()
            visited.append(url)
        except requests.RequestException as error:
            text = f"cannot be read ({error})"
        shown.append(f"Page {url}:\n{text[:PAGE]}")
    return "\n\n".join(shown) or "no address was given"


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(item) for item in value or ()]


def answer_call(text: str, tools: dict[str, Callable[[dict[str, Any]], str]]) -> str:
    """What a tool call brings, or what is wrong with it."""
    try:
        call = json.loads(text)
        return tools[call["name"]](call.get("arguments") or {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return f"this is no call of a tool that exists: {type(error).__name__}: {error}"


def research(prompt: str, model: str, rounds: int, visited: list[str]) -> str | None:
    """The loop: the answer, or None when the model gave none."""
    client = OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none"))
    tools = {"search": search, "visit": lambda arguments: visit(arguments, visited)}
    today = dt.datetime.now(dt.UTC).date()
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM.format(day=today)},
        {"role": "user", "content": prompt},
    ]
    for left in range(rounds, -1, -1):
        reply = client.chat.completions.create(
            model=model, messages=messages, stop=["<tool_response>"], temperature=0.6, top_p=0.95
        )
        text = reply.choices[0].message.content or ""
        said = text.rpartition("</think>")[2] or text
        if found := re.search(r"<answer>(.*?)(?:</answer>|\Z)", said, re.DOTALL):
            return found[1].strip()
        messages.append({"role": "assistant", "content": text})
        call = re.search(r"<tool_call>(.*?)(?:</tool_call>|\Z)", said, re.DOTALL)
        result = answer_call(call[1], tools) if call else "neither a tool call nor an answer was found"
        closing = f"\n{LAST}" if left == 1 else ""
        messages.append({"role": "user", "content": f"<tool_response>\n{result}\n</tool_response>{closing}"})
    return None


def main() -> None:
    """One task in, one report out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=60)
    wishes, task = parser.parse_args(), json.load(sys.stdin)
    visited: list[str] = []
    article = research(task["prompt"], wishes.model, wishes.rounds, visited)
    if not article:
        sys.exit(f"no <answer> after {wishes.rounds} rounds")
    json.dump({"article": article, "sources": list(dict.fromkeys(visited))}, sys.stdout)


if __name__ == "__main__":
    main()
