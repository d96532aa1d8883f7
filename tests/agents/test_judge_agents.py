"""The embedded judge as a CodeAgent, for real: what comes out is printed, sandbox and types are asserted."""

import datetime as dt
import json
from pathlib import Path

import pytest
import pytest_asyncio
from dream_eval.agents import Verification, create_protocol, verify_plan
from dream_eval.core import AsOf, Task
from dream_eval.errors import AgentFailed, ProtocolFailed
from dream_eval.ledger import Ledger
from dream_eval.models import open_model
from dream_eval.protocols import Mode, Plan, Protocol, ReasoningQuestion, lint
from dream_eval.reports import read_report
from dream_eval.tools import open_toolbox

pytestmark = [pytest.mark.judge, pytest.mark.timeout(900)]
DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"


@pytest.fixture
def task():
    return Task(**json.loads((DEMO / "task.jsonl").read_text().splitlines()[0]))


@pytest_asyncio.fixture
async def parts(task):
    """The embedded judge and the demo's corpus."""
    ledger = Ledger.open(None, run="judge")
    reports = [(DEMO / f"{name}.md").read_text() for name in ("sound", "flawed", "uncited")]
    as_of = AsOf(day=task.as_of)
    async with (
        open_model("local", ledger) as model,
        open_toolbox(ledger, as_of=as_of, search=[f"corpus:{DEMO / 'corpus'}"], report_texts=reports) as toolbox,
    ):
        yield model, toolbox, ledger
    ledger.close()


def tell(capsys, *lines):
    with capsys.disabled():
        print()
        for line in lines:
            print(f"    {line}")


async def test_protocol_by_the_code_agent(parts, task, capsys):
    model, toolbox, ledger = parts
    try:
        protocol = await create_protocol(
            task, model, toolbox, as_of=toolbox.as_of, mode=Mode.AGENT, questions=3, reasoning=1
        )
    except ProtocolFailed as failed:
        tell(capsys, f"no protocol: {failed}", ledger.totals(ledger.run))
        return
    assert isinstance(protocol, Protocol)
    assert all(question.provenance for question in protocol.key_questions)
    urls = {source.url for question in protocol.key_questions for source in question.provenance}
    corpus = "".join(path.read_text() for path in (DEMO / "corpus").glob("*.md"))
    assert all(url in corpus for url in urls)
    tell(capsys, *(question.text for question in protocol.key_questions), lint(protocol), ledger.totals(ledger.run))


async def test_protocol_by_guided_actions(parts, task, capsys):
    model, toolbox, ledger = parts
    protocol = await create_protocol(
        task, model, toolbox, as_of=toolbox.as_of, mode=Mode.GUIDED, questions=8, reasoning=3
    )
    totals = ledger.totals(ledger.run)
    questions = [*protocol.key_questions, *protocol.reasoning_questions]
    tell(capsys, *(f"{question.id} {question.text}" for question in questions), lint(protocol), totals)
    assert len(protocol.key_questions) >= 6
    assert len(protocol.reasoning_questions) >= 2
    assert all(source.published <= task.as_of for q in protocol.key_questions for source in q.provenance)
    allowed = {"too_few_key_questions", "too_few_reasoning_questions"}
    assert {problem.rule for problem in lint(protocol)} <= allowed
    assert totals.completion_tokens < 1_000


@pytest.mark.parametrize("mode", [Mode.AGENT, Mode.GUIDED])
async def test_a_plan_carried_out(parts, task, capsys, mode):
    model, toolbox, ledger = parts
    report = read_report((DEMO / "flawed.md").read_text(), id="flawed")
    plan = Plan(
        extract="what the report says on RSA-2048 and quantum computers",
        lookup="RSA-2048 quantum annealer broken",
        cross_check="hold the claim against what specialists say",
        against="RSA-2048 has not been broken",
    )
    question = ReasoningQuestion(id="r1", text="How well does the report justify how close attacks are?", plan=plan)
    started = dt.datetime.now(dt.UTC)
    try:
        found = await verify_plan(question, task, report, model, toolbox, mode=mode)
    except AgentFailed as failed:
        tell(capsys, f"{mode}: failed, {failed.state}", dt.datetime.now(dt.UTC) - started, ledger.totals(ledger.run))
        return
    assert isinstance(found, Verification)
    assert found.coherence is not None
    assert found.validity is None or any(one.decisive for one in found.evidence)
    assert all(0 < number <= len(report.sentences) for flaw in found.flaws for number in flaw.sentences)
    tell(capsys, f"{mode}: coherence {found.coherence}, validity {found.validity}", found.reason)
    tell(capsys, *(f"{flaw.kind}: {flaw.quote}" for flaw in found.flaws), ledger.totals(ledger.run))
