"""Collections: resumed, killed, stopped; with retries, several at once, and counted through the proxy."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dream_eval.agents.research import ReportsFile, State, Stopper, perform, read_profiles
from dream_eval.agents.research.process import Limits
from dream_eval.agents.research.upstream import parse_upstream
from dream_eval.core import Task
from dream_eval.errors import AccountRefused, BudgetReached, InputError, Interrupted, UserError
from dream_eval.ledger import Budget, Mode
from dream_eval.reports import load_reports
from servers.chat import ScriptedChat, error, last_user

pytestmark = pytest.mark.cluster

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]
CALLS = """
import urllib.request
def call(text, **more):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()
    head = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    wish = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, head)
    return json.load(urllib.request.urlopen(wish))["choices"][0]["message"]["content"]
"""


def wish(tmp_path: Path, tasks: list[Task], command: str, **more: Any) -> perform.Wish:
    given = {"limits": Limits(60), **more}
    return perform.Wish(
        "mine", tuple(tasks), tmp_path / "out" / "mine.jsonl", tmp_path / "ledger.sqlite", command=command, **given
    )


async def run(asked: perform.Wish, **more: Any) -> Any:
    return (await perform.perform(asked, **more))[0]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_every_task_once_and_only_what_is_missing_again(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    seen = tmp_path / "seen"
    source = f"open({str(seen)!r}, 'a').write(task['id'] + ' ')\nassert task['id'] != 't2', 'no'\nprint('R')"
    first = await run(wish(tmp_path, tasks, program(source)))
    assert (first.made, first.kept, first.missing) == (2, 0, ("t2",))
    assert first.states["t2"].state is State.EXIT
    second = await run(wish(tmp_path, tasks, program("print('R2')", "better")))
    assert (second.made, second.kept, second.missing) == (1, 2, ())
    assert sorted(seen.read_text().split()) == ["t1", "t2", "t3"]
    assert {line["id"]: line["article"] for line in lines(tmp_path / "out/mine.jsonl")} == {
        "t1": "R\n",
        "t2": "R2\n",
        "t3": "R\n",
    }
    assert read_profiles(tmp_path / "out/mine.jsonl")["t2"].attempts == 2
    (failed,) = lines(tmp_path / "out/mine.log")
    assert "AssertionError: no" in failed["stderr"]


async def test_retries(tmp_path: Path, program: Any) -> None:
    source = f"with open({str(tmp_path / 'n')!r}, 'a+') as f:\n    f.seek(0); n = len(f.read()); f.write('x')\n"
    source += "sys.exit(1) if n < 2 else print('R')"
    task = [Task(id="t", prompt="x")]
    done = await run(wish(tmp_path, task, program(source), retries=1))
    assert done.missing == ("t",)
    assert len(lines(tmp_path / "out/mine.log")) == 2
    assert (await run(wish(tmp_path, task, program(source), retries=1))).missing == ()


async def test_several_at_once(tmp_path: Path, program: Any) -> None:
    """Each waits until it sees the others: one at a time they would never end."""
    tasks = [Task(id=f"t{number}", prompt="x") for number in range(4)]
    folder = tmp_path / "here"
    folder.mkdir()
    source = f"here = {str(folder)!r}\nopen(here + '/' + task['id'], 'w')\n"
    source += "while len(os.listdir(here)) < 4: time.sleep(0.01)\nprint('R')"
    assert (await run(wish(tmp_path, tasks, program(source), jobs=4))).made == 4


async def test_tokens_and_cost_are_known_by_task(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    source = CALLS + "print(call(task['prompt']))\nif task['id'] == 't2': print(call('more, please'))"
    with ScriptedChat() as chat:
        chat.on("more", "and more").always(lambda body: f"# On {last_user(body)}")
        asked = wish(tmp_path, tasks, program(source), upstream=parse_upstream(chat.url), jobs=3)
        assert (await run(asked)).missing == ()
        assert len(chat.requests) == 4
    found = read_profiles(asked.out)
    assert {id: (p.calls, p.prompt_tokens, p.completion_tokens) for id, p in found.items()} == {
        "t1": (1, 3, 5),
        "t2": (2, 5, 7),
        "t3": (1, 3, 5),
    }
    assert {p.measured for p in found.values()} == {"proxy"}
    assert {p.cost_usd for p in found.values()} == {0.0}  # a server of one's own

    # Replayed without the endpoint and without the reports: the same reports, no call.
    again = wish(tmp_path, tasks, program(source), upstream=parse_upstream("http://127.0.0.1:9/v1"))
    before = {line["id"]: line["article"] for line in lines(asked.out)}
    asked.out.unlink()
    assert (await run(again, mode=Mode.REPLAY)).missing == ()
    assert {line["id"]: line["article"] for line in lines(asked.out)} == before


@pytest.mark.parametrize(
    ("variable", "expected"), [("OPENAI_API_KEY", "dream-proxy"), ("DREAM_API_KEY", "the real one")]
)
async def test_keys_for_somebody_else_are_hidden(
    tmp_path: Path, program: Any, monkeypatch: pytest.MonkeyPatch, variable: str, expected: str
) -> None:
    """The key of another provider never reaches the command that is pointed at this endpoint, nor the endpoint."""
    monkeypatch.setenv(variable, "sk-for-one-only-0001")
    with ScriptedChat() as chat:
        chat.always("R")
        asked = wish(
            tmp_path, [Task(id="t", prompt="x")], program(CALLS + "print(call('x'), os.environ['OPENAI_API_KEY'])")
        )
        upstream = parse_upstream(chat.url)
        await run(replace(asked, upstream=upstream))
        sent = chat.headers[0].get("authorization")
    assert lines(asked.out)[0]["article"] == "R dream-proxy\n"
    assert sent == (None if expected == "dream-proxy" else "Bearer sk-for-one-only-0001")


async def test_a_retry_gets_answers_of_its_own(tmp_path: Path, program: Any) -> None:
    number = iter(["no", "yes"])
    source = CALLS + "said = call('well?')\nsys.exit(1) if said == 'no' else print(said)"
    with ScriptedChat() as chat:
        chat.always(lambda _: next(number))
        asked = wish(
            tmp_path, [Task(id="t", prompt="x")], program(source), upstream=parse_upstream(chat.url), retries=1
        )
        assert (await run(asked)).missing == ()


async def test_what_it_says_of_itself(tmp_path: Path, program: Any) -> None:
    source = "print(json.dumps({'article': 'R', 'usage': {'prompt_tokens': 5, 'completion_tokens': 2}}))"
    asked = wish(tmp_path, [Task(id="t", prompt="x")], program(source))
    await run(asked)
    found = read_profiles(asked.out)["t"]
    assert (found.tokens, found.cost_usd, found.measured, found.calls) == (7, None, "system", None)


async def test_the_budget_ends_it_and_spoils_no_report(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    """The agent swallows the refusal and prints a poor report all the same: it must not be kept."""
    source = CALLS + "try:\n    print(call(task['prompt'], max_tokens=400))\nexcept OSError:\n    print('poor')"
    with ScriptedChat() as chat:
        chat.always("word " * 300)
        upstream = parse_upstream(chat.url)
        asked = wish(tmp_path, tasks, program(source), upstream=upstream, budget=Budget(tokens=600))
        done = await run(asked)
        assert isinstance(done.stopped, BudgetReached)
        assert (done.made, done.missing) == (1, ("t2", "t3"))
        assert not (tmp_path / "out/mine.log").exists()
        more = wish(tmp_path, tasks, program(source), upstream=upstream, budget=Budget(tokens=10_000))
        assert (await run(more)).missing == ()
    assert "poor" not in asked.out.read_text()


async def test_a_refused_account_ends_it(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    with ScriptedChat() as chat:
        chat.always(error(401, "Incorrect API key provided", code="invalid_api_key"))
        asked = wish(tmp_path, tasks, program(CALLS + "print(call('x'))"), upstream=parse_upstream(chat.url))
        done = await run(asked)
    assert isinstance(done.stopped, AccountRefused)
    assert done.states["t1"].state is State.REFUSED
    assert len(chat.requests) == 1


async def test_a_first_interrupt_lets_what_runs_finish(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    flag = tmp_path / "flag"
    source = f"while not os.path.exists({str(flag)!r}): time.sleep(0.01)\nprint('R')"
    stopper = Stopper()
    job = asyncio.ensure_future(run(wish(tmp_path, tasks, program(source)), stopper=stopper))
    await asyncio.sleep(0.1)
    stopper.stop(Interrupted("interrupted"))
    flag.touch()
    done = await job
    assert done.made <= 1
    assert len(done.missing) == 3 - done.made
    assert isinstance(done.stopped, Interrupted)


def test_files_that_belong_elsewhere(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "mine.jsonl"
    for line, words in (
        ('{"id": "t1", "prompt": "Another?", "article": "R"}', "another prompt"),
        ('{"id": "t1", "system": "yours", "article": "R"}', "'yours'"),
        ('{"id": "t9", "article": "R"}\n{"id": "t9", "article": "R"}', "twice"),
        ('{"id": "t1", "article": "R"}\nbroken\n{"id": "t2"}', "no JSON"),
    ):
        path.write_text(line + "\n")
        with pytest.raises(InputError, match=words), ReportsFile(path, "mine").open(tasks):
            pass
        assert path.read_text() == line + "\n"


def test_only_one_at_a_time(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "mine.jsonl"
    with (
        ReportsFile(path, "mine").open(tasks),
        pytest.raises(UserError, match="another collection"),
        ReportsFile(path, "mine").open(tasks),
    ):
        pass


@pytest.mark.parametrize("torn", ['{"id": "t2", "arti', '{"id": "t2"', "{", '{"id": "t2", "article": "\\u00'])
async def test_a_torn_last_line_is_made_again(tmp_path: Path, tasks: list[Task], program: Any, torn: str) -> None:
    path = tmp_path / "out/mine.jsonl"
    path.parent.mkdir()
    path.write_text('{"id": "t1", "prompt": "What about 1?", "article": "Old"}\n' + torn)
    assert (await run(wish(tmp_path, tasks, program("print('New')")))).made == 2
    assert [(line["id"], line["article"].strip()) for line in lines(path)] == [
        ("t1", "Old"),
        ("t2", "New"),
        ("t3", "New"),
    ]


async def test_a_file_without_a_last_line_break(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    path = tmp_path / "out/mine.jsonl"
    path.parent.mkdir()
    path.write_text('{"id": "t1", "prompt": "What about 1?", "article": "Old"}')
    assert (await run(wish(tmp_path, tasks, program("print('New')")))).made == 2
    assert [line["id"] for line in lines(path)] == ["t1", "t2", "t3"]


async def test_keys_are_masked_in_the_log(tmp_path: Path, tasks: list[Task], program: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    source = "print(os.environ['OPENAI_API_KEY'], file=sys.stderr); sys.exit(1)"
    await run(wish(tmp_path, tasks[:1], program(source)))
    assert "[masked]" in (tmp_path / "out/mine.log").read_text()
    assert "very-secret" not in (tmp_path / "out/mine.log").read_text()


async def test_a_key_of_the_commands_own_is_masked_too(tmp_path: Path, tasks: list[Task], program: Any) -> None:
    """It stands in no variable of ours: only the proxy has seen it."""
    source = CALLS + "os.environ['OPENAI_API_KEY'] = key = 'sk-own-very-secret'\ncall('x')\n"
    source += "print(key, file=sys.stderr)\nsys.exit(1) if task['id'] == 't1' else print('R', key)"
    with ScriptedChat() as chat:
        chat.always("y")
        await run(wish(tmp_path, tasks[:2], program(source), upstream=parse_upstream(chat.url)))
    assert lines(tmp_path / "out/mine.jsonl")[0]["article"] == "R [masked]\n"
    for file in (file for file in tmp_path.rglob("*") if file.is_file() and file.suffix != ".py"):
        assert b"very-secret" not in file.read_bytes(), file


@pytest.mark.timeout(600)
def test_killed_again_and_again(tmp_path: Path, program: Any) -> None:
    """SIGKILL at any moment, many times: in the end every task has exactly one report, and nobody is left running,
    daemons of theirs included."""
    count = 40
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text("".join(f'{{"id": "t{n}", "prompt": "What about {n}?"}}\n' for n in range(count)))
    pids = tmp_path / "pids"
    note = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    daemon = f"import os, time; {note}; time.sleep(600)"
    go = tmp_path / "go"
    source = f"{note}\ntime.sleep(0.05)\n"
    source += f"while int(task['id'][1:]) >= 36 and not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
    source += "if task['id'].endswith('3'):\n    import subprocess\n"
    source += f"    subprocess.Popen([sys.executable, '-S', '-c', {daemon!r}], start_new_session=True)\n"
    source += "print(task['id'], 'x' * 200_000)"
    out = tmp_path / "reports" / "mine.jsonl"
    command = [*DREAM, "collect", "--system", "mine", "--tasks", str(tasks), "--out", str(out), "--jobs", "4"]
    command += ["--command", program(source), "--ledger", str(tmp_path / "ledger.sqlite")]
    rng = random.Random(7)
    for _ in range(6):
        had = len(_whole(out))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while len(_whole(out)) == had < 36:
            assert process.poll() is None, process.communicate()[1].decode()
            time.sleep(0.01)
        time.sleep(rng.random() * 0.2)  # so that the kill falls anywhere
        before = {line["id"] for line in _whole(out)}
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert before <= {line["id"] for line in _whole(out)}
    assert len(_whole(out)) >= 6
    go.touch()  # until now the last four waited, so that none of these processes came to its end
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    ids = Counter(line["id"] for line in lines(out))
    assert ids == Counter({f"t{n}": 1 for n in range(count)})
    assert all(line["article"].startswith(f"{line['id']} xxx") for line in lines(out))
    assert len(load_reports(out)) == count
    while any(_runs(pid, str(tmp_path)) for pid in pids.read_text().split()):
        time.sleep(0.02)  # whoever outlives the kill makes this test time out


def _whole(path: Path) -> list[dict[str, Any]]:
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _runs(pid: str, place: str) -> bool:
    """Whether the process is still one of this test's."""
    try:
        return place.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
