"""What ``dream view`` calls, and what other verbs say of the page that they leave in a run folder."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..errors import DreamError
from ..viewer import ViewServer, open_bundle, write, write_view
from .evaluating import make_console
from .text import one_line

DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER")
"""Without one of these a Linux machine has no browser but perhaps one that takes over the terminal."""


def write_and_open(paths: Sequence[str], *, out: str | None, ledger: str | None, browser: bool) -> int:
    """Write the page, say where it is, and open it. Raises UserError, OSError."""
    console = make_console()
    written = write(paths, out, ledger=Path(ledger) if ledger else None)
    _say(console, f"written: {written.path} ({written.size / 1e6:.1f} MB)")
    if written.detail != "full" or written.left_out:
        what = f"{written.left_out} reports are left out, others shortened" if written.left_out else "shortened"
        _say(console, f"{what} to fit; everything: dream view {' '.join(paths)} --serve")
    _open(console, written.path.resolve().as_uri(), browser)
    return 0


def serve_page(paths: Sequence[str], *, ledger: str | None, port: int, browser: bool) -> int:
    """Serve the page until Ctrl-C. Raises UserError, OSError."""
    console = make_console()
    with (
        closing(open_bundle(paths, ledger=Path(ledger) if ledger else None)) as bundle,
        ViewServer(bundle, port=port) as server,
    ):
        _say(console, f"serving {server.url} to this machine; Ctrl-C ends it")
        _open(console, server.url, browser)
        try:
            server.wait()
        except KeyboardInterrupt:
            console.print()
    return 0


def page_line(folder: Path | str) -> str:
    """Write a run's page and say where it is; what goes wrong is said and ends nothing, since the run is done."""
    try:
        return f"page: {write_view(folder)}"
    except (DreamError, OSError, ValueError) as error:
        return f"no page was written: {one_line(str(error))}"


def _open(console: Console, address: str, wanted: bool) -> None:
    """Open a browser where a person sits before one."""
    seen = sys.stdout.isatty() and (sys.platform in ("darwin", "win32") or any(map(os.environ.get, DESKTOPS)))
    if wanted and not (seen and webbrowser.open(address)):
        _say(console, f"open it in a browser: {address}")


def _say(console: Console, line: str) -> None:
    console.print(Text(one_line(line)), soft_wrap=True)
