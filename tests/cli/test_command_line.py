"""The command line from outside: help at once, mistakes in one line, exit codes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import click
import pytest
from dream_eval.cli import VERBS, command, run
from dream_eval.cli.failing import explain

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]


def dream(*args: str, cwd: Path | None = None, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DREAM, *args], capture_output=True, text=True, cwd=cwd, timeout=timeout)


def help_of(*verb: str) -> tuple[str, set[str]]:
    """What ``--help`` prints in a fresh process, and the modules that it loaded."""
    code = f"import sys\nfrom dream_eval.cli import run\ncode = run({[*verb, '--help']!r})\n"
    code += "print(*sys.modules, file=sys.stderr)\nsys.exit(code)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout, set(done.stderr.split())


def test_help_answers_at_once_and_imports_nothing_heavy() -> None:
    out, loaded = help_of()
    assert all(verb in out for verb in VERBS)
    assert not loaded & {"pydantic", "openai", "smolagents", "rich", "httpx", "trafilatura", "dream_eval.core"}


@pytest.mark.parametrize(
    "verb", [*VERBS, "protocol create", "ledger show", "ledger export", "ledger import", "corpus build"]
)
def test_every_verb_has_help_without_loading_what_it_does(verb: str) -> None:
    out, loaded = help_of(*verb.split())
    assert "Usage:" in out
    assert not loaded & {"pydantic", "openai", "smolagents", "rich", "httpx", "trafilatura", "dream_eval.core"}


@pytest.mark.parametrize("verb", ["evaluate", "replay", "doctor", "demo", "protocol create", "ledger show"])
def test_help_shows_examples(verb: str) -> None:
    assert f"dream {verb}" in dream(*verb.split(), "--help").stdout.split("Examples:")[1]


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    """All verbs, and those below them."""
    for name in group.list_commands(click.Context(group)):
        yield (*path, name)
        found = group.get_command(click.Context(group), name)
        if isinstance(found, click.Group):
            yield from commands(found, *path, name)


def examples(text: str) -> Iterator[list[str]]:
    """The calls of ``dream`` in a help text, word by word, as a shell would take them."""
    lines = [line for line in text.partition("Examples:")[2].splitlines() if line.startswith("    ")]
    for line in lines:
        words = shlex.shlex(re.sub(r"\s#.*", "", line), posix=True, punctuation_chars="|&;<>")
        words.whitespace_split, words.commenters = True, ""
        for separator, part in groupby(words, lambda word: word in ("&&", "|", ";")):
            call = list(part)
            if not separator and "dream" in call:
                yield call[call.index("dream") + 1 :]


def parse(words: list[str]) -> None:
    """Take a call apart as click does, and do nothing. Raises UsageError."""
    group: click.Command = command
    while isinstance(group, click.Group):
        name, words = words[0], words[1:]
        found = group.get_command(click.Context(group), name)
        assert found is not None, name
        group = found
    group.make_context("dream", words)


@pytest.mark.parametrize("verb", [(), *commands(command), ("run", "init"), ("run", "status")], ids=" ".join)
def test_every_example_in_a_help_text_can_be_typed(verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*verb, "--help"]) == 0
    found = list(examples(capsys.readouterr().out))
    assert found, f"dream {' '.join(verb)} --help shows no example"
    for words in found:
        parse(words)


REPORT = "# Title\n\nA report of one sentence, which says little.\n"
PAGE = "---\nurl: https://a.example/\ntitle: A\npublished: 2026-01-01\nsite: A\n---\n\nText.\n"
MISTAKES = [
    (("nosuch",), "No such command"),
    (("evaluate",), "REPORT"),
    (("evaluate", "a.md", "--nosuch"), "No such option"),
    (("evaluate", "missing.md", "--query", "q"), "missing.md: no such file"),
    (("evaluate", "a.md"), "--query"),
    (("evaluate", "a.md", "--query", " "), "the query is empty"),
    (("evaluate", "a.md", "--query", "@nofile"), "nofile: the query cannot be read (No such file or directory)"),
    (("evaluate", "a.md", "--query", "q", "--task", "t.jsonl"), "not both"),
    (("evaluate", "a.md", "--task", "nofile.jsonl#x"), "nofile.jsonl"),
    (("evaluate", "a.md", "--query", "q", "--metrics", "wq,nosuch"), "choose among wq"),
    (("evaluate", "a.md", "--query", "q", "--as-of", "yesterday"), "YYYY-MM-DD"),
    (("evaluate", "a.md", "--query", "q", "--max-claims", "0"), "--max-claims must be above 0"),
    (("evaluate", "a.md", "--query", "q", "--fail-under", "wq"), "METRIC=VALUE"),
    (("evaluate", "a.md", "--query", "q", "--fail-under", "nosuch=1"), "choose among"),
    (("evaluate", "a.md", "--query", "q", "--protocol", "nofile.json"), "nofile.json"),
    (("evaluate", "a.md", "--query", "q", "--judge", "nosuch/model"), "unknown judge"),
    (("evaluate", "a.md", "--query", "q", "--judge", "openai/gpt-5-mini", "--search", "corpus:c"), "OPENAI_API_KEY"),
    (("evaluate", "a.md", "a.md", "--query", "q"), "a.md is given twice"),
    (("evaluate", "a.md", "./a.md", "--query", "q"), "a.md and ./a.md have the same name"),
    (("evaluate", "a.md", "--query", "q", "--judge", ""), "--judge is empty"),
    (("protocol", "create", "--query", "q", "--judge", " ", "--out", "p.json"), "--judge is empty"),
    (("protocol", "create", "--query", "q", "--questions", "0", "--out", "p.json"), "--questions must be above 0"),
    (("protocol", "create", "--query", "q", "--budget-usd", "nan", "--out", "p.json"), "--budget-usd must be above 0"),
    (("doctor", "--judge", ""), "--judge is empty"),
    (("evaluate", "a.md", "--query", "q", "--fail-under", "wq=nan"), "between 0 and 100"),
    (("evaluate", "a.md", "--query", "q", "--fail-under", "wq=101"), "between 0 and 100"),
    (("evaluate", "a.md", "--query", "q", "--fail-under", "80"), "METRIC=VALUE"),
    (("evaluate", "a.md", "--query", "q", "--floor", "nan"), "--floor must lie between 0 and 1"),
    (("evaluate", "a.md", "--query", "q", "--budget-usd", "nan"), "--budget-usd must be above 0"),
    (("evaluate", "a.md", "--query", "q", "--budget-usd", "inf"), "--budget-usd must be above 0"),
    (("lint", "a.md", "--fail-under", "cited=nan"), "between 0 and 100"),
    (("lint", "a.md", "--fail-under", "cited=-1"), "between 0 and 100"),
    (("evaluate", "a.md", "--query", "q", "--as-of", "2199-01-01"), "2199-01-01 lies in the future (today is 20"),
    (("read", "https://a.example/", "--as-of", "2199-01-01"), "lies in the future"),
    (("evaluate", "a.md", "--query", "q", "--search", "corpus:nofolder"), "nofolder"),
    (("evaluate", "a.md", "--query", "q", "--judge", "local", "--out", "a.md"), "--out a.md"),
    (("evaluate", "a.md", "--query", "q", "--judge", "local", "--out", "a.md/x"), "--out a.md/x"),
    (("evaluate", "a.md", "--query", "q", "--judge", "local", "--out", "c"), "--out c: holds no run"),
    (("evaluate", "a.md", "--query", "q", "--judge", "local", "--search", "nosuch"), "no such back end"),
    (("replay", "nofolder"), "no run here"),
    (("protocol", "show", "nofile.json"), "nofile.json"),
    (("protocol", "show", "c"), "c: this is a folder: name a file"),
    (("study", "corruption", "--data", "c"), "c: this is a folder: name a file"),
    (("study", "human", "--labels", "c"), "this is a folder: name a file"),
    (("protocol", "create", "--out", "p.json"), "--query"),
    (("ledger", "export", "norun", "--out", "x", "--ledger", "nofile"), "no such ledger"),
    (("ledger", "import", "nofile"), "no such ledger"),
]


@pytest.mark.parametrize(
    ("args", "said"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_a_mistake_is_one_line_and_exit_2(
    args: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.md").write_text(REPORT)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "page.md").write_text(PAGE)
    monkeypatch.chdir(tmp_path)
    code = run(args)
    out, err = capsys.readouterr()
    assert code == 2, out + err
    assert said in err
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("dream: ")
    assert out == "", "a mistake is found before anything is promised"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.md", "c", "page.md"]


def test_the_process_ends_with_the_code_and_without_a_traceback(tmp_path: Path) -> None:
    done = dream("evaluate", "missing.md", "--query", "q", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dream: missing.md: no such file\n"


def test_two_files_of_one_name_in_two_folders_get_names_that_differ(tmp_path: Path) -> None:
    from dream_eval.runs.api import prepare

    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "report.md").write_text(REPORT)
    ask = prepare([tmp_path / "one" / "report.md", tmp_path / "two" / "report.md"], query="q", judge="local")
    assert [case.system for case in ask.cases] == ["one-report", "two-report"]


def test_version() -> None:
    assert dream("--version").stdout.startswith("dream-eval 0.")


def test_importing_the_package_loads_nothing_heavy_and_names_work() -> None:
    code = (
        "import sys, dream_eval as d\n"
        "print([m for m in ('pydantic', 'openai', 'rich') if m in sys.modules])\n"
        "print(d.evaluate.__module__, d.Task.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.stdout.splitlines() == ["[]", "dream_eval.runs.api Task"], done.stderr
    with pytest.raises(AttributeError, match="nosuch"):
        __import__("dream_eval").nosuch  # noqa: B018


Plan = Callable[..., str]


@pytest.fixture
def plan(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Ask for a plan in a folder with a report, without any key, and say what is printed."""
    (tmp_path / "a.md").write_text(REPORT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def planned(*args: str) -> str:
        code = run([*args, "--plan", "--judge", "openai/gpt-5-mini", "--ledger", str(tmp_path / "l.sqlite")])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return planned


def test_a_plan_names_systems_folder_and_the_key_that_is_missing(plan: Plan) -> None:
    for args in (("evaluate", "a.md", "--query", "q"), ("study", "time"), ("tasks", "generate")):
        assert "not ready: openai/gpt-5-mini needs a key in the environment variable OPENAI_API_KEY" in plan(*args)
    assert "system a · into dream-runs/" in plan("evaluate", "a.md", "--query", "q")


def test_a_plan_of_tasks_is_made_beside_a_file_of_others(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("{}\n")
    assert "not ready: tasks.jsonl stands there and was not made by this command" in plan("tasks", "generate")
    assert (tmp_path / "tasks.jsonl").read_text() == "{}\n"


def test_makings_that_take_the_same_are_planned_once_with_their_sum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text(REPORT)
    monkeypatch.chdir(tmp_path)
    assert run(["study", "stability", "a.md", "--query", "q", "--makings", "3", "--metrics", "wq", "--plan"]) == 0
    out = capsys.readouterr().out
    assert out.count("1 report × 1 metric") == 1
    assert "makings 1 to 3 of 3, each" in out
    assert "all 3 makings, 9 units" in out


def test_a_study_fills_no_folder_of_somebody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert run(["study", "corruption", "--plan", "--out", str(tmp_path)]) == 2
    assert f"--out {tmp_path}: holds notes.txt and no study: name a new or an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    own = str(tmp_path / "own")
    assert (
        run(["study", "corruption", "--plan", "--out", own])
        == run(["study", "corruption", "--plan", "--out", own])
        == 0
    )


@pytest.mark.parametrize("width", [80, 60])
def test_no_date_is_wrapped_in_the_list_of_runs(
    width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dream_eval.ledger import Ledger, list_runs

    with Ledger.open(tmp_path / "l.sqlite", run="a-run-with-a-name-of-some-length"):
        pass
    begun = next(iter(list_runs(tmp_path / "l.sqlite"))).started
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(["ledger", "show", "--ledger", str(tmp_path / "l.sqlite")]) == 0
    out = capsys.readouterr().out
    assert f"{begun:%Y-%m-%d %H:%M}" in out
    assert max(map(len, out.splitlines())) <= width


def test_a_download_is_said_before_it_begins_with_the_way_round_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from dream_eval.cli.expect import download_line
    from dream_eval.models import local

    status = local.embedded_status()
    monkeypatch.setattr(local, "embedded_status", lambda: replace(status, path=None, bytes_to_fetch=1_120_000_000))
    assert download_line("openai/gpt-5-mini") is None
    said = download_line("local") or ""
    assert "1.12 GB" in said
    assert "--judge PROVIDER/MODEL or DREAM_JUDGE" in said


def test_a_name_that_is_not_utf_8_is_a_mistake_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        "b\udcfe.md".encode()
    assert explain(caught.value) == 2
    assert capsys.readouterr().err.startswith("dream: a file's name or an option is not UTF-8: rename the file")
