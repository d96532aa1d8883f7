"""What a person sees at a terminal: live progress, colours, and NO_COLOR."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.cluster

DREAM = [sys.executable, "-c", "from dream_eval.cli import main; main()"]
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|9[0-7])(?:;[0-9;]*)?m")


def at_a_terminal(world: Any, **env: str) -> tuple[int, str]:
    """Exit code and all that is written to the terminal."""
    ours, theirs = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **env}
    process = subprocess.Popen(
        [*DREAM, *world.command("--metrics", "wq,factuality")], stdout=theirs, stderr=theirs, stdin=theirs, env=settings
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        seen += block
    os.close(ours)
    return process.wait(200), seen.decode()


def test_progress_is_drawn_live_and_in_colour(world: Any) -> None:
    world.chat.delay_s = 0.2
    code, seen = at_a_terminal(world)
    assert code == 0, seen
    assert "at work: " in seen
    assert re.search(r"\d:\d\d · \d/4 units · \d+ calls", seen)
    assert "\x1b[?25l" in seen, "the cursor is hidden while the block is drawn"
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l"), "and shown again"
    assert COLOUR.search(seen)


def test_no_color_is_honoured(world: Any) -> None:
    code, seen = at_a_terminal(world, NO_COLOR="1")
    assert code == 0, seen
    assert "75.0" in seen
    assert not COLOUR.search(seen)
