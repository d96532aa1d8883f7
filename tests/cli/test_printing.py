"""What is printed for people and machines."""

from __future__ import annotations

import io
import json

import pytest
from dream_eval.cli.printing import fact, print_json, prose, say
from rich.console import Console

EVIL = "a\x1b[31mb\x9b2J\u202ec\u2066d\x07\x7fe"


def test_json_reads_back_and_steers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": EVIL, "国": ["增长", 1.5, None], "lone": "\udc80"}
    print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert not set(out) & set("\x1b\x9b\u202e\u2066\x07\x7f")
    assert "增长" in out


def lines(width: int, *, terminal: bool) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, color_system=None, markup=False, emoji=False)
    say(console, f"  x  {EVIL}\nnext")
    fact(console, "name", EVIL)
    fact(console, "nothing", "")
    prose(console, "many words " * 6 + EVIL, indent=2)
    return file.getvalue().splitlines()


def test_lines_for_people() -> None:
    plain = lines(40, terminal=False)
    assert plain == ["  x  abcde next", "name      abcde", "  " + "many words " * 6 + "abcde"]


def test_text_is_wrapped_on_a_terminal_only() -> None:
    shown = lines(40, terminal=True)
    assert len(shown) == 4
    assert all(len(line) <= 40 and line.startswith("  ") for line in shown[2:])
