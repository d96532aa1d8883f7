"""Own CPU time of a recorded call, beside what the SDK takes for the same call, in one run over a real socket.

    python benchmarks/overhead.py [CALLS]

A server process answers at once; the CPU time of this process is counted. Rows: a prompt of 100 words and one of 8,000.
Columns, in milliseconds a call: the SDK alone; ours for a completion with all that belongs to it (key, ledger, limits,
usage, prices), for a structured answer, and for a call that is reused; the first two as a ratio to the SDK.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from dream_eval.ledger import Ledger, scope
from dream_eval.models import Message, ask, open_model, system, user
from pydantic import BaseModel

SUPPORT = Path(__file__).resolve().parents[1] / "tests" / "support"
SERVER = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from servers.chat import ScriptedChat
with ScriptedChat(keep=False) as chat:
    chat.always('{{"verdict": "yes", "sentences": [3]}}')
    print(chat.url, flush=True)
    sys.stdin.read()
"""
ROUNDS = 5


class Answer(BaseModel):
    """What is asked for."""

    verdict: Literal["yes", "no"]
    sentences: list[int]


async def cpu_ms(call: Callable[[int], Awaitable[object]], calls: int, first: int) -> float:
    """CPU milliseconds a call."""
    began = time.process_time()
    for number in range(first, first + calls):
        await call(number)
    return (time.process_time() - began) / calls * 1e3


async def measure(url: str, words: int, calls: int) -> None:
    """One row."""
    from openai import AsyncOpenAI

    def prompt(number: int) -> list[Message]:
        return [system("You judge."), user(f"{'word ' * words} question {number}")]

    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    async def bare(number: int) -> object:
        said = [message.model_dump() for message in prompt(number)]
        return await client.chat.completions.create(model="m", messages=said, max_tokens=50, temperature=0.0)  # type: ignore[call-overload]

    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder) / "ledger.sqlite", run="r") as ledger:
        async with open_model(f"{url}#m", ledger) as judge:

            async def complete(number: int) -> object:
                with scope("a/wq"):
                    return await judge.complete(prompt(number), max_tokens=50)

            async def structured(number: int) -> object:
                with scope("a/kic"):
                    return await ask(judge, prompt(10**6 + number), Answer, max_tokens=50)

            rows: dict[str, list[float]] = {"sdk": [], "complete": [], "ask": [], "reused": []}
            await cpu_ms(bare, 20, 0)
            await cpu_ms(complete, 20, 10**7)
            for turn in range(ROUNDS):
                first = turn * calls
                rows["sdk"].append(await cpu_ms(bare, calls, first))
                rows["complete"].append(await cpu_ms(complete, calls, first))
                rows["ask"].append(await cpu_ms(structured, calls, first))
                rows["reused"].append(await cpu_ms(complete, calls, first))
    await client.close()
    sdk, whole, asked, reused = (statistics.median(rows[name]) for name in ("sdk", "complete", "ask", "reused"))
    print(
        f"{words:6,} words: SDK {sdk:.2f} ms; own: complete {whole - sdk:.2f} ({whole / sdk:.2f} x), "
        f"ask {asked - sdk:.2f} ({asked / sdk:.2f} x), reused {reused:.2f}"
    )


async def main() -> None:
    """Start the server, print both rows."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    try:
        for words in (100, 8_000):
            await measure(url, words, calls)
    finally:
        server.communicate()


if __name__ == "__main__":
    asyncio.run(main())
