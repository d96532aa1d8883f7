"""The embedded judge itself, for real: that it starts, obeys a schema and reads what it has read before only once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import openai
import pytest
from dream_eval.errors import UserError
from dream_eval.models.local import DEFAULT_SHA256, EmbeddedServer, serve_embedded

pytestmark = [pytest.mark.judge, pytest.mark.timeout(1800)]

FORM = {
    "type": "json_schema",
    "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    import asyncio

    with asyncio.Runner() as runner:
        serving = serve_embedded(lambda progress: print(progress, flush=True))
        start = time.monotonic()
        try:
            found = runner.run(serving.__aenter__())
        except UserError as error:
            pytest.skip(f"THE EMBEDDED JUDGE IS NOT TO BE HAD AND IS NOT TESTED: {error}")
        print(f"fetched, checked and loaded in {time.monotonic() - start:.1f} s")
        yield found
        runner.run(serving.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def client(server: EmbeddedServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=900)


def report(town: str, start: int) -> str:
    return "\n".join(f"[{i}] {town} counted {start + 13 * i} trees in district {i}." for i in range(1, 26))


REPORTS = {town: report(town, start) for town, start in (("Aarhus", 100), ("Bergen", 2000), ("Cork", 30000))}


def ask(client: openai.OpenAI, town: str, question: str) -> tuple[int, int, int]:
    """(answer, prompt tokens, of which not served by the cache)."""
    reply = client.chat.completions.create(
        model="local",
        messages=[{"role": "user", "content": f"{REPORTS[town]}\n\n{question}"}],
        temperature=0,
        max_tokens=48,
        response_format=FORM,  # type: ignore[arg-type]
    )
    assert reply.usage
    assert reply.usage.prompt_tokens_details
    fresh = reply.usage.prompt_tokens - (reply.usage.prompt_tokens_details.cached_tokens or 0)
    return json.loads(reply.choices[0].message.content or "")["number"], reply.usage.prompt_tokens, fresh


def test_it_is_the_pinned_file(server: EmbeddedServer) -> None:
    assert (server.name, server.sha256) == ("local", DEFAULT_SHA256)


def test_three_reports_in_turn_are_read_once(client: openai.OpenAI, capsys: pytest.CaptureFixture[str]) -> None:
    right = 0
    for turn, district in enumerate((2, 7)):
        for town, start in (("Aarhus", 100), ("Bergen", 2000), ("Cork", 30000)):
            begin = time.monotonic()
            answer, prompt, fresh = ask(client, town, f"How many trees were counted in district {district}?")
            right += answer == start + 13 * district
            with capsys.disabled():
                seconds = time.monotonic() - begin
                print(f"\n{town}: {answer}, {prompt} prompt tokens, {fresh} of them read, {seconds:.1f} s", end="")
            if turn:
                assert prompt > 400
                assert fresh < 40
    assert right >= 4
