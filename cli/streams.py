"""Standard output that somebody closed, or whose encoding lacks a character, never ends a run."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def silence() -> None:
    """Send what is still written to standard output nowhere, so that nothing complains at the end either."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def allow_any_character() -> None:
    """Write a question mark for what the encoding of standard output cannot say."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
        stream.reconfigure(errors="replace")


def flush() -> None:
    """Write what is left; a reader that has gone is no error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        silence()
