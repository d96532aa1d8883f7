"""What is shown of a protocol: its questions, what is wrong with their form, and how it was made."""

from __future__ import annotations

from ..core import Json
from ..protocols import lint
from ..protocols.schema import Protocol, Provenance
from ..runs.labels import protocol_label
from .lookups import Lookups
from .parts import Detail, Quoted, calls_part, pages_part


def protocol_part(protocol: Protocol, look: Lookups, detail: Detail) -> dict[str, Json]:
    """The protocol with its lint, the pages that its questions rest on, and the creator's calls in order."""
    quotes = [Quoted(one.key, one.url, one.quote) for one in _sources(protocol)]
    return {
        "protocol": protocol.model_dump(mode="json"),
        "lint": [problem.model_dump(mode="json") for problem in lint(protocol)],
        "pages": pages_part(quotes, look, detail),
        "calls": calls_part([("protocol", protocol_label(protocol.task.id))], look, detail),
    }


def run_of(protocol: Protocol, look: Lookups) -> str | None:
    """The run in the ledger in which the protocol was made, found by the pages that it rests on."""
    for source in _sources(protocol):
        if found := look.made_in(source.key):
            return found[0]
    return None


def _sources(protocol: Protocol) -> list[Provenance]:
    """Everything that the questions rest on, in their order."""
    lists = (
        *(question.provenance for question in protocol.key_questions),
        *(question.provenance for question in protocol.reasoning_questions),
    )
    return [source for sources in lists for source in sources]
