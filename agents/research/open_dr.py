"""``smolagents-open-dr``: a research agent after the plan of Hugging Face's open deep research.

A manager CodeAgent splits the query, has each part looked up by a search CodeAgent that searches and reads pages, and
writes the report. Both run over our bridge model, tools and sandbox. A search agent hands over sentences of pages that
it read, by address and number; code copies the sentences, the manager cites them by their ids, and code writes the
list of sources. So every citation is a page that was read, whatever the model writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field
from smolagents.tools import Tool

from ...core import AsOf, Json, Task
from ...errors import AgentFailed
from ...protocols import Provenance
from ...reports import task_language
from ...tools import Page, Toolbox
from ..creator import page_chars, step_tokens
from ..data import Step
from ..host import Host
from ..key_sentences import facets
from ..plain import Refusal, cut
from ..run import AgentJob, run_agent
from ..shelf import Read, Shelf
from ..toolbox import ReadPage, agent_tools, signatures
from . import prompts_open_dr as prompts
from .data import Delivery
from .guided_dr import write_guided
from .notes import Note, cited_ids, finished, without_list
from .tagged import tagged

if TYPE_CHECKING:
    from ...models import ChatModel

MANAGER_STEPS, SEARCH_STEPS = 8, 6
MANAGER_TOKENS, SEARCH_TOKENS = 6_000, 1_000
"""Output limit of one step."""
FINDINGS = 6
"""Sentences that one search hands over."""
SHORTEST_QUOTE = 20
"""Characters of a quotation that can point at a sentence."""
SEARCHES = 10
"""Questions that one report may have looked up."""
WORDS = 1_000
PATIENCE = 2
"""Refused answers before what holds is taken."""
SECONDS = 3_600.0
_LINE = re.compile(r"(?m)^\[(\d+)\]")
_HEADING = re.compile(r"\s*(?:#|\*\*[^*]+\*\*\s*\Z)")


class Findings(BaseModel):
    """The search agent's answer: sentences as they were shown, by number or word for word."""

    findings: list[int | str] = Field(default_factory=list)


class Draft(BaseModel):
    """The manager's answer."""

    report: str = Field(min_length=1)


class Desk:
    """Everything that one report rests on: notes, and the steps of those who made them."""

    def __init__(self, model: ChatModel, toolbox: Toolbox, task: Task) -> None:
        self.notes: dict[str, Note] = {}
        self.searches: list[dict[str, Json]] = []
        self._model, self._toolbox, self._language = model, toolbox, task_language(task)
        self._page_chars = page_chars(model)

    async def look_up(self, question: str) -> list[Note]:
        """Notes on a question. Where the search agent fails, code takes the best sentences of the pages that it read.

        Raises HostStop, ReplayMiss.
        """
        shelf = Shelf(self._toolbox.as_of, self._language)
        steps: tuple[Step, ...] = ()
        failed = ""
        shown = Shown(shelf)
        try:
            run = await run_agent(self._model, self._job(question, shelf, shown))
            steps, pointers = run.steps, [one for one in map(shown.find, run.value.findings) if one is not None]
        except AgentFailed as error:
            failed, pointers = f"{error.state}: {error}", []
        found = [one for url, sentence in pointers if (one := shelf.provenance(url, sentence)) is not None]
        taken = found or _best(shelf, question)
        self.searches.append(_search_trace(question, shelf, steps, failed, by_code=not found))
        return [self._note(one, shelf) for one in list(dict.fromkeys(taken))[:FINDINGS]]

    def _job(self, question: str, shelf: Shelf, shown: Shown) -> AgentJob[Findings]:
        model, toolbox = self._model, self._toolbox

        def tools(host: Host) -> list[Tool]:
            return [
                NumberedPage(toolbox, host, shelf, self._page_chars, shown) if isinstance(tool, ReadPage) else tool
                for tool in agent_tools(toolbox, shelf, self._page_chars)(host)
            ]

        return AgentJob(
            system=prompts.SEARCH_SYSTEM.format(tools=signatures(toolbox), day=toolbox.as_of.day),
            task=prompts.search_task(question, FINDINGS),
            answer=Findings,
            check=lambda answer, attempt: _pointer_problems(answer, shown, attempt),
            tools=tools,
            as_of=toolbox.as_of,
            max_steps=SEARCH_STEPS,
            max_tokens=step_tokens(model, SEARCH_TOKENS),
        )

    def _note(self, found: Provenance, shelf: Shelf) -> Note:
        known = next((note for note in self.notes.values() if (note.url, note.quote) == (found.url, found.quote)), None)
        if known is not None:
            return known
        read = shelf.get(found.url)
        title = read.page.title if read is not None else ""
        day = found.published.isoformat() if found.published else None
        note = Note(f"n{len(self.notes) + 1}", found.quote, found.url, title or found.url, day)
        self.notes[note.id] = note
        return note


class Shown:
    """The sentences that a search agent was shown, numbered through all pages, so that a number alone points at one."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.places: list[tuple[str, int]] = []
        """Address of the page and number of the sentence in it."""

    def number(self, url: str, sentence: int) -> int:
        """The number of a sentence that is shown now."""
        if (url, sentence) not in self.places:
            self.places.append((url, sentence))
        return self.places.index((url, sentence)) + 1

    def find(self, pointer: int | str) -> tuple[str, int] | None:
        """The sentence that is meant: by number, or by its words; None when none was shown that fits."""
        if isinstance(pointer, str) and not pointer.strip(" []").isdecimal():
            return self._quoted(pointer)
        number = int(pointer.strip(" []")) if isinstance(pointer, str) else pointer
        return self.places[number - 1] if 0 < number <= len(self.places) else None

    def _quoted(self, words: str) -> tuple[str, int] | None:
        """The sentence that holds the words, or stands in them; of several the one of the likest length."""
        wanted = _folded(words)
        found: list[tuple[int, tuple[str, int]]] = []
        for place in self.places if len(wanted) >= SHORTEST_QUOTE else ():
            read = self._shelf.get(place[0])
            sentence = _folded((read.sentence(place[1]) if read else None) or "")
            if sentence and (wanted in sentence or sentence in wanted):
                found.append((abs(len(wanted) - len(sentence)), place))
        return min(found)[1] if found else None


def _folded(text: str) -> str:
    return " ".join(re.sub(r"^\s*\[\d+\]", "", text).split()).strip(" .…").casefold()


class NumberedPage(ReadPage):
    """``read_page`` with sentences numbered through all pages of a search."""

    def __init__(self, toolbox: Toolbox, host: Host, shelf: Shelf, page_chars: int, shown: Shown) -> None:
        super().__init__(toolbox, host, shelf, page_chars)
        self._through = shown

    def _page(self, page: Page, read: Read, find: str | None) -> Json:
        found = super()._page(page, read, find)
        assert isinstance(found, dict)
        lines = str(found["text"])
        found["text"] = _LINE.sub(lambda line: f"[{self._through.number(page.url, int(line[1]))}]", lines)
        return found


class Research(Tool):  # type: ignore[misc]  # smolagents is untyped
    """``research``: the manager's way to the search agent."""

    name = "research"
    description = "A researcher searches the web and reads pages. Gives a list of notes {id, text, source, date}."
    inputs = {"question": {"type": "string", "description": "one question"}}  # noqa: RUF012
    output_type = "array"

    def __init__(self, desk: Desk, host: Host) -> None:
        super().__init__()
        self._desk, self._host = desk, host

    def forward(self, question: str) -> Json:
        """Notes. Raises Refusal when there are none, or when enough was asked."""
        if not isinstance(question, str) or not question.strip():
            raise Refusal("research takes a question that is not empty")
        if len(self._desk.searches) >= SEARCHES:
            raise Refusal("no more questions; write the report from the notes that you have")
        notes = self._host.wait(self._desk.look_up(cut(" ".join(question.split()), 500)))
        if not notes:
            raise Refusal("nothing was found; ask in other words")
        return [note.shown() for note in notes]


async def write_report(
    task: Task, model: ChatModel, toolbox: Toolbox, *, as_of: AsOf, sample: int = 0, seconds: float = SECONDS
) -> Delivery:
    """A report on the task with its sources: by agents, or guided for the embedded model. Raises AgentFailed, HostStop,
    ReplayMiss."""
    if model.embedded:
        return await write_guided(task, model, toolbox, as_of=as_of, sample=sample, seconds=seconds)
    model = tagged(model)
    desk = Desk(model, toolbox, task)
    job = AgentJob(
        system=prompts.MANAGER_SYSTEM,
        task=prompts.manager_task(task, as_of, facets(task.prompt), WORDS),
        answer=Draft,
        check=lambda draft, attempt: problems_of(draft.report, desk.notes, attempt),
        tools=lambda host: [Research(desk, host)],
        as_of=as_of,
        max_steps=MANAGER_STEPS,
        max_tokens=step_tokens(model, MANAGER_TOKENS),
        seconds=seconds,
        sample=sample,
    )
    run = await run_agent(model, job)
    article, sources = finished(run.value.report, desk.notes)
    made_by = prompts.made_by(model.name, "agent")
    return Delivery(article, sources, {**made_by, "steps": _steps(run.steps), "searches": list(desk.searches)})


def problems_of(report: str, notes: dict[str, Note], attempt: int) -> list[str]:
    """What is wrong with a report, in words for the model. After some refusals one that cites anything is taken."""
    cited = cited_ids(report)
    known = [id for id in cited if id in notes]
    if not notes:
        return ["nothing was looked up yet; call research first"]
    if attempt > PATIENCE and known:
        return []
    if not known:
        return ["no note is cited; put the ids of notes behind the facts, such as [n1]"]
    unknown = sorted({id for id in cited if id not in notes})
    found = [f"there is no note {', '.join(unknown[:6])}"] if unknown else []
    bare = [
        place for place, text in enumerate(_paragraphs(report), 1) if not cited_ids(text) and len(text.split()) > 12
    ]
    return found + ([prompts.uncited(bare)] if bare else [])


def _paragraphs(report: str) -> list[str]:
    parts = [part.strip() for part in re.split(r"\n\s*\n", without_list(report))]
    return [part for part in parts if part and not _HEADING.match(part)]


def _pointer_problems(answer: Findings, shown: Shown, attempt: int) -> list[str]:
    """Pointers at no sentence; after some refusals those that hold are taken."""
    if attempt > PATIENCE:
        return []
    most = len(shown.places)
    if not most:
        return ["no page was read yet; call read_page first"]
    if not answer.findings:
        return ["findings is empty; give numbers of sentences that were shown"]
    lost = [place for place, one in enumerate(answer.findings, 1) if shown.find(one) is None]
    named = ", ".join(map(str, lost[:6]))
    return [f"finding {named}: no such sentence was shown; give numbers from 1 to {most}"] if lost else []


def _best(shelf: Shelf, question: str) -> list[Provenance]:
    """The sentences of the pages read that speak most to the question."""
    urls = dict.fromkeys(page.url for page in shelf.pages)
    reads = [read for url in urls if (read := shelf.get(url)) is not None]
    found = [shelf.provenance(read.page.url, number) for read in reads[:3] for number in read.about(question, 1)[:2]]
    return [one for one in found if one is not None]


def _search_trace(question: str, shelf: Shelf, steps: Sequence[Step], failed: str, *, by_code: bool) -> dict[str, Json]:
    trace: dict[str, Json] = {
        "question": question,
        "queries": list(shelf.queries),
        "pages": [page.url for page in shelf.pages],
        "steps": _steps(steps),
    }
    if failed:
        trace["failed"] = failed
    if by_code:
        trace["sentences_chosen_by"] = "code"
    return trace


def _steps(steps: Sequence[Step]) -> list[Json]:
    found: list[Any] = [step.model_dump(mode="json", exclude_defaults=True) for step in steps]
    return found
