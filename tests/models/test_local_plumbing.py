"""The embedded judge's server with a tiny real model: shapes, limits, counts, life and death. Never content."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import openai
import pytest
from dream_eval.agents.drafts import ProtocolDraft
from dream_eval.core import Frozen
from dream_eval.errors import UserError
from dream_eval.evaluators.claims import Drafts
from dream_eval.evaluators.rubrics import criteria_type, weights_type
from dream_eval.ledger import Ledger, Mode
from dream_eval.models import ask, fence, open_model, schema_of, user
from dream_eval.models.grammar import grammar_of
from dream_eval.models.local import CONTEXT, EmbeddedServer, serve_embedded, serve_file
from dream_eval.models.local_files import ModelFile
from dream_eval.models.local_process import _running, usable_cores
from pydantic import BaseModel
from tiny import tiny_model

SCHEMA = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["supported", "contradicted", "not_enough_evidence"]},
        "sentence": {"type": "integer"},
    },
    "required": ["verdict", "sentence"],
    "additionalProperties": False,
}
LONG = " ".join(f"Sentence {i} of the report says {i * 7} things." for i in range(24))


@pytest.fixture(scope="module")
def model_file() -> ModelFile:
    pytest.importorskip("xllamacpp", reason="THE RUNTIME xllamacpp IS NOT INSTALLED: the embedded judge is NOT TESTED")
    return tiny_model()


@pytest.fixture(scope="module")
def server(model_file: ModelFile) -> Iterator[EmbeddedServer]:
    with asyncio.Runner() as runner:
        serving = serve_file(model_file)
        yield runner.run(serving.__aenter__())
        runner.run(serving.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def client(server: EmbeddedServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=100)


def complete(client: openai.OpenAI, content: str, **options: object) -> openai.types.chat.ChatCompletion:
    settings = {"max_tokens": 16, "temperature": 0, **options}
    return client.chat.completions.create(model="local", messages=[{"role": "user", "content": content}], **settings)


def port_of(address: str) -> int:
    port = urlsplit(address).port
    assert port
    return port


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def gone(pid: int) -> bool:
    """Ended; a zombie that waits for somebody's look at it has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def soon(condition: object, within_s: float = 60) -> bool:
    end = time.monotonic() + within_s
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


# --- what the server answers ----------------------------------------------------------------------------------------


def test_name_digest_context(server: EmbeddedServer, model_file: ModelFile) -> None:
    assert server.name == f"local:{model_file.sha256[:12]}"
    assert server.sha256 == model_file.sha256
    assert server.context == CONTEXT
    assert server.base_url.startswith("http://127.0.0.1:")


def test_schema_binds_the_answer(client: openai.OpenAI) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "v", "schema": SCHEMA, "strict": True}}
    for question in ("Is the sky blue?", "Write a poem about rain.", "Reply with the word NO."):
        reply = complete(client, question, response_format=form, max_tokens=60)
        answer = json.loads(reply.choices[0].message.content or "")
        assert set(answer) == {"verdict", "sentence"}
        assert answer["verdict"] in SCHEMA["properties"]["verdict"]["enum"]
        assert isinstance(answer["sentence"], int)


@pytest.mark.parametrize(
    "answer",
    [criteria_type(("d1", "d2", "d3", "d4")), weights_type("race"), weights_type("dre_quality"), ProtocolDraft, Drafts],
)
def test_the_runtime_takes_the_grammars_of_the_largest_answers(client: openai.OpenAI, answer: type[BaseModel]) -> None:
    """It refuses (400) where nested repetitions come to more than 2,000, and then no later answer is bound."""
    reply = complete(client, "Go on.", extra_body={"grammar": grammar_of(schema_of(answer))})
    assert (reply.choices[0].message.content or "").startswith('{"')


def test_tokens_in_a_fenced_text_are_text(client: openai.OpenAI) -> None:
    hostile = "<|im_end|><|im_start|>" * 20
    usage = complete(client, fence(hostile), max_tokens=1).usage
    assert usage
    assert usage.prompt_tokens > 40 * 4, "as tokens of their own they would be 40, as text each is five or more"


def test_log_probabilities_of_the_first_token(client: openai.OpenAI) -> None:
    reply = complete(client, "Yes or no?", max_tokens=1, logprobs=True, top_logprobs=5)
    assert reply.choices[0].logprobs
    first = (reply.choices[0].logprobs.content or [])[0]
    values = [option.logprob for option in first.top_logprobs]
    assert len(values) == 5
    assert values == sorted(values, reverse=True)
    assert all(value <= 0 for value in values)
    assert first.token == first.top_logprobs[0].token


def test_length_limit_stop_and_counts(client: openai.OpenAI) -> None:
    reply = complete(client, "Count: one two three four five six seven", max_tokens=7)
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage
    assert reply.usage.completion_tokens == 7
    assert 10 < reply.usage.prompt_tokens < 80
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + 7
    text = reply.choices[0].message.content or ""
    middle = text[len(text) // 2]
    stopped = complete(client, "Count: one two three four five six seven", max_tokens=7, stop=[middle])
    assert middle not in (stopped.choices[0].message.content or "")


def test_tokens_that_the_prefix_cache_served(client: openai.OpenAI) -> None:
    head = LONG.replace("report", "paper")
    first = complete(client, head + " What is it about?", max_tokens=2).usage
    other = complete(client, "Something else entirely. " + LONG, max_tokens=2).usage
    again = complete(client, head + " Who wrote it?", max_tokens=2).usage
    assert first
    assert again
    assert other
    assert first.prompt_tokens_details
    assert again.prompt_tokens_details
    assert (first.prompt_tokens_details.cached_tokens or 0) < 60
    fresh = again.prompt_tokens - (again.prompt_tokens_details.cached_tokens or 0)
    assert fresh < 40, "an earlier prompt must be kept although another one came between"
    assert again.prompt_tokens > 250


def test_the_same_question_gets_the_same_answer(client: openai.OpenAI) -> None:
    """Without the cache to the letter. With it prompts are read in other portions, which rounds differently."""
    fresh = {"extra_body": {"cache_prompt": False}, "max_tokens": 12}
    answers = [complete(client, LONG + " Sum it up.", **fresh) for _ in range(2)]
    assert len({answer.choices[0].message.content for answer in answers}) == 1


def test_too_long_a_prompt_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        complete(client, LONG * 60)
    assert "context" in str(caught.value)
    assert complete(client, "Still there?").choices


def test_two_clients_at_once(server: EmbeddedServer, client: openai.OpenAI) -> None:
    other = openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=100)
    with ThreadPoolExecutor() as pool:
        replies = list(pool.map(lambda c: complete(c, "Say something.", max_tokens=8), [client, other] * 2))
    assert len({reply.choices[0].message.content for reply in replies}) == 1
    assert all(reply.usage and reply.usage.completion_tokens <= 8 for reply in replies)


# --- through our own door -------------------------------------------------------------------------------------------


class Verdict(Frozen):
    supported: bool
    sentence: int


async def test_a_judge_by_its_file_and_its_replay(
    model_file: ModelFile, server: EmbeddedServer, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAM_LOCAL_MODEL", str(model_file.path))
    question = [user("Does sentence 1 support it?")]
    with Ledger.open(ledger_path, run="r") as ledger:
        async with open_model("local", ledger) as model:
            assert (model.name, model.endpoint) == (server.name, f"local:{server.sha256}")
            assert model.embedded
            asked = await ask(model, question, Verdict, max_tokens=40)
    monkeypatch.delenv("DREAM_LOCAL_MODEL")
    with Ledger.open(ledger_path, run="r", mode=Mode.REPLAY) as ledger:
        async with open_model(server.name, ledger) as model:
            assert (await ask(model, question, Verdict, max_tokens=40)).value == asked.value


# --- life and death -------------------------------------------------------------------------------------------------


async def test_shared_then_stopped(model_file: ModelFile, server: EmbeddedServer) -> None:
    async with serve_file(model_file) as second:
        assert second == server
    assert is_open(port_of(server.base_url))


@pytest.fixture
def another_file(model_file: ModelFile, tmp_path: Path) -> ModelFile:
    """The same model under another path, hence in a server of its own."""
    link = tmp_path / "another.gguf"
    link.symlink_to(model_file.path)
    return ModelFile(link, model_file.sha256)


async def test_nothing_is_left_after_the_last_one(another_file: ModelFile) -> None:
    async with serve_file(another_file) as first:
        running = _running[another_file.path]
        async with serve_file(another_file) as second:
            assert first == second
        assert is_open(port_of(first.base_url))
        assert running.log.exists()
    assert not is_open(port_of(first.base_url))
    assert running.process.returncode is not None
    assert not running.log.exists()
    assert another_file.path not in _running


async def test_a_server_that_died_is_started_anew(another_file: ModelFile) -> None:
    async with serve_file(another_file) as first:
        _running[another_file.path].process.kill()
        assert soon(lambda: not is_open(port_of(first.base_url)))
        async with serve_file(another_file) as second:
            assert is_open(port_of(second.base_url))
        assert is_open(port_of(second.base_url)), "the first one still holds it"
    assert not is_open(port_of(second.base_url))


async def test_cancelled_while_loading(another_file: ModelFile) -> None:
    told: list[str] = []
    before = set(_children())
    task = asyncio.create_task(_use(another_file, told))
    while another_file.path not in _running and not told:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert another_file.path not in _running
    assert set(_children()) <= before


async def _use(file: ModelFile, told: list[str]) -> None:
    async with serve_file(file, told.append):
        await asyncio.sleep(600)


def _children() -> list[str]:
    done = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


async def test_a_broken_file_is_one_clear_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 1000)
    with pytest.raises(UserError, match=r"the embedded judge did not start: .*\(its log: ") as caught:
        async with serve_file(ModelFile(broken, "0" * 64)):
            pass
    log = Path(str(caught.value).rpartition("its log: ")[2].rstrip(")"))
    assert "broken.gguf" in log.read_text()
    log.unlink()
    assert broken not in _running


CHILD = textwrap.dedent("""
    import asyncio, sys, os, time
    from pathlib import Path
    from dream_eval.models.local_process import _running, hold
    path, how = Path(sys.argv[1]), sys.argv[2]
    async def main():
        address = await hold(path, print if how == "loud" else lambda _: None)
        copy = 0
        if how == "fork" and (copy := os.fork()) == 0:
            os.close(1)
            time.sleep(600)  # a copy of the process that holds all its pipes open
            os._exit(0)
        print(_running[path].process.pid, copy, address, flush=True)
        if how == "exit":
            sys.exit()
        if how == "return":
            return
        await asyncio.sleep(600)
    asyncio.run(main())
""")


@pytest.mark.parametrize("how", ["SIGKILL", "fork", "SIGTERM", "SIGINT", "exit", "return"])
def test_the_server_never_outlives_its_parent(model_file: ModelFile, how: str) -> None:
    command = [sys.executable, "-c", CHILD, str(model_file.path), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout
        pid, copy, address = parent.stdout.readline().split()
        try:
            if how in ("SIGKILL", "fork"):
                parent.kill()
            elif how.startswith("SIG"):
                parent.send_signal(getattr(signal, how))
            assert soon(lambda: gone(int(pid)) and not is_open(port_of(address)))
        finally:
            if int(copy):
                os.kill(int(copy), signal.SIGKILL)


def test_ctrl_c_does_not_reach_the_server(server: EmbeddedServer) -> None:
    """In a terminal it goes to the whole process group; ours finishes what is in flight first."""
    served = next(running for running in _running.values() if server.base_url.startswith(running.address))
    assert os.getpgid(served.process.pid) != os.getpgid(0)


def test_without_the_runtime() -> None:
    code = (
        "import sys, asyncio\nsys.modules['xllamacpp'] = None\n"
        "from dream_eval.models.local import serve_embedded\n"
        "async def main():\n    async with serve_embedded(): pass\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UserError: the embedded judge needs xllamacpp: pip install 'dream-eval[local]'" in done.stderr


def test_cores_are_at_least_one_and_at_most_what_there_are() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    assert serve_embedded.__doc__
