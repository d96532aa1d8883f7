import datetime as dt

import pytest
from dream_eval.core import AsOf, Task
from dream_eval.protocols import KeyQuestion, Maker, Mode, Plan, Protocol, Provenance, ReasoningQuestion

AS_OF = dt.date(2026, 5, 1)
FACTS = [
    "Does the report state that the grid limit rose to 8 GW?",
    "Is the Norwegian tender of March named?",
    "Are subsidies for floating turbines mentioned?",
    "Has the cable plant in Halden been described?",
    "Does the report give a price per megawatt hour?",
    "Was the permit reform of 2025 covered?",
    "Do fishing zones appear as a constraint?",
    "Can a reader find the share of imported steel?",
]


def provenance(published: dt.date | None = dt.date(2026, 3, 1)) -> Provenance:
    return Provenance(url="https://example.org/a", quote="A quote.", published=published, key="0" * 64)


def key(number: int, text: str, **fields) -> KeyQuestion:
    fields = {"provenance": (provenance(),), **fields}
    return KeyQuestion(id=f"k{number}", text=text, fact="A fact.", **fields)


def reasoning(number: int, text: str, lookup: str = "tender results of 2026") -> ReasoningQuestion:
    plan = Plan(extract="the forecast", lookup=lookup, cross_check="compare the figures", against="a gap of over 10 %")
    return ReasoningQuestion(id=f"r{number}", text=text, plan=plan)


@pytest.fixture
def protocol() -> Protocol:
    """A protocol that the lint finds nothing wrong with."""
    keys = [key(number, text, time_sensitive=number == 1) for number, text in enumerate(FACTS, 1)]
    opens = [
        reasoning(1, "How well does the forecast follow from the tender results?"),
        reasoning(2, "Why should grid limits slow the build-out?"),
        reasoning(3, "Which evidence carries the claim on jobs?"),
    ]
    return Protocol(
        task=Task(id="t1", prompt="What is the current state of offshore wind in Norway?"),
        as_of=AsOf(day=AS_OF),
        created_at=dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
        maker=Maker(model="m", mode=Mode.AGENT, prompt_version=1),
        key_questions=tuple(keys),
        reasoning_questions=tuple(opens),
    )
