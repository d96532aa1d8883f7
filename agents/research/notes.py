"""Notes on sentences of pages that were read, and the finished report: code numbers and lists the sources it cites."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core import Json
from ..plain import cut

_ID = re.compile(r"n\d+")
_GROUP = r"\[\s*n\d+(?:\s*[,;]\s*n\d+)*\s*\]"
_CITED = re.compile(rf"[ \t]*{_GROUP}(?:\s?{_GROUP})*")
"""Groups of ids that stand together."""
_LIST = re.compile(r"(?ims)^#+\s*(?:sources|references|quellen|参考(?:文献|资料)|来源)\s*$.*\Z")


@dataclass(frozen=True)
class Note:
    """A sentence of a page that was read."""

    id: str
    quote: str
    url: str
    title: str
    published: str | None

    def shown(self) -> Json:
        """As the manager sees it."""
        return {"id": self.id, "text": cut(self.quote, 600), "source": cut(self.title, 100), "date": self.published}


def cited_ids(text: str) -> list[str]:
    """The ids of notes that a text cites, in their order."""
    return [id for group in _CITED.findall(text) for id in _ID.findall(group)]


def without_list(report: str) -> str:
    """The report without a list of sources of its own."""
    return _LIST.sub("", report)


def finished(report: str, notes: dict[str, Note]) -> tuple[str, tuple[Json, ...]]:
    """The report with numbered sources in the order in which they are cited, and their list; unknown ids fall out."""
    numbers: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        urls = [notes[id].url for id in _ID.findall(match[0]) if id in notes]
        marks = [numbers.setdefault(url, len(numbers) + 1) for url in dict.fromkeys(urls)]
        return " " + "".join(f"[{number}]" for number in marks) if marks else ""

    text = _CITED.sub(numbered, without_list(report)).strip()
    titles = {note.url: note.title for note in reversed(notes.values())}
    lines = [f"[{number}] {_plain(titles[url])}. {url}" for url, number in numbers.items()]
    sources: list[Json] = [{"number": n, "url": url, "title": titles[url]} for url, n in numbers.items()]
    return f"{text}\n\n## Sources\n\n" + "\n".join(lines) + "\n", tuple(sources)


def _plain(title: str) -> str:
    return " ".join(re.sub(r"[\[\]<>|`*_#]+", " ", title).split()).strip(" .")[:150]
