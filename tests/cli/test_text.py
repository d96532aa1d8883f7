"""Text of strangers on a terminal."""

from __future__ import annotations

import pytest
from dream_eval.cli.text import one_line, printable
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGVsbG8=\x07x", "x"),
        ("\x1bP1;2|data\x1b\\x", "x"),
        ("\x9b2Jx", "x"),
        ("x\rhidden\x08\x00", "xhidden"),
        ("abc\u202edef", "abcdef"),
        ("\x1bcreset", "reset"),
        ("line\n\ttab", "line\n\ttab"),
        ("naïve 报告 ✓", "naïve 报告 ✓"),
    ],
)
def test_sequences_go_and_text_stays(raw: str, clean: str) -> None:
    assert printable(raw) == clean


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    kept = printable(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in kept)


def test_one_line_folds_and_cuts() -> None:
    assert one_line("a\n\n b\x1b[1m c") == "a b c"
    assert one_line("abcdefgh", limit=5) == "abcd…"
