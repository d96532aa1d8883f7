from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dream_eval.ledger import Ledger, list_calls, list_runs

WRITER = """
import asyncio, sys
from dream_eval.ledger import Answer, Kind, Ledger, Request, Usage

async def main(path):
    ledger = Ledger.open(path, run="killed")
    for n in range(100_000):
        async def do():
            return Answer({"n": n, "pad": "x" * 2000}, blob=b"page %d " % n * 500, usage=Usage(prompt_tokens=1))
        await ledger.call(Request(Kind.PAGE, "web", {"url": str(n)}), do)
        sys.stdout.write(f"{n}\\n")
        sys.stdout.flush()

asyncio.run(main(sys.argv[1]))
"""


def start(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("after", [1, 37, 150])
async def test_kill_9_loses_no_finished_call(path: Path, ask: Any, outside: Any, after: int) -> None:
    writer = start(path)
    assert writer.stdout is not None
    finished = [int(writer.stdout.readline()) for _ in range(after)]
    os.kill(writer.pid, signal.SIGKILL)
    finished += [int(line) for line in writer.stdout.read().splitlines() if line.strip()]
    writer.wait()
    with Ledger.open(path, run="killed") as ledger:
        kept = ledger.totals().made
        assert len(finished) <= kept <= len(finished) + 1
        assert ledger.totals().prompt_tokens == kept
        await ledger.call(ask(), outside("goes on"))
        assert ledger.totals().made == kept + 1
    subjects = [info.subject for info in list_calls(path, "killed")]
    assert subjects[: len(finished)] == [str(n) for n in finished]


async def test_another_process_writes_while_this_one_reads_and_writes(path: Path, ask: Any, outside: Any) -> None:
    writer = start(path)
    assert writer.stdout is not None
    writer.stdout.readline()
    counts: list[int] = []
    until = time.monotonic() + 60
    with Ledger.open(path, run="second") as ledger:
        while time.monotonic() < until and (len(counts) < 20 or counts[-1] <= counts[0]):
            counts.append(next(run.totals.made for run in list_runs(path) if run.name == "killed"))
            await ledger.call(ask(f"mine {len(counts)}"), outside("x"))
            time.sleep(0.005)
        assert ledger.totals().made == len(counts)
    assert writer.poll() is None, "the other process went on"
    writer.kill()
    writer.stdout.close()
    writer.wait()
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] > counts[0]
