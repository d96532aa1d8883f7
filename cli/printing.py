"""Facts, texts and JSON on standard output, safe for a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

from rich.console import Console
from rich.text import Text

from .text import one_line, printable

_UNSAFE = re.compile(r"[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
LABEL = 10
"""Width of the names of facts."""


def print_json(value: Any) -> None:
    """``value`` as JSON; what could steer a terminal is escaped, so that it reads back as it was."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    text = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    print(text.encode("utf-8", "backslashreplace").decode())


def say(console: Console, line: str, style: str = "") -> None:
    """One line, laid out by the caller."""
    console.print(Text(re.sub(r"[\r\n\t]+", " ", printable(line)), style=style), soft_wrap=True)


def fact(console: Console, name: str, value: object, style: str = "") -> None:
    """A name with its value; nothing for a value that is not there."""
    if value in (None, "", ()):
        return
    text = Text(f"{name:<{LABEL}}", style="dim")
    text.append(one_line(str(value)), style=style or "not dim")
    console.print(text, soft_wrap=True)


def prose(console: Console, text: str, indent: int = 0) -> None:
    """Running text: wrapped at words on a terminal, as it is elsewhere."""
    from rich.padding import Padding

    shown = Text(printable(text))
    if console.is_terminal:
        console.print(Padding(shown, (0, 0, 0, indent)))
    else:
        console.print(Text("\n".join(" " * indent + line for line in shown.plain.splitlines())), soft_wrap=True)
