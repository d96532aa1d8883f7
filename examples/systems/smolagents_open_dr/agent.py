"""Smolagents Open Deep Research: a manager CodeAgent that sends a search agent, over any OpenAI-compatible endpoint.

The same plan as Hugging Face's example, with the classes of the smolagents package as they are: a ToolCallingAgent that
searches and visits pages, managed by a CodeAgent that plans and writes. Reads a task from standard input, prints JSON.

    agent.py MODEL [--steps N]

Environment: OPENAI_BASE_URL and OPENAI_API_KEY (dream collect sets them); SEARXNG_URL for search, else DuckDuckGo.
smolagents runs the manager's code in this very process: start it in a container where that matters.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys

import requests
from smolagents import CodeAgent, OpenAIModel, Tool, ToolCallingAgent, VisitWebpageTool, WebSearchTool

TASK = """\
Write a research report in Markdown that answers this query, in the language of the query:

{prompt}

Send the search agent for each part of it. State only what pages say that were visited, and cite each of them behind \
the statement, as [title](address). Hand the whole report in as the final answer."""


class Searxng(Tool):
    """Search with a SearXNG server of one's own."""

    name = "web_search"
    description = "Searches the web. Gives titles, addresses and snippets."
    inputs = {"query": {"type": "string", "description": "a few words"}}  # noqa: RUF012
    output_type = "string"

    def forward(self, query: str) -> str:
        """The first ten results."""
        asked = {"q": query, "format": "json"}
        reply = requests.get(os.environ["SEARXNG_URL"].rstrip("/") + "/search", params=asked, timeout=30)
        reply.raise_for_status()
        found = reply.json().get("results", [])[:10]
        return "\n\n".join(f"[{hit['title']}]({hit['url']})\n{hit.get('content', '')}" for hit in found) or "no results"


class Visit(VisitWebpageTool):
    """smolagents' own page reader, which also keeps what it was sent to."""

    def __init__(self, visited: list[str]) -> None:
        super().__init__()
        self.visited = visited

    def forward(self, url: str) -> str:
        """The page as Markdown."""
        page = super().forward(url)
        if not page.startswith(("Error fetching", "The request timed out", "An unexpected error")):
            self.visited.append(url)
        return page


def build(model: str, steps: int, visited: list[str]) -> CodeAgent:
    """The manager with its search agent."""
    key = os.environ.get("OPENAI_API_KEY", "none")
    chat = OpenAIModel(model, api_base=os.environ.get("OPENAI_BASE_URL"), api_key=key)
    search = Searxng() if os.environ.get("SEARXNG_URL") else WebSearchTool()
    searcher = ToolCallingAgent(
        tools=[search, Visit(visited)],
        model=chat,
        max_steps=steps,
        name="search_agent",
        description="Searches the web, visits pages, reports what they say with their addresses. Give it one question.",
        verbosity_level=0,
    )
    return CodeAgent(tools=[Visit(visited)], model=chat, managed_agents=[searcher], max_steps=steps, verbosity_level=0)


def main() -> None:
    """One task in, one report out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--steps", type=int, default=12)
    wishes, task = parser.parse_args(), json.load(sys.stdin)
    visited: list[str] = []
    with contextlib.redirect_stdout(sys.stderr):  # standard output holds the report alone
        agent = build(wishes.model, wishes.steps, visited)
        result = agent.run(TASK.format(prompt=task["prompt"]), return_full_result=True)
    if result.state != "success":
        sys.exit(f"the run ended as {result.state}")
    json.dump({"article": str(result.output), "sources": list(dict.fromkeys(visited))}, sys.stdout)


if __name__ == "__main__":
    main()
