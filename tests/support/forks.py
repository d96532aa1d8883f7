"""Runs in forks of one process that has imported everything: a process each, without a second of imports each.

Reads one job a line, ``{"folder": …, "judge": …, "kill_after": seconds or null}``, and answers with the signal that
ended the run, or its exit code.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import dream_eval.agents.creator_guided
import dream_eval.agents.run
import dream_eval.agents.toolbox
import dream_eval.agents.verifier_agent
import dream_eval.tools.reader  # noqa: F401
import openai.resources.chat  # noqa: F401  # so that no fork has to
from dream_eval.models import Limits
from dream_eval.runs.api import prepare
from dream_eval.runs.data import RunState
from dream_eval.runs.perform import Outside, perform
from world import AS_OF, QUERY

CONCURRENCY = 4


def work(job: dict[str, Any]) -> int:
    """One run to its end; 0 when it is finished."""
    folder = Path(job["folder"])
    ask = prepare(
        [str(folder / "cited.md"), str(folder / "uncited.md")],
        query=QUERY,
        judge=job["judge"],
        search=f"corpus:{folder / 'corpus'}",
        as_of=AS_OF,
        out=folder / "run",
        ledger=folder / "ledger.sqlite",
        questions=4,
        reasoning=2,
        concurrency=CONCURRENCY,
    )
    outside = Outside(limits=Limits(wait_scale=0, context=32_000))
    return 0 if asyncio.run(perform(ask, outside=outside)).state is RunState.FINISHED else 3


def fork(job: dict[str, Any]) -> int:
    """The process id of a fork that does the job."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        code = work(job)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> None:
    """Job by job until the input ends."""
    print("{}", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        began = time.monotonic()
        pid = fork(job)
        if job["kill_after"] is not None:
            time.sleep(job["kill_after"])
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"killed": code == -signal.SIGKILL, "code": code, "s": time.monotonic() - began}), flush=True)


if __name__ == "__main__":
    main()
