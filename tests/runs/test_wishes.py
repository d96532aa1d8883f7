"""``eval.toml``: what is read, what is refused and where, and what options change."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from dream_eval.errors import InputError, UserError
from dream_eval.runs.configuring import configure
from dream_eval.runs.shards import dealt
from dream_eval.runs.starter import write_starter
from dream_eval.runs.wishes import Wishes, load_wishes, run

TASKS = [{"id": f"q{n}", "prompt": f"What does tide {n} move?"} for n in (1, 2)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, TASKS)))
    for system in ("ours", "theirs"):
        rows = [{**task, "article": f"# Tides\n\nTides move {system} water.\n"} for task in TASKS]
        (tmp_path / f"{system}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def toml(folder: Path, *lines: str) -> Path:
    path = folder / "eval.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


FULL = (
    'name = "Tides 1"',
    'tasks = "tasks.jsonl"',
    'judges = ["openai/gpt-5-mini", "local"]',
    'metrics = "wq"',
    "repeats = 2",
    'search = ["corpus:pages", "tavily"]',
    'exclude_hosts = "example.com"',
    "as_of = 2025-06-30",
    "max_claims = 8",
    "budget_usd = 5",
    'ledger = "l.sqlite"',
    "[systems]",
    'ours = "ours.jsonl"',
    'theirs = ["theirs.jsonl"]',
    "[fail_under]",
    "wq = 60",
)


def test_every_key_arrives_and_paths_are_relative_to_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = toml(folder, *FULL)
    monkeypatch.chdir("/")
    wishes = load_wishes(path)
    assert wishes.fail_under == {"wq": 60}
    assert wishes.search == (f"corpus:{folder / 'pages'}", "tavily")
    (folder / "pages").mkdir()
    ask = wishes.ask()
    assert ask.out == folder / "dream-runs" / "tides-1"
    assert ask.ledger == folder / "l.sqlite"
    assert ask.judges == ("openai/gpt-5-mini", "local")
    assert (ask.metrics, ask.repeats, ask.max_claims, ask.budget_usd) == (("wq",), 2, 8, 5.0)
    assert ask.as_of == dt.date(2025, 6, 30)
    assert ask.exclude_hosts == ("example.com",)
    assert [case.place for case in ask.cases] == [("q1", "ours"), ("q2", "ours"), ("q1", "theirs"), ("q2", "theirs")]
    assert ask.units == 4 * 1 * 2 * 2


def test_options_replace_what_the_file_says(folder: Path) -> None:
    wishes = load_wishes(toml(folder, *FULL))
    more = wishes.changed(
        {"judges": ("local",), "repeats": None, "systems": {"third": (str(folder / "ours.jsonl"),)}, "metrics": ()}
    )
    assert more.judges == ("local",)
    assert more.repeats == 2
    assert more.metrics == ("wq",)
    assert list(more.systems) == ["third"]
    assert more.changed({"query": "What?"}).tasks is None, "another way to say the task replaces the first"
    assert more.changed({"fail_under": {"kic": 50.0}}).fail_under == {"kic": 50}


@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        (("tasks = 'tasks.jsonl'", "judgs = ['local']"), 2, "no key 'judgs': did you mean 'judges'?"),
        (("[systems]", "a = 'a.md'", "[gates]", "wq = 1"), 3, "no key 'gates'"),
        (("", "repeats = 'two'"), 2, "(repeats): input should be a valid integer"),
        (("metrics = ['wq', 3]",), 1, '(metrics): write a text or a list of texts: "a" or ["a", "b"]'),
        (("name = 'x'", "[systems]", "ours = 7"), 3, "(systems.ours): write a text or a list of texts"),
        (("[fail_under]", "wq = 'high'"), 2, "(fail_under.wq): input should be a valid number"),
        (("as_of = 'yesterday'",), 1, "(as_of): input should be a valid date"),
        (("name = 'x'", "tasks = [", "judges = 'local'"), 3, "not TOML:"),
        (("repeats = 1", "repeats = 2"), 2, "not TOML: Cannot overwrite a value"),
        (("nonsense_that_nobody_means = 1",), 1, "(there are: name, out, systems"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_key(folder: Path, lines: tuple[str, ...], line: int, said: str) -> None:
    path = toml(folder, *lines)
    with pytest.raises(InputError) as error:
        load_wishes(path)
    message = str(error.value)
    assert said in message, message
    assert "\n" not in message
    assert error.value.line == line, message


def test_no_file_no_system_and_no_gate_on_another_metric(folder: Path) -> None:
    with pytest.raises(InputError, match="dream run init"):
        load_wishes(folder / "none.toml")
    with pytest.raises(UserError, match="there is no system to evaluate"):
        load_wishes(toml(folder, "tasks = 'tasks.jsonl'")).ask()
    with pytest.raises(UserError, match=r"race holds reports against others: .*--reference"):
        load_wishes(toml(folder, *FULL)).changed({"metrics": ("race",)}).ask()


def test_the_folder_is_named_by_the_file_when_nobody_says_how(folder: Path) -> None:
    assert load_wishes(toml(folder, 'tasks = "tasks.jsonl"')).out == str(
        folder / "dream-runs" / folder.name[:40].strip("-_")
    )
    other = folder / "Night run.toml"
    other.write_text('tasks = "tasks.jsonl"\n')
    assert load_wishes(other).out == str(folder / "dream-runs" / "night-run")


def test_the_starter_is_read_and_asks_for_the_demo(tmp_path: Path) -> None:
    path = write_starter(tmp_path / "eval.toml")
    ask = load_wishes(path).ask()
    assert [case.system for case in ask.cases] == ["sound", "flawed", "uncited"]
    assert len(ask.metrics) == 6
    commented = [line[2:] for line in path.read_text().splitlines() if line.startswith("# ") and " = " in line]
    for line in commented:  # each line that is commented out is right when it is taken in
        table = "[fail_under]\n" if line.startswith("factuality") else ""
        (tmp_path / "one.toml").write_text(f"{table}{line.split('   ')[0]}\n")
        load_wishes(tmp_path / "one.toml")
    with pytest.raises(UserError, match="not overwritten"):
        write_starter(path)


def test_parts_are_even_disjoint_and_do_not_depend_on_the_order() -> None:
    tasks = [f"task {n}" for n in range(41)]
    parts = [dealt(tasks, (i, 4)) for i in range(1, 5)]
    assert sorted(len(part) for part in parts) == [10, 10, 10, 11]
    assert frozenset().union(*parts) == set(tasks)
    assert sum(map(len, parts)) == len(tasks)
    assert parts[1] == dealt(reversed(tasks), (2, 4))
    assert dealt(tasks, None) == set(tasks)


def test_a_part_knows_the_whole_and_holds_its_own(folder: Path) -> None:
    wishes = load_wishes(toml(folder, *FULL)).changed({"search": ("tavily",)})
    whole, parts = wishes.ask(), [wishes.ask(shard=(i, 2)) for i in (1, 2)]
    assert all(part.cases == whole.cases for part in parts)
    assert {case.task.id for part in parts for case in part.mine} == {"q1", "q2"}
    assert sum(part.units for part in parts) == whole.units
    assert [str(part.out)[-4:] for part in parts] == ["1of2", "2of2"]
    before = configure(parts[0], None, "run")
    assert configure(parts[0], before, "run").shard == (1, 2)
    for other in (parts[1], whole):
        with pytest.raises(UserError, match="holds part 1/2 of a run: give another --out"):
            configure(other, before, "run")
    for bad in ("0/2", "3/2", "2", "a/b"):
        with pytest.raises(UserError, match="--shard"):
            run(wishes, shard=bad)


def test_the_python_call_refuses_unknown_keys(folder: Path) -> None:
    with pytest.raises(UserError, match="no key 'judge': did you mean 'judges'"):
        run(Wishes(), judge="local")


@pytest.mark.parametrize(
    "line",
    [
        "[fail_under]\nwq = nan",
        "[fail_under]\nwq = 500",
        "[fail_under]\nwq = -1",
        "repeats = 1000000000",
        "repeats = 0",
    ],
)
def test_values_that_nobody_can_mean(folder: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"wq|repeats"):
        load_wishes(toml(folder, 'tasks = "tasks.jsonl"', line))


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\u202eb", "a\x1b[31m"])
def test_names_of_systems_that_cannot_be_shown(folder: Path, name: str) -> None:
    with pytest.raises(UserError, match="printable"):
        Wishes(systems={name: ("ours.jsonl",)}).ask()
