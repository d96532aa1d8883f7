"""What ``dream protocol diff`` prints and calls."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ..core import Json
from ..protocols import Diff, diff, load_protocol
from ..protocols.diff import Change, EvidenceChange, Question, Words, all_questions, evidence_change, word_changes
from ..protocols.schema import Protocol
from .evaluating import make_console
from .printing import print_json, say
from .text import one_line

WIDTH = 80
INDENT = 4
STYLES = {"same": "", "gone": "red", "new": "green"}
MARKS = {"same": "{}", "gone": "[-{}-]", "new": "{{+{}+}}"}
"""How words that changed are shown where there are no colours."""


def diff_protocols(old: str, new: str, *, as_json: bool) -> int:
    """Print what differs; 10 when the query, the day or an item does."""
    a, b = load_protocol(old), load_protocol(new)
    found = diff(a, b)
    if as_json:
        print_json(_as_json(a, b, found))
    else:
        _show(make_console(), (old, a), (new, b), found)
    return 0 if a.digest == b.digest else 10


def _show(console: Console, old: tuple[str, Protocol], new: tuple[str, Protocol], found: Diff) -> None:
    a, b = old[1], new[1]
    for mark, (name, protocol) in zip(("-", "+"), (old, new), strict=True):
        maker = protocol.maker
        _wrap(console, f"{mark} {name}: as of {protocol.as_of.day}, made by {maker.model} in mode {maker.mode}", 2)
    if "task" in found.head and a.task.prompt != b.task.prompt:
        say(console, "another query:")
        _words(console, word_changes(a.task.prompt, b.task.prompt))
    counts = (found.same, len(found.changed), len(found.added), len(found.removed))
    say(console, "{} questions the same, {} changed, {} added, {} gone".format(*counts), "bold")
    questions = _questions(a), _questions(b)
    for change in found.changed:
        _changed(console, change, questions[0][change.old], questions[1][change.new])
    for name, ids, own in (("gone", found.removed, questions[0]), ("added", found.added, questions[1])):
        for id in ids:
            _alone(console, name, own[id])


def _questions(protocol: Protocol) -> dict[str, Question]:
    return {question.id: question for question in all_questions(protocol)}


def _changed(console: Console, change: Change, old: Question, new: Question) -> None:
    name = change.old if change.old == change.new else f"{change.old} -> {change.new}"
    say(console, "")
    say(console, f"changed {name} ({', '.join(field.replace('_', ' ') for field in change.fields)})", "bold")
    _words(console, word_changes(old.text, new.text))
    for field, before, after in _texts(change.fields, old, new):
        if (before, after) == (old.text, new.text):
            say(console, f"{' ' * INDENT}{field}: the same words")
            continue
        say(console, f"{' ' * INDENT}{field}:", "dim")
        _words(console, word_changes(before, after))
    if "provenance" in change.fields:
        for line in _evidence(evidence_change(old, new)):
            _wrap(console, f"{' ' * INDENT}{line}", INDENT + 2)


def _texts(fields: Sequence[str], old: Question, new: Question) -> Iterator[tuple[str, str, str]]:
    """Texts other than the question itself that differ; a plan part by part."""
    for field in fields:
        before, after = getattr(old, field), getattr(new, field)
        if field == "plan":
            parts = [part for part in type(before).model_fields if getattr(before, part) != getattr(after, part)]
            yield from (
                (part.replace("_", " "), str(getattr(before, part)), str(getattr(after, part))) for part in parts
            )
        elif field not in ("text", "provenance"):
            yield field.replace("_", " "), str(before), str(after)


def _evidence(change: EvidenceChange) -> Iterator[str]:
    yield from (f"evidence gone: {url}" for url in change.gone)
    yield from (f"evidence new: {url}" for url in change.new)
    yield from (f"another quote or date: {url}" for url in change.requoted)
    if change.newest_old != change.newest_new:
        yield f"newest evidence: {change.newest_old or 'undated'} -> {change.newest_new or 'undated'}"


def _alone(console: Console, name: str, question: Question) -> None:
    say(console, "")
    say(console, f"{name} {question.id}", "bold")
    _words(console, (Words(kind="gone" if name == "gone" else "new", text=question.text),), marks=False)
    for source in question.provenance:
        _wrap(console, f"{' ' * INDENT}{source.url}{f' ({source.published})' if source.published else ''}", INDENT + 2)


def _words(console: Console, words: Iterable[Words], *, marks: bool = True) -> None:
    """Words of two texts in lines of at most 80 columns: in colours on a terminal, else between marks."""
    coloured = console.is_terminal and not console.no_color
    text = Text()
    for part in words:
        plain = one_line(part.text) if part.text.strip() else " "
        lead, tail = (" " if part.text[:1].isspace() else ""), (" " if part.text[-1:].isspace() else "")
        shown = plain if coloured or not marks or not part.text.strip() else MARKS[part.kind].format(plain)
        text.append(f"{lead}{shown}{tail}" if part.text.strip() else " ", style=STYLES[part.kind] if coloured else "")
    for line in text.wrap(console, WIDTH - INDENT):
        line.rstrip()
        console.print(Text(" " * INDENT).append_text(line), soft_wrap=True)


def _wrap(console: Console, line: str, indent: int) -> None:
    lead = " " * (len(line) - len(line.lstrip()))
    for part in textwrap.wrap(
        one_line(line), WIDTH, initial_indent=lead, subsequent_indent=" " * indent, break_on_hyphens=False
    ):
        say(console, part)


def _as_json(old: Protocol, new: Protocol, found: Diff) -> dict[str, Json]:
    """Everything, with the questions themselves."""
    a, b = _questions(old), _questions(new)
    changed: list[Json] = [
        {
            "old": change.old,
            "new": change.new,
            "fields": list(change.fields),
            "text": [part.model_dump(mode="json") for part in word_changes(a[change.old].text, b[change.new].text)],
            "evidence": evidence_change(a[change.old], b[change.new]).model_dump(mode="json"),
        }
        for change in found.changed
    ]
    return {
        "old": {"digest": old.digest, "as_of": str(old.as_of.day), "maker": old.maker.model_dump(mode="json")},
        "new": {"digest": new.digest, "as_of": str(new.as_of.day), "maker": new.maker.model_dump(mode="json")},
        "head": list(found.head),
        "same": found.same,
        "changed": changed,
        "added": [b[id].model_dump(mode="json") for id in found.added],
        "gone": [a[id].model_dump(mode="json") for id in found.removed],
    }
