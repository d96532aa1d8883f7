"""What is shown of a protocol: its questions, what is wrong with their form, and how it was made."""

from __future__ import annotations

from ..core import Json
from ..protocols import lint
from ..protocols.schema import Protocol
from .lookups import Lookups
from .parts import Detail, Quoted, calls_part, pages_part


def protocol_part(protocol: Protocol, look: Lookups, detail: Detail) -> dict[str, Json]:
    """The protocol with its lint, the pages that its questions rest on, and the creator's calls in order."""
    questions = (*protocol.key_questions, *protocol.reasoning_questions)
    quotes = [Quoted(one.key, one.url, one.quote) for question in questions for one in question.provenance]
    return {
        "protocol": protocol.model_dump(mode="json"),
        "lint": [problem.model_dump(mode="json") for problem in lint(protocol)],
        "pages": pages_part(quotes, look, detail),
        "calls": calls_part([("protocol", f"{protocol.task.id}/protocol")], look, detail),
    }


def run_of(protocol: Protocol, look: Lookups) -> str | None:
    """The run in the ledger in which the protocol was made, found by the pages that it rests on."""
    for question in (*protocol.key_questions, *protocol.reasoning_questions):
        for source in question.provenance:
            if found := look.made_in(source.key):
                return found[0]
    return None
