"""One CodeAgent job from beginning to end: what it gives, and every way in which it fails."""

import asyncio
import time
from typing import Any, ClassVar

import pytest
from dream_eval.agents.model import conversation, first_block, fitting
from dream_eval.agents.plain import Refusal, plain, scrubbed
from dream_eval.agents.run import run_agent
from dream_eval.errors import AccountRefused, AgentFailed, Interrupted, ReplayMiss
from dream_eval.ledger import Ledger, Mode, current_scope, scope
from dream_eval.models import Limits, Message, open_model
from servers.chat import error, hang, last_user, say
from smolagents.models import ChatMessage, MessageRole
from smolagents.tools import Tool

DONE = "final_answer({'text': 'done'})"


async def test_steps_are_plain_data(run):
    result = await run("x = add(2, 3)\nprint(x)", "y = x + 1\nfinal_answer({'text': str(y)})")
    assert result.value.text == "6"
    first, second = result.steps
    assert (first.number, first.thought, first.code) == (1, "I run this.", "x = add(2, 3)\nprint(x)")
    assert "\n5\n" in first.observation
    assert [(use.tool, use.arguments, use.failed) for use in first.tools] == [("add", {"a": 2, "b": 3}, "")]
    assert second.tools == ()
    assert [first.key, second.key] == list(result.calls)
    assert len(set(result.calls)) == 2


async def test_max_steps_is_a_failure_and_costs_no_more_call(chat, run):
    with pytest.raises(AgentFailed) as caught:
        await run("1", "2", "3", "4", max_steps=3)
    assert caught.value.state == "max_steps_error"
    assert len(chat.requests) == 3


async def test_a_bad_final_answer_is_repaired_inside_the_loop(chat, run):
    result = await run("final_answer({'txt': 1})", "final_answer('no dict')", DONE)
    assert result.value.text == "done"
    assert "text: is missing" in last_user(chat.requests[1])
    assert "final_answer takes a dict" in last_user(chat.requests[2])
    assert len(result.steps) == 3


async def test_a_refusal_stands_outside_the_fence(chat, run):
    await run("final_answer({'txt': 1})", DONE)
    told = last_user(chat.requests[1])
    assert "text: is missing" in told.split("<output")[0].rsplit("Error:", 1)[1]


async def test_keyword_and_json_answers_are_understood(run):
    assert (await run("final_answer(text='a')")).value.text == "a"
    assert (await run("""final_answer('{"text": "b"}')""", task="2")).value.text == "b"
    assert (await run("final_answer(answer={'text': 'c'})", task="3")).value.text == "c"


async def test_the_check_of_the_job_holds_inside_the_loop(chat, run):
    def check(value, attempt):
        return [f"try {attempt}: too short"] if len(value.text) < 3 else []

    result = await run("final_answer({'text': 'a'})", "final_answer({'text': 'b'})", DONE, check=check)
    assert result.value.text == "done"
    assert "try 1: too short" in last_user(chat.requests[1])
    assert "try 2: too short" in last_user(chat.requests[2])


async def test_an_answer_is_final_even_inside_a_try(run):
    result = await run("try:\n    final_answer({'text': 'x'})\nexcept BaseException:\n    pass\nwhile True:\n    pass")
    assert result.value.text == "x"


async def test_code_without_marks_and_replies_without_code(chat, model, job):
    chat.queue("I think about it.", "```python\nfinal_answer({'text': 'md'})\n```\nObservation: made up")
    result = await run_agent(model, job())
    assert result.value.text == "md"
    assert result.steps[0].error
    assert result.steps[0].code == ""


async def test_tool_calls_belong_to_the_step_that_made_them(chat, model, job):
    chat.queue("No code here.", "<code>\nprint(add(1, 2))\n</code>", f"<code>\n{DONE}\n</code>")
    result = await run_agent(model, job())
    assert [len(step.tools) for step in result.steps] == [0, 1, 0]


async def test_a_refused_call_fails_the_job_with_its_reason(chat, model, job):
    chat.always(error(400, "content filter"))
    with pytest.raises(AgentFailed, match="content filter") as caught:
        await run_agent(model, job())
    assert caught.value.state == "call_refused"


async def test_a_refused_account_stops_the_run(chat, model, job):
    chat.always(error(401, "bad key"))
    with pytest.raises(AccountRefused):
        await run_agent(model, job())


async def test_a_server_that_goes_away_is_a_failure(chat, model, job):
    chat.always(error(500))
    with pytest.raises(AgentFailed) as caught:
        await run_agent(model, job())
    assert caught.value.state == "overloaded"


async def test_an_empty_reply_is_no_success(chat, model, job):
    chat.always(say(""))
    with pytest.raises(AgentFailed):
        await run_agent(model, job())


async def test_the_deadline_ends_a_job_that_waits(chat, model, job):
    chat.always(hang(600))
    with pytest.raises(AgentFailed) as caught:
        await run_agent(model, job(seconds=0.3))
    assert caught.value.state == "deadline"


class Slow(Tool):
    name = "slow"
    description = "Takes its time without touching the event loop."
    inputs: ClassVar[dict[str, Any]] = {}
    output_type = "integer"

    def __init__(self, calls: list[int]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self) -> int:
        self.calls.append(1)
        time.sleep(0.1)
        return 1


async def test_the_deadline_holds_within_a_step(run):
    calls: list[int] = []
    with pytest.raises(AgentFailed) as caught:
        await run("[slow() for _ in range(30)]", tools=lambda host: [Slow(calls)], seconds=0.5)
    assert caught.value.state == "deadline"
    assert len(calls) < 30


async def test_a_made_up_second_block_is_not_run(chat, model, job):
    chat.queue("<code>\nprint(add(1, 1))\n</code>\nObservation: 2\n<code>\nfinal_answer({'text': 'made up'})\n</code>")
    chat.queue(f"<code>\n{DONE}\n</code>")
    assert (await run_agent(model, job())).value.text == "done"


async def test_a_cancelled_job_asks_nothing_more(chat, model, job):
    chat.always(say("<code>\nprint(1)\n</code>", delay_s=0.2))
    running = asyncio.create_task(run_agent(model, job(max_steps=50)))
    while len(chat.requests) < 2:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    asked = len(chat.requests)
    await asyncio.sleep(1)
    assert len(chat.requests) <= asked + 1  # one may have been on its way


class Where(Tool):
    name = "where"
    description = "The label that ledger entries get."
    inputs: ClassVar[dict[str, Any]] = {}
    output_type = "string"

    def __init__(self, host) -> None:
        super().__init__()
        self.host = host

    def forward(self) -> str:
        async def label():
            return current_scope()

        return self.host.wait(label())


async def test_the_ledger_label_goes_with_the_thread(run):
    with scope("sound/rq"):
        result = await run("final_answer({'text': where()})", tools=lambda host: [Where(host)])
    assert result.value.text == "sound/rq"


class Interrupt(Tool):
    name = "interrupt"
    description = "Ctrl-C meanwhile."
    inputs: ClassVar[dict[str, Any]] = {}
    output_type = "string"

    def forward(self) -> str:
        raise Interrupted("stop")


async def test_an_interrupt_inside_a_tool_leaves_the_loop(chat, run):
    with pytest.raises(Interrupted):
        await run("interrupt()", tools=lambda host: [Interrupt()])
    assert len(chat.requests) == 1


async def test_jobs_run_side_by_side(chat, model, job):
    chat.always(lambda body: f"<code>\nfinal_answer({{'text': {last_user(body)[-2:]!r}}})\n</code>")
    results = await asyncio.gather(*(run_agent(model, job(task=f"Task {n:02}")) for n in range(8)))
    assert [result.value.text for result in results] == [f"{n:02}" for n in range(8)]


async def test_replay_gives_the_same_steps_without_a_call_and_a_miss_is_no_failure_of_the_agent(chat, tmp_path, job):
    path = tmp_path / "ledger.sqlite"
    chat.queue("<code>\nprint(add(1, 1), add)\nx = 'a' * 10**9\n</code>", f"<code>\n{DONE}\n</code>")
    recording = Ledger.open(path, run="one")
    async with open_model(chat.judge, recording, limits=Limits(wait_scale=0)) as model:
        recorded = await run_agent(model, job())
    recording.close()
    replaying = Ledger.open(path, run="one", mode=Mode.REPLAY)
    async with open_model(chat.judge, replaying) as model:
        replayed = await run_agent(model, job())
        with pytest.raises(ReplayMiss):
            await run_agent(model, job(task="Another task."))
    replaying.close()
    assert replayed == recorded
    assert len(chat.requests) == 2


# the bridge's parts ---------------------------------------------------------------------------------------------------


def message(role: MessageRole, text: str) -> ChatMessage:
    return ChatMessage(role=role, content=[{"type": "text", "text": text}])


def test_conversation_drops_copies_of_code_and_joins_turns():
    turns = conversation(
        [
            message(MessageRole.SYSTEM, "rules"),
            message(MessageRole.USER, "task"),
            message(MessageRole.ASSISTANT, "code"),
            message(MessageRole.TOOL_CALL, "code again"),
            message(MessageRole.TOOL_RESPONSE, "seen"),
            message(MessageRole.TOOL_RESPONSE, "error"),
        ]
    )
    assert [(turn.role, turn.content) for turn in turns] == [
        ("system", "rules"),
        ("user", "task"),
        ("assistant", "code"),
        ("user", "seen\nerror"),
    ]


class Small:
    context = 1_000

    def count(self, text: str) -> int:
        return len(text) // 4


def test_the_oldest_observations_are_shortened_first():
    long = "x" * 2_000
    roles = ["system", "user", "assistant", "user", "assistant", "user"]
    turns = [Message(role=role, content=long if index == 3 else "short") for index, role in enumerate(roles)]
    turns[5] = turns[5].model_copy(update={"content": "y" * 1_200})
    kept = fitting(turns, Small(), 200)
    assert len(kept[3].content) < 500
    assert "1600 more characters" in kept[3].content
    assert kept[5] == turns[5]
    assert fitting(turns, Small(), 0) == turns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <code>x</code> b <code>y</code>", "a <code>x</code>"),
        ("a\n```python\nx\n```\nObservation: made up", "a\n```python\nx\n```"),
        ("a <code>x", "a <code>x"),
        ("words Observation: made up", "words "),
        ("", ""),
    ],
)
def test_first_block(text, expected):
    assert first_block(text, ["Observation:"]) == expected


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), b"x", object(), {1.5: 2}, {"a": {None: 1}}, ["x" * 500_000], [0] * 30_000, 2**300],
)
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(Refusal):
        plain(value)


def test_plain_copies():
    assert plain({"a": (1, 2.5), 3: {True}, "s": "é\ud800"}) == {"a": [1, 2.5], "3": [True], "s": "é?"}


def test_scrubbed():
    text = "memory limit exceeded: 209787165 bytes > 67108864 bytes\nat 0xdeadBEEF in /root/x/y.py and https://a.b/c/d"
    assert scrubbed(text) == "memory limit exceeded\nat 0x… in … and https://a.b/c/d"
