"""The built-in agent in guided mode over a scripted model: whatever the model says, each sentence rests on a page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dream_eval.agents.research import Delivery
from dream_eval.agents.research.guided_dr import holds, write_guided
from dream_eval.core import AsOf, Task
from dream_eval.errors import AgentFailed
from dream_eval.ledger import Ledger
from dream_eval.models import Limits, open_model
from dream_eval.reports import read_report
from dream_eval.tools import open_toolbox
from servers.chat import Body, ScriptedChat, last_user
from world import AS_OF, PAGES, QUERY, write_world

TASK = Task(id="t1", prompt=QUERY, as_of=AS_OF)  # type: ignore[arg-type]
QUERIES = json.dumps({"queries": ["Lindow barrage finished", "Lindow barrage power", "Lindow barrage cost"]})


async def written(folder: Path, section: Callable[[Body], str] | str, corpus: str = "corpus") -> Delivery:
    write_world(folder)
    (folder / "other").mkdir()
    (folder / "other/page.md").write_text("---\nurl: https://a.org/x\n---\n\nNothing.\n")
    with ScriptedChat() as chat, Ledger.open(None, run="r") as ledger:
        chat.on("short web searches", QUERIES).always(section)
        as_of = AsOf(day=TASK.as_of)  # type: ignore[arg-type]
        async with (
            open_model(chat.judge, ledger, limits=Limits(wait_scale=0, attempts=1)) as model,
            open_toolbox(ledger, as_of=as_of, search=[f"corpus:{folder / corpus}"]) as toolbox,
        ):
            return await write_guided(TASK, model, toolbox, as_of=as_of, sample=0, seconds=60)


def first_line(wording: Callable[[str], str], number: int | None = None) -> Callable[[Body], str]:
    """Words the first sentence shown."""

    def reply(body: Body) -> str:
        found = re.search(r"\[1\] (.+)", last_user(body))
        assert found
        return json.dumps({"sentences": [{"rests_on": number or 1, "text": wording(found[1])}]})

    return reply


def facts(given: Delivery) -> list[dict[str, Any]]:
    assert isinstance(given.trace, dict)
    return given.trace["lines"]  # type: ignore[return-value]


async def test_each_sentence_is_cited_and_rests_on_a_page_that_was_read(tmp_path: Path) -> None:
    given = await written(tmp_path, first_line(lambda text: f"In short, {text}"))
    report = read_report(given.article, id="r")
    pages = {url: text for url, _, _, text in PAGES.values()}
    assert isinstance(given.trace, dict)
    assert (given.trace["mode"], given.trace["agent"]) == ("guided", "smolagents-open-dr")
    assert {source.url for source in report.sources} <= set(given.trace["pages"]) <= set(pages)  # type: ignore[arg-type]
    assert len(facts(given)) == len(report.marks) == len({line["rests_on"] for line in facts(given)}) >= 3
    for line in facts(given):
        assert line["worded_by"] == "model"
        assert line["text"].startswith("In short, ")
        assert line["rests_on"] in pages[line["url"]]


async def test_a_figure_that_the_page_does_not_hold_is_never_printed(tmp_path: Path) -> None:
    given = await written(tmp_path, first_line(lambda text: f"{text.rstrip('.')} and 777 more."))
    assert "777" not in given.article
    assert facts(given)
    assert all(line["worded_by"] == "code" and line["text"] == line["rests_on"] for line in facts(given))


@pytest.mark.parametrize("section", ["I cannot say.", '{"sentences": [{"rests_on": 99, "text": "x"}]}'])
async def test_a_model_that_gives_nothing_leaves_the_pages_own_sentences(tmp_path: Path, section: str) -> None:
    given = await written(tmp_path, section)
    assert len(facts(given)) >= 2
    assert all(line["worded_by"] == "code" for line in facts(given))


async def test_without_a_page_there_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match="no page was found"):
        await written(tmp_path, "{}", corpus="other")


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("The barrage, finished in 2021, took six years to build.", True),
        ("The barrage was completed in 2022 after six years of building.", False),
        ("The barrage was not completed in 2021.", False),
        ("Offshore wind farms need long cables to the shore.", False),
    ],
)
def test_what_wording_holds(text: str, good: bool) -> None:
    assert holds(text, "The Lindow barrage was completed in 2021 after six years of building.") is good
