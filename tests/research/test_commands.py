"""A system that is a command: what it gets, what it may print, and every way to fail, each with one clear state."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dream_eval.agents.research import Asked, CommandSystem, NoReport, State, read_command
from dream_eval.agents.research.process import GUARD, MAX_OUTPUT, Limits
from dream_eval.core import Task
from dream_eval.errors import UserError
from dream_eval.reports import load_reports

pytestmark = pytest.mark.cluster

TASK = Task(id="t1", prompt="Wie viel Strom?", language="de")


async def ask(command: str, *, seconds: float = 60, memory_mb: int | None = None) -> Any:
    system = CommandSystem(read_command(command), Limits(seconds, memory_mb))
    return (await system.report(Asked(TASK, "mine", 1))).delivery


async def lost(command: str, **limits: Any) -> NoReport:
    with pytest.raises(NoReport) as caught:
        await ask(command, **limits)
    return caught.value


async def test_gets_the_task_and_prints_markdown(program: Any) -> None:
    given = await ask(program("print('# Report on', task['prompt'], sorted(task))"))
    assert given.article == "# Report on Wie viel Strom? ['as_of', 'id', 'language', 'prompt']\n"
    assert given.sources == ()


async def test_prints_json_with_sources_trace_and_usage(program: Any) -> None:
    given = await ask(
        program(
            "print(json.dumps({'article': 'Text [1].', 'sources': ['https://a.org/x', {'url': 'https://b.org', 'title':"
            " 'B'}], 'trace': [{'step': 1}], 'usage': {'prompt_tokens': 7, 'completion_tokens': 3, 'cost_usd': 0.5}}))"
        )
    )
    assert given.article == "Text [1]."
    assert [source if isinstance(source, str) else source["url"] for source in given.sources] == [
        "https://a.org/x",
        "https://b.org",
    ]
    assert given.trace == [{"step": 1}]
    assert (given.told.prompt_tokens, given.told.completion_tokens, given.told.cost_usd) == (7, 3, 0.5)


@pytest.mark.parametrize("usage", ['"many"', '{"prompt_tokens": -1}', '{"cost_usd": "free"}'])
async def test_unsound_usage_is_not_known(program: Any, usage: str) -> None:
    given = await ask(program(f'print(\'{{"article": "x", "usage": {usage}}}\')'))
    assert given.told.model_dump() == {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}


@pytest.mark.parametrize(
    ("source", "state", "words"),
    [
        ("", State.EMPTY, "printed nothing"),
        ("print('  \\n ')", State.EMPTY, "printed nothing"),
        ('print(\'{"article": " "}\')', State.EMPTY, "article is empty"),
        (
            "print('Report'); print('no page could be read', file=sys.stderr); sys.exit(1)",
            State.EXIT,
            "exit code 1: no",
        ),
        ("sys.exit(77)", State.EXIT, "exit code 77"),
        ("os.kill(os.getpid(), 11)", State.KILLED, "SIGSEGV"),
        ("sys.stdout.buffer.write(bytes(range(256)))", State.BINARY, "no UTF-8"),
        ("sys.stdout.buffer.write(b'PNG\\x00\\x01')", State.BINARY, "control characters"),
        ('print(\'{"article": "cut off\')', State.BAD_JSON, "begins like JSON"),
        ('print(\'{"text": "x"}\')', State.BAD_JSON, "no text under article"),
        ('print(\'{"article": "x", "sources": 7}\')', State.BAD_JSON, "sources is no list"),
        ("print('[1, 2]')", State.BAD_JSON, "no object"),
        ('print(\'Loading …\\n{"article": "x"}\')', State.BAD_JSON, "before the JSON object"),
        ("print('[' * 5 + '{' * 100000) if 0 else print('{\"a\":' * 100000)", State.BAD_JSON, "begins like JSON"),
    ],
)
async def test_states(program: Any, source: str, state: State, words: str) -> None:
    failed = await lost(program(source))
    assert failed.state is state
    assert words in failed.reason


async def test_a_flood_is_ended(program: Any) -> None:
    failed = await lost(program("while True: print('x' * 100_000)"))
    assert failed.state is State.FLOOD
    assert f"{MAX_OUTPUT // 1_000_000} MB" in failed.reason


async def test_fifty_megabytes_are_a_flood_too(program: Any) -> None:
    assert (await lost(program("print('x' * 50_000_000)"))).state is State.FLOOD


async def test_a_flood_of_errors_is_read_and_its_end_kept(program: Any) -> None:
    failed = await lost(
        program(
            "[print('e' * 1000, file=sys.stderr) for _ in range(20_000)]; print('last', file=sys.stderr); sys.exit(2)"
        )
    )
    assert failed.state is State.EXIT
    assert failed.stderr.endswith("last\n")
    assert len(failed.stderr) <= 8_000


GROWS = "import time; kept = [b'x' * 1_000_000 for _ in range(400)]; time.sleep(600)"


async def test_memory(program: Any) -> None:
    failed = await lost(program(GROWS), memory_mb=200)
    assert failed.state is State.MEMORY
    assert "200 MB" in failed.reason


async def test_memory_of_children_counts(program: Any, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(GROWS)
    source = f"import subprocess; subprocess.run([sys.executable, '-S', {str(tmp_path / 'child.py')!r}])"
    assert (await lost(program(source), memory_mb=200)).state is State.MEMORY


async def test_a_hang_is_ended_with_all_its_processes(program: Any, tmp_path: Path) -> None:
    """The agent ignores the polite signal and has a child and a grandchild in a process group of its own."""
    pids = tmp_path / "pids"
    (tmp_path / "child.py").write_text(
        f"import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.setpgid(0, 0)\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)\n"
    )
    source = (
        "import signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"child = subprocess.Popen([sys.executable, '-S', {str(tmp_path / 'child.py')!r}])\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\nprint('half a report', flush=True)\ntime.sleep(600)"
    )
    failed = await lost(program(source), seconds=4)
    assert failed.state is State.TIMEOUT
    assert "4 s" in failed.reason
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    assert not [pid for pid in found if _alive(pid)]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_nobody_outlives_who_asked(tmp_path: Path) -> None:
    """The asking process is gone (its end of the pipe is closed): the command and a child that left its session end."""
    pids = tmp_path / "pids"
    note = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    child = f"import os, time; os.setsid(); {note}; time.sleep(600)"
    source = f"import os, subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); {note}\n"
    source += "time.sleep(600)"
    reading, lifeline = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", GUARD, str(reading), sys.executable, "-S", "-c", source],
        pass_fds=(reading,),
        start_new_session=True,
    )
    os.close(reading)
    while not pids.exists() or len(pids.read_text().splitlines()) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    os.close(lifeline)
    process.wait()
    while any(_alive(int(pid)) for pid in pids.read_text().split()):
        time.sleep(0.01)


async def test_a_polite_end_may_tidy_up(program: Any, tmp_path: Path) -> None:
    done = tmp_path / "tidied"
    source = (
        f"import signal\ndef end(*_):\n    open({str(done)!r}, 'w').write('yes'); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\ntime.sleep(600)"
    )
    assert (await lost(program(source), seconds=3)).state is State.TIMEOUT
    assert done.read_text() == "yes"


async def test_a_child_that_holds_the_pipe_delays_nothing(program: Any) -> None:
    source = "import subprocess; subprocess.Popen(['sleep', '600']); print('Report')"
    assert (await ask(program(source))).article == "Report\n"


DAEMON = """
import subprocess
child = "import os, time; open({pid!r}, 'w').write(str(os.getpid())); time.sleep(600)"
subprocess.Popen([sys.executable, "-S", "-c", child], start_new_session=True)
while not (os.path.exists({pid!r}) and open({pid!r}).read()): time.sleep(0.01)
"""
"""Starts a process in a session of its own that holds the command's output open."""


async def test_a_daemon_that_holds_the_output_open_loses_no_report(program: Any, tmp_path: Path) -> None:
    """The time limit is shorter than any wait for the pipe: what was printed when the command ended is the report."""
    pid = str(tmp_path / "pid")
    system = CommandSystem(read_command(program(DAEMON.format(pid=pid) + "print('Report')")), Limits(60))
    given = await system.report(Asked(TASK, "mine", 1))
    assert given.delivery.article == "Report\n"
    assert given.left == 1
    assert not _alive(int(Path(pid).read_text()))


async def test_a_daemon_of_a_hanging_command_ends_with_it(program: Any, tmp_path: Path) -> None:
    pid = str(tmp_path / "pid")
    assert (await lost(program(DAEMON.format(pid=pid) + "time.sleep(600)"), seconds=4)).state is State.TIMEOUT
    assert not _alive(int(Path(pid).read_text()))


async def test_memory_of_a_daemon_counts(program: Any, tmp_path: Path) -> None:
    source = f"import subprocess; subprocess.run([sys.executable, '-S', '-c', {GROWS!r}], start_new_session=True)"
    assert (await lost(program(source), memory_mb=200)).state is State.MEMORY


async def test_what_a_helper_still_writes_is_read(program: Any) -> None:
    """As ``agent > >(tee log)`` in a shell does: the last of the report comes just after the command's end."""
    late = "sleep 0.2; echo the end"
    given = await ask(program(f"import subprocess; print('R', flush=True); subprocess.Popen(['sh', '-c', {late!r}])"))
    assert given.article == "R\nthe end\n"


async def test_closes_its_output_and_sleeps(program: Any) -> None:
    failed = await lost(program("print('Report', flush=True); os.close(1); os.close(2); time.sleep(600)"), seconds=1.5)
    assert failed.state is State.TIMEOUT


async def test_a_report_and_then_a_crash(program: Any) -> None:
    """What it printed may be half a report: its exit code counts."""
    failed = await lost(program("print('# Report', flush=True); os.abort()"))
    assert failed.state is State.KILLED
    assert "SIGABRT" in failed.reason


async def test_kills_its_own_guard(program: Any, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    source = f"import signal\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\nos.kill(os.getppid(), signal.SIGKILL)"
    assert (await lost(program(source + "\ntime.sleep(600)"))).state is State.KILLED
    assert not _alive(int(pid.read_text()))


async def test_cancelling_ends_it(program: Any, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    job = asyncio.ensure_future(
        ask(program(f"open({str(pid)!r}, 'w').write(str(os.getpid())); print(flush=True); time.sleep(600)"))
    )
    while not (pid.exists() and pid.read_text()):
        await asyncio.sleep(0.01)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert not _alive(int(pid.read_text()))


async def test_reads_no_input(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text("print('Report')")
    long = Task(id="t", prompt="x" * 2_000_000)
    system = CommandSystem(read_command(f"{sys.executable} -S {tmp_path / 'deaf.py'}"), Limits())
    assert (await system.report(Asked(long, "s", 1))).delivery.article == "Report\n"


def test_a_command_that_is_none() -> None:
    for text, words in (("", "empty"), ("no-such-program-here x", "no program"), ("python 'x", "quotation")):
        with pytest.raises(UserError, match=words):
            read_command(text)


def test_what_is_delivered_reads_back(tmp_path: Path) -> None:
    """The line of a report is one that the loaders read, sources in their order."""
    from dream_eval.agents.research import Delivery, Profile, ReportsFile

    path = tmp_path / "mine.jsonl"
    with ReportsFile(path, "mine").open([TASK]) as file:
        sources = ("https://a.org/x", {"url": "https://b.org/y", "title": "B"})
        file.add(TASK, Delivery("Strom [1], Netz [2].", sources, trace=[{"text": "no report"}]), Profile(seconds=1.0))
    (report,) = load_reports(path)
    assert (report.id, report.task_id, report.prompt) == ("mine", "t1", TASK.prompt)
    assert [source.url for source in report.sources] == ["https://a.org/x", "https://b.org/y"]
    assert all(mark.sources for mark in report.marks)
    assert len(report.marks) == 2
    assert json.loads(path.read_text())["profile"]["seconds"] == 1.0
