"""LangChain Open Deep Research (``open_deep_research`` on the package index, over LangGraph) as a system under test.

The package's graph is run as it is, without its question back to the user. Reads a task from standard input, prints
JSON.

    agent.py MODEL

MODEL is used for all four roles, through OpenAI's interface. Environment: OPENAI_BASE_URL and OPENAI_API_KEY (dream
collect sets them); TAVILY_API_KEY for search, and TAVILY_BASE_URL for another server that speaks Tavily's interface:
the package cannot be told of one, so its client is replaced by the same one with that address.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import os
import re
import sys

from open_deep_research import utils
from open_deep_research.deep_researcher import deep_researcher

FAILED = "Error generating final report"
"""What the graph puts in the place of a report that could not be written."""


async def report(prompt: str, model: str) -> dict[str, object]:
    """The graph's final state."""
    roles = ("research_model", "summarization_model", "compression_model", "final_report_model")
    settings = dict.fromkeys(roles, f"openai:{model}") | {"allow_clarification": False, "search_api": "tavily"}
    return await deep_researcher.ainvoke({"messages": [("user", prompt)]}, {"configurable": settings})


def main() -> None:
    """One task in, one report out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    wishes, task = parser.parse_args(), json.load(sys.stdin)
    if os.environ.get("TAVILY_BASE_URL"):
        client = functools.partial(utils.AsyncTavilyClient, api_base_url=os.environ["TAVILY_BASE_URL"])
        utils.AsyncTavilyClient = client
    with contextlib.redirect_stdout(sys.stderr):  # the graph prints its troubles; standard output holds the report
        state = asyncio.run(report(task["prompt"], wishes.model))
    article, notes = str(state.get("final_report") or ""), "\n".join(map(str, state.get("raw_notes") or ()))
    if not article.strip() or article.startswith(FAILED):
        sys.exit(article or "the graph ended without a report")
    found = re.findall(r"^URL: (\S+)$", notes, re.MULTILINE)  # as the package lists what its search brought
    json.dump({"article": article, "sources": list(dict.fromkeys(found))}, sys.stdout)


if __name__ == "__main__":
    main()
