"""``dream evaluate`` as a process: killed, interrupted, twice at once, and what it prints."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers.chat import hang
from world import CITED, SCORES, judge_of_world

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


def start(world: Any, *extra: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*DREAM, *world.command(*extra)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=world.folder,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 60) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running: {out}\n{err}") from None
    return process.returncode, out, err


def dream(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DREAM, *args], capture_output=True, text=True, cwd=cwd, timeout=60)


def lines_of(world: Any) -> list[dict[str, Any]]:
    path = world.out / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def check_done(world: Any) -> None:
    scores = {(line["report"], line["metric"]): line["result"]["score"] for line in lines_of(world)}
    assert scores == {place: None if value is None else pytest.approx(value) for place, value in SCORES.items()}


def wait_for(condition: Any, process: subprocess.Popen[str], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def test_the_table_the_findings_and_the_paths_are_printed(world: Any) -> None:
    code, out, err = finish(start(world))
    assert code == 0, err
    check_done(world)
    assert "expected at most" in out.split("metric")[0]
    for shown in ("75.0", "61.5", "n/a", "source quality", "contradicted claim", "dead citation", "missing key fact"):
        assert shown in out, shown
    assert re.search(r"run: \d+ calls \(\d+ completion", out)
    assert str(world.out / "results.jsonl") in out
    again = dream("replay", str(world.out), cwd=world.folder)
    assert (again.returncode, again.stdout) == (0, "equal: 12 units, byte for byte, no call made\n"), again.stderr
    shown_calls = dream("ledger", "show", str(world.out), cwd=world.folder)
    assert "cited/factuality" in shown_calls.stdout
    protocol = next((world.out / "protocols").glob("*.json"))
    assert "has 12 turbines" in dream("protocol", "show", str(protocol), cwd=world.folder).stdout


def test_gates(world: Any) -> None:
    world.wishes = {"metrics": "factuality,da"}
    assert finish(start(world))[0] == 0
    for gate, expected in (("factuality=75", 0), ("factuality=75.5", 10), ("da=1", 6)):
        assert finish(start(world, "--fail-under", gate))[0] == expected, gate


def test_killed_at_random_moments_nothing_finished_is_lost_and_nothing_is_asked_twice_but_what_was_in_flight(
    world: Any,
) -> None:
    world.chat.delay_s = 0.05
    dice, in_flight = random.Random(7), 0
    kept: list[str] = []
    for _ in range(5):
        process = start(world)
        asked = len(world.chat.requests)
        wait_for(lambda asked=asked: len(world.chat.requests) > asked, process)
        time.sleep(dice.uniform(0.05, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        time.sleep(0.1)
        in_flight += 16  # the most calls that one process has in flight
        now = [line["unit"] for line in lines_of(world)]
        assert now[: len(kept)] == kept
        kept = now
    code, _, err = finish(start(world))
    assert code == 0, err
    check_done(world)
    assert {line["unit"] for line in lines_of(world)} >= set(kept)
    counts = Counter(json.dumps(body, sort_keys=True) for body in world.chat.requests)
    assert sum(counts.values()) - len(counts) <= in_flight
    assert max(counts.values()) <= 6
    for path in world.out.rglob("*.json"):
        json.loads(path.read_text())
    assert not list(world.out.rglob("*.tmp")), "a temporary file of a killed process was left"
    assert "equal" in dream("replay", str(world.out), cwd=world.folder).stdout


def test_the_first_interrupt_keeps_what_is_in_flight_and_prints_the_command_that_continues(world: Any) -> None:
    world.chat.delay_s = 0.15
    process = start(world)
    wait_for(lambda: len(world.chat.requests) > 3, process)
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert code == 3, (out, err)
    assert "Ctrl-C once more" in out
    assert "to continue: " in out
    assert str(world.out) in out.split("to continue: ")[1]
    before = len(world.chat.requests)
    assert before == len({json.dumps(body, sort_keys=True) for body in world.chat.requests})
    assert json.loads((world.out / "summary.json").read_text())["state"] == "interrupted"
    world.chat.delay_s = 0
    assert finish(start(world))[0] == 0
    check_done(world)
    bodies = [json.dumps(body, sort_keys=True) for body in world.chat.requests]
    assert len(set(bodies)) == len(bodies), "a call that was in flight was lost"


def test_the_second_interrupt_stops_at_once(world: Any) -> None:
    world.chat.queue(*[hang(60) for _ in range(8)])
    process = start(world)
    wait_for(lambda: len(world.chat.requests) >= 1, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130, err
    assert "Traceback" not in err
    assert time.monotonic() - began < 10


def test_a_second_process_on_the_same_run_is_refused_by_name(world: Any) -> None:
    world.chat.delay_s = 0.3
    first = start(world)
    wait_for(lambda: len(world.chat.requests) > 0, first)
    code, _, err = finish(start(world))
    assert code == 2
    assert f"is in use by process {first.pid} on " in err
    assert len(err.strip().splitlines()) == 1
    world.chat.delay_s = 0
    assert finish(first)[0] == 0
    check_done(world)


def test_a_broken_last_line_costs_only_that_unit(world: Any) -> None:
    world.wishes = {"metrics": "wq,da"}
    assert finish(start(world))[0] == 0
    asked, path = len(world.chat.requests), world.out / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert finish(start(world))[0] == 0
    assert path.read_bytes() == whole
    assert len(world.chat.requests) == asked


def test_budget_and_refused_account_have_their_exit_codes(world: Any) -> None:
    code, out, _ = finish(start(world, "--budget-tokens", "6000"))
    assert code == 4
    assert "budget reached" in out
    with judge_of_world(key="sk-right-0123456789") as chat:
        world.wishes = {"judge": chat.judge, "out": world.folder / "other"}
        code, out, _ = finish(start(world, env={"DREAM_API_KEY": "sk-wrong-0123456789"}))
    assert code == 5
    assert "to continue" in out


def test_no_secret_reaches_a_file_or_the_screen(world: Any) -> None:
    marker = "sk-marker-5a1e9c7d"
    tools = "tool-marker-77aa55bb"
    with judge_of_world(key=marker) as chat:
        chat.queue({"echo": f"your key is {marker}"})
        world.wishes = {"judge": chat.judge}
        code, out, err = finish(start(world, env={"DREAM_API_KEY": marker, "SERPER_API_KEY": tools}))
    assert code in (0, 6), err
    written = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    for secret in (marker, tools):
        assert secret.encode() not in written
        assert secret not in out + err
    said = subprocess.run(
        [*DREAM, "doctor", "--judge", chat.judge, "--search", f"corpus:{world.folder / 'corpus'}"],
        capture_output=True,
        text=True,
        env={**os.environ, "DREAM_API_KEY": marker, "SERPER_API_KEY": tools},
        timeout=60,
    )
    assert "DREAM_API_KEY" in said.stdout
    assert "SERPER_API_KEY" in said.stdout
    assert marker not in said.stdout + said.stderr
    assert tools not in said.stdout + said.stderr


def test_escape_sequences_of_a_report_are_not_printed(world: Any) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31m"
    text = CITED.replace("14 turbines [1]", f"{evil}14 turbines [1]")
    (world.folder / "cited.md").write_text(text)
    code, out, err = finish(start(world))
    assert code == 0, err
    assert "14 turbines" in out
    assert "\x1b" not in out + err
    assert "owned" not in out


def test_doctor_says_what_would_be_used_and_that_the_sandbox_works(world: Any) -> None:
    done = dream(
        "doctor", "--judge", world.chat.judge, "--search", f"corpus:{world.folder / 'corpus'}", cwd=world.folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ok +judge: .*reachable", done.stdout, re.MULTILINE)
    assert re.search(r"^ok +sandbox: ", done.stdout, re.MULTILINE)
    missing = dream("doctor", "--judge", "openai/gpt-5-mini", "--search", "corpus:nowhere", cwd=world.folder)
    assert missing.returncode == 1
    assert "OPENAI_API_KEY" in missing.stdout
    assert re.search(r"^bad +search corpus:nowhere", missing.stdout, re.MULTILINE)


def test_protocol_create_writes_a_protocol_that_lints(world: Any) -> None:
    from world import AS_OF, QUERY

    args = ["--query", QUERY, "--judge", world.chat.judge, "--search", f"corpus:{world.folder / 'corpus'}"]
    more = ["--as-of", AS_OF, "--ledger", str(world.ledger), "--questions", "4", "--reasoning", "2"]
    made = dream("protocol", "create", *args, *more, "--out", "p.json", cwd=world.folder)
    assert made.returncode == 0, made.stderr
    assert "Key questions (4)" in made.stdout
    assert (world.folder / "p.json").exists()
    lint = dream("protocol", "lint", "p.json", cwd=world.folder)
    assert lint.returncode in (0, 1)
    assert "Traceback" not in lint.stderr
    asked = len(world.chat.requests)
    world.wishes = {"protocol": world.folder / "p.json", "metrics": "kic"}
    assert finish(start(world))[0] == 0
    assert len(world.chat.requests) == asked + 2
