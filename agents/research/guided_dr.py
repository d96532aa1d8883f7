"""``smolagents-open-dr`` in guided mode, for the embedded model, which cannot stop by itself or fill in a report.

The model words the searches; for each part of the query it chooses among sentences of pages that were read and puts
them into its own words. Code searches, reads, ranks the sentences, refuses a wording with figures that its sentence
does not hold, and writes headings, numbers and sources. So no citation can be invented.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, create_model

from ...core import AsOf, Json, Task
from ...errors import AgentFailed
from ...reports import content_words, missing_numbers, task_language
from ...tools import Toolbox
from ..creator_guided import meant
from ..drafts import negated, tidy
from ..guided import Guide
from ..key_sentences import Candidate, candidates, facets, searches
from ..shelf import Read, Shelf
from . import prompts_open_dr as prompts
from .data import Delivery
from .notes import Note, finished

if TYPE_CHECKING:
    from ...models import ChatModel

PAGES = 16
"""Pages that are read."""
PARTS = 6
"""Parts of a query that get a section."""
LINES = 7
"""Sentences shown to the model for one part: it reads some ninety tokens a second."""
SENTENCES = 3
"""Sentences of a section, at most."""
SHARED = 0.5
"""Share of a wording's content words that its sentence must hold."""


class Queries(BaseModel):
    """Search queries."""

    queries: list[Annotated[str, Field(max_length=90)]] = Field(min_length=3, max_length=4)


@lru_cache(maxsize=16)
def section_type(shown: int) -> type[BaseModel]:
    """A section: sentences, each resting on one of those shown. Bounded: weak models repeat themselves to the limit."""
    line = create_model("Line", rests_on=(int, Field(ge=1, le=shown)), text=(str, Field(max_length=300)))
    return create_model("Section", sentences=(list[line], Field(min_length=1, max_length=SENTENCES)))


@dataclass(frozen=True)
class Line:
    """One sentence of the report."""

    text: str
    found: Candidate
    by_code: bool
    """Code took the page's own words: the model's did not hold, or there were none."""


async def write_guided(
    task: Task, model: ChatModel, toolbox: Toolbox, *, as_of: AsOf, sample: int, seconds: float
) -> Delivery:
    """A report on the task with its sources. Raises AgentFailed, HostStop, ReplayMiss."""
    guide = Guide(model, toolbox, Shelf(as_of, task_language(task)), sample)
    try:
        async with asyncio.timeout(seconds):
            sections = await _sections(guide, task, as_of)
    except TimeoutError:
        raise AgentFailed(f"no report after {seconds:g} s", state="deadline") from None
    if not any(lines for _, lines in sections):
        raise AgentFailed("no page was found that speaks to the query", state="no evidence")
    return _delivery(task, guide, sections)


async def _sections(guide: Guide, task: Task, as_of: AsOf) -> list[tuple[str, list[Line]]]:
    """Each part of the query with its sentences; no sentence of a page is used twice."""
    draft = await guide.try_ask("queries", prompts.queries_prompt(task, as_of), Queries, 120)
    queries = [tidy(query) for query in draft.queries if query.strip()] if draft else []
    reads = await guide.research(list(dict.fromkeys([*queries, *searches(task.prompt)])), PAGES)
    used: set[str] = set()
    sections = []
    for part, wish in list(zip(facets(task.prompt), searches(task.prompt), strict=True))[:PARTS]:
        lines = await _section(guide, task, as_of, part, _shown((part, wish), reads, as_of, used))
        used.update(line.found.text for line in lines)
        sections.append((part, lines))
    return sections


def _shown(wishes: Sequence[str], reads: Sequence[Read], as_of: AsOf, used: set[str]) -> list[Candidate]:
    """The best sentences for the first wish, filled up with those for the next. Weak models take from the top of a
    list, so what speaks to the part itself stands there, before what speaks to the query's topic."""
    ranked = [sorted(candidates([wish], reads, as_of), key=lambda found: -found.score) for wish in wishes]
    left: dict[str, Candidate] = {}
    for found in chain(*ranked):
        left.setdefault(found.text, found)
    return [found for text, found in left.items() if text not in used][:LINES]


async def _section(guide: Guide, task: Task, as_of: AsOf, part: str, shown: Sequence[Candidate]) -> list[Line]:
    if not shown:
        return []
    listed = "\n".join(f"[{place}] {found.text}" for place, found in enumerate(shown, 1))
    prompt = prompts.section_prompt(task, as_of, part, listed, SENTENCES)
    draft: Any = await guide.try_ask("section", prompt, section_type(len(shown)), 100 * SENTENCES + 40)
    if draft is None:  # the page's own best sentence, so that the part is not left empty
        return [Line(shown[0].text, shown[0], by_code=True)]
    lines: dict[int, Line] = {}
    for one in draft.sentences:
        place = meant(shown, one.rests_on, one.text)
        lines.setdefault(place, worded(tidy(one.text), shown[place - 1]))
    return list(lines.values())


def worded(text: str, found: Candidate) -> Line:
    """The model's wording where it holds, else the sentence itself."""
    own = holds(text, found.text)
    return Line(text if own else found.text, found, by_code=not own)


def holds(text: str, sentence: str) -> bool:
    """Whether a wording says no figure and no denial that its sentence does not, in mostly its words."""
    words, given = set(content_words(text)), set(content_words(sentence))
    shared = len(words & given) >= max(1.0, SHARED * len(words))
    return shared and not missing_numbers(text, sentence) and negated(text) == negated(sentence)


def _delivery(task: Task, guide: Guide, sections: Sequence[tuple[str, list[Line]]]) -> Delivery:
    notes: dict[str, Note] = {}
    blocks = [f"# {_heading(facets(task.prompt)[0])}"]
    trace: list[Json] = []
    for part, lines in sections:
        cited = []
        for line in lines:
            note = _note(f"n{len(notes) + 1}", line.found)
            notes[note.id] = note
            cited.append(_with_mark(line.text, note.id))
            trace.append(_line_trace(part, line))
        head = [f"## {_heading(part)}"] if part != sections[0][0] else []  # the first part is the title
        blocks += [*head, " ".join(cited)] if cited else []
    article, sources = finished("\n\n".join(blocks), notes)
    return Delivery(article, sources, {**prompts.made_by(guide.model.name, "guided"), **_trace(guide), "lines": trace})


def _with_mark(text: str, id: str) -> str:
    """The sentence with its note before the stop."""
    return f"{text.rstrip(' .。')} [{id}]{'。' if text.endswith('。') else '.'}"


def _heading(part: str) -> str:
    return f"{part[:1].upper()}{part[1:]}"


def _note(id: str, found: Candidate) -> Note:
    page = found.read.page
    day = page.published.isoformat() if page.published else None
    return Note(id, found.text, page.url, page.title or page.url, day)


def _line_trace(part: str, line: Line) -> dict[str, Json]:
    by = "code" if line.by_code else "page" if line.text == line.found.text else "model"
    return {"part": part, "text": line.text, "rests_on": line.found.text, "url": line.found.source.url, "worded_by": by}


def _trace(guide: Guide) -> dict[str, Json]:
    steps: list[Any] = [step.model_dump(mode="json", exclude_defaults=True) for step in guide.steps]
    pages: list[Json] = [page.url for page in guide.shelf.pages]
    queries: list[Json] = list(guide.shelf.queries)
    return {"queries": queries, "pages": pages, "steps": steps}
