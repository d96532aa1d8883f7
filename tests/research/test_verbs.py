"""``dream collect`` and ``dream proxy`` as somebody types them: what they print, and how they end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from dream_eval.cli import run
from servers.chat import ScriptedChat

pytestmark = pytest.mark.cluster

Dream = Callable[..., tuple[int, str, str]]
DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


@pytest.fixture
def dream(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dream:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.jsonl").write_text('{"id": "a", "prompt": "About a?"}\n{"id": "b", "prompt": "About b?"}\n')

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(args)
        return code, *capsys.readouterr()

    return call


def test_a_table_of_what_is_missing(dream: Dream, program: Any, tmp_path: Path) -> None:
    source = "print('\\x1b[2J evil', file=sys.stderr); sys.exit(4) if task['id'] == 'b' else print('Report')"
    asked = ["collect", "--system", "mine", "--tasks", "tasks.jsonl", "--command", program(source)]
    code, out, _ = dream(*asked)
    assert code == 6
    assert "a: done" in out
    assert re.search(r"^b +exit code +exit code 4: evil; its standard error", out, re.MULTILINE)
    assert "1 of 2 tasks have a report (1 made now, 0 were there): reports/mine.jsonl" in out
    assert "\x1b" not in out
    assert all(len(line) <= 80 for line in out.split("task ", 1)[1].splitlines()[:4])
    assert dream(*asked)[0] == 6
    assert len((tmp_path / "reports/mine.log").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--system", "x", "--tasks", "tasks.jsonl"], "one of --command, --endpoint and --builtin"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--command", "a", "--endpoint", "b"], "one of --command"),
        (["--system", "../x", "--tasks", "tasks.jsonl", "--command", "a"], "use letters"),
        (["--system", "x", "--command", "ls"], "--tasks FILE"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--command", "no-such-program"], "no program"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--command", "ls", "--out", "x.csv"], "ends in .jsonl"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--builtin", "magic"], "smolagents-open-dr"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--endpoint", "openai/m", "--request", "{"], "no JSON"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--endpoint", "openai/m"], "OPENAI_API_KEY"),
        (["--system", "x", "--tasks", "tasks.jsonl", "--command", "ls", "--upstream", "nobody"], "unknown upstream"),
        (["--system", "x", "--tasks", "none.jsonl", "--command", "ls"], "none.jsonl"),
    ],
)
def test_mistakes_are_one_line(dream: Dream, options: list[str], words: str) -> None:
    code, _, err = dream("collect", *options)
    assert code == 2
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_import(dream: Dream, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(json.dumps({"id": "a", "article": "Old [1].", "sources": ["https://a.org/1"]}))
    code, out, _ = dream("collect", "--system", "old", "--tasks", "tasks.jsonl", "--from", "old.json")
    assert code == 6
    assert "1 reports taken from old.json" in out
    assert "tasks without a report: b" in out
    code, _, err = dream("collect", "--system", "old", "--from", "old.json")
    assert code == 2
    assert "give --tasks" in err


def test_ctrl_c_keeps_what_is_done(dream: Dream, program: Any, tmp_path: Path) -> None:
    """The first one lets the running task end and starts no other."""
    flag = tmp_path / "flag"
    command = program(f"open({str(flag)!r}, 'w')\nwhile os.path.exists({str(flag)!r}): time.sleep(0.01)\nprint('R')")
    process = subprocess.Popen(
        [*DREAM, "collect", "--system", "mine", "--tasks", "tasks.jsonl", "--command", command, "--ledger", "l.sqlite"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
    )
    while not flag.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("stopping"):
            flag.unlink()
            break
    out, _ = process.communicate()
    assert process.returncode == 3, out
    assert "1 of 2 tasks have a report" in out
    assert re.search(r"^b +not asked", out, re.MULTILINE)


def test_proxy_from_start_to_ctrl_c(tmp_path: Path) -> None:
    with ScriptedChat() as chat:
        chat.always("hello")
        process = subprocess.Popen(
            [*DREAM, "proxy", "--port", "0", "--upstream", chat.url, "--ledger", "l.sqlite", "--run", "try"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=tmp_path,
        )
        assert process.stdout is not None
        found = None
        while found is None:
            line = process.stdout.readline()
            assert line, "the proxy ended"
            found = re.search(r"OPENAI_BASE_URL=(\S+)", line)
        with openai.OpenAI(base_url=found[1], api_key="sk-a-key-of-mine") as ai:
            reply = ai.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert reply.choices[0].message.content == "hello"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=200)
    assert process.returncode == 0, out
    assert "1 calls" in out
    assert all(b"key-of-mine" not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_port_that_is_taken(dream: Dream) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = dream(
            "proxy", "--port", str(taken.getsockname()[1]), "--upstream", "http://127.0.0.1:9/v1", "--ledger", "l"
        )
    assert code == 2
    assert "give another with --port" in err
