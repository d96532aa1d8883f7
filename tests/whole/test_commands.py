"""``dream evaluate`` as a process: killed, interrupted, twice at once, and what it prints."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from dream_eval.cli import run
from servers.chat import hang
from world import AS_OF, CITED, QUERY, SCORES, WRITING, answer_verifier, judge_of_world

Dream = Callable[..., tuple[int, str, str]]
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


def finish(process: subprocess.Popen[str], timeout: float = 100) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running: {out}\n{err}") from None
    return process.returncode, out, err


@pytest.fixture
def dream(world: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dream:
    """The command line in this process: what it prints and its exit code, as :func:`run` gives them."""
    monkeypatch.chdir(world.folder)

    def call(*args: str, **env: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            capsys.readouterr()
            code = run(args)
        return code, *capsys.readouterr()

    return call


def lines_of(world: Any) -> list[dict[str, Any]]:
    path = world.out / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def check_done(world: Any) -> None:
    scores = {(line["report"], line["metric"]): line["result"]["score"] for line in lines_of(world)}
    assert scores == {place: None if value is None else pytest.approx(value) for place, value in SCORES.items()}


def wait_for(condition: Any, process: subprocess.Popen[str], seconds: float = 100) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def hold_writing(world: Any) -> list[threading.Event]:
    """The judge answers the questions on writing once the last of these is set: until then no run ends."""
    held = [threading.Event()]
    world.chat.on("Score the writing of the report", lambda _: held[-1].wait(600) and WRITING, first=True)
    return held


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C, and read on until it is heard."""
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    while "Ctrl-C once more" not in (line := process.stdout.readline()):
        assert line, "it ended"


def test_the_table_the_findings_and_the_paths_are_printed(world: Any, dream: Dream) -> None:
    code, out, err = dream(*world.command())
    assert code == 0, err
    check_done(world)
    assert "expected (from defaults, roughly)" in out.split("presentation")[0]
    for shown in ("75.0", "72.7", "n/a", "source quality", "contradicted claim", "missing key fact", "has 14 turbines"):
        assert shown in out, shown
    assert re.search(r"run: \d+ calls \(\d+ completion", out)
    assert str(world.out / "results.jsonl") in out
    assert "cited kic: 75.0" in out
    code, out, err = dream(*world.command())
    assert (code, err) == (0, "")
    assert "all 12 units stand in" in out
    assert dream("replay", str(world.out)) == (0, "equal: 12 units, byte for byte, no call made\n", "")
    assert "cited/factuality" in dream("ledger", "show", str(world.out))[1]
    protocol = next((world.out / "protocols").glob("*.json"))
    assert "has 12 turbines" in dream("protocol", "show", str(protocol))[1]


def test_a_run_is_exported_imported_and_replayed_elsewhere(world: Any, dream: Dream) -> None:
    world.wishes = {"metrics": "wq,da"}
    assert dream(*world.command())[0] == 0
    assert dream("ledger", "export", str(world.out), "--out", "shared.sqlite")[0] == 0
    world.ledger.unlink()
    assert dream("replay", str(world.out))[0] == 2
    assert dream("replay", str(world.out), "--ledger", "shared.sqlite")[0] == 0
    code, out, _ = dream("ledger", "import", "shared.sqlite", "--ledger", "mine.sqlite")
    assert code == 0
    assert "imported" in out
    assert dream("replay", str(world.out), "--ledger", "mine.sqlite")[0] == 0
    run_name = json.loads((world.out / "run.json").read_text())["run"]
    assert run_name in dream("ledger", "show", "--ledger", "mine.sqlite")[1]


def test_a_ledger_that_does_not_know_the_run_leaves_its_totals_alone(world: Any, dream: Dream) -> None:
    world.wishes = {"metrics": "wq,da"}
    assert dream(*world.command())[0] == 0
    before = json.loads((world.out / "summary.json").read_text())
    assert before["totals"]["kinds"]
    world.ledger.unlink()
    for _ in range(2):
        code, out, _ = dream(*world.command())
        assert code == 0
        assert f"the ledger {world.ledger} does not know this run" in " ".join(out.split())
        assert json.loads((world.out / "summary.json").read_text()) == before


def test_gates(world: Any, dream: Dream) -> None:
    world.wishes = {"metrics": "factuality,da"}
    for gate, expected in (("factuality=75", 0), ("factuality=75.5", 10), ("da=1", 6)):
        assert dream(*world.command("--fail-under", gate))[0] == expected, gate


@pytest.mark.cluster
def test_a_kill_at_a_random_moment_costs_what_was_in_flight_and_nothing_else(
    world: Any,
) -> None:
    world.chat.delay_s = 0.15
    dice, in_flight = random.Random(7), 0
    kept: list[str] = []
    held = hold_writing(world)
    for _ in range(2):
        process = start(world)
        asked = len(world.chat.requests)
        wait_for(lambda asked=asked: len(world.chat.requests) > asked, process)
        time.sleep(dice.uniform(0.05, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        held[-1].set()
        world.chat.wait_until_left()
        held.append(threading.Event())
        in_flight += 16  # the most calls that one process has in flight
        now = [line["unit"] for line in lines_of(world)]
        assert set(kept) <= set(now), "a finished unit was lost"
        kept = now
    held[-1].set()
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
    assert run(["replay", str(world.out)]) == 0


@pytest.mark.cluster
def test_the_first_interrupt_keeps_what_is_in_flight_and_prints_the_command_that_continues(world: Any) -> None:
    world.chat.delay_s = 0.15
    held = hold_writing(world)
    process = start(world)
    wait_for(lambda: len(world.chat.requests) > 3, process)
    interrupt(process)
    held[-1].set()
    code, out, err = finish(process)
    assert code == 3, (out, err)
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


@pytest.mark.cluster
def test_the_second_interrupt_stops_at_once(world: Any) -> None:
    world.chat.queue(*[hang(600) for _ in range(8)])
    process = start(world)
    wait_for(lambda: len(world.chat.requests) >= 1, process)
    interrupt(process)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)  # long before the judge answers
    assert code == 130, err
    assert "Traceback" not in err


@pytest.mark.cluster
def test_a_second_process_on_the_same_run_is_refused_by_name(world: Any) -> None:
    held = hold_writing(world)
    first = start(world)
    wait_for(lambda: len(world.chat.requests) > 0, first)
    code, _, err = finish(start(world))
    held[-1].set()
    assert code == 2
    assert f"is in use by process {first.pid} on " in err
    assert len(err.strip().splitlines()) == 1
    assert finish(first)[0] == 0
    check_done(world)


def test_a_broken_last_line_costs_only_that_unit(world: Any, dream: Dream) -> None:
    world.wishes = {"metrics": "wq,da"}
    assert dream(*world.command())[0] == 0
    asked, path = len(world.chat.requests), world.out / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert dream(*world.command())[0] == 0
    assert path.read_bytes() == whole
    assert len(world.chat.requests) == asked


def test_budget_and_refused_account_have_their_exit_codes(world: Any, dream: Dream) -> None:
    code, out, _ = dream(*world.command("--budget-tokens", "6000"))
    assert code == 4
    assert "budget reached" in out
    assert "to continue, raise --budget-tokens (now 6000) in: " in out
    with judge_of_world(key="sk-right-0123456789") as chat:
        world.wishes = {"judge": chat.judge, "out": world.folder / "other"}
        code, out, _ = dream(*world.command(), DREAM_API_KEY="sk-wrong-0123456789")
    assert code == 5
    assert "to continue" in out


def test_no_secret_reaches_a_file_or_the_screen(world: Any, dream: Dream) -> None:
    marker, tools = "sk-marker-5a1e9c7d", "tool-marker-77aa55bb"
    with judge_of_world(key=marker) as chat:
        told = (lambda body: "check the reasoning of" in str(body), lambda body: _leaking(body, marker), [-1])
        chat._rules.insert(0, told)
        world.wishes = {"judge": chat.judge}
        code, out, err = dream(*world.command(), DREAM_API_KEY=marker, SERPER_API_KEY=tools)
    assert code == 0, err
    assert any("your key is [masked]" in line for line in (world.out / "results.jsonl").read_text().splitlines())
    written = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    for secret in (marker, tools):
        assert secret.encode() not in written
        assert secret not in out + err
    asked = ("doctor", "--judge", world.chat.judge, "--search", f"corpus:{world.folder / 'corpus'}")
    _, said, _ = dream(*asked, DREAM_API_KEY=marker, SERPER_API_KEY=tools)
    assert "DREAM_API_KEY" in said
    assert "SERPER_API_KEY" in said
    assert marker not in said
    assert tools not in said


def _leaking(body: Any, marker: str) -> str:
    return answer_verifier(body).replace("The register says so.", f"your key is {marker}")


def test_escape_sequences_of_others_are_not_printed(world: Any, dream: Dream) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31m"
    (world.folder / "cited.md").write_text(CITED.replace("14 turbines [1]", f"{evil}14 turbines [1]"))
    said = (lambda body: "check the reasoning of" in str(body), lambda body: _marked(body, evil), [-1])
    world.chat._rules.insert(0, said)
    code, out, err = dream(*world.command())
    assert code == 0, err
    assert "14 turbines" in out
    assert "no reason is given" in out
    assert "\x1b" not in out + err
    assert not any(ord(c) < 32 and c != "\n" for c in out)


def _marked(body: Any, evil: str) -> str:
    return answer_verifier(body).replace("'no reason", repr(evil)[:-1] + "no reason")


def test_doctor_says_what_would_be_used_and_that_the_sandbox_works(world: Any, dream: Dream) -> None:
    code, out, err = dream("doctor", "--judge", world.chat.judge, "--search", f"corpus:{world.folder / 'corpus'}")
    assert code == 0, out + err
    assert re.search(r"^ok +judge: .*reachable", out, re.MULTILINE)
    assert re.search(r"^ok +sandbox: ", out, re.MULTILINE)
    code, out, _ = dream("doctor", "--judge", "openai/gpt-5-mini", "--search", "corpus:nowhere")
    assert code == 10
    assert "OPENAI_API_KEY" in out
    assert re.search(r"^bad +search corpus:nowhere", out, re.MULTILINE)


def test_protocol_create_writes_a_protocol_that_evaluate_takes(world: Any, dream: Dream) -> None:
    args = ["--query", QUERY, "--judge", world.chat.judge, "--search", f"corpus:{world.folder / 'corpus'}"]
    more = ["--as-of", AS_OF, "--ledger", str(world.ledger), "--questions", "4", "--reasoning", "2"]
    code, out, err = dream("protocol", "create", *args, *more, "--out", "p.json")
    assert code == 0, err
    assert "Key questions (4)" in out
    code, _, err = dream("protocol", "create", *args, *more, "--out", "p.json")
    assert (code, "exists" in err) == (2, True)
    code, out, err = dream("protocol", "lint", "p.json")
    assert (code, err) == (10, "")  # it has fewer questions than a protocol should have
    asked = len(world.chat.requests)
    world.wishes = {"protocol": world.folder / "p.json", "metrics": "kic"}
    assert dream(*world.command())[0] == 0
    assert len(world.chat.requests) == asked + 2
